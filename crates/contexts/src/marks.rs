//! Marks as the catalogue keeps them: in rows of a few thousand, with a directory in the
//! document's own row, so that one row is read to find one mark.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ingest::ObjectError;
use model::TenantId;
use serde::{Deserialize, Serialize};
use store::{ObjectKey, Objects, TypedObject};

use crate::document::Document;
use crate::json::{Mark, Marks};
use crate::object_ids::JsonDocumentId;
use crate::{Error, Result, limits};

const MARK_BYTES: usize = 24;

/// What a document's row says about its marks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Directory {
    /// Whether every key far behind its object's beginning has a mark.
    pub(crate) is_complete: bool,
    /// Container and key of the first mark of each row.
    firsts: Vec<(u64, u64)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct MarkRow {
    document: JsonDocumentId,
    row_idx: usize,
    tenant: TenantId,
    marks: String,
}

impl TypedObject for MarkRow {
    type Id = str;

    const KIND: &'static str = "context_marks";

    fn id(&self) -> String {
        row_id(&self.document, self.row_idx)
    }

    fn tenant(&self) -> TenantId {
        self.tenant.clone()
    }

    fn parent(&self) -> Option<String> {
        Some(self.document.to_string())
    }
}

fn row_id(document: &JsonDocumentId, row_idx: usize) -> String {
    format!("{document}/{row_idx:08}")
}

/// Keeps marks beside the parts of a document.
pub(crate) fn keep(
    catalogue: &dyn Objects,
    document: &Document,
    marks: &Marks,
) -> Result<Directory> {
    let mut firsts = vec![];
    for (row_idx, few) in marks.marks.chunks(limits::MARKS_PER_ROW).enumerate() {
        firsts.extend(few.first().map(|mark| (mark.container, mark.key)));
        let mut bytes = Vec::with_capacity(few.len() * MARK_BYTES);
        for mark in few {
            for number in [mark.container, mark.key, mark.at] {
                bytes.extend_from_slice(&number.to_be_bytes());
            }
        }
        let row = MarkRow {
            document: document.id.clone(),
            row_idx,
            tenant: document.tenant.clone(),
            marks: STANDARD.encode(bytes),
        };
        row.save(catalogue)?;
    }
    Ok(Directory { is_complete: marks.is_complete, firsts })
}

/// Gives the rows that hold a document's marks.
pub(crate) fn rows(document: &Document) -> impl Iterator<Item = ObjectKey> {
    let n_rows = document.marks.as_ref().map_or(0, |directory| directory.firsts.len());
    (0..n_rows).map(|row_idx| ObjectKey::new(MarkRow::KIND, row_id(&document.id, row_idx)))
}

/// Looks marks up, a row at a time.
pub(crate) struct Lookup {
    catalogue: Arc<dyn Objects>,
    document: Arc<Document>,
    row: Option<(usize, Vec<Mark>)>,
}

impl Lookup {
    pub(crate) fn new(catalogue: &Arc<dyn Objects>, document: &Arc<Document>) -> Self {
        let (catalogue, document) = (Arc::clone(catalogue), Arc::clone(document));
        Lookup { catalogue, document, row: None }
    }

    /// Tells whether a key of an object that is far behind its beginning must have a mark.
    pub(crate) fn is_complete(&self) -> bool {
        self.document.marks.as_ref().is_some_and(|directory| directory.is_complete)
    }

    /// Gives the last mark of an array at or before an index.
    pub(crate) fn at_or_before(&mut self, container: u64, index: u64) -> Result<Option<Mark>> {
        let wanted = (container, index);
        let Some(row_idx) = self.rows_before(|first| first <= wanted).checked_sub(1) else {
            return Ok(None);
        };
        let marks = self.row(row_idx)?;
        let n_before = marks.partition_point(|mark| (mark.container, mark.key) <= wanted);
        let last = n_before.checked_sub(1).map(|mark_idx| marks[mark_idx]);
        Ok(last.filter(|mark| mark.container == container))
    }

    /// Gives the marks of an object under a key: one, unless two keys have the same hash.
    pub(crate) fn exactly(&mut self, container: u64, key: u64) -> Result<Vec<Mark>> {
        let wanted = (container, key);
        let begin = self.rows_before(|first| first < wanted).saturating_sub(1);
        let end = self.rows_before(|first| first <= wanted);
        let mut found = vec![];
        for row_idx in begin..end {
            let marks = self.row(row_idx)?;
            let from = marks.partition_point(|mark| (mark.container, mark.key) < wanted);
            let these =
                marks[from..].iter().take_while(|mark| (mark.container, mark.key) == wanted);
            found.extend(these.copied());
        }
        Ok(found)
    }

    fn rows_before(&self, is_before: impl Fn((u64, u64)) -> bool) -> usize {
        let firsts = self.document.marks.as_ref().map(|directory| directory.firsts.as_slice());
        firsts.unwrap_or_default().partition_point(|first| is_before(*first))
    }

    fn row(&mut self, row_idx: usize) -> Result<&[Mark]> {
        if self.row.as_ref().is_none_or(|(kept_idx, _)| *kept_idx != row_idx) {
            let id = row_id(&self.document.id, row_idx);
            // The document was replaced under the reader, and its rows are gone.
            let (row, _) =
                MarkRow::load(&*self.catalogue, &id)?.ok_or(Error::Object(ObjectError::Busy))?;
            self.row = Some((row_idx, decode(&row.marks)?));
        }
        Ok(self.row.as_ref().map(|(_, marks)| marks.as_slice()).unwrap_or_default())
    }
}

fn decode(text: &str) -> Result<Vec<Mark>> {
    let bytes =
        STANDARD.decode(text).map_err(|error| Error::Document(std::io::Error::other(error)))?;
    let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let marks = bytes.chunks_exact(MARK_BYTES).map(|bytes| Mark {
        container: number(&bytes[..8]),
        key: number(&bytes[8..16]),
        at: number(&bytes[16..]),
    });
    Ok(marks.collect())
}

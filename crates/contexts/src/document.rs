//! Documents as the catalogue keeps them: their bytes in parts, so that a backup holds them and
//! every server reads them, and so that writing holds a few parts and reading one.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use model::{Deadline, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::{Change, ObjectKey, Objects, TypedObject};

use crate::json::{self, Marks, Summary};
use crate::marks::{self, Directory};
use crate::object_ids::{JsonDocumentId, TableId};
use crate::reader::Reader;
use crate::{Error, Result, limits};
use ingest::{ObjectError, new_id};

/// One version of a table's document. Its parts are its children in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Document {
    pub(crate) id: JsonDocumentId,
    pub(crate) table_id: TableId,
    pub(crate) tenant: TenantId,
    pub(crate) n_bytes: u64,
    pub(crate) sha256: String,
    /// Where each part begins; empty until all of them are kept.
    pub(crate) starts: Vec<u64>,
    /// Where a walk can begin; nothing for a document that an earlier program kept.
    #[serde(default)]
    pub(crate) marks: Option<Directory>,
    pub(crate) created_at: Timestamp,
}

impl TypedObject for Document {
    type Id = JsonDocumentId;

    const KIND: &'static str = "context_document";

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn tenant(&self) -> TenantId {
        self.tenant.clone()
    }

    fn parent(&self) -> Option<String> {
        Some(self.table_id.to_string())
    }
}

/// A piece of a document, cut between characters.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Part {
    document: JsonDocumentId,
    part_idx: usize,
    tenant: TenantId,
    pub(crate) text: String,
}

impl TypedObject for Part {
    type Id = str;

    const KIND: &'static str = "context_part";

    fn id(&self) -> String {
        part_id(&self.document, self.part_idx)
    }

    fn tenant(&self) -> TenantId {
        self.tenant.clone()
    }

    fn parent(&self) -> Option<String> {
        Some(self.document.to_string())
    }
}

pub(crate) fn part_id(document: &JsonDocumentId, part_idx: usize) -> String {
    format!("{document}/{part_idx:08}")
}

/// Whom a document belongs to.
pub(crate) struct Owner<'a> {
    pub(crate) table: &'a TableId,
    pub(crate) tenant: &'a TenantId,
}

/// Checks a file and keeps its bytes; a file that is no JSON leaves nothing behind.
pub(crate) fn keep(
    catalogue: &dyn Objects,
    owner: &Owner<'_>,
    file: &Path,
    max_bytes: u64,
    now: Timestamp,
    deadline: &Deadline,
) -> Result<(Document, Summary)> {
    let n_bytes = fs_err::metadata(file).map_err(Error::Document)?.len();
    if n_bytes > max_bytes {
        let what = "the size of the document in bytes";
        let (received, allowed) = (n_bytes as usize, max_bytes as usize);
        return Err(Error::Object(ObjectError::TooLarge { what, received, allowed }));
    }
    let open = || Ok(InTime { reader: fs_err::File::open(file)?, deadline });
    let (summary, marks) = json::check(open).map_err(in_time)?;
    let mut document = Document {
        id: JsonDocumentId::new(new_id()),
        table_id: owner.table.clone(),
        tenant: owner.tenant.clone(),
        n_bytes: 0,
        sha256: String::new(),
        starts: vec![],
        marks: None,
        created_at: now,
    };
    // Kept before its parts: whatever happens to this process, the parts have a parent that can
    // be found and swept.
    document.save(catalogue)?;
    let kept = open()
        .map_err(Error::Document)
        .and_then(|reader| copy(catalogue, &mut document, reader))
        .and_then(|()| mark(catalogue, &mut document, &marks));
    match kept {
        Ok(_) => Ok((document, summary)),
        Err(error) => {
            // The first failure is what the caller must know; the sweep takes what stays behind.
            let _ = forget(catalogue, &document.id);
            Err(error)
        }
    }
}

/// Keeps the marks of a document, and the document with what it knows about them.
pub(crate) fn mark(catalogue: &dyn Objects, document: &mut Document, marks: &Marks) -> Result<()> {
    document.marks = Some(marks::keep(catalogue, document, marks)?);
    document.save(catalogue)?;
    Ok(())
}

/// Marks a document that an earlier program kept without marks.
pub(crate) fn mark_kept(catalogue: &Arc<dyn Objects>, id: &JsonDocumentId) -> Result<()> {
    let Some((mut document, _)) = Document::load(&**catalogue, id)? else { return Ok(()) };
    if document.marks.is_some() {
        return Ok(());
    }
    let read = Arc::new(document.clone());
    let (_, marks) = json::check(|| Ok(Reader::new(catalogue, &read, 0, None))).map_err(in_time)?;
    mark(&**catalogue, &mut document, &marks)
}

/// Removes a document with its parts, a few at a time.
pub(crate) fn forget(catalogue: &dyn Objects, id: &JsonDocumentId) -> Result<()> {
    let key = ObjectKey::new(Document::KIND, id.as_str());
    let Some((kept, _)) = Document::load(catalogue, id)? else { return Ok(()) };
    let parts =
        (0..kept.starts.len()).map(|part_idx| ObjectKey::new(Part::KIND, part_id(id, part_idx)));
    let changes: Vec<Change> = parts.chain(marks::rows(&kept)).map(Change::Delete).collect();
    for few in changes.chunks(limits::PARTS_PER_COMMIT) {
        catalogue.apply(few)?;
    }
    catalogue.apply(&[Change::DeleteChildren(key.clone()), Change::Delete(key)])?;
    Ok(())
}

fn copy(catalogue: &dyn Objects, document: &mut Document, mut reader: impl Read) -> Result<()> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; limits::PART_BYTES];
    let mut filled = 0;
    let mut starts = vec![];
    let mut waiting = vec![];
    loop {
        let n_read = reader.read(&mut buffer[filled..]).map_err(io_in_time)?;
        filled += n_read;
        if filled < buffer.len() && n_read > 0 {
            continue;
        }
        if filled == 0 {
            break;
        }
        // The check before has seen that all of it is UTF-8; a part ends between two characters.
        let text = match std::str::from_utf8(&buffer[..filled]) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&buffer[..error.valid_up_to()]).unwrap_or_default(),
        };
        if text.is_empty() {
            let changed = io::Error::other("the file changed while it was read");
            return Err(Error::Document(changed));
        }
        let part = Part {
            document: document.id.clone(),
            part_idx: starts.len(),
            tenant: document.tenant.clone(),
            text: text.to_owned(),
        };
        let n_text = text.len();
        digest.update(&buffer[..n_text]);
        waiting.push(Change::Put(part.to_object(0)?));
        if waiting.len() == limits::PARTS_PER_COMMIT {
            catalogue.apply(&waiting)?;
            waiting.clear();
        }
        starts.push(document.n_bytes);
        document.n_bytes += n_text as u64;
        buffer.copy_within(n_text..filled, 0);
        filled -= n_text;
    }
    catalogue.apply(&waiting)?;
    document.sha256 = model::hex(digest.finalize());
    document.starts = starts;
    Ok(())
}

/// A reader that ends with its deadline.
struct InTime<'a, R> {
    reader: R,
    deadline: &'a Deadline,
}

impl<R: Read> Read for InTime<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.deadline.is_over() {
            return Err(time_over());
        }
        self.reader.read(into)
    }
}

pub(crate) fn time_over() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the time for this call is over")
}

/// Tells the end of a deadline from other failures.
pub(crate) fn in_time(error: json::JsonError) -> Error {
    match error {
        json::JsonError::Read(error) => io_in_time(error),
        json::JsonError::Invalid { .. } => error.into(),
    }
}

fn io_in_time(error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::TimedOut { Error::TimeOver } else { Error::Document(error) }
}

//! Reading the rows of namespaces, documents and passages.

use std::sync::Arc;

use model::{Attributes, DocumentId, NamespaceId, Passage, PassageId, Pointer, Span, Timestamp};
use sha2::{Digest, Sha256};
use store::{
    Counts, DocumentInfo, DocumentSource, Error, LogKind, Manifest, NamespaceInfo, NamespaceState,
    Result, StoredPassage,
};
use text::{Language, LanguageSet};
use tokio_postgres::Row;

use crate::connection::Connection;
use crate::escape;

const KEY_BYTES: usize = 16;

/// Gives the key under which an id is found.
pub(crate) fn key(id: &str) -> Vec<u8> {
    Sha256::digest(id.as_bytes())[..KEY_BYTES].to_vec()
}

/// Gives what tells whether a vector made for one passage fits another.
pub(crate) fn content(passage: &Passage) -> Vec<u8> {
    let mut hash = Sha256::new();
    for heading in &passage.headings {
        hash.update((heading.len() as u64).to_le_bytes());
        hash.update(heading.as_bytes());
    }
    hash.update(u64::MAX.to_le_bytes());
    hash.update(passage.text.as_bytes());
    hash.finalize()[..KEY_BYTES].to_vec()
}

/// Gives a text column.
pub(crate) fn text(row: &Row, idx: usize) -> String {
    escape::read(row.get(idx))
}

/// Gives a text column that may be null.
pub(crate) fn text_or_null(row: &Row, idx: usize) -> Option<String> {
    row.get::<_, Option<String>>(idx).map(escape::read)
}

/// Gives a column of texts.
pub(crate) fn texts(row: &Row, idx: usize) -> Vec<String> {
    row.get::<_, Vec<String>>(idx).into_iter().map(escape::read).collect()
}

/// Gives a number column that holds a passage number or a count of passages.
pub(crate) fn number(row: &Row, idx: usize) -> u32 {
    u32::try_from(row.get::<_, i64>(idx)).unwrap_or(u32::MAX)
}

/// Gives a number column that holds a count.
pub(crate) fn count(row: &Row, idx: usize) -> usize {
    usize::try_from(row.get::<_, i64>(idx)).unwrap_or(0)
}

/// Gives a number column that holds a sequence number.
pub(crate) fn sequence(row: &Row, idx: usize) -> u64 {
    u64::try_from(row.get::<_, i64>(idx)).unwrap_or(0)
}

/// Reads JSON.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(kind: &str, id: &str, json: &str) -> Result<T> {
    serde_json::from_str(json).map_err(|source| Error::BadObject {
        kind: kind.to_owned(),
        id: id.to_owned(),
        source,
    })
}

/// The number of a namespace as PostgreSQL has it.
pub(crate) fn namespace_number(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// A namespace as the catalogue knows it.
#[derive(Debug, Clone)]
pub(crate) struct NamespaceRow {
    pub(crate) state: NamespaceState,
    pub(crate) last_sequence: u64,
}

impl NamespaceRow {
    /// The number as PostgreSQL has it.
    pub(crate) fn number(&self) -> i32 {
        namespace_number(self.state.number)
    }
}

/// Whether other writers of a namespace have to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    /// The row is only read.
    No,
    /// Until the end of the transaction nobody else writes the namespace.
    Yes,
}

/// The columns of [`read_namespace`]; `n` is the namespace.
pub(crate) const NAMESPACE: &str = "n.number, n.id, n.manifest, n.created_at, n.n_documents, \
    n.n_passages, n.n_vectors, n.next_passage, n.languages, n.last_sequence";

pub(crate) async fn find_namespace(
    connection: &mut Connection,
    id: &NamespaceId,
    lock: Lock,
) -> Result<Option<NamespaceRow>> {
    let suffix = if lock == Lock::Yes { " FOR UPDATE" } else { "" };
    let sql = format!(
        "SELECT {NAMESPACE} FROM namespaces n WHERE NOT n.is_dropped AND n.id_key = $1{suffix}"
    );
    let found = connection.query_opt(&sql, &[&key(id.as_str())]).await?;
    found.as_ref().map(|row| read_namespace(row, 0)).transpose()
}

/// Gives namespaces by id, those that there are, in no order.
pub(crate) async fn namespaces_by_id(
    connection: &mut Connection,
    ids: &[&NamespaceId],
) -> Result<Vec<NamespaceRow>> {
    let keys: Vec<Vec<u8>> = ids.iter().map(|id| key(id.as_str())).collect();
    let sql = format!(
        "SELECT {NAMESPACE} FROM namespaces n WHERE NOT n.is_dropped AND n.id_key = ANY($1)"
    );
    let found = connection.query(&sql, &[&keys]).await?;
    found.iter().map(|row| read_namespace(row, 0)).collect()
}

pub(crate) async fn namespace(
    connection: &mut Connection,
    id: &NamespaceId,
    lock: Lock,
) -> Result<NamespaceRow> {
    find_namespace(connection, id, lock)
        .await?
        .ok_or_else(|| Error::UnknownNamespace { namespace: id.clone() })
}

/// Lists all namespaces in the order of their ids.
pub(crate) async fn namespaces(connection: &mut Connection) -> Result<Vec<NamespaceRow>> {
    let sql = format!("SELECT {NAMESPACE} FROM namespaces n WHERE NOT n.is_dropped ORDER BY n.id");
    let found = connection.query(&sql, &[]).await?;
    found.iter().map(|row| read_namespace(row, 0)).collect()
}

/// Reads the columns of [`NAMESPACE`], which begin at `first`.
pub(crate) fn read_namespace(row: &Row, first: usize) -> Result<NamespaceRow> {
    let id = text(row, first + 1);
    let manifest: Manifest = parse("namespace", &id, &text(row, first + 2))?;
    let state = NamespaceState {
        number: u32::try_from(row.get::<_, i32>(first)).unwrap_or(0),
        info: NamespaceInfo {
            id: NamespaceId::new(id),
            manifest,
            created_at: Timestamp(row.get(first + 3)),
        },
        counts: Counts {
            n_documents: count(row, first + 4),
            n_passages: count(row, first + 5),
            n_vectors: count(row, first + 6),
        },
        next_passage: number(row, first + 7),
        languages: LanguageSet::from_bits(row.get::<_, i64>(first + 8) as u64),
    };
    Ok(NamespaceRow { state, last_sequence: sequence(row, first + 9) })
}

/// The columns of [`read_document_info`].
pub(crate) const DOCUMENT_INFO: &str =
    "id, title, attributes, metadata, fingerprint, n_passages, updated_at";

/// Reads the columns of [`DOCUMENT_INFO`].
pub(crate) fn read_document_info(row: &Row) -> Result<DocumentInfo> {
    let id = text(row, 0);
    Ok(DocumentInfo {
        title: text(row, 1),
        attributes: parse("document", &id, &text(row, 2))?,
        metadata: parse("document", &id, &text(row, 3))?,
        fingerprint: text(row, 4),
        n_passages: count(row, 5),
        updated_at: Timestamp(row.get(6)),
        id: DocumentId::new(id),
    })
}

/// The columns of [`read_passage`], which come first in a row; `p` is the passage.
pub(crate) const PASSAGE: &str =
    "p.id, p.ordinal, p.span_start, p.span_end, p.pointer, p.headings, p.text, p.number";

/// Reads the columns of [`PASSAGE`]; there are eight of them.
pub(crate) fn read_passage(row: &Row) -> Result<Passage> {
    let id = text(row, 0);
    let headings = match text_or_null(row, 5) {
        Some(headings) => parse("passage", &id, &headings)?,
        None => vec![],
    };
    Ok(Passage {
        id: PassageId::new(id),
        ordinal: number(row, 1),
        text: text(row, 6),
        span: Span { start: count(row, 2), end: count(row, 3) },
        pointer: pointer_of(text_or_null(row, 4)),
        headings,
    })
}

/// Gives the pointer that a row has the text of; nothing means the whole.
pub(crate) fn pointer_of(text: Option<String>) -> Pointer {
    match text {
        None => Pointer::Whole,
        // A pointer whose text does not read back becomes a place inside a file: it still prints
        // the same.
        Some(text) => text.parse().unwrap_or(Pointer::Json(text)),
    }
}

/// A passage `p` with its document `d`.
pub(crate) const WITH_DOCUMENT: &str = "passages p JOIN documents d \
    ON d.namespace = p.namespace AND d.id_key = p.document";

/// The condition that a passage `p` belongs to the present version of its document `d`.
pub(crate) const IS_LIVING: &str =
    "p.number >= d.first_passage AND p.number < d.first_passage + d.n_passages";

/// The number of the namespace whose key is the first value of a statement.
pub(crate) const NUMBER_OF_FIRST: &str =
    "(SELECT number FROM namespaces WHERE NOT is_dropped AND id_key = $1)";

/// The columns after [`PASSAGE`] that [`read_stored`] needs.
pub(crate) const STORED: &str = "d.id, d.title, d.language";

/// Reads the columns of [`PASSAGE`] and [`STORED`].
pub(crate) fn read_stored(row: &Row) -> Result<StoredPassage> {
    Ok(StoredPassage {
        document: DocumentId::new(text(row, 8)),
        title: text(row, 9),
        language: language(row, 10),
        passage: read_passage(row)?,
    })
}

/// The columns after [`PASSAGE`] that [`read_source_document`] needs.
pub(crate) const SOURCE_DOCUMENT: &str = "d.id, d.title, d.attributes, d.language, d.first_passage";

/// Reads the columns of [`SOURCE_DOCUMENT`], or takes the document of the row before.
pub(crate) fn read_source_document(
    row: &Row,
    before: Option<&Arc<DocumentSource>>,
) -> Result<Arc<DocumentSource>> {
    let first_passage = number(row, 12);
    if let Some(before) = before
        && before.first_passage == first_passage
    {
        return Ok(Arc::clone(before));
    }
    let id = text(row, 8);
    let attributes: Attributes = parse("document", &id, &text(row, 10))?;
    Ok(Arc::new(DocumentSource {
        id: DocumentId::new(id),
        title: text(row, 9),
        attributes,
        language: language(row, 11),
        first_passage,
    }))
}

fn language(row: &Row, idx: usize) -> Language {
    row.get::<_, &str>(idx).parse().unwrap_or(Language::Unknown)
}

/// Gives the number that means what happened, in a row of the log.
pub(crate) fn code_of(kind: LogKind) -> i16 {
    match kind {
        LogKind::Added => 0,
        LogKind::Removed => 1,
        LogKind::Vectors => 2,
    }
}

/// Gives what happened by its number.
pub(crate) fn kind_of(code: i16) -> Option<LogKind> {
    let kinds = [LogKind::Added, LogKind::Removed, LogKind::Vectors];
    kinds.get(usize::try_from(code).ok()?).copied()
}

pub(crate) fn bytes_of(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Gives the vector of bytes.
pub(crate) fn floats(bytes: &[u8]) -> Vec<f32> {
    let (chunks, _) = bytes.as_chunks::<4>();
    chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
}

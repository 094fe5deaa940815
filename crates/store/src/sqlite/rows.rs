//! Reading and writing the rows of namespaces, documents and passages.

use model::{Attributes, DocumentId, NamespaceId, Passage, PassageId, Pointer, Span, Timestamp};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, ToSql, params};
use text::{Language, LanguageSet};

use super::database::ROW_BITS;
use super::texts::{Blocks, Reader};
use crate::{
    Counts, DocumentInfo, Error, LogEntry, LogKind, Manifest, NamespaceInfo, NamespaceState,
    Result, StoredPassage,
};

/// A namespace as the catalogue knows it.
#[derive(Debug, Clone)]
pub(crate) struct NamespaceRow {
    pub(crate) number: u32,
    pub(crate) info: NamespaceInfo,
    pub(crate) counts: Counts,
    pub(crate) next_passage: u32,
    pub(crate) next_document: u32,
    /// The languages of the documents ever written.
    pub(crate) languages: LanguageSet,
}

impl NamespaceRow {
    /// Gives what others may know of it.
    pub(super) fn into_state(self) -> NamespaceState {
        NamespaceState {
            number: self.number,
            info: self.info,
            counts: self.counts,
            next_passage: self.next_passage,
            languages: self.languages,
        }
    }
}

/// A document's place in the catalogue.
#[derive(Debug, Clone)]
pub(crate) struct DocumentRow {
    pub(crate) row: i64,
    pub(crate) first_passage: u32,
    pub(crate) n_passages: u32,
    pub(crate) title: String,
    pub(crate) attributes: Attributes,
    pub(crate) id: DocumentId,
    pub(crate) language: Language,
}

/// Gives the number that stands for what happened in a row of the log.
fn code_of(kind: LogKind) -> u8 {
    match kind {
        LogKind::Added => 0,
        LogKind::Removed => 1,
        LogKind::Vectors => 2,
    }
}

fn kind_of(code: u8) -> Option<LogKind> {
    [LogKind::Added, LogKind::Removed, LogKind::Vectors].get(usize::from(code)).copied()
}

/// Gives the row of a passage or document by its number.
pub(crate) fn row_of(namespace: u32, number: u32) -> i64 {
    i64::from(namespace) << ROW_BITS | i64::from(number)
}

/// Gives the number of a passage or document by its row.
pub(crate) fn number_of(row: i64) -> u32 {
    (row & i64::from(u32::MAX)) as u32
}

/// Gives the first and the last possible row of a namespace.
pub(crate) fn rows_of(namespace: u32) -> (i64, i64) {
    (row_of(namespace, 0), row_of(namespace, u32::MAX))
}

/// Gives the number under which passages are found by id; two ids may share one.
pub(crate) fn id_hash(namespace: u32, id: &str) -> i64 {
    let bytes = namespace.to_le_bytes().into_iter().chain(id.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    hash as i64
}

const NAMESPACE: &str =
    "SELECT number, id, manifest, created_at, n_documents, n_passages, n_vectors,
    next_passage, next_document, languages FROM namespaces WHERE is_dropped = 0";

pub(crate) fn namespace(connection: &Connection, id: &NamespaceId) -> Result<Option<NamespaceRow>> {
    let mut statement = connection.prepare_cached(&format!("{NAMESPACE} AND id = ?"))?;
    let found = statement.query_row([id.as_str()], read_namespace).optional()?;
    found.map(finish_namespace).transpose()
}

pub(crate) fn namespaces(connection: &Connection) -> Result<Vec<NamespaceRow>> {
    let mut statement = connection.prepare_cached(&format!("{NAMESPACE} ORDER BY id"))?;
    let rows = statement.query_map([], read_namespace)?;
    rows.map(|row| finish_namespace(row?)).collect()
}

fn read_namespace(row: &Row<'_>) -> rusqlite::Result<(NamespaceRow, String)> {
    let manifest = Manifest::current(None);
    let info = NamespaceInfo {
        id: NamespaceId::new(row.get::<_, String>(1)?),
        manifest,
        created_at: Timestamp(row.get(3)?),
    };
    let counts =
        Counts { n_documents: row.get(4)?, n_passages: row.get(5)?, n_vectors: row.get(6)? };
    let found = NamespaceRow {
        number: row.get(0)?,
        info,
        counts,
        next_passage: row.get(7)?,
        next_document: row.get(8)?,
        languages: LanguageSet::from_bits(row.get::<_, i64>(9)? as u64),
    };
    Ok((found, row.get(2)?))
}

fn finish_namespace((mut row, manifest): (NamespaceRow, String)) -> Result<NamespaceRow> {
    row.info.manifest = parse("namespace", row.info.id.as_str(), &manifest)?;
    Ok(row)
}

pub(crate) fn document_row(
    connection: &Connection,
    namespace: u32,
    id: &str,
) -> Result<Option<DocumentRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT row, first_passage, n_passages, title, attributes, id, language FROM documents
         WHERE namespace = ? AND id = ?",
    )?;
    let found = statement.query_row(params![namespace, id], read_document_row).optional()?;
    found.map(finish_document_row).transpose()
}

pub(crate) fn document_row_at(connection: &Connection, row: i64) -> Result<Option<DocumentRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT row, first_passage, n_passages, title, attributes, id, language FROM documents WHERE row = ?",
    )?;
    let found = statement.query_row([row], read_document_row).optional()?;
    found.map(finish_document_row).transpose()
}

fn read_document_row(row: &Row<'_>) -> rusqlite::Result<(DocumentRow, String)> {
    let found = DocumentRow {
        row: row.get(0)?,
        first_passage: row.get(1)?,
        n_passages: row.get(2)?,
        title: row.get(3)?,
        attributes: Attributes::new(),
        id: DocumentId::new(row.get::<_, String>(5)?),
        language: row.get::<_, String>(6)?.parse().unwrap_or(Language::Unknown),
    };
    Ok((found, row.get(4)?))
}

fn finish_document_row((mut row, attributes): (DocumentRow, String)) -> Result<DocumentRow> {
    row.attributes = parse("document", row.id.as_str(), &attributes)?;
    Ok(row)
}

pub(crate) const DOCUMENT_INFO: &str =
    "SELECT id, title, attributes, metadata, fingerprint, n_passages, updated_at FROM documents";

pub(crate) fn read_document_info(
    row: &Row<'_>,
) -> rusqlite::Result<(DocumentInfo, String, String)> {
    let info = DocumentInfo {
        id: DocumentId::new(row.get::<_, String>(0)?),
        title: row.get(1)?,
        attributes: Attributes::new(),
        metadata: serde_json::Value::Null,
        fingerprint: row.get(4)?,
        n_passages: row.get(5)?,
        updated_at: Timestamp(row.get(6)?),
    };
    Ok((info, row.get(2)?, row.get(3)?))
}

pub(crate) fn finish_document_info(
    (mut info, attributes, metadata): (DocumentInfo, String, String),
) -> Result<DocumentInfo> {
    info.attributes = parse("document", info.id.as_str(), &attributes)?;
    info.metadata = parse("document", info.id.as_str(), &metadata)?;
    Ok(info)
}

pub(crate) const PASSAGE: &str = "passages.id, passages.ordinal, passages.span_start,
    passages.span_end, passages.pointer, passages.headings, passages.row";

/// The columns of [`PASSAGE`], which come first in a row, before they are made sense of.
pub(crate) struct RawPassage {
    passage: Passage,
    pointer: Option<String>,
    headings: Option<String>,
    pub(crate) row: i64,
}

/// Reads the columns of [`PASSAGE`].
pub(crate) fn read_passage(row: &Row<'_>) -> rusqlite::Result<RawPassage> {
    let passage = Passage {
        id: PassageId::new(row.get::<_, String>(0)?),
        ordinal: row.get(1)?,
        text: String::new(),
        span: Span { start: row.get(2)?, end: row.get(3)? },
        pointer: Pointer::Whole,
        headings: vec![],
    };
    Ok(RawPassage { passage, pointer: row.get(4)?, headings: row.get(5)?, row: row.get(6)? })
}

/// Makes a passage of its columns and its text.
pub(crate) fn finish_passage(raw: RawPassage, texts: &mut Reader<'_>) -> Result<Passage> {
    let mut passage = raw.passage;
    passage.text = texts.text(raw.row)?;
    passage.pointer = pointer_of(raw.pointer);
    if let Some(headings) = raw.headings {
        passage.headings = parse("passage", passage.id.as_str(), &headings)?;
    }
    Ok(passage)
}

/// Gives the pointer that a row has the text of; nothing stands for the whole.
pub(crate) fn pointer_of(text: Option<String>) -> Pointer {
    match text {
        None => Pointer::Whole,
        // A pointer whose text does not read back becomes a place inside a file: it still prints
        // the same.
        Some(text) => text.parse().unwrap_or(Pointer::Json(text)),
    }
}

/// The condition that picks a passage by hash, id and namespace if its document still has it.
const IS_LIVING: &str = "id_hash = ? AND passages.id = ? AND documents.namespace = ?
    AND passages.row - (documents.namespace << 32) - documents.first_passage
        BETWEEN 0 AND documents.n_passages - 1";

/// Gives the row of a living passage by id.
pub(crate) fn living_row(
    connection: &Connection,
    namespace: u32,
    id: &PassageId,
) -> Result<Option<i64>> {
    let mut statement = connection
        .prepare_cached(&format!("SELECT passages.row FROM {STORED_PASSAGE} {IS_LIVING}"))?;
    let hash = id_hash(namespace, id.as_str());
    Ok(statement.query_row(params![hash, id.as_str(), namespace], |row| row.get(0)).optional()?)
}

/// A passage with its document, up to the condition that picks it.
const STORED_PASSAGE: &str = "passages JOIN documents ON documents.row = passages.document WHERE";

/// Gives a passage with its document by row.
pub(crate) fn stored_passage(connection: &Connection, row: i64) -> Result<Option<StoredPassage>> {
    let condition = "passages.row = ?";
    read_stored(connection, condition, params![row])
}

/// Gives living passages with their documents by id, in the order asked.
pub(crate) fn living_passages(
    connection: &Connection,
    blocks: &Blocks,
    namespace: u32,
    ids: &[PassageId],
) -> Result<Vec<Option<StoredPassage>>> {
    let mut found = Vec::with_capacity(ids.len());
    let mut statement = raw_statement(connection, IS_LIVING)?;
    for (idx, id) in ids.iter().enumerate() {
        let hash = id_hash(namespace, id.as_str());
        let raw = read_raw(&mut statement, params![hash, id.as_str(), namespace])?;
        found.extend(raw.map(|raw| (idx, raw)));
    }
    // In the order of their rows, so that texts of the same block are unpacked once.
    found.sort_by_key(|(_, raw)| raw.passage.row);
    let mut texts = Reader::remembering(connection, blocks);
    let mut passages = vec![None; ids.len()];
    for (idx, raw) in found {
        passages[idx] = Some(raw.finish(&mut texts)?);
    }
    Ok(passages)
}

/// A passage with its document, before its text is read.
struct RawStored {
    passage: RawPassage,
    document: DocumentId,
    title: String,
    language: Language,
}

impl RawStored {
    fn finish(self, texts: &mut Reader<'_>) -> Result<StoredPassage> {
        let RawStored { passage, document, title, language } = self;
        Ok(StoredPassage { document, title, language, passage: finish_passage(passage, texts)? })
    }
}

fn read_stored(
    connection: &Connection,
    condition: &str,
    values: &[&dyn ToSql],
) -> Result<Option<StoredPassage>> {
    let raw = read_raw(&mut raw_statement(connection, condition)?, values)?;
    raw.map(|raw| raw.finish(&mut Reader::new(connection))).transpose()
}

/// Prepares what [`read_raw`] reads with; looking for it costs a fifth of using it.
fn raw_statement<'c>(connection: &'c Connection, condition: &str) -> Result<CachedStatement<'c>> {
    Ok(connection.prepare_cached(&format!(
        "SELECT {PASSAGE}, documents.id, documents.title, documents.language
         FROM {STORED_PASSAGE} {condition}"
    ))?)
}

fn read_raw(
    statement: &mut CachedStatement<'_>,
    values: &[&dyn ToSql],
) -> Result<Option<RawStored>> {
    let found = statement.query_row(values, |row| {
        Ok(RawStored {
            passage: read_passage(row)?,
            document: DocumentId::new(row.get::<_, String>(7)?),
            title: row.get(8)?,
            language: row.get_ref(9)?.as_str()?.parse().unwrap_or(Language::Unknown),
        })
    });
    Ok(found.optional()?)
}

pub(crate) fn append_log(
    connection: &Connection,
    namespace: u32,
    kind: LogKind,
    first: u32,
    count: u32,
) -> Result<u64> {
    connection
        .prepare_cached("INSERT INTO log (namespace, kind, first, count) VALUES (?, ?, ?, ?)")?
        .execute(params![namespace, code_of(kind), first, count])?;
    Ok(connection.last_insert_rowid() as u64)
}

pub(crate) fn log_after(
    connection: &Connection,
    namespace: u32,
    sequence: u64,
    limit: usize,
) -> Result<Vec<LogEntry>> {
    let mut statement = connection.prepare_cached(
        "SELECT sequence, kind, first, count FROM log WHERE namespace = ? AND sequence > ?
         ORDER BY sequence LIMIT ?",
    )?;
    let rows = statement.query_map(params![namespace, sequence, limit], |row| {
        Ok((row.get(0)?, row.get::<_, u8>(1)?, row.get(2)?, row.get(3)?))
    })?;
    let mut entries = vec![];
    for row in rows {
        let (sequence, code, first, count) = row?;
        if let Some(kind) = kind_of(code) {
            entries.push(LogEntry { sequence, kind, first, count });
        }
    }
    Ok(entries)
}

/// Gives the sequence number of the last change to a namespace.
pub(crate) fn last_sequence(connection: &Connection, namespace: u32) -> Result<u64> {
    let mut statement = connection.prepare_cached(
        "SELECT max(ifnull((SELECT max(sequence) FROM log WHERE namespace = ?1), 0),
                    ifnull((SELECT log_starts_after FROM namespaces WHERE number = ?1), 0))",
    )?;
    Ok(statement.query_row([namespace], |row| row.get(0))?)
}

pub(crate) fn parse<T: serde::de::DeserializeOwned>(kind: &str, id: &str, json: &str) -> Result<T> {
    serde_json::from_str(json).map_err(|source| Error::BadObject {
        kind: kind.to_owned(),
        id: id.to_owned(),
        source,
    })
}

//! The tables of the SQLite catalogue, and how a file of an earlier format becomes one of this.
//!
//! Each step from one format to the next runs in the same transaction, so that a process that
//! dies on the way leaves the file as it was.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use serde_json::json;

use super::{checksums, texts};
use crate::{Error, FORMAT, Result, failpoint};

/// Texts that are held at once while a catalogue is upgraded; a block may end earlier than it would
/// have to.
const TEXTS_PER_RUN: usize = 4_096;

const FORMAT_1: &str = "
CREATE TABLE namespaces (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    manifest TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    next_passage INTEGER NOT NULL DEFAULT 0,
    next_document INTEGER NOT NULL DEFAULT 0,
    n_documents INTEGER NOT NULL DEFAULT 0,
    n_passages INTEGER NOT NULL DEFAULT 0,
    n_vectors INTEGER NOT NULL DEFAULT 0,
    log_starts_after INTEGER NOT NULL DEFAULT 0,
    languages INTEGER NOT NULL DEFAULT 0,
    is_dropped INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX namespaces_by_id ON namespaces (id) WHERE is_dropped = 0;
CREATE TABLE documents (
    row INTEGER PRIMARY KEY,
    namespace INTEGER NOT NULL,
    id TEXT NOT NULL,
    title TEXT NOT NULL,
    attributes TEXT NOT NULL,
    metadata TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    language TEXT NOT NULL,
    first_passage INTEGER NOT NULL,
    n_passages INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX documents_by_id ON documents (namespace, id);
CREATE TABLE passages (
    row INTEGER PRIMARY KEY,
    document INTEGER NOT NULL,
    id_hash INTEGER NOT NULL,
    id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    span_start INTEGER NOT NULL,
    span_end INTEGER NOT NULL,
    pointer TEXT,
    headings TEXT,
    text TEXT NOT NULL
);
CREATE INDEX passages_by_id ON passages (id_hash);
CREATE TABLE vectors (row INTEGER PRIMARY KEY, vector BLOB NOT NULL);
CREATE TABLE awaiting_vectors (row INTEGER PRIMARY KEY);
CREATE TABLE blobs (row INTEGER PRIMARY KEY, blob BLOB NOT NULL);
CREATE TABLE log (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL
);
CREATE INDEX log_by_namespace ON log (namespace, sequence);
CREATE TABLE objects (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    parent TEXT,
    body TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX objects_by_parent ON objects (parent, kind, id);
CREATE TABLE lookups (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (kind, name, value, id)
) WITHOUT ROWID;
CREATE INDEX lookups_by_id ON lookups (kind, id);
";

/// Passages without their texts, texts in blocks, leases, files in pieces, and what the catalogue
/// knows of itself.
const FORMAT_2: &str = "
ALTER TABLE passages RENAME TO passages_1;
DROP INDEX passages_by_id;
CREATE TABLE passages (
    row INTEGER PRIMARY KEY,
    document INTEGER NOT NULL,
    id_hash INTEGER NOT NULL,
    id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    span_start INTEGER NOT NULL,
    span_end INTEGER NOT NULL,
    pointer TEXT,
    headings TEXT
);
CREATE TABLE texts (row INTEGER PRIMARY KEY, block BLOB NOT NULL);
CREATE TABLE about (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
INSERT INTO about VALUES ('changes', 0);
CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE pieces (
    file TEXT NOT NULL,
    piece INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (file, piece)
);
";

/// Makes the tables of an empty file, or brings those of an earlier format up to date.
///
/// # Errors
///
/// [`Error::FormatTooNew`] when a later program wrote the file.
pub(super) fn bring_up_to_date(connection: &mut Connection, path: &Path) -> Result<Upgraded> {
    let found = format_of(connection)?;
    if found > FORMAT {
        return Err(Error::FormatTooNew { path: path.to_owned(), found, known: FORMAT });
    }
    if found == FORMAT {
        return Ok(Upgraded::No);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it while this one waited.
    let found = format_of(&transaction)?;
    if found < 1 {
        transaction.execute_batch(FORMAT_1)?;
    }
    if found < 2 {
        transaction.execute_batch(FORMAT_2)?;
        let identity = format!("{:032x}", rand::random::<u128>());
        transaction.execute("INSERT INTO about VALUES ('identity', ?)", params![identity])?;
        take_over_passages(&transaction)?;
        take_over_turbopuffer(&transaction)?;
    }
    if found < 3 {
        checksums::add(&transaction)?;
    }
    transaction.pragma_update(None, "user_version", FORMAT)?;
    if found > 0 {
        failpoint::reach("upgrade written")?;
        tracing::info!(from = found, to = FORMAT, "catalogue upgraded");
    }
    transaction.commit()?;
    Ok(if found > 0 { Upgraded::Yes } else { Upgraded::No })
}

/// Whether a file of an earlier format was upgraded, which leaves free space behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Upgraded {
    Yes,
    No,
}

/// Format 1 had the text of each passage in its row. A version of a document is a run of rows of
/// one document without a gap; two runs of one document that touch may share a block, since the
/// earlier one is only waiting to be erased.
fn take_over_passages(transaction: &Transaction<'_>) -> Result<()> {
    {
        let mut versions = transaction.prepare(
            "SELECT row, document, text,
                 row = (SELECT (documents.namespace << 32) + documents.first_passage
                        FROM documents WHERE documents.row = passages_1.document)
             FROM passages_1 ORDER BY row",
        )?;
        let mut found = versions.query([])?;
        let mut texts: Vec<String> = vec![];
        let mut start: Option<(i64, i64)> = None;
        while let Some(row) = found.next()? {
            let (at, document, text): (i64, i64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let is_first: Option<bool> = row.get(3)?;
            let is_next = start.is_some_and(|(first, of)| {
                of == document && first + texts.len() as i64 == at && is_first != Some(true)
            });
            if !is_next || texts.len() >= TEXTS_PER_RUN {
                if let Some((first, _)) = start {
                    texts::write(transaction, first, texts.iter().map(String::as_str))?;
                }
                texts.clear();
                start = Some((at, document));
            }
            texts.push(text);
        }
        if let Some((first, _)) = start {
            texts::write(transaction, first, texts.iter().map(String::as_str))?;
        }
    }
    failpoint::reach("upgrade half written")?;
    transaction.execute_batch(
        "INSERT INTO passages SELECT row, document, id_hash, id, ordinal, span_start, span_end,
             pointer, headings FROM passages_1;
         DROP TABLE passages_1;
         CREATE INDEX passages_by_id ON passages (id_hash);",
    )?;
    Ok(())
}

pub(super) fn format_of(connection: &Connection) -> Result<u32> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Format 1 had tables for the namespaces of turbopuffer; they are objects now, so that an engine
/// needs nothing of a catalogue that only SQLite has.
fn take_over_turbopuffer(transaction: &Transaction<'_>) -> Result<()> {
    let has_tables: bool = transaction.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'turbopuffer_namespaces')",
        [],
        |row| row.get(0),
    )?;
    if !has_tables {
        return Ok(());
    }
    let mut namespaces = vec![];
    {
        let mut statement =
            transaction.prepare("SELECT number, name, seen, space FROM turbopuffer_namespaces")?;
        let mut found = statement.query([])?;
        let mut of_name = transaction
            .prepare("SELECT attribute FROM turbopuffer_attributes WHERE name = ? ORDER BY 1")?;
        while let Some(row) = found.next()? {
            let (number, name, seen, space): (u32, String, u64, String) =
                (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            let attributes: Vec<String> =
                of_name.query_map([&name], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            let space: serde_json::Value = serde_json::from_str(&space).unwrap_or_default();
            let body = json!({
                "number": number, "name": name, "seen": seen, "space": space,
                "attributes": attributes,
            });
            namespaces.push((number.to_string(), name, body.to_string()));
        }
    }
    for (id, name, body) in namespaces {
        transaction.execute(
            "REPLACE INTO lookups VALUES ('turbopuffer_namespace', 'name', ?, ?)",
            params![name, id],
        )?;
        transaction.execute(
            "REPLACE INTO objects VALUES ('turbopuffer_namespace', ?, '', NULL, ?, 1)",
            params![id, body],
        )?;
    }
    transaction.execute_batch(
        "REPLACE INTO objects SELECT 'turbopuffer_erasure', name, '', NULL,
             json_object('name', name), 1 FROM turbopuffer_erasures;
         DROP TABLE turbopuffer_namespaces;
         DROP TABLE turbopuffer_attributes;
         DROP TABLE turbopuffer_erasures;",
    )?;
    Ok(())
}

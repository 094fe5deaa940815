//! A checksum in every row that is the truth: SQLite has none of its own, so that a byte that
//! changed on the disk would be read as if somebody had written it.
//!
//! Keys and what is looked up are in two B-trees each, which an integrity check compares; texts
//! have the checksum of their compression. The rest is covered here. Rows of passages, vectors,
//! blobs and pieces that an earlier format wrote have none until they are written again.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, Transaction, params};

use crate::{Error, Result};

/// Rows whose checksums are filled in at once when a catalogue is upgraded.
const ROWS_PER_RUN: usize = 4_096;

/// A table with checksums.
struct Table {
    name: &'static str,
    /// What the checksum is of, in the order of the table.
    columns: &'static [&'static str],
    /// What a damaged row is named by.
    key: &'static str,
}

const OBJECTS: Table = Table {
    name: "objects",
    columns: &["kind", "id", "tenant", "parent", "body", "version"],
    key: "kind || ' ' || id",
};
const DOCUMENTS: Table = Table {
    name: "documents",
    columns: &[
        "row",
        "namespace",
        "id",
        "title",
        "attributes",
        "metadata",
        "fingerprint",
        "language",
        "first_passage",
        "n_passages",
        "updated_at",
    ],
    key: "id",
};
const PASSAGES: Table = Table {
    name: "passages",
    columns: &[
        "row",
        "document",
        "id_hash",
        "id",
        "ordinal",
        "span_start",
        "span_end",
        "pointer",
        "headings",
    ],
    key: "id",
};
// Vectors and blobs move to another row when a passage does not change.
const VECTORS: Table = Table { name: "vectors", columns: &["vector"], key: "row" };
const BLOBS: Table = Table { name: "blobs", columns: &["blob"], key: "row" };
const PIECES: Table =
    Table { name: "pieces", columns: &["file", "piece", "bytes"], key: "file || ' ' || piece" };

const TABLES: [&Table; 6] = [&OBJECTS, &DOCUMENTS, &PASSAGES, &VECTORS, &BLOBS, &PIECES];

/// The checksum of a row that is being put together, column by column.
#[derive(Default)]
pub(super) struct Checksum(crc32fast::Hasher);

impl Checksum {
    pub(super) fn int(self, value: impl Into<i64>) -> Self {
        self.value(ValueRef::Integer(value.into()))
    }

    pub(super) fn text(self, value: &str) -> Self {
        self.value(ValueRef::Text(value.as_bytes()))
    }

    pub(super) fn optional_text(self, value: Option<&str>) -> Self {
        self.value(value.map_or(ValueRef::Null, |text| ValueRef::Text(text.as_bytes())))
    }

    pub(super) fn bytes(self, value: &[u8]) -> Self {
        self.value(ValueRef::Blob(value))
    }

    fn value(mut self, value: ValueRef<'_>) -> Self {
        let mut counted = |kind: u8, bytes: &[u8]| {
            self.0.update(&[kind]);
            self.0.update(&(bytes.len() as u64).to_le_bytes());
            self.0.update(bytes);
        };
        match value {
            ValueRef::Null => counted(0, &[]),
            ValueRef::Integer(value) => counted(1, &value.to_le_bytes()),
            ValueRef::Real(value) => counted(2, &value.to_le_bytes()),
            ValueRef::Text(bytes) => counted(3, bytes),
            ValueRef::Blob(bytes) => counted(4, bytes),
        }
        self
    }

    pub(super) fn finish(self) -> u32 {
        self.0.finalize()
    }
}

/// Compares a row whose first columns are those of an object, and the next one its checksum.
///
/// # Errors
///
/// [`Error::CatalogueDamaged`] names the object.
pub(super) fn verify_object(row: &Row<'_>) -> Result<()> {
    if is_right(row, OBJECTS.columns.len())? {
        return Ok(());
    }
    let (kind, id): (String, String) = (row.get(0)?, row.get(1)?);
    Err(damaged(&OBJECTS, &format!("{kind} {id}")))
}

/// Compares every row that has a checksum with it.
///
/// # Errors
///
/// [`Error::CatalogueDamaged`] names the first row that differs.
pub(super) fn verify(connection: &Connection) -> Result<()> {
    TABLES.into_iter().try_for_each(|table| verify_table(connection, table))
}

fn verify_table(connection: &Connection, table: &Table) -> Result<()> {
    let Table { name, columns, key } = table;
    let mut statement = connection.prepare(&format!(
        "SELECT {}, checksum, {key} FROM {name} WHERE checksum IS NOT NULL",
        columns.join(", ")
    ))?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        if !is_right(row, columns.len())? {
            let key = match row.get_ref(columns.len() + 1)? {
                ValueRef::Integer(number) => number.to_string(),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                    String::from_utf8_lossy(bytes).into_owned()
                }
                ValueRef::Null | ValueRef::Real(_) => String::new(),
            };
            return Err(damaged(table, &key));
        }
    }
    Ok(())
}

/// Tells whether the first columns of a row have the checksum that follows them, or none follows.
fn is_right(row: &Row<'_>, n_columns: usize) -> Result<bool> {
    let expected: Option<u32> = match row.get_ref(n_columns)? {
        ValueRef::Null => return Ok(true),
        ValueRef::Integer(expected) => u32::try_from(expected).ok(),
        ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => None,
    };
    Ok(expected == Some(checksum_of(row, n_columns)?))
}

fn damaged(table: &Table, key: &str) -> Error {
    let reason = format!("row `{key}` of `{}` differs from its checksum", table.name);
    Error::CatalogueDamaged { reason, source: None }
}

/// Adds the column to all tables of format 2, and fills it in for objects and documents. Passages
/// and vectors would mean that the whole file is written again; they get theirs when they change.
pub(super) fn add(transaction: &Transaction<'_>) -> Result<()> {
    for table in TABLES {
        transaction
            .execute_batch(&format!("ALTER TABLE {} ADD COLUMN checksum INTEGER", table.name))?;
    }
    fill_objects(transaction)?;
    fill_documents(transaction)
}

fn fill_objects(transaction: &Transaction<'_>) -> Result<()> {
    let mut select = transaction.prepare(&format!(
        "SELECT {} FROM objects WHERE (kind, id) > (?, ?) ORDER BY kind, id LIMIT {ROWS_PER_RUN}",
        OBJECTS.columns.join(", ")
    ))?;
    let mut update =
        transaction.prepare("UPDATE objects SET checksum = ? WHERE kind = ? AND id = ?")?;
    let mut last = (String::new(), String::new());
    loop {
        let run: Vec<(u32, String, String)> = select
            .query_map(params![last.0, last.1], |row| {
                Ok((checksum_of(row, OBJECTS.columns.len())?, row.get(0)?, row.get(1)?))
            })?
            .collect::<rusqlite::Result<_>>()?;
        for (checksum, kind, id) in &run {
            update.execute(params![checksum, kind, id])?;
        }
        match run.into_iter().last() {
            Some((_, kind, id)) => last = (kind, id),
            None => return Ok(()),
        }
    }
}

fn fill_documents(transaction: &Transaction<'_>) -> Result<()> {
    let mut select = transaction.prepare(&format!(
        "SELECT {} FROM documents WHERE row > ? ORDER BY row LIMIT {ROWS_PER_RUN}",
        DOCUMENTS.columns.join(", ")
    ))?;
    let mut update = transaction.prepare("UPDATE documents SET checksum = ? WHERE row = ?")?;
    let mut last = i64::MIN;
    loop {
        let run: Vec<(u32, i64)> = select
            .query_map([last], |row| Ok((checksum_of(row, DOCUMENTS.columns.len())?, row.get(0)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for (checksum, row) in &run {
            update.execute(params![checksum, row])?;
        }
        match run.last() {
            Some((_, row)) => last = *row,
            None => return Ok(()),
        }
    }
}

fn checksum_of(row: &Row<'_>, n_columns: usize) -> rusqlite::Result<u32> {
    let mut checksum = Checksum::default();
    for at in 0..n_columns {
        checksum = checksum.value(row.get_ref(at)?);
    }
    Ok(checksum.finish())
}

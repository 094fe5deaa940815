//! What the catalogue remembers about the engine: which namespace of it is ours, how far it has
//! followed, and which ones still have to be erased.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};

use crate::truth::Database;
use crate::truth::rows;
use crate::{Result, VectorSpace};

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS turbopuffer_namespaces (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    seen INTEGER NOT NULL,
    space TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS turbopuffer_attributes (
    name TEXT NOT NULL,
    attribute TEXT NOT NULL,
    PRIMARY KEY (name, attribute)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS turbopuffer_erasures (name TEXT PRIMARY KEY);
";

/// One namespace of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its name in the engine.
    pub(super) name: String,
    /// The last change that the engine has.
    pub(super) seen: u64,
    /// The vectors that its rows have.
    pub(super) space: Option<VectorSpace>,
}

/// Makes the tables where they are missing.
pub(super) fn prepare(database: &Database) -> Result<()> {
    database.write(|transaction| Ok(transaction.execute_batch(TABLES)?))
}

/// Gives the entry of a namespace.
pub(super) fn entry(database: &Database, number: u32) -> Result<Option<Entry>> {
    database.read(|connection| {
        let mut statement = connection.prepare_cached(
            "SELECT name, seen, space FROM turbopuffer_namespaces WHERE number = ?",
        )?;
        let found = statement
            .query_row([number], |row| {
                Ok((row.get::<_, String>(0)?, row.get(1)?, row.get::<_, String>(2)?))
            })
            .optional()?;
        let Some((name, seen, space)) = found else { return Ok(None) };
        let space = rows::parse("turbopuffer namespace", &name, &space)?;
        Ok(Some(Entry { name, seen, space }))
    })
}

/// Puts an entry in place of the earlier one, whose namespace is to be erased when it has another
/// name.
pub(super) fn put(database: &Database, number: u32, entry: &Entry) -> Result<()> {
    let space = serde_json::to_string(&entry.space).unwrap_or_else(|_| "null".to_owned());
    database.write(|transaction| {
        transaction.execute(
            "INSERT OR IGNORE INTO turbopuffer_erasures
             SELECT name FROM turbopuffer_namespaces WHERE number = ? AND name <> ?",
            params![number, entry.name],
        )?;
        transaction.execute(
            "REPLACE INTO turbopuffer_namespaces VALUES (?, ?, ?, ?)",
            params![number, entry.name, entry.seen, space],
        )?;
        transaction.execute("DELETE FROM turbopuffer_erasures WHERE name = ?", [&entry.name])?;
        Ok(())
    })
}

/// Gives the attributes that the rows of a namespace have.
pub(super) fn attributes(database: &Database, name: &str) -> Result<BTreeSet<String>> {
    database.read(|connection| {
        let mut statement = connection
            .prepare_cached("SELECT attribute FROM turbopuffer_attributes WHERE name = ?")?;
        let attributes = statement.query_map([name], |row| row.get(0))?;
        Ok(attributes.collect::<rusqlite::Result<_>>()?)
    })
}

/// Notes attributes that the rows of a namespace have.
pub(super) fn add_attributes(
    database: &Database,
    name: &str,
    attributes: &BTreeSet<String>,
) -> Result<()> {
    database.write(|transaction| {
        let mut statement = transaction
            .prepare_cached("INSERT OR IGNORE INTO turbopuffer_attributes VALUES (?, ?)")?;
        for attribute in attributes {
            statement.execute([name, attribute])?;
        }
        Ok(())
    })
}

/// Notes that a namespace of the engine may exist without being in use yet.
pub(super) fn note_unfinished(database: &Database, name: &str) -> Result<()> {
    database.write(|transaction| {
        transaction.execute("INSERT OR IGNORE INTO turbopuffer_erasures VALUES (?)", [name])?;
        Ok(())
    })
}

/// Forgets a namespace that was erased.
pub(super) fn forget(database: &Database, name: &str) -> Result<()> {
    database.write(|transaction| {
        transaction.execute("DELETE FROM turbopuffer_attributes WHERE name = ?", [name])?;
        transaction.execute("DELETE FROM turbopuffer_erasures WHERE name = ?", [name])?;
        Ok(())
    })
}

/// Notes that the engine has followed to a change.
pub(super) fn note_seen(database: &Database, number: u32, seen: u64) -> Result<()> {
    database.write(|transaction| {
        transaction
            .prepare_cached("UPDATE turbopuffer_namespaces SET seen = ? WHERE number = ?")?
            .execute(params![seen, number])?;
        Ok(())
    })
}

/// Lets go of a namespace that was dropped: its name is to be erased from the engine.
pub(super) fn let_go(database: &Database, number: u32) -> Result<()> {
    database.write(|transaction| {
        transaction.execute(
            "INSERT OR IGNORE INTO turbopuffer_erasures
             SELECT name FROM turbopuffer_namespaces WHERE number = ?",
            [number],
        )?;
        transaction.execute("DELETE FROM turbopuffer_namespaces WHERE number = ?", [number])?;
        Ok(())
    })
}

/// Gives the names that are to be erased from the engine.
pub(super) fn erasures(database: &Database) -> Result<Vec<String>> {
    database.read(|connection| {
        let mut statement =
            connection.prepare_cached("SELECT name FROM turbopuffer_erasures ORDER BY name")?;
        let names = statement.query_map([], |row| row.get(0))?;
        Ok(names.collect::<rusqlite::Result<_>>()?)
    })
}

/// Tells whether a name is in use here, or waits to be erased.
pub(super) fn is_taken(database: &Database, name: &str) -> Result<bool> {
    database.read(|connection| {
        let mut statement = connection.prepare_cached(
            "SELECT 1 FROM turbopuffer_namespaces WHERE name = ?1
             UNION SELECT 1 FROM turbopuffer_erasures WHERE name = ?1",
        )?;
        Ok(statement.exists([name])?)
    })
}

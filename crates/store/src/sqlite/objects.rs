//! The catalogue's objects in SQLite.

use model::TenantId;
use rusqlite::{Connection, OptionalExtension, Row, Rows, params};

use super::catalogue::SqliteCatalogue;
use super::checksums::{self, Checksum};
use super::leases;
use crate::{Change, Error, Lookup, Object, ObjectKey, ObjectPage, Objects, Result, limits};

const COLUMNS: &str = "objects.kind, objects.id, objects.tenant, objects.parent, objects.body, objects.version, objects.checksum";

impl Objects for SqliteCatalogue {
    fn get_many(&self, kind: &str, ids: &[&str]) -> Result<Vec<Option<Object>>> {
        self.database.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM objects WHERE kind = ? AND id = ?");
            let mut statement = connection.prepare_cached(&sql)?;
            let mut one = |id: &&str| {
                let mut rows = statement.query(params![kind, id])?;
                rows.next()?.map(|row| read_object(connection, row)).transpose()
            };
            ids.iter().map(&mut one).collect()
        })
    }

    fn list(&self, page: &ObjectPage) -> Result<Vec<Object>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM objects WHERE kind = ?1
             AND (?2 IS NULL OR tenant = ?2) AND (?3 IS NULL OR parent = ?3)
             AND (?4 IS NULL OR id > ?4) ORDER BY id LIMIT ?5"
        );
        let tenant = page.tenant.as_ref().map(TenantId::as_str);
        let limit = page.limit.min(limits::MAX_PAGE);
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let rows =
                statement.query(params![page.kind, tenant, page.parent, page.after, limit])?;
            read_objects(connection, rows)
        })
    }

    fn find(&self, kind: &str, lookup: &Lookup) -> Result<Vec<Object>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM lookups JOIN objects USING (kind, id)
             WHERE lookups.kind = ? AND name = ? AND value = ? ORDER BY lookups.id LIMIT ?"
        );
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let rows =
                statement.query(params![kind, lookup.name, lookup.value, limits::MAX_PAGE])?;
            read_objects(connection, rows)
        })
    }

    fn apply(&self, changes: &[Change]) -> Result<Vec<u64>> {
        self.database.write_together(|transaction| {
            let mut versions = vec![];
            for change in changes {
                match change {
                    Change::Put(object) => {
                        let found = version_of(transaction, &object.key)?;
                        versions.push(put(transaction, object, found + 1)?);
                    }
                    Change::PutIfUnchanged(object) => {
                        let found = version_of(transaction, &object.key)?;
                        if found != object.version {
                            return Err(Error::Conflict {
                                kind: object.key.kind.clone(),
                                id: object.key.id.clone(),
                                expected: object.version,
                                found,
                            });
                        }
                        versions.push(put(transaction, object, found + 1)?);
                    }
                    Change::Require(key) => {
                        if version_of(transaction, key)? == 0 {
                            return Err(Error::MissingObject {
                                kind: key.kind.clone(),
                                id: key.id.clone(),
                            });
                        }
                    }
                    Change::Delete(key) => delete(transaction, key)?,
                    Change::DeleteChildren(parent) => {
                        for child in children(transaction, &parent.id)? {
                            delete(transaction, &child)?;
                        }
                    }
                    Change::PutPiece { file, piece, bytes } => {
                        leases::put_piece(transaction, file, *piece, bytes)?;
                    }
                }
            }
            Ok(versions)
        })
    }
}

fn read_objects(connection: &Connection, mut rows: Rows<'_>) -> Result<Vec<Object>> {
    let mut objects = vec![];
    while let Some(row) = rows.next()? {
        objects.push(read_object(connection, row)?);
    }
    Ok(objects)
}

fn read_object(connection: &Connection, row: &Row<'_>) -> Result<Object> {
    checksums::verify_object(row)?;
    let key = ObjectKey { kind: row.get(0)?, id: row.get(1)? };
    let body: String = row.get(4)?;
    let body = serde_json::from_str(&body).map_err(|source| Error::BadObject {
        kind: key.kind.clone(),
        id: key.id.clone(),
        source,
    })?;
    let mut statement = connection.prepare_cached(
        "SELECT name, value FROM lookups WHERE kind = ? AND id = ? ORDER BY 1, 2",
    )?;
    let lookups = statement.query_map(params![key.kind, key.id], |row| {
        Ok(Lookup { name: row.get(0)?, value: row.get(1)? })
    })?;
    Ok(Object {
        tenant: TenantId::new(row.get::<_, String>(2)?),
        parent: row.get(3)?,
        lookups: lookups.collect::<rusqlite::Result<_>>()?,
        body,
        version: row.get(5)?,
        key,
    })
}

fn version_of(transaction: &Connection, key: &ObjectKey) -> Result<u64> {
    let mut statement =
        transaction.prepare_cached("SELECT version FROM objects WHERE kind = ? AND id = ?")?;
    let version = statement.query_row(params![key.kind, key.id], |row| row.get(0)).optional()?;
    Ok(version.unwrap_or(0))
}

fn put(transaction: &Connection, object: &Object, version: u64) -> Result<u64> {
    let key = &object.key;
    let body = object.body.to_string();
    let checksum = Checksum::default()
        .text(&key.kind)
        .text(&key.id)
        .text(object.tenant.as_str())
        .optional_text(object.parent.as_deref())
        .text(&body)
        .int(version as i64);
    transaction.prepare_cached("REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?, ?)")?.execute(
        params![
            key.kind,
            key.id,
            object.tenant.as_str(),
            object.parent,
            body,
            version,
            checksum.finish()
        ],
    )?;
    transaction
        .prepare_cached("DELETE FROM lookups WHERE kind = ? AND id = ?")?
        .execute(params![key.kind, key.id])?;
    for lookup in &object.lookups {
        transaction
            .prepare_cached("REPLACE INTO lookups (kind, name, value, id) VALUES (?, ?, ?, ?)")?
            .execute(params![key.kind, lookup.name, lookup.value, key.id])?;
    }
    Ok(version)
}

fn delete(transaction: &Connection, key: &ObjectKey) -> Result<()> {
    transaction
        .prepare_cached("DELETE FROM objects WHERE kind = ? AND id = ?")?
        .execute(params![key.kind, key.id])?;
    transaction
        .prepare_cached("DELETE FROM lookups WHERE kind = ? AND id = ?")?
        .execute(params![key.kind, key.id])?;
    Ok(())
}

fn children(transaction: &Connection, parent: &str) -> Result<Vec<ObjectKey>> {
    let mut statement =
        transaction.prepare_cached("SELECT kind, id FROM objects WHERE parent = ?")?;
    let keys = statement
        .query_map([parent], |row| Ok(ObjectKey { kind: row.get(0)?, id: row.get(1)? }))?;
    Ok(keys.collect::<rusqlite::Result<_>>()?)
}

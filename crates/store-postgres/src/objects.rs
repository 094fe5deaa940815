//! The families' objects. Guards of versions hold over servers: a row that two of them write at the
//! same time is written by one, and the other is told.

use std::collections::{BTreeMap, HashMap};

use model::{NamespaceId, TenantId};
use store::{
    Change, Error, Lookup, NamespaceState, Object, ObjectKey, ObjectPage, Objects, Result, limits,
};
use tokio_postgres::Row;

use crate::catalogue::PostgresCatalogue;
use crate::connection::Connection;
use crate::escape::spell;
use crate::rows::{self, key};
use crate::sharing::put_piece;

/// The columns that [`read_object`] needs of an object `o` whose kind is the first value. Its lookups
/// come with it: a second statement would be another way to the database and back, and might see
/// another version.
const COLUMNS: &str = "o.kind, o.id, o.tenant, o.parent, o.body, o.version,
    ARRAY(SELECT own.name FROM lookups own WHERE own.kind = $1 AND own.id_key = o.id_key
          ORDER BY own.name COLLATE \"C\", own.value COLLATE \"C\"),
    ARRAY(SELECT own.value FROM lookups own WHERE own.kind = $1 AND own.id_key = o.id_key
          ORDER BY own.name COLLATE \"C\", own.value COLLATE \"C\")";

impl Objects for PostgresCatalogue {
    fn get_many(&self, kind: &str, ids: &[&str]) -> Result<Vec<Option<Object>>> {
        let keys: Vec<Vec<u8>> = ids.iter().map(|id| key(id)).collect();
        let sql = format!("SELECT {COLUMNS} FROM objects o WHERE kind = $1 AND id_key = ANY($2)");
        let found = self.database.read(async |connection| {
            let found = connection.query(&sql, &[&kind, &keys]).await?;
            found.iter().map(read_object).collect::<Result<Vec<Object>>>()
        })?;
        let by_id: HashMap<&str, &Object> =
            found.iter().map(|object| (object.key.id.as_str(), object)).collect();
        Ok(ids.iter().map(|id| by_id.get(id).copied().cloned()).collect())
    }

    fn list(&self, page: &ObjectPage) -> Result<Vec<Object>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM objects o WHERE kind = $1
             AND ($2::text IS NULL OR tenant = $2) AND ($3::bytea IS NULL OR parent_key = $3)
             AND ($4::text IS NULL OR (left(id, 400) COLLATE \"C\" >= left($4, 400) COLLATE \"C\"
                 AND id > $4 COLLATE \"C\"))
             ORDER BY left(id, 400) COLLATE \"C\", id LIMIT $5"
        );
        let tenant = page.tenant.as_ref().map(|tenant| spell(tenant.as_str()).into_owned());
        let parent = page.parent.as_deref().map(key);
        let after = page.after.as_deref().map(|after| spell(after).into_owned());
        let limit = page.limit.min(limits::MAX_PAGE) as i64;
        self.database.read(async |connection| {
            let found =
                connection.query(&sql, &[&page.kind, &tenant, &parent, &after, &limit]).await?;
            found.iter().map(read_object).collect()
        })
    }

    fn find(&self, kind: &str, lookup: &Lookup) -> Result<Vec<Object>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM lookups l JOIN objects o USING (kind, id_key)
             WHERE l.kind = $1 AND l.name = $2 AND l.value_key = $3 ORDER BY o.id LIMIT $4"
        );
        let limit = limits::MAX_PAGE as i64;
        self.database.read(async |connection| {
            let found =
                connection.query(&sql, &[&kind, &lookup.name, &key(&lookup.value), &limit]).await?;
            found.iter().map(read_object).collect()
        })
    }

    fn apply(&self, changes: &[Change]) -> Result<Vec<u64>> {
        self.database.write(async |connection| {
            let mut versions = vec![];
            for change in changes {
                match change {
                    Change::Put(object) => versions.push(put(connection, object).await?),
                    Change::PutIfUnchanged(object) => {
                        versions.push(put_if_unchanged(connection, object).await?);
                    }
                    Change::Require(wanted) => require(connection, wanted).await?,
                    Change::Delete(gone) => {
                        delete(connection, &gone.kind, &[key(&gone.id)]).await?;
                    }
                    Change::DeleteChildren(parent) => delete_children(connection, parent).await?,
                    Change::PutPiece { file, piece, bytes } => {
                        put_piece(connection, file, *piece, bytes).await?;
                    }
                }
            }
            Ok(versions)
        })
    }
}

/// The columns of [`COLUMNS`].
const N_COLUMNS: usize = 8;

/// Gives a namespace with the object of a kind that its number names, by one statement. Keys are the
/// beginnings of hashes, as [`key`] makes them.
pub(crate) async fn namespace_with_note(
    connection: &mut Connection,
    namespace: &NamespaceId,
    kind: &str,
) -> Result<Option<(NamespaceState, Option<Object>)>> {
    let sql = format!(
        "SELECT {COLUMNS}, {} FROM namespaces n LEFT JOIN objects o ON o.kind = $1
             AND o.id_key = substring(sha256(convert_to(n.number::text, 'UTF8')) FROM 1 FOR 16)
         WHERE NOT n.is_dropped AND n.id_key = $2",
        rows::NAMESPACE
    );
    let found = connection.query_opt(&sql, &[&kind, &key(namespace.as_str())]).await?;
    let Some(row) = found else { return Ok(None) };
    let state = rows::read_namespace(&row, N_COLUMNS)?.state;
    let has_note = row.get::<_, Option<&str>>(0).is_some();
    Ok(Some((state, has_note.then(|| read_object(&row)).transpose()?)))
}

/// Makes an object of a row of [`COLUMNS`].
fn read_object(row: &Row) -> Result<Object> {
    let key = ObjectKey { kind: rows::text(row, 0), id: rows::text(row, 1) };
    let named = rows::texts(row, 6).into_iter().zip(rows::texts(row, 7));
    Ok(Object {
        tenant: TenantId::new(rows::text(row, 2)),
        parent: rows::text_or_null(row, 3),
        lookups: named.map(|(name, value)| Lookup { name, value }).collect(),
        body: rows::parse(&key.kind, &key.id, &rows::text(row, 4))?,
        version: rows::sequence(row, 5),
        key,
    })
}

async fn put(connection: &mut Connection, object: &Object) -> Result<u64> {
    let row = connection
        .query_one(
            "INSERT INTO objects VALUES ($1, $2, $3, $4, $5, $6, $7, 1)
             ON CONFLICT (kind, id_key) DO UPDATE SET tenant = excluded.tenant,
                 parent = excluded.parent, parent_key = excluded.parent_key,
                 body = excluded.body, version = objects.version + 1
             RETURNING version",
            &[
                &object.key.kind,
                &key(&object.key.id),
                &spell(&object.key.id),
                &spell(object.tenant.as_str()),
                &object.parent.as_deref().map(spell),
                &object.parent.as_deref().map(key),
                &object.body.to_string(),
            ],
        )
        .await?;
    write_lookups(connection, object).await?;
    Ok(rows::sequence(&row, 0))
}

async fn put_if_unchanged(connection: &mut Connection, object: &Object) -> Result<u64> {
    let id_key = key(&object.key.id);
    let body = object.body.to_string();
    let (tenant, parent) = (spell(object.tenant.as_str()), object.parent.as_deref().map(spell));
    let parent_key = object.parent.as_deref().map(key);
    let n_written = match object.version {
        0 => {
            connection
                .execute(
                    "INSERT INTO objects VALUES ($1, $2, $3, $4, $5, $6, $7, 1)
                     ON CONFLICT DO NOTHING",
                    &[
                        &object.key.kind,
                        &id_key,
                        &spell(&object.key.id),
                        &tenant,
                        &parent,
                        &parent_key,
                        &body,
                    ],
                )
                .await?
        }
        expected => {
            connection
                .execute(
                    "UPDATE objects SET tenant = $3, parent = $4, parent_key = $5, body = $6,
                         version = version + 1
                     WHERE kind = $1 AND id_key = $2 AND version = $7",
                    &[
                        &object.key.kind,
                        &id_key,
                        &tenant,
                        &parent,
                        &parent_key,
                        &body,
                        &i64::try_from(expected).unwrap_or(i64::MAX),
                    ],
                )
                .await?
        }
    };
    if n_written == 0 {
        let sql = "SELECT version FROM objects WHERE kind = $1 AND id_key = $2";
        let found = connection.query_opt(sql, &[&object.key.kind, &id_key]).await?;
        return Err(Error::Conflict {
            kind: object.key.kind.clone(),
            id: object.key.id.clone(),
            expected: object.version,
            found: found.map_or(0, |row| rows::sequence(&row, 0)),
        });
    }
    write_lookups(connection, object).await?;
    Ok(object.version + 1)
}

async fn write_lookups(connection: &mut Connection, object: &Object) -> Result<()> {
    let id_key = key(&object.key.id);
    connection
        .execute(
            "DELETE FROM lookups WHERE kind = $1 AND id_key = $2",
            &[&object.key.kind, &id_key],
        )
        .await?;
    for lookup in &object.lookups {
        connection
            .execute(
                "INSERT INTO lookups VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
                &[
                    &object.key.kind,
                    &lookup.name,
                    &key(&lookup.value),
                    &spell(&lookup.value),
                    &id_key,
                ],
            )
            .await?;
    }
    Ok(())
}

/// The row stays until the end of the transaction: whoever deletes it waits.
async fn require(connection: &mut Connection, wanted: &ObjectKey) -> Result<()> {
    let sql = "SELECT 1 FROM objects WHERE kind = $1 AND id_key = $2 FOR KEY SHARE";
    match connection.query_opt(sql, &[&wanted.kind, &key(&wanted.id)]).await? {
        Some(_) => Ok(()),
        None => Err(Error::MissingObject { kind: wanted.kind.clone(), id: wanted.id.clone() }),
    }
}

async fn delete(connection: &mut Connection, kind: &str, id_keys: &[Vec<u8>]) -> Result<()> {
    for table in ["objects", "lookups"] {
        let sql = format!("DELETE FROM {table} WHERE kind = $1 AND id_key = ANY($2)");
        connection.execute(&sql, &[&kind, &id_keys]).await?;
    }
    Ok(())
}

/// The parent is locked first, so that a child which another server is about to put under it is
/// either seen here or refused there.
async fn delete_children(connection: &mut Connection, parent: &ObjectKey) -> Result<()> {
    let parent_key = key(&parent.id);
    let sql = "SELECT 1 FROM objects WHERE kind = $1 AND id_key = $2 FOR UPDATE";
    connection.query(sql, &[&parent.kind, &parent_key]).await?;
    let sql = "SELECT kind, id_key FROM objects WHERE parent_key = $1 ORDER BY kind, id_key";
    let mut by_kind: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    for row in connection.query(sql, &[&parent_key]).await? {
        by_kind.entry(row.get(0)).or_default().push(row.get(1));
    }
    // Some parents have very many children: they go by one statement for each kind.
    for (kind, id_keys) in by_kind {
        delete(connection, &kind, &id_keys).await?;
    }
    Ok(())
}

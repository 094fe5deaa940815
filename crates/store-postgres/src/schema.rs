//! The tables, and how those of an earlier format become those of this one.
//!
//! All steps run in one transaction under an advisory lock, so that several servers that start at
//! once on an empty database make the tables once, and one that dies on the way leaves nothing.
//!
//! Ids may be longer than an index entry; they are found by the first sixteen bytes of their SHA-256
//! (`…_key`) and listed by an index over their beginning.

use std::path::PathBuf;

use store::{Error, Result};

use crate::FORMAT;
use crate::connection::{Connection, quoted};

/// The advisory lock of migrations; the number itself means nothing.
const MIGRATION_LOCK: i64 = 0x646f_7773_6500;

/// How often the format is looked at while other servers change it.
const MAX_LOOKS: u32 = 10;

/// One step for each format; the first makes the tables.
const STEPS: &[&str] = &["
CREATE TABLE about (key text PRIMARY KEY, value text NOT NULL);
CREATE TABLE namespaces (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE \"C\" NOT NULL,
    id_key bytea NOT NULL,
    manifest text NOT NULL,
    created_at bigint NOT NULL,
    next_passage bigint NOT NULL DEFAULT 0,
    n_documents bigint NOT NULL DEFAULT 0,
    n_passages bigint NOT NULL DEFAULT 0,
    n_vectors bigint NOT NULL DEFAULT 0,
    last_sequence bigint NOT NULL DEFAULT 0,
    log_starts_after bigint NOT NULL DEFAULT 0,
    languages bigint NOT NULL DEFAULT 0,
    is_dropped boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX namespaces_by_id ON namespaces (id_key) WHERE NOT is_dropped;
CREATE TABLE documents (
    namespace integer NOT NULL,
    id_key bytea NOT NULL,
    id text COLLATE \"C\" NOT NULL,
    title text NOT NULL,
    attributes text NOT NULL,
    metadata text NOT NULL,
    fingerprint text NOT NULL,
    language text NOT NULL,
    first_passage bigint NOT NULL,
    n_passages bigint NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (namespace, id_key)
);
CREATE INDEX documents_in_order ON documents (namespace, left(id, 400) COLLATE \"C\");
CREATE TABLE passages (
    namespace integer NOT NULL,
    number bigint NOT NULL,
    document bytea NOT NULL,
    id_key bytea NOT NULL,
    id text NOT NULL,
    ordinal bigint NOT NULL,
    span_start bigint NOT NULL,
    span_end bigint NOT NULL,
    pointer text,
    headings text,
    text text NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (namespace, number)
);
CREATE INDEX passages_by_id ON passages (namespace, id_key);
CREATE TABLE vectors (
    namespace integer NOT NULL,
    number bigint NOT NULL,
    vector bytea NOT NULL,
    PRIMARY KEY (namespace, number)
);
ALTER TABLE vectors ALTER COLUMN vector SET STORAGE EXTERNAL;
CREATE TABLE awaiting_vectors (
    namespace integer NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (namespace, number)
);
CREATE TABLE blobs (
    namespace integer NOT NULL,
    number bigint NOT NULL,
    blob bytea NOT NULL,
    PRIMARY KEY (namespace, number)
);
ALTER TABLE blobs ALTER COLUMN blob SET STORAGE EXTERNAL;
CREATE TABLE log (
    namespace integer NOT NULL,
    sequence bigint NOT NULL,
    kind smallint NOT NULL,
    first bigint NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (namespace, sequence)
);
CREATE TABLE followers (
    namespace integer NOT NULL,
    follower text NOT NULL,
    sequence bigint NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (namespace, follower)
);
CREATE TABLE objects (
    kind text COLLATE \"C\" NOT NULL,
    id_key bytea NOT NULL,
    id text COLLATE \"C\" NOT NULL,
    tenant text NOT NULL,
    parent text,
    parent_key bytea,
    body text NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (kind, id_key)
);
CREATE INDEX objects_in_order ON objects (kind, left(id, 400) COLLATE \"C\");
CREATE INDEX objects_by_parent ON objects (parent_key, kind) WHERE parent_key IS NOT NULL;
CREATE TABLE lookups (
    kind text NOT NULL,
    name text NOT NULL,
    value_key bytea NOT NULL,
    value text NOT NULL,
    id_key bytea NOT NULL,
    PRIMARY KEY (kind, name, value_key, id_key)
);
CREATE INDEX lookups_by_id ON lookups (kind, id_key);
CREATE TABLE leases (
    name text PRIMARY KEY,
    holder text NOT NULL,
    until timestamptz NOT NULL
);
CREATE TABLE pieces (
    file text COLLATE \"C\" NOT NULL,
    piece bigint NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (file, piece)
);
ALTER TABLE pieces ALTER COLUMN bytes SET STORAGE EXTERNAL;
"];

/// Makes the tables of an empty schema, or brings those of an earlier format up to date.
///
/// # Errors
///
/// [`Error::FormatTooNew`] when a later program made the tables.
pub(crate) async fn bring_up_to_date(connection: &mut Connection, schema: &str) -> Result<()> {
    for _ in 0..MAX_LOOKS {
        let found = format_of(connection, schema).await?;
        if found > FORMAT {
            return Err(Error::FormatTooNew { path: PathBuf::from(schema), found, known: FORMAT });
        }
        if found == FORMAT {
            return Ok(());
        }
        connection.batch("BEGIN").await?;
        match upgrade(connection, schema, found).await {
            Ok(()) => connection.batch("COMMIT").await?,
            Err(error) => {
                let _ = connection.batch("ROLLBACK").await;
                return Err(error);
            }
        }
    }
    let reason = "its tables are being changed all the time by other servers".to_owned();
    Err(Error::CatalogueUnavailable { reason })
}

/// Takes the steps from a format on, unless another server has taken some while this one waited:
/// then nothing is done, and the caller looks again. It has to, since a session learns of new
/// tables only between transactions.
async fn upgrade(connection: &mut Connection, schema: &str, from: u32) -> Result<()> {
    connection.execute("SELECT pg_advisory_xact_lock($1)", &[&MIGRATION_LOCK]).await?;
    let is_unchanged = match from {
        0 => !has_tables(connection, schema).await?,
        _ => format_of(connection, schema).await? == from,
    };
    if !is_unchanged {
        return Ok(());
    }
    if from == 0 {
        connection.batch(&format!("CREATE SCHEMA IF NOT EXISTS {}", quoted(schema))).await?;
    }
    for step in &STEPS[from as usize..] {
        connection.batch(step).await?;
    }
    if from == 0 {
        let identity = format!("{:032x}", rand::random::<u128>());
        connection.batch(&format!("INSERT INTO about VALUES ('identity', '{identity}')")).await?;
    }
    connection
        .batch(&format!(
            "INSERT INTO about VALUES ('format', '{FORMAT}')
             ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        ))
        .await?;
    tracing::info!(schema, from, to = FORMAT, "PostgreSQL catalogue brought up to date");
    Ok(())
}

/// Gives the format of the tables; 0 when there are none.
async fn format_of(connection: &mut Connection, schema: &str) -> Result<u32> {
    if !has_tables(connection, schema).await? {
        return Ok(0);
    }
    let found = connection.query_opt("SELECT value FROM about WHERE key = 'format'", &[]).await?;
    Ok(found.and_then(|row| row.get::<_, String>(0).parse().ok()).unwrap_or(0))
}

/// Asks the system tables as rows: names are looked up in a cache that may be behind.
async fn has_tables(connection: &mut Connection, schema: &str) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT FROM pg_catalog.pg_class c
                   JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                   WHERE n.nspname = $1 AND c.relname = 'about')";
    Ok(connection.query_one(sql, &[&schema]).await?.get(0))
}

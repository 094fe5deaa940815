//! The catalogue in PostgreSQL, shared by many servers.
//!
//! Everything that the SQLite catalogue keeps is kept here under the same contract
//! ([`store::Catalogue`]) and with the same laws (`store::conformance`): documents, passages,
//! vectors, blobs, objects, leases, files in pieces, and the log that engines follow.
//!
//! **The log.** Sequence numbers are drawn per namespace, from a counter in the row of the
//! namespace that every writer locks first. PostgreSQL makes a transaction visible before it
//! releases its locks, so a later number cannot become visible before an earlier one: a follower
//! that asks for what comes after the last number it has seen never skips a row. Writers of
//! different namespaces do not wait for each other.
//!
//! **Time** is the database's own, for leases as for followers, so that the clocks of servers do
//! not matter.
//!
//! **Poolers.** Statements are prepared and the schema is set for each session, so a pooler in
//! front of PostgreSQL must pool sessions, not transactions. Locks are transaction-level throughout.
#![doc(test(attr(deny(warnings))))]

mod connection;
mod database;
mod escape;
mod failure;
mod schema;

mod batch;
mod batch_rows;
mod commit;
mod documents;
mod following;
mod objects;
mod rows;
mod sharing;

mod catalogue;
mod maintenance;

pub use catalogue::PostgresCatalogue;

/// The format of the tables that this program writes.
pub const FORMAT: u32 = 1;

/// Where the catalogue is.
#[derive(Debug, Clone)]
pub struct PostgresConfig {
    /// The address, with the password if there is one.
    pub url: net::Secret,
    /// The schema that holds the tables; it is made when it is missing.
    pub schema: String,
    /// Connections that one server has open at most.
    pub max_connections: usize,
}

impl PostgresConfig {
    /// The schema unless another one is named.
    pub const SCHEMA: &str = "dowse";
    /// Connections of one server unless another number is named.
    pub const MAX_CONNECTIONS: usize = 16;

    /// Names a database with the usual schema and number of connections.
    pub fn new(url: impl Into<String>) -> Self {
        PostgresConfig {
            url: net::Secret::new(url.into()),
            schema: PostgresConfig::SCHEMA.to_owned(),
            max_connections: PostgresConfig::MAX_CONNECTIONS,
        }
    }
}

//! Tables of databases, queried where they are.
//!
//! Statements are generated: identifiers come from the schema alone and are quoted, values are
//! always parameters, transactions are read-only, and time is limited by the database itself.

mod aggregate;
mod answer;
mod fit;
mod join;
mod shown;
mod spread;
mod statement;
mod writer;

mod functions;
mod postgres;
mod sample;
mod sqlite;

pub use postgres::{
    DatabaseColumn, DatabaseSample, PostgresTable, postgres_sample, postgres_tables,
};
pub use sample::{is_sqlite, sqlite_sample, sqlite_tables};
pub use sqlite::SqliteTable;

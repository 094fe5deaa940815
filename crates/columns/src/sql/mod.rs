//! Tables of databases, queried where they are.
//!
//! Statements are generated: identifiers come from the schema alone and are quoted, values are
//! always parameters, transactions are read-only, and time is limited by the database itself.

mod answer;
mod fit;
mod postgres;
mod sqlite;
mod statement;

pub use postgres::PostgresTable;
pub use sqlite::SqliteTable;

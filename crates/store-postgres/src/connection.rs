//! One session: its client and the statements it has prepared.

use std::collections::HashMap;
use std::time::Duration;

use net::{PooledSession, PostgresAddress};
use store::Result;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

use crate::failure;

/// A statement that the server ends by itself when it takes longer: nobody waits for it any more.
const STATEMENT_LIMIT: Duration = Duration::from_secs(300);
/// A session that waits inside a transaction for longer is ended, since it holds locks: its server
/// is gone or hangs.
const IDLE_IN_TRANSACTION_LIMIT: Duration = Duration::from_secs(60);

/// The values of a statement.
pub(crate) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A session of the database.
pub(crate) struct Connection {
    client: Client,
    statements: HashMap<String, Statement>,
}

impl Connection {
    /// Begins a session in a schema.
    pub(crate) async fn open(address: &PostgresAddress, schema: &str) -> Result<Self> {
        let client = address.begin().await.map_err(failure::of)?;
        let settings = format!(
            "SET search_path = {}; SET statement_timeout = {}; \
             SET idle_in_transaction_session_timeout = {}; SET client_min_messages = warning",
            quoted(schema),
            STATEMENT_LIMIT.as_millis(),
            IDLE_IN_TRANSACTION_LIMIT.as_millis(),
        );
        client.batch_execute(&settings).await.map_err(failure::of)?;
        Ok(Connection { client, statements: HashMap::new() })
    }

    /// Tells whether anybody answers at an address, with a session or with a refusal.
    pub(crate) async fn is_answered(address: &PostgresAddress) -> bool {
        match address.begin().await {
            Ok(_) => true,
            Err(error) => error.code().is_some(),
        }
    }

    /// Runs a statement and gives its rows.
    pub(crate) async fn query(&mut self, sql: &str, values: Values<'_>) -> Result<Vec<Row>> {
        let statement = self.prepared(sql).await?;
        self.client.query(&statement, values).await.map_err(failure::of)
    }

    /// Runs a statement that gives at most one row.
    pub(crate) async fn query_opt(&mut self, sql: &str, values: Values<'_>) -> Result<Option<Row>> {
        Ok(self.query(sql, values).await?.into_iter().next())
    }

    /// Runs a statement that gives one row.
    pub(crate) async fn query_one(&mut self, sql: &str, values: Values<'_>) -> Result<Row> {
        let statement = self.prepared(sql).await?;
        self.client.query_one(&statement, values).await.map_err(failure::of)
    }

    /// Runs a statement and gives how many rows it changed.
    pub(crate) async fn execute(&mut self, sql: &str, values: Values<'_>) -> Result<u64> {
        let statement = self.prepared(sql).await?;
        self.client.execute(&statement, values).await.map_err(failure::of)
    }

    /// Runs statements without values.
    pub(crate) async fn batch(&mut self, sql: &str) -> Result<()> {
        self.client.batch_execute(sql).await.map_err(failure::of)
    }

    async fn prepared(&mut self, sql: &str) -> Result<Statement> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await.map_err(failure::of)?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

impl PooledSession for Connection {
    fn is_closed(&self) -> bool {
        self.client.is_closed()
    }
}

/// Writes a name as an identifier.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

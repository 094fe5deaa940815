//! A database that names and facts are asked of. Statements run side by side, each within its own
//! limit: one that is slow holds up nobody else.

use std::sync::Arc;
use std::time::Duration;

use net::{PostgresAddress, PostgresPool, SessionError, wait_at_most};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use crate::{Error, Result};

/// The longest that connecting may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// How long the server's own word that a statement took too long is waited for.
const GRACE: Duration = Duration::from_millis(500);

/// A value of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Parameter {
    Text(String),
    Texts(Vec<String>),
}

/// Rows of text; null cells are `None`.
pub(crate) type Rows = Vec<Vec<Option<String>>>;

/// A database that can be asked.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    pool: Arc<PostgresPool>,
    /// Where it is, without user and password.
    pub(crate) origin: String,
}

/// Why a statement failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The address cannot be used.
    #[error("its address cannot be used")]
    BadAddress(#[source] net::PostgresError),
    /// The server refused it or cannot be reached.
    #[error("the database refused")]
    Refused(#[source] tokio_postgres::Error),
    /// It took too long.
    #[error("the database did not answer in time")]
    TimedOut,
    /// The system gives no threads for connections.
    #[error("no threads for connections")]
    NoThreads(#[source] std::io::Error),
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::InUse | SessionError::TimedOut => Failure::TimedOut,
            SessionError::Refused(cause) => Failure::Refused(cause),
            SessionError::NoThreads(cause) => Failure::NoThreads(cause),
        }
    }
}

impl Failure {
    /// Tells whether the server cannot be reached now, or lacks what its owner can give it: a
    /// table, a right, an extension.
    pub fn is_away(&self) -> bool {
        match self {
            Failure::Refused(cause) => {
                cause.code().is_none_or(|code| columns::is_of_source(code.code()))
            }
            Failure::TimedOut => true,
            Failure::BadAddress(_) | Failure::NoThreads(_) => false,
        }
    }
}

impl Database {
    /// Names a database; it is reached when it is first asked, and again after a failure.
    pub(crate) fn open(url: &str) -> Result<Self> {
        let origin = url.split('@').next_back().unwrap_or(url).to_owned();
        let address = PostgresAddress::parse(url, CONNECT_LIMIT).map_err(|cause| {
            Error::Database { origin: origin.clone(), source: Failure::BadAddress(cause) }
        })?;
        Ok(Database { pool: Arc::new(PostgresPool::new(address, "")), origin })
    }

    /// Runs a statement whose columns are all text.
    ///
    /// Fails when the server refuses it, cannot be reached, or takes longer than the limit.
    pub(crate) fn query(
        &self,
        statement: &str,
        parameters: &[Parameter],
        limit: Duration,
    ) -> Result<Rows> {
        self.rows("", statement, parameters, limit)
            .map_err(|source| Error::Database { origin: self.origin.clone(), source })
    }

    /// Runs such a statement with a setting of the session of its own.
    pub(crate) fn query_with(
        &self,
        setting: &str,
        statement: &str,
        parameters: &[Parameter],
        limit: Duration,
    ) -> Result<Rows> {
        self.rows(setting, statement, parameters, limit)
            .map_err(|source| Error::Database { origin: self.origin.clone(), source })
    }

    fn rows(
        &self,
        setting: &str,
        statement: &str,
        parameters: &[Parameter],
        limit: Duration,
    ) -> std::result::Result<Rows, Failure> {
        let mut session = self.pool.take(limit.max(CONNECT_LIMIT))?;
        let parameters: Vec<&(dyn ToSql + Sync)> = parameters
            .iter()
            .map(|parameter| match parameter {
                Parameter::Text(text) => text as &(dyn ToSql + Sync),
                Parameter::Texts(texts) => texts as &(dyn ToSql + Sync),
            })
            .collect();
        let answered = wait_at_most(limit + GRACE, async {
            // The server ends the statement itself: one whose client is gone would run on.
            session.limit_statements(limit).await?;
            if !setting.is_empty() {
                session.batch_execute(setting).await?;
            }
            session.query(statement, &parameters).await
        });
        let rows = match answered.map_err(Failure::NoThreads)?.ok_or(Failure::TimedOut)? {
            Ok(rows) => rows,
            Err(cause) if cause.code() == Some(&SqlState::QUERY_CANCELED) => {
                session.give_back();
                return Err(Failure::TimedOut);
            }
            Err(cause) => return Err(Failure::Refused(cause)),
        };
        session.give_back();
        let cells = |row: &tokio_postgres::Row| {
            (0..row.len()).map(|at| row.try_get(at).map_err(Failure::Refused)).collect()
        };
        rows.iter().map(cells).collect()
    }
}

/// Writes a name as an identifier; a dot separates schema and table.
pub(crate) fn quoted(name: &str) -> String {
    let part = |part: &str| format!("\"{}\"", part.replace('"', "\"\""));
    name.split('.').map(part).collect::<Vec<_>>().join(".")
}

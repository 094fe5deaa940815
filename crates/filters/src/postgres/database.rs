//! One connection to PostgreSQL, served by a thread of its own, so that callers may block.

use std::sync::mpsc;
use std::time::Duration;

use net::PostgresAddress;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use crate::{Error, Result};

/// The longest that connecting may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// How long the server's own word that a statement took too long is waited for.
const GRACE: Duration = Duration::from_millis(500);

/// Statements that may wait for the connection.
const MAX_WAITING: usize = 64;

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
    jobs: mpsc::SyncSender<Job>,
    /// Where it is, without user and password.
    pub(crate) origin: String,
}

struct Job {
    statement: String,
    parameters: Vec<Parameter>,
    limit: Duration,
    reply: mpsc::SyncSender<std::result::Result<Rows, Failure>>,
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
    /// The thread that serves the connection is gone.
    #[error("the connection's thread is gone")]
    Gone(#[source] Option<std::io::Error>),
}

impl Failure {
    /// Tells whether the server cannot be reached now; what it answered is not about that.
    pub fn is_away(&self) -> bool {
        match self {
            Failure::Refused(cause) => {
                cause.code().is_none_or(|code| code.code().starts_with("57P"))
            }
            Failure::TimedOut => true,
            Failure::BadAddress(_) | Failure::Gone(_) => false,
        }
    }
}

impl Database {
    /// Names a database; it is reached when it is first asked, and again after a failure.
    pub(crate) fn open(url: &str) -> Result<Self> {
        let origin = url.split('@').next_back().unwrap_or(url).to_owned();
        let failed = |failure| Error::Database { origin: origin.clone(), source: failure };
        let address = PostgresAddress::parse(url, CONNECT_LIMIT)
            .map_err(|cause| failed(Failure::BadAddress(cause)))?;
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|cause| failed(Failure::Gone(Some(cause))))?;
        let (jobs, waiting) = mpsc::sync_channel::<Job>(MAX_WAITING);
        std::thread::Builder::new()
            .name("filters-postgres".to_owned())
            .spawn(move || serve(&runtime, &address, &waiting))
            .map_err(|cause| failed(Failure::Gone(Some(cause))))?;
        Ok(Database { jobs, origin })
    }

    /// Runs a statement whose columns are all text.
    ///
    /// Fails when the server refuses it, cannot be reached, or takes longer than the limit.
    pub(crate) fn query(
        &self,
        statement: String,
        parameters: Vec<Parameter>,
        limit: Duration,
    ) -> Result<Rows> {
        let (reply, answer) = mpsc::sync_channel(1);
        let failed = |failure| Error::Database { origin: self.origin.clone(), source: failure };
        self.jobs
            .send(Job { statement, parameters, limit, reply })
            .map_err(|_| failed(Failure::Gone(None)))?;
        match answer.recv_timeout(limit + CONNECT_LIMIT) {
            Ok(rows) => rows.map_err(failed),
            Err(_) => Err(failed(Failure::TimedOut)),
        }
    }
}

/// Writes a name as an identifier; a dot separates schema and table.
pub(crate) fn quoted(name: &str) -> String {
    let part = |part: &str| format!("\"{}\"", part.replace('"', "\"\""));
    name.split('.').map(part).collect::<Vec<_>>().join(".")
}

fn serve(runtime: &Runtime, address: &PostgresAddress, waiting: &mpsc::Receiver<Job>) {
    let mut client: Option<(Client, Duration)> = None;
    while let Ok(job) = waiting.recv() {
        let result = runtime.block_on(async {
            let (connected, server_limit) =
                match client.take().filter(|(client, _)| !client.is_closed()) {
                    Some(connected) => connected,
                    None => (connect(address).await.map_err(Failure::Refused)?, Duration::ZERO),
                };
            // The server ends the statement itself: one whose client is gone would run on and
            // slow down those behind it.
            if server_limit != job.limit {
                let limit = format!("SET statement_timeout = {}", job.limit.as_millis());
                connected.batch_execute(&limit).await.map_err(Failure::Refused)?;
            }
            let parameters: Vec<&(dyn ToSql + Sync)> = job
                .parameters
                .iter()
                .map(|parameter| match parameter {
                    Parameter::Text(text) => text as &(dyn ToSql + Sync),
                    Parameter::Texts(texts) => texts as &(dyn ToSql + Sync),
                })
                .collect();
            let asked = connected.query(job.statement.as_str(), &parameters);
            let rows = match tokio::time::timeout(job.limit + GRACE, asked).await {
                Ok(Ok(rows)) => rows,
                Ok(Err(cause)) => {
                    let is_over = cause.code() == Some(&SqlState::QUERY_CANCELED);
                    client = is_over.then_some((connected, job.limit));
                    return Err(if is_over { Failure::TimedOut } else { Failure::Refused(cause) });
                }
                Err(_) => return Err(Failure::TimedOut),
            };
            let rows = rows
                .iter()
                .map(|row| {
                    (0..row.len())
                        .map(|at| row.try_get::<_, Option<String>>(at).map_err(Failure::Refused))
                        .collect()
                })
                .collect::<std::result::Result<Rows, Failure>>();
            client = Some((connected, job.limit));
            rows
        });
        // The caller may have given up, and then nobody listens.
        let _ = job.reply.send(result);
    }
}

async fn connect(address: &PostgresAddress) -> std::result::Result<Client, tokio_postgres::Error> {
    let (client, connection) = address.connect().await?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::warn!(%error, "a connection to PostgreSQL ended");
        }
    });
    // How alike a part of a name must be for the trigram index to give it; the lookup's own
    // score decides afterwards.
    client.batch_execute("SET pg_trgm.word_similarity_threshold = 0.45").await?;
    Ok(client)
}

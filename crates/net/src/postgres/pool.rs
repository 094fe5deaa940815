//! Sessions of one database for whoever only reads tables of others: begun when they are first
//! needed, each with a limit for its statements.

use std::io;
use std::ops::Deref;
use std::time::{Duration, Instant};

use tokio_postgres::Client;

use super::sessions::{PoolLimits, PooledSession, SessionPool, TakeError, TakenSession};
use super::{PostgresAddress, wait_at_most};

/// Sessions of one pool that are open at a time. Whoever comes later waits for one.
pub(super) const MAX_SESSIONS: usize = 16;
/// Sessions that stay open while nobody uses them.
const MAX_IDLE_SESSIONS: usize = 4;
/// The longest wait for a session, whatever limit a call has.
const MAX_SESSION_WAIT: Duration = Duration::from_secs(600);

/// Sessions of one database. The database is reached when it is first asked, and again after a
/// failure.
pub struct PostgresPool {
    address: PostgresAddress,
    settings: &'static str,
    sessions: SessionPool<Session>,
}

struct Session {
    client: Client,
    statement_limit: Option<Duration>,
}

impl PooledSession for Session {
    fn is_closed(&self) -> bool {
        self.client.is_closed()
    }
}

/// A session for the use of one caller. It ends when it is dropped, so that one on which something
/// was left unfinished is never used again.
pub struct PostgresSession<'p>(TakenSession<'p, Session>);

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Others had all sessions until the limit.
    #[error("all sessions are in use")]
    InUse,
    /// The database did not answer in time.
    #[error("no connection within the time limit")]
    TimedOut,
    /// The database refused it or cannot be reached.
    #[error("the database refused a session or cannot be reached")]
    Refused(#[source] tokio_postgres::Error),
    /// The system gives no threads for connections.
    #[error("no threads for connections")]
    NoThreads(#[source] io::Error),
}

impl PostgresPool {
    /// Names a database without reaching it; `settings` is SQL that every new session begins with.
    pub fn new(address: PostgresAddress, settings: &'static str) -> Self {
        let limits = PoolLimits {
            max_open: MAX_SESSIONS,
            max_idle: MAX_IDLE_SESSIONS,
            // Callers have limits of their own, and each call finds out by itself whether it is back.
            away_pause: None,
        };
        PostgresPool { address, settings, sessions: SessionPool::new(limits) }
    }

    /// Gives a session: one that is idle, or a new one, or one that another caller gives back.
    ///
    /// Fails when the database refuses it or cannot be reached, and when there is none within the
    /// limit. Connecting takes no longer than the address allows.
    pub fn take(&self, limit: Duration) -> Result<PostgresSession<'_>, SessionError> {
        let given_up_at = Instant::now() + limit.min(MAX_SESSION_WAIT);
        match self.sessions.take(given_up_at, || self.begin(given_up_at)) {
            Ok(taken) => Ok(PostgresSession(taken)),
            Err(TakeError::NotBegun(error)) => Err(error),
            Err(TakeError::InUse | TakeError::Away(_)) => Err(SessionError::InUse),
        }
    }

    fn begin(&self, given_up_at: Instant) -> Result<Session, SessionError> {
        let left = given_up_at.saturating_duration_since(Instant::now());
        let begun = async {
            let client = self.address.begin().await?;
            if !self.settings.is_empty() {
                client.batch_execute(self.settings).await?;
            }
            Ok(client)
        };
        let client = wait_at_most(left.min(self.address.connect_limit()), begun)
            .map_err(SessionError::NoThreads)?
            .ok_or(SessionError::TimedOut)?
            .map_err(SessionError::Refused)?;
        Ok(Session { client, statement_limit: None })
    }
}

impl std::fmt::Debug for PostgresPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresPool").field("address", &self.address).finish_non_exhaustive()
    }
}

impl PostgresSession<'_> {
    /// Lets the server end every later statement of this session that takes longer: one whose
    /// caller has given up would run on. Asks the server only when the limit is another one.
    pub async fn limit_statements(&mut self, limit: Duration) -> Result<(), tokio_postgres::Error> {
        let session = &mut *self.0;
        if session.statement_limit != Some(limit) {
            // Zero would mean no limit at all.
            let millis = limit.as_millis().max(1);
            session.statement_limit = None;
            session.client.batch_execute(&format!("SET statement_timeout = {millis}")).await?;
            session.statement_limit = Some(limit);
        }
        Ok(())
    }

    /// Leaves the session to whoever comes next. No transaction may be open on it.
    pub fn give_back(self) {
        self.0.give_back();
    }
}

impl Deref for PostgresSession<'_> {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.0.client
    }
}

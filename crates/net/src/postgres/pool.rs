//! Sessions of one database that are used again, and no more of them than it should have to bear.

use std::io;
use std::ops::Deref;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tokio_postgres::Client;

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
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Idle>,
    /// Those that are idle and those that are in use.
    n_open: usize,
}

struct Idle {
    client: Client,
    statement_limit: Option<Duration>,
}

/// A session for the use of one caller. It ends when it is dropped, so that one on which something
/// was left unfinished is never used again.
pub struct PostgresSession<'p> {
    pool: &'p PostgresPool,
    // Absent while it is being opened, and once it was given back.
    idle: Option<Idle>,
    is_kept: bool,
}

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
    #[error("the database gave no session")]
    Refused(#[source] tokio_postgres::Error),
    /// The system gives no threads for connections.
    #[error("no threads for connections")]
    NoThreads(#[source] io::Error),
}

impl PostgresPool {
    /// Names a database without reaching it; `settings` is SQL that every new session begins with.
    pub fn new(address: PostgresAddress, settings: &'static str) -> Self {
        PostgresPool { address, settings, state: Mutex::default(), freed: Condvar::new() }
    }

    /// Gives a session: one that is idle, or a new one, or one that another caller gives back.
    ///
    /// Fails when the database refuses it or cannot be reached, and when there is none within the
    /// limit. Connecting takes no longer than the address allows.
    pub fn take(&self, limit: Duration) -> Result<PostgresSession<'_>, SessionError> {
        let given_up_at = Instant::now() + limit.min(MAX_SESSION_WAIT);
        let mut state = self.state.lock();
        loop {
            while let Some(idle) = state.idle.pop() {
                if !idle.client.is_closed() {
                    return Ok(PostgresSession { pool: self, idle: Some(idle), is_kept: false });
                }
                state.n_open -= 1;
            }
            if state.n_open < MAX_SESSIONS {
                break;
            }
            if self.freed.wait_until(&mut state, given_up_at).timed_out() {
                return Err(SessionError::InUse);
            }
        }
        state.n_open += 1;
        drop(state);
        // From here on it is counted, and gives its place back when it comes to nothing.
        let mut session = PostgresSession { pool: self, idle: None, is_kept: false };
        let left = given_up_at.saturating_duration_since(Instant::now());
        let client = wait_at_most(left.min(self.address.connect_limit()), self.begin())
            .map_err(SessionError::NoThreads)?
            .ok_or(SessionError::TimedOut)?
            .map_err(SessionError::Refused)?;
        session.idle = Some(Idle { client, statement_limit: None });
        Ok(session)
    }

    async fn begin(&self) -> Result<Client, tokio_postgres::Error> {
        let client = self.address.begin().await?;
        if !self.settings.is_empty() {
            client.batch_execute(self.settings).await?;
        }
        Ok(client)
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
        let Some(session) = &mut self.idle else { return Ok(()) };
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
    pub fn give_back(mut self) {
        let mut state = self.pool.state.lock();
        let is_wanted = state.idle.len() < MAX_IDLE_SESSIONS;
        if let Some(idle) = self.idle.take().filter(|idle| is_wanted && !idle.client.is_closed()) {
            state.idle.push(idle);
            self.is_kept = true;
        }
        drop(state);
    }
}

impl Deref for PostgresSession<'_> {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.idle.as_ref().expect("a session has its client until it is given back").client
    }
}

impl Drop for PostgresSession<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.pool.state.lock().n_open -= 1;
        }
        self.pool.freed.notify_one();
    }
}

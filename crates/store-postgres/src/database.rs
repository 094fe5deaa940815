//! The database: a few sessions, transactions over them, and what is done when it is away.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use net::{PoolLimits, PostgresAddress, SessionPool, TakeError, TakenSession};
use parking_lot::Mutex;
use store::{Error, Result};

use crate::connection::Connection;
use crate::{PostgresConfig, failure, schema};

/// The longest that connecting may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// The longest that a reading call may take, with all its statements.
const READ_LIMIT: Duration = Duration::from_secs(60);
/// The longest that a writing call may take: a batch of many documents is one transaction.
const WRITE_LIMIT: Duration = Duration::from_secs(300);
/// The longest that a call waits for a session while all are in use.
const POOL_LIMIT: Duration = Duration::from_secs(30);
/// How often a transaction is begun that lost against another, or whose session had ended.
const MAX_ATTEMPTS: u32 = 5;
/// After the database could not be reached, every call fails at once for this long; then one of them
/// tries to connect, and the others go on failing at once until it has an answer.
const AWAY_PAUSE: Duration = Duration::from_millis(500);
/// A call that has no answer for this long asks over another session whether anybody is there: a
/// database may wait for a lock, and it may hang with all its connections open.
const SILENCE: Duration = Duration::from_secs(3);
/// Seconds that sent bytes may go without an acknowledgement, that a session is silent before it is
/// asked whether anybody is there, and between two questions, and how many of them.
const TCP_SETTINGS: [(&str, u32); 4] = [
    ("tcp_user_timeout", 20),
    ("keepalives_idle", 30),
    ("keepalives_interval", 10),
    ("keepalives_retries", 3),
];

/// Sessions of one database.
pub(crate) struct Database {
    address: PostgresAddress,
    schema: String,
    shared: Arc<Shared>,
    /// A session inside a transaction that sees one moment, which every call uses instead of the
    /// pool: a copy is taken through it.
    pinned: Option<Mutex<Connection>>,
}

/// What the views of one database share.
struct Shared {
    sessions: SessionPool<Connection>,
    /// When somebody was there last, which waiting calls ask one at a time.
    answered: tokio::sync::Mutex<Option<Instant>>,
}

/// Why a session could not be begun, told as its reason alone.
struct NotConnected(Error);

impl fmt::Display for NotConnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Error::CatalogueUnavailable { reason } = &self.0 {
            return f.write_str(reason);
        }
        self.0.fmt(f)
    }
}

impl Database {
    /// Connects, and brings the tables up to date.
    ///
    /// # Errors
    ///
    /// [`Error::CatalogueSettings`] when the address cannot be used,
    /// [`Error::CatalogueUnavailable`] when nobody answers there, [`Error::FormatTooNew`] when a
    /// later program made the tables.
    pub(crate) fn open(config: &PostgresConfig) -> Result<Self> {
        let settings = |reason: String| Error::CatalogueSettings { reason };
        let address = PostgresAddress::parse(&noticing_a_cut(config.url.reveal()), CONNECT_LIMIT)
            .map_err(|error| settings(error.to_string()))?;
        let is_plain = |char: char| char.is_ascii_alphanumeric() || char == '_';
        if config.schema.is_empty() || !config.schema.chars().all(is_plain) {
            let schema = &config.schema;
            let allowed = "letters, digits and `_`";
            return Err(settings(format!("the schema may have {allowed}, received `{schema}`")));
        }
        let max_open = config.max_connections.max(2);
        let limits = PoolLimits { max_open, max_idle: max_open, away_pause: Some(AWAY_PAUSE) };
        let shared = Arc::new(Shared {
            sessions: SessionPool::new(limits),
            answered: tokio::sync::Mutex::default(),
        });
        let database = Database { address, schema: config.schema.clone(), shared, pinned: None };
        database.within(WRITE_LIMIT, async |connection| {
            schema::bring_up_to_date(connection, &database.schema).await
        })?;
        Ok(database)
    }

    /// Gives a view of one moment, for a copy. It reads alone, and its calls come one at a time.
    pub(crate) fn pinned(&self) -> Result<Self> {
        let mut connection = self.connect()?;
        self.limited(
            READ_LIMIT,
            connection.batch(
                "SET idle_in_transaction_session_timeout = 0; \
             BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            ),
        )?;
        Ok(Database {
            address: self.address.clone(),
            schema: self.schema.clone(),
            shared: Arc::clone(&self.shared),
            pinned: Some(Mutex::new(connection)),
        })
    }

    /// Reads; every statement sees what was committed when it began.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a closure at the call reads better than a reference to one"
    )]
    pub(crate) fn read<T>(&self, read: impl AsyncFn(&mut Connection) -> Result<T>) -> Result<T> {
        if let Some(pinned) = &self.pinned {
            return self.limited(READ_LIMIT, self.watched(read(&mut pinned.lock())));
        }
        self.again_while_closed(|| {
            self.within(READ_LIMIT, async |connection| read(connection).await)
        })
    }

    /// Reads in one transaction, so that all statements see the same moment.
    pub(crate) fn read_at_once<T>(
        &self,
        read: impl AsyncFn(&mut Connection) -> Result<T>,
    ) -> Result<T> {
        if self.pinned.is_some() {
            return self.read(read);
        }
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        self.again_while_closed(|| {
            self.within(READ_LIMIT, async |connection| {
                connection.batch(begin).await?;
                let result = read(connection).await;
                connection.batch("COMMIT").await?;
                result
            })
        })
    }

    /// Writes in one transaction, which is durable when this returns `Ok`.
    ///
    /// A transaction that lost against another is begun again, and so is one whose session ended
    /// before it was to be committed: nothing of it was written.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a closure at the call reads better than a reference to one"
    )]
    pub(crate) fn write<T>(&self, write: impl AsyncFn(&mut Connection) -> Result<T>) -> Result<T> {
        let mut n_attempts = 0;
        loop {
            n_attempts += 1;
            let mut is_committing = false;
            let written = self.within(WRITE_LIMIT, async |connection| {
                connection.batch("BEGIN").await?;
                match write(connection).await {
                    Ok(result) => {
                        is_committing = true;
                        connection.batch("COMMIT").await?;
                        Ok(result)
                    }
                    Err(error) => {
                        // A session that cannot roll back has ended, and its transaction with it.
                        let _ = connection.batch("ROLLBACK").await;
                        Err(error)
                    }
                }
            });
            let Err(error) = written else { return written };
            let was_ended = matches!(error, Error::CatalogueUnavailable { .. }) && !is_committing;
            let may_try = failure::is_conflict(&error) || was_ended;
            if let Error::CatalogueUnavailable { reason } = &error
                && is_committing
            {
                let reason = format!("{reason}; whether the change was stored is not known");
                return Err(failure::away(reason));
            }
            if !may_try || n_attempts >= MAX_ATTEMPTS || self.is_away() {
                return Err(error);
            }
        }
    }

    /// A pooled session may have ended while nobody looked: then another one is tried.
    fn again_while_closed<T>(&self, call: impl Fn() -> Result<T>) -> Result<T> {
        let mut n_attempts = 0;
        loop {
            n_attempts += 1;
            match call() {
                Err(Error::CatalogueUnavailable { .. })
                    if n_attempts < MAX_ATTEMPTS && !self.is_away() => {}
                result => return result,
            }
        }
    }

    fn is_away(&self) -> bool {
        self.shared.sessions.away().is_some()
    }

    /// Runs something on a session, for no longer than a limit. A session on which something was
    /// left unfinished is closed.
    fn within<T>(
        &self,
        limit: Duration,
        call: impl AsyncFnOnce(&mut Connection) -> Result<T>,
    ) -> Result<T> {
        let mut connection = self.take()?;
        let result = self.limited(limit, self.watched(call(&mut connection)));
        if !matches!(result, Err(Error::CatalogueUnavailable { .. })) {
            connection.give_back();
        }
        result
    }

    fn limited<T>(&self, limit: Duration, call: impl Future<Output = Result<T>>) -> Result<T> {
        let late = || Err(failure::away(format!("no answer in {} s", limit.as_secs())));
        net::wait_at_most(limit, call)?.unwrap_or_else(late)
    }

    /// Waits for a call for as long as somebody is there.
    async fn watched<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        let mut call = std::pin::pin!(call);
        loop {
            match tokio::time::timeout(SILENCE, &mut call).await {
                Ok(result) => return result,
                Err(_) => self.ask_whether_anybody_is_there().await?,
            }
        }
    }

    /// Begins a session and ends it again, unless another call did so a moment ago. Where nobody
    /// answers, sessions that are open are no better: they are closed.
    async fn ask_whether_anybody_is_there(&self) -> Result<()> {
        let mut answered = self.shared.answered.lock().await;
        if answered.is_some_and(|at| at.elapsed() < SILENCE) {
            return Ok(());
        }
        if let Some(reason) = self.shared.sessions.away() {
            return Err(failure::away(reason));
        }
        let asked = Connection::is_answered(&self.address);
        if let Ok(true) = tokio::time::timeout(CONNECT_LIMIT, asked).await {
            *answered = Some(Instant::now());
            return Ok(());
        }
        let reason = format!("no answer in {} s, and no other session begins", SILENCE.as_secs());
        self.shared.sessions.set_away(reason.clone());
        Err(failure::away(reason))
    }

    /// Gives a session: one that is idle, or a new one, or one that another call gives back.
    fn take(&self) -> Result<TakenSession<'_, Connection>> {
        let sessions = &self.shared.sessions;
        let begin = || self.connect().map_err(NotConnected);
        sessions.take(Instant::now() + POOL_LIMIT, begin).map_err(|error| match error {
            TakeError::NotBegun(NotConnected(error)) => error,
            TakeError::Away(reason) => failure::away(reason),
            TakeError::InUse => {
                let (n, seconds) = (sessions.limits().max_open, POOL_LIMIT.as_secs());
                failure::away(format!("all {n} connections were in use for {seconds} s"))
            }
        })
    }

    fn connect(&self) -> Result<Connection> {
        self.limited(CONNECT_LIMIT, Connection::open(&self.address, &self.schema))
    }

    /// Closes the sessions that nobody uses.
    pub(crate) fn close(&self) {
        self.shared.sessions.end_idle();
    }
}

/// Lets sessions end when the network is cut without a word, unless the address says otherwise.
fn noticing_a_cut(url: &str) -> String {
    let mut url = url.to_owned();
    if !url.contains("://") {
        return url;
    }
    for (name, value) in TCP_SETTINGS {
        if !url.contains(name) {
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(&format!("{name}={value}"));
        }
    }
    url
}

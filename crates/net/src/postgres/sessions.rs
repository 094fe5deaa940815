//! Sessions that are used again, and no more of them than a database should have to bear: the one
//! pool of all that ask a PostgreSQL, whatever a session is to them.

use std::fmt::Display;
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// What a pool has to know of a session.
pub trait PooledSession {
    /// Tells whether the session has ended: it is not used again then.
    fn is_closed(&self) -> bool;
}

/// The bounds of a pool.
#[derive(Debug, Clone, Copy)]
pub struct PoolLimits {
    /// Sessions that are open at a time. Whoever comes later waits for one.
    pub max_open: usize,
    /// Sessions that stay open while nobody uses them.
    pub max_idle: usize,
    /// After no session could be begun, every caller is refused at once for this long; then one of
    /// them tries, and the others go on being refused until it has an answer. Without it every
    /// caller tries for itself.
    pub away_pause: Option<Duration>,
}

/// Sessions of one database.
pub struct SessionPool<S> {
    state: Mutex<State<S>>,
    freed: Condvar,
    limits: PoolLimits,
}

struct State<S> {
    idle: Vec<S>,
    /// Those that are idle and those that are in use.
    n_open: usize,
    /// Set from a failure to begin a session to the next one that begins or answers.
    away: Option<Away>,
}

struct Away {
    reason: String,
    since: Instant,
    /// Whether a caller tries to begin a session now.
    is_tried: bool,
}

/// Why a pool gives no session.
#[derive(Debug)]
pub enum TakeError<E> {
    /// Others had all sessions until the limit.
    InUse,
    /// The last attempt failed, with this reason, and it is too early for another.
    Away(String),
    /// This attempt failed.
    NotBegun(E),
}

/// A session for the use of one caller. It ends when it is dropped, so that one on which something
/// was left unfinished is never used again.
pub struct TakenSession<'p, S: PooledSession> {
    pool: &'p SessionPool<S>,
    // Absent while it is being begun, and once it was given back.
    session: Option<S>,
    is_kept: bool,
}

impl<S: PooledSession> SessionPool<S> {
    /// Makes a pool without a session.
    pub fn new(limits: PoolLimits) -> Self {
        let state = State { idle: vec![], n_open: 0, away: None };
        SessionPool { state: Mutex::new(state), freed: Condvar::new(), limits }
    }

    /// Gives a session: one that is idle, or a new one, or one that another caller gives back.
    ///
    /// # Errors
    ///
    /// When `begin` fails or has just failed for somebody else, and when there is no session at
    /// `given_up_at`.
    pub fn take<E: Display>(
        &self,
        given_up_at: Instant,
        begin: impl FnOnce() -> Result<S, E>,
    ) -> Result<TakenSession<'_, S>, TakeError<E>> {
        let mut state = self.state.lock();
        loop {
            while let Some(session) = state.idle.pop() {
                if !session.is_closed() {
                    let session = Some(session);
                    return Ok(TakenSession { pool: self, session, is_kept: false });
                }
                state.n_open -= 1;
            }
            let has_room = state.n_open < self.limits.max_open;
            if let Some((away, pause)) = state.away.as_mut().zip(self.limits.away_pause) {
                if away.is_tried || !has_room || away.since.elapsed() < pause {
                    return Err(TakeError::Away(away.reason.clone()));
                }
                away.is_tried = true;
            }
            if has_room {
                break;
            }
            if self.freed.wait_until(&mut state, given_up_at).timed_out() {
                return Err(TakeError::InUse);
            }
        }
        state.n_open += 1;
        drop(state);
        // From here on it is counted, and gives its place back when it comes to nothing.
        let mut taken = TakenSession { pool: self, session: None, is_kept: false };
        match begin() {
            Ok(session) => {
                self.state.lock().away = None;
                taken.session = Some(session);
                Ok(taken)
            }
            Err(error) => {
                self.state.lock().away = Some(Away::new(error.to_string()));
                self.freed.notify_all();
                Err(TakeError::NotBegun(error))
            }
        }
    }

    /// Says that the database does not answer: sessions that nobody uses are no better than those
    /// that found out, and are ended.
    pub fn set_away(&self, reason: String) {
        self.state.lock().away = Some(Away::new(reason));
        self.end_idle();
        self.freed.notify_all();
    }

    /// Gives why the database does not answer; nothing where the last attempt went well.
    pub fn away(&self) -> Option<String> {
        self.state.lock().away.as_ref().map(|away| away.reason.clone())
    }

    /// Ends the sessions that nobody uses.
    pub fn end_idle(&self) {
        let mut state = self.state.lock();
        state.n_open -= state.idle.len();
        state.idle.clear();
    }

    /// Gives the bounds.
    pub fn limits(&self) -> PoolLimits {
        self.limits
    }
}

impl Away {
    fn new(reason: String) -> Self {
        Away { reason, since: Instant::now(), is_tried: false }
    }
}

impl<S: PooledSession> TakenSession<'_, S> {
    /// Leaves the session to whoever comes next. No transaction may be open on it.
    pub fn give_back(mut self) {
        let Some(session) = self.session.take().filter(|session| !session.is_closed()) else {
            return;
        };
        let mut state = self.pool.state.lock();
        // Whatever another caller found, it answers.
        state.away = None;
        if state.idle.len() < self.pool.limits.max_idle {
            state.idle.push(session);
            self.is_kept = true;
        }
        drop(state);
    }
}

impl<S: PooledSession> Deref for TakenSession<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.session.as_ref().expect("a session is there until it is given back")
    }
}

impl<S: PooledSession> DerefMut for TakenSession<'_, S> {
    fn deref_mut(&mut self) -> &mut S {
        self.session.as_mut().expect("a session is there until it is given back")
    }
}

impl<S: PooledSession> Drop for TakenSession<'_, S> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.pool.state.lock().n_open -= 1;
        }
        self.pool.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use super::*;

    struct Line {
        is_closed: bool,
    }

    impl PooledSession for Line {
        fn is_closed(&self) -> bool {
            self.is_closed
        }
    }

    fn pool(away_pause: Option<Duration>) -> SessionPool<Line> {
        SessionPool::new(PoolLimits { max_open: 2, max_idle: 1, away_pause })
    }

    fn take<'p>(
        pool: &'p SessionPool<Line>,
        begun: Result<(), &'static str>,
    ) -> Result<TakenSession<'p, Line>, TakeError<&'static str>> {
        pool.take(Instant::now(), || begun.map(|()| Line { is_closed: false }))
    }

    #[test]
    fn there_are_never_more_than_allowed_and_places_come_back() {
        let pool = pool(None);
        let one = take(&pool, Ok(())).unwrap();
        let mut other = take(&pool, Ok(())).unwrap();
        assert!(matches!(take(&pool, Ok(())), Err(TakeError::InUse)));
        one.give_back();
        // One that has ended is not given back, whoever says so.
        other.is_closed = true;
        other.give_back();
        let state = pool.state.lock();
        assert_eq!((state.n_open, state.idle.len()), (1, 1));
        drop(state);
        drop(take(&pool, Err("nobody is asked for a session that is there")).unwrap());
        assert_eq!(pool.state.lock().n_open, 0);
        assert!(matches!(take(&pool, Err("refused")), Err(TakeError::NotBegun("refused"))));
        assert_eq!(pool.state.lock().n_open, 0, "an attempt that fails leaves its place");
        assert!(take(&pool, Ok(())).is_ok(), "without a pause every caller tries");
    }

    #[test]
    fn while_the_database_is_away_one_caller_tries() {
        let pool = pool(Some(Duration::from_secs(3_600)));
        assert!(matches!(take(&pool, Err("refused")), Err(TakeError::NotBegun("refused"))));
        let is_away = |taken: Result<_, TakeError<&str>>| match taken {
            Err(TakeError::Away(reason)) => reason == "refused",
            _ => false,
        };
        assert!(is_away(take(&pool, Ok(()))), "it is too early");
        if let Some(away) = &mut pool.state.lock().away {
            away.since -= Duration::from_secs(3_601);
        }
        let is_refused_meanwhile = Cell::new(false);
        let tried = pool.take(Instant::now(), || {
            is_refused_meanwhile.set(is_away(take(&pool, Ok(()))));
            Ok::<_, &str>(Line { is_closed: false })
        });
        assert!(tried.is_ok() && is_refused_meanwhile.get());
        assert_eq!(pool.away(), None);
        pool.set_away("no answer".to_owned());
        tried.unwrap().give_back();
        assert_eq!(pool.away(), None, "a session that answers says otherwise");
    }
}

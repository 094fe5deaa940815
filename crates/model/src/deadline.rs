//! How long a call may take: a stage that runs out says so, and gives what it has.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The part of a call's time that a server behind this one may take.
const UPSTREAM_SHARE: f64 = 0.9;

/// The moment by which a call must answer, and whether its caller still listens. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Deadline {
    at: Instant,
    cancelled: Arc<AtomicBool>,
}

impl Deadline {
    /// Starts counting now.
    pub fn after(limit: Duration) -> Self {
        Deadline { at: Instant::now() + limit, cancelled: Arc::default() }
    }

    /// Tells whether the work should stop: time is over, or nobody waits for the answer.
    pub fn is_over(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || Instant::now() >= self.at
    }

    /// Gives what is left, zero when it is over.
    pub fn remaining(&self) -> Duration {
        if self.cancelled.load(Ordering::Relaxed) {
            return Duration::ZERO;
        }
        self.at.saturating_duration_since(Instant::now())
    }

    /// Gives nine tenths of what is left to somebody else, so that there is time to say that it
    /// was they who took too long. It is cancelled together with this one.
    pub fn for_upstream(&self) -> Deadline {
        let at = Instant::now() + self.remaining().mul_f64(UPSTREAM_SHARE);
        Deadline { at, cancelled: Arc::clone(&self.cancelled) }
    }

    /// Gives a share of what is left, at most so much, to a part of the work that can be done
    /// without. It is cancelled together with this one.
    ///
    /// ```
    /// use std::time::Duration;
    /// let whole = model::Deadline::after(Duration::from_secs(60));
    /// assert!(whole.part(0.5, Duration::from_secs(10)).remaining() <= Duration::from_secs(10));
    /// ```
    pub fn part(&self, share: f64, most: Duration) -> Deadline {
        let at = Instant::now() + self.remaining().mul_f64(share).min(most);
        Deadline { at, cancelled: Arc::clone(&self.cancelled) }
    }

    /// Stops the work early, since the caller went away.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

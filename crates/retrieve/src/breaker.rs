//! A part that keeps failing is left alone for a while, so that searches do not wait for it.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Failures in a row after which the part is left alone.
pub(crate) const MAX_FAILURES: u32 = 5;
/// How long it is left alone.
pub(crate) const OPEN_TIME: Duration = Duration::from_secs(30);

/// Counts the failures of one part.
#[derive(Debug, Default)]
pub(crate) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    n_failures: u32,
    open_until: Option<Instant>,
}

impl Breaker {
    /// Tells whether the part may be tried now. After the time is over one failure is enough
    /// to leave it alone again.
    pub(crate) fn may_try(&self, now: Instant) -> bool {
        self.0.lock().open_until.is_none_or(|until| now >= until)
    }

    /// Counts what a try came to.
    pub(crate) fn record(&self, is_success: Outcome, now: Instant) {
        let mut state = self.0.lock();
        match is_success {
            Outcome::Worked => *state = State::default(),
            Outcome::Failed => {
                state.n_failures += 1;
                if state.n_failures >= MAX_FAILURES {
                    state.open_until = Some(now + OPEN_TIME);
                }
            }
        }
    }
}

/// What a try came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Worked,
    Failed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_failures_in_a_row_open_it_for_thirty_seconds() {
        let breaker = Breaker::default();
        let now = Instant::now();
        for _ in 0..4 {
            breaker.record(Outcome::Failed, now);
        }
        breaker.record(Outcome::Worked, now);
        for _ in 0..4 {
            breaker.record(Outcome::Failed, now);
            assert!(breaker.may_try(now));
        }
        breaker.record(Outcome::Failed, now);
        assert!(!breaker.may_try(now + Duration::from_secs(29)));
        assert!(breaker.may_try(now + Duration::from_secs(30)));
        breaker.record(Outcome::Failed, now + Duration::from_secs(30));
        assert!(!breaker.may_try(now + Duration::from_secs(31)));
    }
}

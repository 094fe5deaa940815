//! When a failed request is sent again, and after how long.

use std::time::Duration;

use model::Deadline;

/// The longest `Retry-After` that is followed; a longer one is given back to the caller.
pub(crate) const MAX_RETRY_AFTER: Duration = Duration::from_secs(30);
/// How often a wait looks whether its caller has gone.
const WAIT_SLICE: Duration = Duration::from_millis(20);

/// How often and how patiently a request is repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in all, the first included; at least 1.
    pub max_attempts: u32,
    /// The upper end of the first wait; it doubles each time.
    pub first_wait: Duration,
    /// The upper end of every wait.
    pub longest_wait: Duration,
}

impl RetryPolicy {
    /// Four attempts, waiting up to 0.2, 0.4 and 0.8 seconds between them.
    pub fn patient() -> Self {
        RetryPolicy {
            max_attempts: 4,
            first_wait: Duration::from_millis(200),
            longest_wait: Duration::from_secs(5),
        }
    }

    /// One attempt.
    pub fn never() -> Self {
        RetryPolicy { max_attempts: 1, first_wait: Duration::ZERO, longest_wait: Duration::ZERO }
    }

    /// Gives the wait before the next attempt, drawn evenly from the upper half of its range, so
    /// that clients that failed together do not come back together.
    pub(crate) fn wait_after(&self, n_failures: u32) -> Duration {
        let doublings = n_failures.saturating_sub(1).min(16);
        let upper = self.first_wait.saturating_mul(1 << doublings).min(self.longest_wait);
        upper.mul_f64(rand::random_range(0.5..=1.0))
    }
}

/// Tells whether a status is worth another attempt.
pub(crate) fn is_passing_status(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504)
}

/// Reads the whole-seconds form of `Retry-After`; the date form is rare and ignored.
pub(crate) fn read_retry_after(value: &str) -> Option<u64> {
    value.trim().parse().ok()
}

/// Waits, and gives up early when the deadline is over. Tells whether there is time left.
pub(crate) fn wait(duration: Duration, deadline: &Deadline) -> bool {
    if duration >= deadline.remaining() {
        return false;
    }
    let mut left = duration;
    while !left.is_zero() {
        if deadline.is_over() {
            return false;
        }
        let slice = left.min(WAIT_SLICE);
        std::thread::sleep(slice);
        left -= slice;
    }
    !deadline.is_over()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_stay_inside_their_bounds() {
        let policy = RetryPolicy::patient();
        for n_failures in 1..40 {
            let upper =
                Duration::from_millis(200 << (n_failures - 1).min(10)).min(policy.longest_wait);
            let wait = policy.wait_after(n_failures);
            assert!(wait >= upper / 2 && wait <= upper, "{n_failures}: {wait:?} of {upper:?}");
        }
    }

    #[test]
    fn no_wait_outlives_the_deadline() {
        let deadline = Deadline::after(Duration::from_secs(3600));
        deadline.cancel();
        assert!(!wait(Duration::from_secs(60), &deadline));
        assert!(wait(Duration::ZERO, &Deadline::after(Duration::from_secs(60))));
    }

    #[test]
    fn retry_after_is_read_as_seconds() {
        assert_eq!(read_retry_after(" 7 "), Some(7));
        assert_eq!(read_retry_after("Wed, 21 Oct 2026 07:28:00 GMT"), None);
        assert_eq!(read_retry_after("-1"), None);
    }
}

//! How long the rest will take, once that can be said.
//!
//! The first steps say little: small files go by in no time, and a model is still being loaded. So
//! nothing is said at first, and then what the pace of the whole way so far gives, which a few slow
//! steps do not move much.

use std::time::{Duration, Instant};

/// Nothing is said before so long.
const KNOWN_AFTER: Duration = Duration::from_secs(5);

/// Nor before this part is done.
const KNOWN_PART: f64 = 0.2;

/// After so long something is said even so: a fifth of a day is too long to wait for it.
const SAID_AFTER: Duration = Duration::from_secs(30);

/// A shorter time is not said.
const SAID_FROM: Duration = Duration::from_secs(1);

/// The way so far.
#[derive(Debug, Clone, Copy)]
struct Way {
    begun: Instant,
    n_before: u64,
    n_last: u64,
}

/// Learns from each step how long the rest will take.
#[derive(Debug, Clone, Default)]
pub(crate) struct Remaining(Option<Way>);

impl Remaining {
    /// Takes in how far it is at a moment, and gives how long the rest will take, where that is
    /// known. Another way begins where less is done than before.
    pub(crate) fn after(&mut self, now: Instant, n_done: u64, n_total: u64) -> Option<Duration> {
        let way = self.0.filter(|way| way.n_last <= n_done);
        let way = way.unwrap_or(Way { begun: now, n_before: n_done, n_last: n_done });
        self.0 = Some(Way { n_last: n_done, ..way });
        let (n_made, n_left) = (n_done - way.n_before, n_total.checked_sub(n_done)?);
        let took = now.duration_since(way.begun);
        if n_made == 0 || n_left == 0 || took < KNOWN_AFTER {
            return None;
        }
        let part = n_made as f64 / (n_made + n_left) as f64;
        if part < KNOWN_PART && took < SAID_AFTER {
            return None;
        }
        let left = Duration::try_from_secs_f64(took.as_secs_f64() * n_left as f64 / n_made as f64);
        left.ok().filter(|left| *left >= SAID_FROM)
    }

    /// Forgets the way so far: another one begins.
    pub(crate) fn begin_anew(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    /// The bar of 300 files said `3s left` after a second, and then `28s left`.
    #[test]
    fn the_first_steps_promise_nothing() {
        let (begun, mut remaining) = (Instant::now(), Remaining::default());
        assert_eq!(remaining.after(begun, 0, 300), None);
        assert_eq!(remaining.after(begun + seconds(1.0), 100, 300), None, "too early");
        assert_eq!(remaining.after(begun + seconds(6.0), 50, 300), None, "another way began");
        assert_eq!(remaining.after(begun + seconds(12.0), 60, 300), None, "too little is done");
        let left = remaining.after(begun + seconds(16.0), 150, 300).unwrap();
        assert_eq!(left, seconds(15.0));
        // A thing of hours says so after half a minute.
        remaining.begin_anew();
        remaining.after(begun, 0, 1_000_000);
        assert!(remaining.after(begun + seconds(31.0), 100, 1_000_000).is_some());
        // At the end nothing is left, and a total below what is done is none.
        assert_eq!(remaining.after(begun + seconds(32.0), 1_000_000, 1_000_000), None);
        assert_eq!(remaining.after(begun + seconds(33.0), 1_000_001, 1_000_000), None);
    }

    proptest! {
        /// At a steady pace the time that is said never grows.
        #[test]
        fn at_a_steady_pace_it_only_falls(n_total in 1_u64..5_000, pace in 0.05_f64..500.0) {
            let (begun, mut remaining) = (Instant::now(), Remaining::default());
            remaining.after(begun, 0, n_total);
            let mut before = None;
            for n_done in 1..=n_total {
                let now = begun + seconds(n_done as f64 / pace);
                let left = remaining.after(now, n_done, n_total);
                if let (Some(before), Some(left)) = (before, left) {
                    prop_assert!(left <= before, "{before:?} {left:?}");
                }
                before = left.or(before);
            }
        }
    }
}

//! Clocks for tests: one that stands still and one that a test moves by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use model::{Clock, Timestamp};

/// The moment at which clocks of tests start: 2024-05-01, 12:00:00 UTC.
pub const START: Timestamp = Timestamp(1_714_564_800_000);

/// Makes a clock that always shows [`START`].
pub fn fixed_clock() -> Clock {
    Clock::fixed(START)
}

/// A clock that shows what the test says. Clones show the same time.
#[derive(Debug, Clone)]
pub struct ManualClock {
    millis: Arc<AtomicI64>,
}

impl ManualClock {
    /// Starts at [`START`].
    #[expect(clippy::new_without_default, reason = "a clock is made on purpose, never implied")]
    pub fn new() -> Self {
        ManualClock { millis: Arc::new(AtomicI64::new(START.millis())) }
    }

    /// Gives the clock to hand to the code under test.
    pub fn clock(&self) -> Clock {
        let millis = Arc::clone(&self.millis);
        Clock::new(move || Timestamp(millis.load(Ordering::SeqCst)))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_millis()).expect("tests advance by less than an age");
        self.millis.fetch_add(by, Ordering::SeqCst);
    }

    /// Sets the clock to a moment, also backwards, as a wall clock may jump.
    pub fn set(&self, at: Timestamp) {
        self.millis.store(at.millis(), Ordering::SeqCst);
    }
}

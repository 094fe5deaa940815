//! Time as a value: only the binary reads the wall clock, everyone else is given one.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Gives milliseconds since the Unix epoch.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// Gives whole seconds since the Unix epoch.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }
}

/// A source of the present time, cheap to clone.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// Makes a clock from a function.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Clock(Arc::new(now))
    }

    /// Makes a clock that stands still.
    pub fn fixed(at: Timestamp) -> Self {
        Clock::new(move || at)
    }

    /// Gives the present time.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

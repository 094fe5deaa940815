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

impl From<std::time::SystemTime> for Timestamp {
    fn from(time: std::time::SystemTime) -> Self {
        let millis =
            |duration: std::time::Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        match time.duration_since(std::time::UNIX_EPOCH) {
            Ok(since) => Timestamp(millis(since)),
            Err(before) => Timestamp(-millis(before.duration())),
        }
    }
}

/// Writes a time as ISO 8601 in UTC, to the millisecond; empty beyond the years that the format
/// has.
pub fn iso(at: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(at.millis()) {
        Ok(timestamp) => timestamp.to_string(),
        Err(_) => String::new(),
    }
}

/// Writes a time as ISO 8601 in UTC, to the second: file systems differ in the rest.
pub fn iso_seconds(at: Timestamp) -> String {
    iso(Timestamp(at.seconds().saturating_mul(1000)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_iso_8601() {
        let check = |millis: i64, iso: &str, seconds: &str| {
            assert_eq!(super::iso(Timestamp(millis)), iso);
            assert_eq!(iso_seconds(Timestamp(millis)), seconds);
        };
        check(0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z");
        check(1_700_000_000_123, "2023-11-14T22:13:20.123Z", "2023-11-14T22:13:20Z");
        check(-1, "1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59Z");
        check(i64::MAX, "", "");
    }

    #[test]
    fn times_of_files_before_the_epoch_are_negative() {
        let before = std::time::UNIX_EPOCH - std::time::Duration::from_millis(5);
        assert_eq!(Timestamp::from(before), Timestamp(-5));
    }
}

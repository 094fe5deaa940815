//! Times as answers show them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Gives a file's time in milliseconds since the Unix epoch.
pub(crate) fn millis(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
    }
}

/// Writes a time as ISO 8601 in UTC, to the second.
pub(crate) fn iso(millis: i64) -> String {
    let seconds = millis.div_euclid(1000);
    match jiff::Timestamp::from_second(seconds) {
        Ok(timestamp) => timestamp.to_string(),
        Err(_) => String::new(),
    }
}

/// Counts whole milliseconds.
pub(crate) fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

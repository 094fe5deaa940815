//! Times as people and programs read them.

use model::Timestamp;

/// Writes a time as ISO 8601 in UTC, to the millisecond.
pub fn iso(at: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(at.millis()) {
        Ok(timestamp) => timestamp.to_string(),
        Err(_) => String::new(),
    }
}

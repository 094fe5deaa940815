//! The only place that reads the wall clock.

use std::time::UNIX_EPOCH;

use model::{Clock, Timestamp};

pub(crate) fn system() -> Clock {
    Clock::new(|| {
        #[expect(clippy::disallowed_methods, reason = "the binary is where time comes in")]
        let now = std::time::SystemTime::now();
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    })
}

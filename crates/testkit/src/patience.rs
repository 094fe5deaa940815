//! Waiting for something that must happen, by looking again and again.

use std::thread;
use std::time::{Duration, Instant};

/// The first pause between two looks.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// The longest pause. A tool may be called twice a second for ever: its rate allows that, so that
/// a test on a slow machine is not refused for having looked too often.
const LONGEST_PAUSE: Duration = Duration::from_millis(600);

/// Looks until a condition holds, with pauses that grow; tells whether it came to hold in time.
pub fn wait_until(limit: Duration, condition: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        if condition() {
            return true;
        }
        if begun.elapsed() >= limit {
            return false;
        }
        thread::sleep(pause);
        pause = (pause * 5 / 4).min(LONGEST_PAUSE);
    }
}

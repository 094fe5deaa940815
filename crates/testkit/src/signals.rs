//! Signals to processes of a test. One that is told to stop has stopped when the call returns: the
//! kernel tells its threads one by one, and until then one of them may still answer.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long a process may take until all its threads have stopped.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
/// How often it is looked at.
const POLL: Duration = Duration::from_millis(1);

/// Sends a signal to a process, and tells whether there was one to send it to.
pub(crate) fn send(process: u32, signal: Signal) -> bool {
    let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return false };
    if kill_process(pid, signal).is_err() {
        return false;
    }
    if signal != Signal::STOP {
        return true;
    }
    let begun = Instant::now();
    while is_running(process) && begun.elapsed() < STOP_TIMEOUT {
        thread::sleep(POLL);
    }
    true
}

/// Tells whether any thread of a process still runs; where the system does not say, none does.
fn is_running(process: u32) -> bool {
    let Ok(threads) = fs_err::read_dir(format!("/proc/{process}/task")) else { return false };
    threads.flatten().any(|thread| state_of(&thread.path()).is_some_and(|state| !is_still(state)))
}

/// Gives the letter behind the name of the program, which is in parentheses and may hold some.
fn state_of(thread: &Path) -> Option<char> {
    let stat = fs_err::read_to_string(thread.join("stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// Stopped, traced, or dead.
fn is_still(state: char) -> bool {
    matches!(state, 'T' | 't' | 'Z' | 'X')
}

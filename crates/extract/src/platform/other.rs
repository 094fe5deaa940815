//! Workers where only the standard library is at hand: a bare environment, and the pool, which
//! kills what takes too long and refuses answers that are too large.

use std::process::Command;

use super::Confinement;
use crate::Caps;

/// Windows does not start a program without it.
const NEEDED_VARIABLES: [&str; 1] = ["SystemRoot"];

/// Takes from a worker, before it starts, what it would inherit.
pub(crate) fn prepare(command: &mut Command) {
    command.env_clear();
    for name in NEEDED_VARIABLES {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
}

/// Nothing can be taken from the running process here.
pub(crate) fn confine() -> Confinement {
    Confinement::default()
}

/// No limits of the process are set here.
pub(crate) fn limit(_caps: &Caps, _stack_bytes: u64) {}

/// The machine's memory is not known here.
pub(crate) fn memory_bytes() -> Option<u64> {
    None
}

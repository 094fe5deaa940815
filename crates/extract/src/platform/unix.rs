//! Workers on every Unix: an empty environment, and the limits that `setrlimit` has.

use std::process::Command;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Caps;

#[cfg(not(target_os = "linux"))]
use super::Confinement;

/// Processor time a document gets beyond its time cap, should nobody be there to kill the worker.
const GRACE_SECONDS: u64 = 10;

/// Takes from a worker, before it starts, what it would inherit: keys and passwords are given to
/// servers in the environment.
pub(crate) fn prepare(command: &mut Command) {
    command.env_clear();
}

/// Takes from the running process what a reader does not need.
#[cfg(not(target_os = "linux"))]
pub(crate) fn confine() -> Confinement {
    Confinement {
        no_inherited: super::descriptors::close_inherited(),
        no_writes: refuse_writes(),
        ..Confinement::default()
    }
}

/// The machine's memory, where the system tells it without a foreign call.
#[cfg(not(target_os = "linux"))]
pub(crate) fn memory_bytes() -> Option<u64> {
    None
}

/// Lets no file grow, so that nothing can be written; pipes are not files.
pub(super) fn refuse_writes() -> bool {
    setrlimit(Resource::Fsize, Rlimit { current: Some(0), maximum: Some(0) }).is_ok()
}

/// Sets what the system enforces for the next document.
pub(crate) fn limit(caps: &Caps, stack_bytes: u64) {
    set_limit(Resource::As, caps.memory_bytes.saturating_add(stack_bytes));
    set_limit(Resource::Core, 0);
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).tv_sec;
    let used = u64::try_from(used).unwrap_or_default();
    set_limit(Resource::Cpu, used + caps.time.as_secs() + GRACE_SECONDS);
}

fn set_limit(resource: Resource, value: u64) {
    let maximum = getrlimit(resource).maximum;
    let value = maximum.map_or(value, |maximum| value.min(maximum));
    // A limit that cannot be set is one the system does not have; the pool's own limits stay.
    let _ = setrlimit(resource, Rlimit { current: Some(value), maximum });
}

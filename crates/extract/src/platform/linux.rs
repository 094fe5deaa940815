//! What Linux takes from a worker before it reads a document: privileges, files, the network,
//! other processes.
//!
//! Two mechanisms that do not know of each other: Landlock, with rules that allow nothing, and a
//! filter of system calls that allows what reading from a pipe, computing and answering need. All
//! else fails with `EPERM`, as it does for a program without the right, so a reader that tries
//! gets an error and not a crash. Both are one-way and hold for every thread started afterwards.

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetStatus,
    Scope,
};

use super::unix::refuse_writes;
use super::{Confinement, filter};

/// The newest rights that the rules name; older kernels enforce those they know.
const LANDLOCK_ABI: ABI = ABI::V6;

/// Takes from the running process what a reader does not need; call before other threads start.
pub(crate) fn confine() -> Confinement {
    let no_new_privileges = rustix::thread::set_no_new_privs(true).is_ok();
    let has_rules = restrict_files().unwrap_or(false);
    let no_writes = refuse_writes();
    let has_filter = filter::install();
    Confinement {
        no_new_privileges,
        no_files: has_rules || has_filter,
        no_writes,
        no_network: has_filter,
        no_processes: has_filter,
    }
}

/// The machine's memory.
pub(crate) fn memory_bytes() -> Option<u64> {
    let info = rustix::system::sysinfo();
    Some(u64::from(info.totalram).saturating_mul(u64::from(info.mem_unit)))
}

/// Allows no path, no port and no process outside; gives whether every right to files is ruled.
fn restrict_files() -> Result<bool, landlock::RulesetError> {
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(LANDLOCK_ABI))?
        .handle_access(AccessNet::from_all(LANDLOCK_ABI))?
        .scope(Scope::from_all(LANDLOCK_ABI))?
        .create()?
        .restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

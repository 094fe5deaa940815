//! What Linux takes from a worker before it reads a document: privileges, files, the network,
//! other processes.
//!
//! Two mechanisms that do not know of each other: Landlock, with rules that allow nothing, and a
//! filter of system calls that allows what reading from a pipe, computing and answering need. All
//! else fails with `EPERM`, as it does for a program without the right, so a reader that tries
//! gets an error and not a crash. Both are one-way and hold for every thread started afterwards.

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, RestrictionStatus, Ruleset,
    RulesetAttr, RulesetStatus, Scope,
};

use super::descriptors::close_inherited;
use super::unix::refuse_writes;
use super::{Confinement, filter};

/// The newest rights that the rules name; older kernels enforce those they know.
const LANDLOCK_ABI: ABI = ABI::V6;

/// Takes from the running process what a reader does not need; call before other threads start.
pub(crate) fn confine() -> Confinement {
    let no_inherited = close_inherited();
    end_before_others();
    let rules = restrict().ok();
    let no_writes = refuse_writes();
    let has_filter = filter::install();
    let has_rules = rules.as_ref().is_some_and(|rules| rules.ruleset != RulesetStatus::NotEnforced);
    Confinement {
        no_inherited,
        // No filter is accepted from a process that could gain privileges.
        no_new_privileges: has_filter || rules.is_some_and(|rules| rules.no_new_privs),
        no_files: has_rules || has_filter,
        no_writes,
        no_network: has_filter,
        no_processes: has_filter,
    }
}

/// Asks the system to end this process first where memory runs out: several documents at once may
/// each take their cap, and the server that reads them must not go in their place.
fn end_before_others() {
    // Where it cannot be asked, the limit of each worker is what there is.
    let _ = fs_err::write("/proc/self/oom_score_adj", "1000");
}

/// The machine's memory, for the process that starts workers.
pub(crate) fn memory_bytes() -> Option<u64> {
    let info = fs_err::read_to_string("/proc/meminfo").ok()?;
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = total.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    Some(kilobytes.saturating_mul(1024))
}

/// Allows no new privileges, no path, no port and no process outside, as far as the kernel knows
/// these rights.
fn restrict() -> Result<RestrictionStatus, landlock::RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(LANDLOCK_ABI))?
        .handle_access(AccessNet::from_all(LANDLOCK_ABI))?
        .scope(Scope::from_all(LANDLOCK_ABI))?
        .create()?
        .restrict_self()
}

#[cfg(test)]
mod tests {
    /// A machine without memory ended the server, which is larger than one of its workers.
    #[test]
    fn a_worker_ends_before_the_server_where_memory_runs_out() {
        super::end_before_others();
        let score = fs_err::read_to_string("/proc/self/oom_score_adj").unwrap();
        assert_eq!(score.trim(), "1000");
    }
}

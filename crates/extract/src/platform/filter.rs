//! The filter of system calls, for the processors whose numbers of calls are known.
//!
//! What is not listed fails with `EPERM`: files, sockets, processes, and whatever kernels will
//! learn.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// Calls that reading pipes, memory, threads, clocks, limits and a crash of one's own need.
const ALLOWED: &[c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    // Refused by the second filter, in the way that makes the C library use `clone`.
    libc::SYS_clone3,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    libc::SYS_futex,
    libc::SYS_get_robust_list,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_ppoll,
    libc::SYS_prctl,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    // Only adds filters; installing the second one needs it.
    libc::SYS_seccomp,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_sigaltstack,
    libc::SYS_write,
    libc::SYS_writev,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_arch_prctl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
];

/// Installs the filters; gives whether they are in force.
pub(super) fn install() -> bool {
    let Ok(architecture) = std::env::consts::ARCH.try_into() else { return false };
    let allowed = allowed().and_then(|rules| {
        let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
        let filter = SeccompFilter::new(rules, refuse, SeccompAction::Allow, architecture);
        BpfProgram::try_from(filter.ok()?).ok()
    });
    // Its arguments lie in memory, where no filter can look; without it threads are started
    // by `clone`, whose flags can be seen.
    let rules = Rules::from([(libc::SYS_clone3, Vec::new())]);
    let unknown = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let clone3 = SeccompFilter::new(rules, SeccompAction::Allow, unknown, architecture)
        .ok()
        .and_then(|filter| BpfProgram::try_from(filter).ok());
    let (Some(allowed), Some(clone3)) = (allowed, clone3) else { return false };
    seccompiler::apply_filter(&allowed).is_ok() && seccompiler::apply_filter(&clone3).is_ok()
}

fn allowed() -> Option<Rules> {
    let mut rules: Rules = ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
    let when = |argument, operator, value| {
        let condition =
            SeccompCondition::new(argument, SeccompCmpArgLen::Qword, operator, value).ok()?;
        SeccompRule::new(vec![condition]).ok()
    };
    // Threads, but no processes.
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    let is_thread = when(0, SeccompCmpOp::MaskedEq(thread), thread)?;
    rules.insert(libc::SYS_clone, vec![is_thread]);
    // Limits and signals of this process alone.
    let this_process = u64::from(std::process::id());
    let is_own = || when(0, SeccompCmpOp::Eq, this_process);
    rules.insert(libc::SYS_prlimit64, vec![when(0, SeccompCmpOp::Eq, 0)?, is_own()?]);
    rules.insert(libc::SYS_tgkill, vec![is_own()?]);
    Some(rules)
}

//! Settings of the C library's allocator for a process that runs for months.
//!
//! glibc makes an arena of its own for almost every thread, eight for each core, and what is
//! freed in one is not given to another: after an index of large files and uploads by 16 clients
//! a server held 325 MB, and with these settings 185 MB. One arena for each core is enough, since
//! no more threads than cores run at the same time.

#![cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "`mallopt` is a function of C; see the SAFETY comment")
)]

/// Blocks of this size and more are given back to the system when they are freed. glibc raises
/// the limit to 32 MiB when it sees large blocks come and go, and keeps them then.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_BYTES: i32 = 1 << 20;

/// Arenas at least and at most.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const N_ARENAS: std::ops::RangeInclusive<usize> = 2..=16;

/// Makes the settings, unless the environment has others. To be called before threads are made.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn configure() {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let n_cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let n_arenas = n_cores.clamp(*N_ARENAS.start(), *N_ARENAS.end());
    let settings = [
        ("MALLOC_ARENA_MAX", libc::M_ARENA_MAX, i32::try_from(n_arenas).unwrap_or(i32::MAX)),
        ("MALLOC_MMAP_THRESHOLD_", libc::M_MMAP_THRESHOLD, MAPPED_BYTES),
    ];
    for (_, setting, value) in settings.into_iter().filter(|(name, ..)| !is_set(name)) {
        // SAFETY: `mallopt` takes two numbers, and changes figures of the allocator under its own
        // lock; a value that it does not take is refused without effect.
        unsafe { libc::mallopt(setting, value) };
    }
}

/// Other systems' allocators share what is freed among threads.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn configure() {}

//! Closes what a worker inherited: a file or socket that is open needs no right to be opened.
//!
//! Rust opens everything so that other programs do not inherit it; libraries in other languages
//! and whoever started the server may not. This is the crate's only unsafe file.

#![expect(unsafe_code, reason = "closing a descriptor by its number is unsafe; see SAFETY")]

use std::os::fd::RawFd;

/// The first descriptor that is none of the standard three.
const FIRST: RawFd = 3;

/// Closes all descriptors but the standard three; gives whether none is left.
///
/// Called by a worker before it does anything else: what its program has opened by then is lost.
pub(super) fn close_inherited() -> bool {
    close_range() || close_listed()
}

/// One call of the kernel, since Linux 5.9.
#[cfg(target_os = "linux")]
fn close_range() -> bool {
    // SAFETY: the call takes numbers alone. Nothing in this process owns a descriptor from FIRST
    // on: a worker has one thread and has opened nothing.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, 0) };
    closed == 0
}

#[cfg(not(target_os = "linux"))]
fn close_range() -> bool {
    false
}

/// One by one, where the system lists them.
fn close_listed() -> bool {
    let Ok(listed) = fs_err::read_dir("/dev/fd") else { return false };
    let names = listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    // Collected first, so that the folder itself is closed by its owner.
    let inherited: Vec<RawFd> = names.filter(|descriptor| *descriptor >= FIRST).collect();
    for descriptor in inherited {
        // SAFETY: as above; one of the numbers was the folder's and is closed already, which
        // `close` reports and nobody minds.
        unsafe { rustix::io::close(descriptor) };
    }
    true
}

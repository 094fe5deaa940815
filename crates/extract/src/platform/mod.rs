//! What differs between operating systems: how a worker process is started, what is taken from it
//! before it reads a document, and the limits that the system enforces.
//!
//! | | Linux | macOS, BSD | Windows, others |
//! |---|---|---|---|
//! | environment | none | none | `SystemRoot` only |
//! | open files and sockets | closed but for the pipes | closed but for the pipes | - |
//! | new privileges | refused (`no_new_privs`) | - | - |
//! | files | refused (Landlock, system call filter) | no bytes can be written (`RLIMIT_FSIZE`) | - |
//! | network, other processes | refused (system call filter, Landlock) | - | - |
//! | memory, processor time, core files | limits of the process | limits of the process | - |
//! | time, size of the answer | the pool kills | the pool kills | the pool kills |
//! | memory of the machine | workers end before the server | - | - |
//!
//! A kernel may lack a part (Landlock came with Linux 5.13, the filter knows x86-64, AArch64 and
//! RISC-V), so a worker says with each answer what is in force: [`Confinement`]. Everything
//! outside this module is the same on every system.

use serde::{Deserialize, Serialize};

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
))]
mod filter;
#[cfg(all(
    target_os = "linux",
    not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))
))]
mod filter {
    /// The numbers of this processor's calls are not known.
    pub(super) fn install() -> bool {
        false
    }
}
#[cfg(unix)]
mod descriptors;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
mod other;

#[cfg(target_os = "linux")]
pub(crate) use linux::{confine, memory_bytes};
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) use unix::{confine, memory_bytes};
#[cfg(unix)]
pub(crate) use unix::{limit, prepare};

#[cfg(not(unix))]
pub(crate) use other::{confine, limit, memory_bytes, prepare};

/// What a worker process cannot do, as far as its system said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Confinement {
    /// It holds no file or socket that was open where it was started, but its pipes.
    pub no_inherited: bool,
    /// It can gain no privileges by starting a program.
    pub no_new_privileges: bool,
    /// It can open no file and no directory.
    pub no_files: bool,
    /// It can write no byte to a file, even to one that is open.
    pub no_writes: bool,
    /// It can make no socket.
    pub no_network: bool,
    /// It can start no process and signal none but itself.
    pub no_processes: bool,
}

impl Confinement {
    /// Tells whether everything is refused that a reader of documents does not need.
    pub fn is_whole(self) -> bool {
        self.missing().is_empty()
    }

    /// Names what a worker could still do; empty when the confinement is whole.
    pub fn missing(self) -> Vec<&'static str> {
        let Confinement {
            no_inherited,
            no_new_privileges,
            no_files,
            no_writes,
            no_network,
            no_processes,
        } = self;
        let parts = [
            (no_inherited, "use what was open where it was started"),
            (no_new_privileges, "gain privileges"),
            (no_files, "open files"),
            (no_writes, "write files"),
            (no_network, "use the network"),
            (no_processes, "start processes"),
        ];
        parts.into_iter().filter(|(is_refused, _)| !is_refused).map(|(_, what)| what).collect()
    }
}

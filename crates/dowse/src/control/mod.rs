//! Commands beside a process that has the data folder open.
//!
//! Such a process listens on a socket in that folder, which only its owner may enter. A command
//! that finds it there does not open the folder itself: it sends what was typed, the process does
//! it with what it has open, and the command prints what comes back. So a command says the same
//! with and without a server, and nobody is told that the folder is in use.

mod client;
mod gate;
mod listen;
mod message;
mod relay;

pub(crate) use client::{Connection, connect};
pub(crate) use listen::{Host, Listening, listen};
pub(crate) use message::Typed;
pub(crate) use relay::{EndedBy, Relay};

use std::path::{Path, PathBuf};
use std::time::Duration;

/// The socket in the data folder.
const SOCKET: &str = "control.sock";

/// How long the other side may take for the next bytes.
const PATIENCE: Duration = Duration::from_secs(600);

/// How long a process may take to let a connection in: one that does not within this time is
/// ending, or does nothing at all.
const ENTRY_WAIT: Duration = Duration::from_secs(10);

fn socket_path(data_dir: &Path) -> PathBuf {
    data_dir.join(SOCKET)
}

#[cfg(test)]
mod tests;

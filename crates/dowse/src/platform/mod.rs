//! What differs between operating systems, in one place: sockets of a folder, signals, open files,
//! free space.
//!
//! `unix` is what runs on Linux and macOS. `other` is for systems without these: it compiles, says
//! what is missing where a person meets it, and leaves everything else as it is.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use other::{
    LocalListener, LocalStream, Signals, connect, free_bytes, into_async, keep_private, may_write,
    pair, raise_open_files,
};
#[cfg(unix)]
pub(crate) use unix::{
    LocalListener, LocalStream, Signals, connect, free_bytes, into_async, keep_private, may_write,
    pair, raise_open_files,
};

use tokio_util::sync::CancellationToken;

/// Descriptors that indexes, logs and workers take beside connections.
const BESIDE_CONNECTIONS: u64 = 512;

/// Cancels the token on the first request to stop (Ctrl-C, SIGTERM). A second one ends the process
/// at once.
pub(crate) fn shutdown_on_signal(shutdown: CancellationToken) -> anyhow::Result<()> {
    let mut signals = Signals::of_stopping()?;
    tokio::spawn(async move {
        for received in 0_u8.. {
            signals.next().await;
            if received > 0 {
                tracing::warn!("stopped before calls in progress could end");
                #[expect(clippy::exit, reason = "a second signal means at once")]
                std::process::exit(130);
            }
            shutdown.cancel();
            tracing::info!("stopping: calls in progress may end");
        }
    });
    Ok(())
}

/// Raises the limit of open files as far as the system lets this process, and tells when
/// `connections` of them would still not fit.
pub(crate) fn raise_limit(connections: usize) {
    let Some(current) = raise_open_files() else { return };
    let wanted = connections as u64 + BESIDE_CONNECTIONS;
    if current < wanted {
        tracing::warn!(
            "`limits.connections` is {connections}, but this process may open only {current} \
             files: raise `ulimit -n` to {wanted}, or lower the limit"
        );
    }
}

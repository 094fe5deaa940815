//! Signals of the operating system as events.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancels the token on the first Ctrl-C or SIGTERM. A second one ends the process at once.
pub(crate) fn shutdown_on_signal(shutdown: CancellationToken) -> anyhow::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        for received in 0_u8.. {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
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

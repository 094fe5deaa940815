//! A changed configuration takes effect without a restart: on SIGHUP, or when the file changes.
//! A file that does not work is refused, and the old configuration stays.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serve::{App, Shared};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How often the file is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Watches the configuration until `shutdown`, and puts what `build` makes of it in place.
pub(crate) fn watch(
    path: PathBuf,
    shared: Shared,
    shutdown: CancellationToken,
    build: impl Fn() -> anyhow::Result<App> + Send + Sync + 'static,
) -> anyhow::Result<()> {
    let mut hangup = signal(SignalKind::hangup())?;
    let build = std::sync::Arc::new(build);
    tokio::spawn(async move {
        let mut seen = stamp(&path);
        loop {
            tokio::select! {
                _ = hangup.recv() => seen = stamp(&path),
                () = tokio::time::sleep(LOOK_EVERY) => {
                    let now = stamp(&path);
                    // A file that is gone for a moment is being replaced by an editor.
                    if now == seen || now.is_none() {
                        continue;
                    }
                    seen = now;
                }
                () = shutdown.cancelled() => return,
            }
            let build = std::sync::Arc::clone(&build);
            match tokio::task::spawn_blocking(move || build()).await {
                Ok(Ok(app)) => {
                    shared.replace(app);
                    tracing::info!(file = %path.display(), "the new configuration is in place");
                }
                Ok(Err(error)) => tracing::error!(
                    file = %path.display(),
                    error = format!("{error:#}"),
                    "the new configuration does not work, the old one stays"
                ),
                Err(error) => tracing::error!(%error, "the configuration could not be read"),
            }
        }
    });
    Ok(())
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = fs_err::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

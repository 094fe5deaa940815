//! A changed configuration takes effect without a restart: on SIGHUP, or when the file changes.
//! A file that does not work is refused, and the old configuration stays.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serve::{App, Shared};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How often the file is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);

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
        let mut taken = stamp(&path);
        let mut last = taken;
        loop {
            tokio::select! {
                _ = hangup.recv() => taken = stamp(&path),
                () = tokio::time::sleep(LOOK_EVERY) => {
                    let now = stamp(&path);
                    // A file that is gone or still changing is being written: an empty file on
                    // its way to its content would be a configuration, and not the one meant.
                    let is_settled = now == last && now.is_some();
                    last = now;
                    if !is_settled || now == taken {
                        continue;
                    }
                    taken = now;
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

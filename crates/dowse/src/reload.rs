//! A changed configuration takes effect without a restart: on SIGHUP, or when the file changes.
//! A file that does not work is refused, and the old configuration stays. So it does when the new
//! one would switch authentication off: a half-written file must not open the server to everybody.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serve::{App, Shared};
use tokio_util::sync::CancellationToken;

use crate::platform::Signals;

/// How often the file is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long a file must stay as it is before it is read: it may be in the middle of being written.
const SETTLED_AFTER: Duration = Duration::from_millis(200);

/// What tells one state of a file from another.
pub(crate) type Stamp = Option<(SystemTime, u64)>;

/// Watches the configuration until `shutdown`, and puts what `build` makes of it in place. `seen`
/// is the stamp of what is in place now: a change since then must not be missed. It is read again
/// without a change when `is_due`, since something that it names was away.
pub(crate) fn watch(
    path: PathBuf,
    mut seen: Stamp,
    shared: Shared,
    shutdown: CancellationToken,
    is_due: impl Fn() -> bool + Send + Sync + 'static,
    build: impl Fn() -> anyhow::Result<App> + Send + Sync + 'static,
) -> anyhow::Result<()> {
    let mut hangup = Signals::of_reloading()?;
    let build = std::sync::Arc::new(build);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = hangup.next() => seen = settled(&path).await,
                () = tokio::time::sleep(LOOK_EVERY) => {
                    // A file that is gone for a moment is being replaced by an editor.
                    if stamp(&path).is_none_or(|now| Some(now) == seen) && !is_due() {
                        continue;
                    }
                    seen = settled(&path).await;
                }
                () = shutdown.cancelled() => return,
            }
            let build = std::sync::Arc::clone(&build);
            // A panic while it is built ends this attempt, and nothing else.
            match tokio::task::spawn_blocking(move || build()).await {
                Ok(Ok(app)) if opens_the_door(&shared.load(), &app) => tracing::error!(
                    file = %path.display(),
                    error = "it has no `[auth]` any more; restart the server to serve without it",
                    "the new configuration does not work, the old one stays"
                ),
                Ok(Ok(app)) => {
                    shared.replace(app);
                    tracing::info!(file = %path.display(), "the new configuration is in place");
                }
                Ok(Err(error)) => tracing::error!(
                    file = %path.display(),
                    error = format!("{error:#}"),
                    "the new configuration does not work, the old one stays"
                ),
                Err(error) => tracing::error!(
                    file = %path.display(),
                    %error,
                    "the new configuration could not be built, the old one stays"
                ),
            }
        }
    });
    Ok(())
}

fn opens_the_door(old: &App, new: &App) -> bool {
    old.authenticator.is_required() && !new.authenticator.is_required()
}

/// Waits until the file has stopped changing.
async fn settled(path: &Path) -> Stamp {
    loop {
        let before = stamp(path);
        tokio::time::sleep(SETTLED_AFTER).await;
        if stamp(path) == before {
            return before;
        }
    }
}

/// Gives the state of a file.
pub(crate) fn stamp(path: &Path) -> Stamp {
    let metadata = fs_err::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

//! A changed configuration takes effect without a restart: on SIGHUP, when the file changes, or when
//! a link that names a folder leads elsewhere.
//! A file that does not work is refused, and the old configuration stays. So it does when the new
//! one would switch authentication off: a half-written file must not open the server to everybody.
//! Nor may it take folders away, whose index would be deleted: many programs empty a file before they
//! write it, so that an empty one is never read, and one that became shorter is given longer.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use serve::{App, Shared};
use tokio_util::sync::CancellationToken;

use crate::platform::Signals;

/// How often the file is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long a file must stay as it is before it is read: it may be in the middle of being written.
const SETTLED_AFTER: Duration = Duration::from_millis(200);

/// How long a file that became shorter must stay as it is: whoever writes it in pieces may be kept
/// from the processor for a while.
const SETTLED_SHORTER_AFTER: Duration = Duration::from_secs(2);

/// How often a link that was turned is followed at most: where that fails, the next second would
/// try it again.
const TURN_AGAIN: Duration = Duration::from_secs(15);

/// When links that name folders were followed last to where they lead now.
#[derive(Default)]
pub(crate) struct TurnedLinks(Mutex<Option<Instant>>);

impl TurnedLinks {
    /// Tells whether it is time to follow links, of which `are_turned` tells whether they lead
    /// elsewhere now.
    pub(crate) fn is_due(&self, are_turned: impl FnOnce() -> bool) -> bool {
        let mut last = self.0.lock();
        let is_due = last.is_none_or(|last| last.elapsed() >= TURN_AGAIN) && are_turned();
        if is_due {
            *last = Some(Instant::now());
        }
        is_due
    }
}

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
    let place = {
        let path = path.clone();
        move |built: anyhow::Result<App>| put_in_place(&path, &shared, built)
    };
    let build = Arc::new(build);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = hangup.next() => {}
                () = tokio::time::sleep(LOOK_EVERY) => {
                    let now = stamp(&path);
                    // A file that is gone or empty for a moment is being replaced.
                    if (now == seen || !has_text(&now)) && !is_due() {
                        continue;
                    }
                }
                () = shutdown.cancelled() => return,
            }
            let now = settled(&path, &seen).await;
            if now.is_some() && !has_text(&now) {
                tracing::error!(
                    file = %path.display(),
                    "the new configuration is empty, the old one stays; \
                     restart the server to serve nothing"
                );
                continue;
            }
            seen = now;
            place(built(&build).await);
        }
    });
    Ok(())
}

/// Builds apart from everything else: a panic ends this attempt, and no later one.
async fn built<T, B>(build: &Arc<B>) -> anyhow::Result<T>
where
    T: Send + 'static,
    B: Fn() -> anyhow::Result<T> + Send + Sync + 'static,
{
    let build = Arc::clone(build);
    let built = tokio::task::spawn_blocking(move || build()).await;
    built.unwrap_or_else(|panic| Err(anyhow::Error::new(panic).context("it could not be built")))
}

/// Replaces the configuration in use by one that works and keeps authentication on.
fn put_in_place(path: &Path, shared: &Shared, built: anyhow::Result<App>) {
    let refused = match built {
        Ok(app) if drops_authentication(&shared.load(), &app) => {
            "it has no `[auth]` any more; restart the server to serve without it".to_owned()
        }
        Ok(app) => {
            shared.replace(app);
            tracing::info!(file = %path.display(), "the new configuration is in place");
            return;
        }
        Err(error) => format!("{error:#}"),
    };
    tracing::error!(
        file = %path.display(),
        error = refused,
        "the new configuration does not work, the old one stays"
    );
}

fn drops_authentication(old: &App, new: &App) -> bool {
    old.authenticator.is_required() && !new.authenticator.is_required()
}

/// Waits until the file has stopped changing.
async fn settled(path: &Path, in_place: &Stamp) -> Stamp {
    loop {
        let before = stamp(path);
        let wait =
            if is_shorter(&before, in_place) { SETTLED_SHORTER_AFTER } else { SETTLED_AFTER };
        tokio::time::sleep(wait).await;
        if stamp(path) == before {
            return before;
        }
    }
}

fn is_shorter(now: &Stamp, in_place: &Stamp) -> bool {
    matches!((now, in_place), (Some((_, now)), Some((_, before))) if now < before)
}

fn has_text(stamp: &Stamp) -> bool {
    stamp.is_some_and(|(_, n_bytes)| n_bytes > 0)
}

/// Gives the state of a file.
pub(crate) fn stamp(path: &Path) -> Stamp {
    let metadata = fs_err::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_link_that_cannot_be_followed_is_not_tried_each_second() {
        let links = TurnedLinks::default();
        assert!(!links.is_due(|| false) && links.is_due(|| true) && !links.is_due(|| true));
    }

    /// A panic in one reload must not end the task that watches for the next.
    #[tokio::test]
    async fn a_build_that_panics_blocks_no_later_one() {
        let n_built = AtomicUsize::new(0);
        let build = Arc::new(move || match n_built.fetch_add(1, Ordering::Relaxed) {
            0 => panic!("no such table"),
            n_before => Ok(n_before),
        });
        let error = built(&build).await.unwrap_err();
        let told = format!("{error:#}");
        assert!(told.contains("it could not be built") && told.contains("panic"), "{told}");
        assert_eq!(built(&build).await.unwrap(), 1);
        assert_eq!(built(&build).await.unwrap(), 2);
    }
}

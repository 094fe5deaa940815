//! The folders of the moment are watched while the server runs.

use std::time::Duration;

use files::Watcher;
use tokio_util::sync::CancellationToken;

use super::SharedState;

/// How soon another configuration's folders are watched: their first run waits for that.
const RELOAD_STEP: Duration = Duration::from_millis(250);

/// Watches the folders of the moment until `shutdown`.
pub(crate) fn watch_folders(shared_state: SharedState, shutdown: CancellationToken) {
    tokio::spawn(async move {
        let mut watched: Option<files::Service> = None;
        let mut watcher: Option<Watcher> = None;
        loop {
            let wanted = shared_state.files.get().filter(|files| files.is_watched());
            let is_same = match (&watched, &wanted) {
                (Some(one), Some(other)) => one.is_same(other),
                (None, None) => true,
                _ => false,
            };
            if !is_same {
                watched.clone_from(&wanted);
                // Asking the system to watch a large tree takes a moment.
                let old = watcher.take();
                let started = tokio::task::spawn_blocking(move || {
                    drop(old);
                    wanted.map(Watcher::start).transpose()
                });
                let problem = match started.await {
                    Ok(Ok(started)) => {
                        watcher = started;
                        None
                    }
                    Ok(Err(error)) => Some(error.to_string()),
                    Err(error) => Some(error.to_string()),
                };
                if let (Some(error), Some(files)) = (problem, &watched) {
                    tracing::warn!(%error, "the folders cannot be watched");
                    files.set_watch_problem(format!("the folders cannot be watched: {error}"));
                }
            }
            tokio::select! {
                () = tokio::time::sleep(RELOAD_STEP) => {}
                () = shutdown.cancelled() => return,
            }
        }
    });
}

//! Folders are looked at again and again while the server runs.
//!
//! A look costs one walk: only files whose size or time changed are read. Looking works on every
//! file system alike, network shares among them, where change events do not.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Lasting;

/// The time between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Looks at the folders of the moment until `shutdown`.
pub(crate) fn watch_folders(lasting: Lasting, shutdown: CancellationToken) {
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = shutdown.cancelled() => return,
            }
            let Some(files) = lasting.files.load_full().filter(|files| files.is_watched()) else {
                continue;
            };
            match tokio::task::spawn_blocking(move || files.index_all()).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "the folders could not be looked at"),
                Err(error) => tracing::warn!(%error, "looking at the folders stopped"),
            }
        }
    });
}

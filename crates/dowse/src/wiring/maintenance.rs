//! The store is kept in shape while the server runs: indexes are merged, what was erased leaves
//! the disk, free space goes back, and an engine that was away is met again. Memory that an idle
//! server does not need goes back to the system.

use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::SharedState;
use crate::memory::{Idle, give_back_code};

/// The time between two rounds. A round may write a whole index anew, so it is not short; the
/// deletion of a source does not wait for it.
const MAINTAIN_EVERY: Duration = Duration::from_secs(6 * 60 * 60);

/// Maintains the store again and again until `shutdown`.
pub(crate) fn keep_in_shape(shared_state: SharedState, shutdown: CancellationToken) {
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = tokio::time::sleep(MAINTAIN_EVERY) => {}
                () = shutdown.cancelled() => return,
            }
            let Ok(kept) = shared_state.open_store() else { continue };
            let (store, state) = (std::sync::Arc::clone(&kept.store), shared_state.clone());
            let maintain = move || {
                state.let_old_answers_go();
                store.maintain()
            };
            match tokio::task::spawn_blocking(maintain).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "the store could not be maintained"),
                Err(error) => tracing::warn!(%error, "maintaining the store stopped"),
            }
        }
    });
}

/// The time between two looks at what jobs may have left.
const TAKE_UP_EVERY: Duration = Duration::from_secs(5);

/// Lets jobs run that nobody waits for, and uploads be tried again whose job ended without them, until
/// `shutdown`.
pub(crate) fn take_uploads_up(shared_state: SharedState, shutdown: CancellationToken) {
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = tokio::time::sleep(TAKE_UP_EVERY) => {}
                () = shutdown.cancelled() => return,
            }
            let queue = shared_state.opened().map(|kept| std::sync::Arc::clone(&kept.queue));
            let knowledge = shared_state.knowledge.get();
            let take_up = move || -> anyhow::Result<()> {
                if let Some(queue) = queue {
                    queue.take_up_lost()?;
                }
                if let Some(knowledge) = knowledge {
                    knowledge.take_up_again(Instant::now())?;
                }
                Ok(())
            };
            match tokio::task::spawn_blocking(take_up).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "unfinished jobs could not be resumed"),
                Err(error) => tracing::warn!(%error, "taking up jobs again stopped"),
            }
        }
    });
}

/// The time between two looks at whether the server does anything.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Gives memory back whenever the server falls idle, until `shutdown`.
pub(crate) fn give_memory_back(shutdown: CancellationToken) {
    tokio::spawn(async move {
        // A start runs through half of the program once.
        give_back_code();
        let mut idle = Idle::default();
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => idle.look(),
                () = shutdown.cancelled() => return,
            }
        }
    });
}

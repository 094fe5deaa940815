//! The start of indexing, also on a full disk: questions can be answered without writing anything,
//! so that a server starts there, and begins to index when there is room.

use std::sync::Arc;
use std::time::Duration;

use files::Strangers;

use super::SharedState;
use super::families::Families;

/// How soon is tried again whether there is room.
const TRY_EVERY: Duration = Duration::from_secs(5);

impl Families {
    /// Starts to index what is configured, and erases what is not any more; on a full disk later,
    /// while the configuration is still served.
    pub(crate) fn start_indexing(
        &self,
        shared_state: &SharedState,
        strangers: Strangers,
    ) -> anyhow::Result<()> {
        match self.try_indexing(shared_state, strangers) {
            Err(error) if is_disk_full(&error) => {
                tracing::warn!(%error, "the disk is full: indexing begins when there is room");
                let (families, shared_state) = (self.clone(), shared_state.clone());
                std::thread::Builder::new()
                    .name("index-later".to_owned())
                    .spawn(move || families.index_later(&shared_state, strangers))?;
                Ok(())
            }
            started => started,
        }
    }

    fn index_later(&self, shared_state: &SharedState, strangers: Strangers) {
        let served = shared_state.served.load_full();
        loop {
            std::thread::sleep(TRY_EVERY);
            // A changed configuration has begun by itself.
            let now = shared_state.served.load_full();
            let is_served = match (&served, &now) {
                (Some(one), Some(other)) => Arc::ptr_eq(one, other),
                (one, other) => one.is_none() && other.is_none(),
            };
            if !is_served {
                return;
            }
            match self.try_indexing(shared_state, strangers) {
                Err(error) if is_disk_full(&error) => {}
                Ok(()) => return tracing::info!("there is room again: indexing has begun"),
                Err(error) => return tracing::error!(%error, "indexing could not begin"),
            }
        }
    }
}

fn is_disk_full(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|cause| cause.downcast_ref::<store::Error>().is_some_and(store::Error::is_disk_full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_known_however_deep_it_is_said() {
        let full = store::Error::DiskFull {
            what: "the catalogue",
            source: Box::new(std::io::Error::from(std::io::ErrorKind::StorageFull)),
        };
        let error = anyhow::Error::from(ingest::Error::Store(full)).context("starting");
        assert!(is_disk_full(&error));
        assert!(!is_disk_full(&anyhow::anyhow!("something else")));
    }
}

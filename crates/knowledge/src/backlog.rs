//! How many uploads wait, so that whoever sends faster than can be read is slowed down instead of
//! refused, and whoever searches meanwhile is told.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ingest::{Job, ObjectError};
use model::Warning;
use parking_lot::{Condvar, Mutex};

use crate::jobs::ADD_JOB;
use crate::object_ids::CollectionId;
use crate::objects::Collection;
use crate::{Error, Result, Service, limits};

/// How long an upload waits for space.
const PATIENCE: Duration = Duration::from_secs(20);

/// Collections that are asked whether documents arrive in them.
const MAX_ASKED_COLLECTIONS: usize = 64;

/// Counts the uploads of each collection that wait for their job.
#[derive(Default)]
pub(crate) struct Backlog {
    n_waiting: Mutex<HashMap<CollectionId, usize>>,
    fewer: Condvar,
}

impl Backlog {
    /// Waits until so many more may wait.
    pub(crate) fn enter(&self, collection: &CollectionId, n_more: usize) -> Result<()> {
        let allowed = limits::MAX_WAITING_UPLOADS;
        let until = Instant::now() + PATIENCE;
        let mut n_waiting = self.n_waiting.lock();
        loop {
            let n_now = n_waiting.get(collection).copied().unwrap_or_default();
            if n_now == 0 || n_now + n_more <= allowed {
                n_waiting.insert(collection.clone(), n_now + n_more);
                return Ok(());
            }
            if self.fewer.wait_until(&mut n_waiting, until).timed_out() {
                let what = "the number of uploads that wait in this collection";
                return Err(Error::Object(ObjectError::TooLarge {
                    what,
                    received: n_now + n_more,
                    allowed,
                }));
            }
        }
    }

    /// Tells whether some wait.
    pub(crate) fn is_waiting(&self, collection: &CollectionId) -> bool {
        self.n_waiting.lock().contains_key(collection)
    }

    /// Notes that some wait no more. What an earlier process left was never counted.
    pub(crate) fn fewer(&self, collection: &CollectionId, n_fewer: usize) {
        let mut n_waiting = self.n_waiting.lock();
        if let Some(n) = n_waiting.get_mut(collection) {
            *n = n.saturating_sub(n_fewer);
            if *n == 0 {
                n_waiting.remove(collection);
            }
        }
        self.fewer.notify_all();
    }
}

impl Service {
    /// Says that documents are being indexed, of which one may be what was asked for.
    pub(crate) fn being_indexed(&self, collections: &[Collection]) -> Result<Option<Warning>> {
        if self.0.queue.is_idle()? {
            return Ok(None);
        }
        for collection in collections.iter().take(MAX_ASKED_COLLECTIONS) {
            let jobs = self.0.queue.active_jobs(ADD_JOB, collection.id.as_str())?;
            // A job that runs takes up those that came meanwhile once it has done those it knew.
            let has_more = |job: &Job| {
                job.progress.n_total.is_none_or(|n_total| job.progress.n_done < n_total)
            };
            let is_waiting = !jobs.is_empty() && self.1.backlog.is_waiting(&collection.id);
            if is_waiting || jobs.iter().any(has_more) {
                let message = format!(
                    "documents of `{}` are being indexed: more may be found when that is done",
                    collection.name
                );
                return Ok(Some(Warning::new("indexing", message)));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn whoever_comes_too_fast_waits_until_some_are_done() {
        let backlog = Arc::new(Backlog::default());
        let (one, other) = (CollectionId::new("a"), CollectionId::new("b"));
        backlog.enter(&one, limits::MAX_WAITING_UPLOADS).unwrap();
        backlog.enter(&other, 1).unwrap();
        let (waiting, id) = (Arc::clone(&backlog), one.clone());
        let second = std::thread::spawn(move || waiting.enter(&id, 2).is_ok());
        backlog.fewer(&one, 1);
        backlog.fewer(&one, 1);
        assert!(second.join().unwrap());
        assert_eq!(backlog.n_waiting.lock()[&one], limits::MAX_WAITING_UPLOADS);
    }
}

//! Uploads whose job ended without them: it failed by something that lasted longer than its
//! attempts, or ran into a fault; and those of which this process knows nothing, because another
//! one ended between the row and its job. What was acknowledged is not given up; it is tried again,
//! less and less often.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use store::TypedObject;

use crate::jobs::ADD_JOB;
use crate::object_ids::CollectionId;
use crate::objects::{Collection, waiting_anywhere};
use crate::{Result, Service};

/// How soon the uploads of a collection are looked at again after they came.
const FIRST_PAUSE: Duration = Duration::from_secs(10);

/// The longest pause between two looks: so long do uploads wait at most once what was in the way is
/// gone, a full disk for one.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How often it is looked for collections of which nobody here knows that something waits.
const LOOK_EVERYWHERE: Duration = Duration::from_secs(60);

/// The collections in which something may wait.
#[derive(Default)]
pub(crate) struct Unfinished {
    collections: Mutex<BTreeMap<CollectionId, Next>>,
    /// When it was looked everywhere last.
    looked: Mutex<Option<Instant>>,
}

/// When a collection is looked at again.
#[derive(Debug, Clone, Copy)]
struct Next {
    due: Instant,
    pause: Duration,
}

impl Next {
    fn later(self, now: Instant) -> Self {
        let pause = (self.pause * 2).min(LONGEST_PAUSE);
        Next { due: now + pause, pause }
    }
}

impl Unfinished {
    /// Notes that uploads of a collection wait.
    pub(crate) fn begin(&self, collection: &CollectionId) {
        let next = Next { due: Instant::now() + FIRST_PAUSE, pause: FIRST_PAUSE };
        self.collections.lock().entry(collection.clone()).or_insert(next);
    }

    /// Takes out the collections to look at now. What comes from here on is noted anew.
    fn take_due(&self, now: Instant) -> BTreeMap<CollectionId, Next> {
        self.collections.lock().extract_if(.., |_, next| next.due <= now).collect()
    }

    /// Notes when a collection is looked at next.
    fn keep(&self, collection: CollectionId, next: Next) {
        self.collections.lock().insert(collection, next);
    }

    /// Tells whether it is time to look everywhere, and takes note that somebody does.
    fn is_time_to_look(&self, now: Instant) -> bool {
        let mut looked = self.looked.lock();
        let is_time = looked.is_none_or(|looked| now.duration_since(looked) >= LOOK_EVERYWHERE);
        if is_time {
            *looked = Some(now);
        }
        is_time
    }
}

/// What a look at a collection says is left to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StillWaiting {
    Nothing,
    AJob,
    UploadsAlone,
}

impl Service {
    /// Asks once more for the jobs of uploads that wait and have none, and gives how many jobs
    /// those are. Called now and then: a collection is looked at a while after something came, and
    /// then less and less often.
    ///
    /// # Errors
    ///
    /// When the store fails, or the queue is full; a later call goes on.
    pub fn take_up_again(&self, now: Instant) -> Result<usize> {
        if self.1.unfinished.is_time_to_look(now) {
            for document in self.documents_waiting(&waiting_anywhere())? {
                self.1.unfinished.begin(&document.collection_id);
            }
        }
        let (mut n_jobs, mut outcome) = (0, Ok(()));
        for (id, next) in self.1.unfinished.take_due(now) {
            match self.look_again(&id) {
                Ok(StillWaiting::Nothing) => {}
                Ok(StillWaiting::AJob) => {
                    self.1.unfinished.keep(id, Next { due: now + next.pause, ..next });
                }
                Ok(StillWaiting::UploadsAlone) => {
                    self.1.unfinished.keep(id, next.later(now));
                    n_jobs += 1;
                }
                Err(error) => {
                    self.1.unfinished.keep(id, next.later(now));
                    outcome = Err(error);
                }
            }
        }
        outcome.map(|()| n_jobs)
    }

    /// Looks whether uploads of a collection wait without a job, and asks for one.
    fn look_again(&self, id: &CollectionId) -> Result<StillWaiting> {
        if self.0.queue.active(ADD_JOB, id.as_str())?.is_some() {
            return Ok(StillWaiting::AJob);
        }
        let Some((collection, _)) = Collection::load(&*self.0.catalogue, id)? else {
            return Ok(StillWaiting::Nothing);
        };
        if self.documents_waiting_in(&collection.id)?.is_empty() {
            return Ok(StillWaiting::Nothing);
        }
        let job = self.submit_additions(&collection)?;
        tracing::warn!(
            collection = %id, job = %job.id,
            "uploads still wait after their job ended; they are tried again"
        );
        Ok(StillWaiting::UploadsAlone)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ingest::JobState;

    use super::*;
    use crate::tests::{Fixture, member, open_collection, soon};
    use crate::{DocumentState, NewDocument, Visibility};

    #[test]
    fn pauses_grow_and_have_an_end() {
        let unfinished = Unfinished::default();
        let id = CollectionId::new("a");
        let before = Instant::now();
        unfinished.begin(&id);
        assert!(unfinished.take_due(before).is_empty(), "its job is let work");
        let mut now = Instant::now() + FIRST_PAUSE;
        let mut next = unfinished.take_due(now)[&id];
        for n_looks in 1..20 {
            next = next.later(now);
            unfinished.keep(id.clone(), next);
            // Something else that comes is no reason to look sooner.
            unfinished.begin(&id);
            assert!(unfinished.take_due(now).is_empty());
            now += (FIRST_PAUSE * (1 << n_looks.min(10))).min(LONGEST_PAUSE);
            assert!(unfinished.take_due(now).contains_key(&id));
        }
        assert!(unfinished.take_due(now + LONGEST_PAUSE).is_empty());
    }

    /// A job that failed at each of its attempts left what was acknowledged `pending` until
    /// something else came into the collection, or the server was started again.
    #[test]
    fn uploads_whose_job_failed_are_taken_up_again() {
        let mut world = Fixture::idle();
        let ann = member("acme", "ann");
        let base = world.base(&ann, "Rules", Visibility::Private);
        let collection = world.collection(&ann, &base, open_collection("All"));
        let new = vec![NewDocument::text("", "Giraffes are fed at noon.")];
        let accepted = world.service.add_documents(&ann, &collection, new).unwrap();
        world.take_down();
        world.start_workers();
        let ended = world.queue.wait(&accepted.job.id, &soon()).unwrap();
        assert_eq!(ended.state, JobState::Failed, "{ended:?}");
        world.bring_up();
        let id = accepted.documents[0].id.as_str();
        let state = || {
            world.service.get_document(&ann, &crate::KnowledgeDocumentId::new(id)).unwrap().state
        };
        assert_eq!(state(), DocumentState::Pending);
        let later = Instant::now() + FIRST_PAUSE;
        assert_eq!(world.service.take_up_again(later).unwrap(), 1);
        world.settle();
        assert_eq!(state(), DocumentState::Ready);
        assert_eq!(world.search(&ann, &base, "giraffes").results.len(), 1);
        assert_eq!(world.service.take_up_again(later + LONGEST_PAUSE).unwrap(), 0);
    }

    /// What another process took and ended before it asked for the job waited until something else
    /// came into the collection, or a server was started again.
    #[test]
    fn uploads_of_which_nobody_knows_are_found() {
        let mut world = Fixture::idle();
        let ann = member("acme", "ann");
        let base = world.base(&ann, "Rules", Visibility::Private);
        let collection = world.collection(&ann, &base, open_collection("All"));
        let new = vec![NewDocument::text("", "Giraffes are fed at noon.")];
        let accepted = world.service.add_documents(&ann, &collection, new).unwrap();
        let id = accepted.documents[0].id.as_str();
        // The row without its job is what a process leaves that ends between the two.
        world.queue.cancel(&accepted.job.id).unwrap();
        let service = Service::new(Fixture::another_config(&world.service));
        world.start_workers();
        let now = Instant::now();
        assert_eq!(service.take_up_again(now).unwrap(), 0, "who took it may be asking for the job");
        assert_eq!(service.take_up_again(now + 2 * FIRST_PAUSE).unwrap(), 1);
        world.settle();
        assert_eq!(
            service.get_document(&ann, &crate::KnowledgeDocumentId::new(id)).unwrap().state,
            DocumentState::Ready
        );
        assert_eq!(service.take_up_again(now + LOOK_EVERYWHERE + LONGEST_PAUSE).unwrap(), 0);
    }

    /// A reload made another service over the same store: each of the two had locks of its own, so
    /// an earlier content could be written over a later one, and nobody knew what the other had
    /// left.
    #[test]
    fn a_service_after_a_reload_takes_turns_with_the_one_before() {
        let world = Fixture::idle();
        let before = &world.service;
        let after = Service::succeeding(Fixture::another_config(before), before);
        assert!(!Arc::ptr_eq(&before.0, &after.0));
        let writing = before.1.writing.lock();
        assert!(after.1.writing.try_lock().is_none());
        drop(writing);
        assert!(after.1.writing.try_lock().is_some());
    }
}

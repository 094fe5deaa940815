//! Jobs that take in what arrives while they run, so that uploads sent one by one share a job and
//! its commits.
//!
//! An upload joins a job after its row is written, and a job looks at the rows once more after the
//! last one could join: whoever joined a job is indexed by it.

use std::collections::HashMap;
use std::time::Duration;

use ingest::{Job, JobId};
use parking_lot::Mutex;

/// How long a job that has nothing to do waits for company, at least.
pub(crate) const SHORTEST_WAIT: Duration = Duration::from_millis(50);

/// How long it waits at most.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// How often the last round would fit into the wait for the next: what is written in small rounds
/// is spent on commits.
pub(crate) const ROUNDS_PER_WAIT: u32 = 2;

/// How long others may join a job: whoever waits for the end of theirs gets it though more arrives
/// all the time.
pub(crate) const JOIN_LIMIT: Duration = Duration::from_secs(5);

/// The jobs of this process that uploads can join, by collection.
#[derive(Default)]
pub(crate) struct Gathering(Mutex<HashMap<String, Job>>);

impl Gathering {
    /// Gives the running job of a collection that a new upload can join, or what `submit` gives.
    /// Nobody opens or closes a job meanwhile.
    pub(crate) fn join<E>(
        &self,
        collection: &str,
        submit: impl FnOnce() -> Result<Job, E>,
    ) -> Result<Job, E> {
        let open = self.0.lock();
        match open.get(collection) {
            Some(job) => Ok(job.clone()),
            None => submit(),
        }
    }

    /// Lets uploads join a job until the value goes.
    pub(crate) fn open<'a>(&'a self, collection: &'a str, job: &Job) -> OpenJob<'a> {
        self.0.lock().insert(collection.to_owned(), job.clone());
        OpenJob { gathering: self, collection, id: job.id.clone() }
    }
}

/// While this is there, uploads join the job.
pub(crate) struct OpenJob<'a> {
    gathering: &'a Gathering,
    collection: &'a str,
    id: JobId,
}

impl Drop for OpenJob<'_> {
    fn drop(&mut self) {
        let mut open = self.gathering.0.lock();
        if open.get(self.collection).is_some_and(|job| job.id == self.id) {
            open.remove(self.collection);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use ingest::{JobProgress, JobState, Priority};
    use model::{TenantId, Timestamp};
    use serde_json::Value;

    use super::*;

    fn job(id: &str) -> Job {
        Job {
            id: JobId::new(id),
            kind: "k".to_owned(),
            subject: "s".to_owned(),
            tenant: TenantId::new("t"),
            priority: Priority::Normal,
            arguments: Value::Null,
            state: JobState::Running,
            progress: JobProgress::default(),
            checkpoint: Value::Null,
            result: Value::Null,
            error: None,
            is_cancelled: false,
            n_attempts: 1,
            holder: None,
            order: 1,
            created_at: Timestamp(0),
            started_at: None,
            finished_at: None,
        }
    }

    #[test]
    fn uploads_join_an_open_job_of_their_collection() {
        let gathering = Gathering::default();
        let joined = |collection: &str| {
            let job = gathering.join(collection, || Ok::<_, Infallible>(job("new")));
            job.unwrap().id.to_string()
        };
        assert_eq!(joined("a"), "new");
        let first = gathering.open("a", &job("first"));
        assert_eq!((joined("a"), joined("b")), ("first".to_owned(), "new".to_owned()));
        // A second job of the collection is the one to join, and the end of the first is not its.
        let second = gathering.open("a", &job("second"));
        drop(first);
        assert_eq!(joined("a"), "second");
        drop(second);
        assert_eq!(joined("a"), "new");
    }
}

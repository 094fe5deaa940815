//! Jobs that take in what arrives while they run, so that requests sent one by one share a job and
//! its commits.
//!
//! A request joins a job after its row is written, and a job looks at the rows once more after the
//! last one could join: whoever joined a job is served by it.

use std::collections::HashMap;

use parking_lot::Mutex;

use super::job::{Job, JobId};

/// The jobs of this process that others can join, by what they work on.
#[derive(Default)]
pub struct JoinableJobs(Mutex<HashMap<String, Job>>);

impl JoinableJobs {
    /// Gives the running job of a subject that a new request can join, or what `submit` gives.
    /// Nobody opens or closes a job meanwhile.
    pub fn join<E>(
        &self,
        subject: &str,
        submit: impl FnOnce() -> Result<Job, E>,
    ) -> Result<Job, E> {
        let open = self.0.lock();
        match open.get(subject) {
            Some(job) => Ok(job.clone()),
            None => submit(),
        }
    }

    /// Lets others join a job until the value goes.
    pub fn open<'a>(&'a self, subject: &'a str, job: &Job) -> OpenJob<'a> {
        self.0.lock().insert(subject.to_owned(), job.clone());
        OpenJob { joinable: self, subject, id: job.id.clone() }
    }
}

/// While this is there, others join the job.
pub struct OpenJob<'a> {
    joinable: &'a JoinableJobs,
    subject: &'a str,
    id: JobId,
}

impl Drop for OpenJob<'_> {
    fn drop(&mut self) {
        let mut open = self.joinable.0.lock();
        if open.get(self.subject).is_some_and(|job| job.id == self.id) {
            open.remove(self.subject);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use model::{TenantId, Timestamp};
    use serde_json::Value;

    use super::*;
    use crate::{JobProgress, JobState, Priority};

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
            crashes: crate::Crashes::default(),
            holder: None,
            order: 1,
            created_at: Timestamp(0),
            started_at: None,
            finished_at: None,
        }
    }

    #[test]
    fn requests_join_an_open_job_of_their_subject() {
        let joinable = JoinableJobs::default();
        let joined = |subject: &str| {
            let job = joinable.join(subject, || Ok::<_, Infallible>(job("new")));
            job.unwrap().id.to_string()
        };
        assert_eq!(joined("a"), "new");
        let first = joinable.open("a", &job("first"));
        assert_eq!((joined("a"), joined("b")), ("first".to_owned(), "new".to_owned()));
        // A second job of the subject is the one to join, and the end of the first is not its.
        let second = joinable.open("a", &job("second"));
        drop(first);
        assert_eq!(joined("a"), "second");
        drop(second);
        assert_eq!(joined("a"), "new");
    }
}

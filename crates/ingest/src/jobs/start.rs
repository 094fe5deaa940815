//! The start of a queue: jobs that a process before this one left behind wait again.

use store::{Lookup, ObjectPage, TypedObject};

use super::job::{Job, JobState};
use super::queue::{JobQueue, turn_of};
use crate::{Error, Result};

impl JobQueue {
    /// Lets the jobs wait that waited or ran when the last process ended.
    pub(super) fn take_up(&self) -> Result<()> {
        for job_state in [JobState::Running, JobState::Queued] {
            let found =
                self.catalogue.find(Job::KIND, &Lookup::new("state", job_state.as_str()))?;
            for object in found {
                let job = Job::from_object(object)?;
                let taken_up = if job.state == JobState::Running {
                    let mut job = job.clone();
                    job.note_crash();
                    tracing::warn!(
                        job = %job.id, kind = job.kind, subject = job.subject,
                        n_crashes = job.crashes.n_crashes,
                        "the process ended while this job ran; it goes on"
                    );
                    self.wait_again(&mut job)
                } else {
                    self.let_wait(&job);
                    Ok(())
                };
                match taken_up {
                    // Reads need no room, so a server must start without any: the job begins when
                    // the catalogue can be written again.
                    Err(Error::Store(error)) if error.is_disk_full() => self.let_wait(&job),
                    taken_up => taken_up?,
                }
            }
        }
        self.remember_finished()
    }

    /// Puts a job among those that wait, without writing anything.
    fn let_wait(&self, job: &Job) {
        self.state.lock().waiting.insert(turn_of(job), job.id.clone());
    }

    /// Learns which jobs are finished, and how many there ever were.
    pub(super) fn remember_finished(&self) -> Result<()> {
        let jobs = <Job as TypedObject>::list(&*self.catalogue, &ObjectPage::of(Job::KIND))?;
        let mut state = self.state.lock();
        state.next_order = jobs.iter().map(|job| job.order).max().unwrap_or(0);
        let finished = jobs.into_iter().filter(|job| job.state.is_final());
        state.finished = finished.map(|job| (job.order, job.id)).collect();
        Ok(())
    }
}

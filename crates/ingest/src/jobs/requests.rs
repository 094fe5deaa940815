//! What people ask of jobs that are there: to see them, to stop them, to begin them again.

use std::sync::atomic::Ordering;

use store::{Lookup, ObjectPage, TypedObject};

use super::context::JobFailure;
use super::job::{Job, JobId, JobState, NewJob};
use super::queue::{JobQueue, WAIT_STEP, turn_of};
use crate::{Error, Result};

impl JobQueue {
    /// Tells whether anybody runs the jobs: this process, or another server that shares them. A
    /// command that only looks leaves them alone.
    pub fn is_worked(&self) -> bool {
        self.has_workers.load(Ordering::Relaxed) || self.sharing.is_some()
    }

    /// Gives the job of a kind that waits or runs on a subject, if there is one.
    ///
    /// # Errors
    ///
    /// When the catalogue fails.
    pub fn active(&self, kind: &str, subject: &str) -> Result<Option<Job>> {
        Ok(self.active_jobs(kind, subject)?.into_iter().next())
    }

    /// Gives all of them: one may run while another waits.
    ///
    /// # Errors
    ///
    /// When the catalogue fails.
    pub fn active_jobs(&self, kind: &str, subject: &str) -> Result<Vec<Job>> {
        let lookup = Lookup::new("active", format!("{kind}\u{0}{subject}"));
        let mut active = vec![];
        for object in self.catalogue.find(Job::KIND, &lookup)? {
            match self.get(&Job::from_object(object)?.id) {
                Ok(job) if !job.state.is_final() => active.push(job),
                // It has ended since it was found, and may be forgotten already.
                Ok(_) | Err(Error::UnknownJob { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(active)
    }

    /// Gives the job of a kind that waits on a subject, or adds this one. A job that waits will
    /// see everything that was written before it begins, so one serves all who ask meanwhile.
    ///
    /// # Errors
    ///
    /// Those of [`JobQueue::submit`].
    pub fn submit_or_join(&self, new: NewJob) -> Result<Job> {
        self.join_or(new, |new| self.submit(new))
    }

    /// Nobody else of this process looks for a job to join meanwhile.
    pub(super) fn join_or(
        &self,
        new: NewJob,
        submit: impl FnOnce(NewJob) -> Result<Job>,
    ) -> Result<Job> {
        let _joining = self.joining.lock();
        let waiting = self.active_jobs(&new.kind, &new.subject)?;
        match waiting.into_iter().find(|job| job.state == JobState::Queued) {
            Some(waiting) => Ok(waiting),
            None => submit(new),
        }
    }

    /// Tells whether no job waits or runs, here or at a server that shares them. Asked before each
    /// search, so that it costs nothing where nothing is shared.
    ///
    /// # Errors
    ///
    /// When the catalogue fails.
    pub fn is_idle(&self) -> Result<bool> {
        if self.counts() != (0, 0) {
            return Ok(false);
        }
        if self.sharing.is_none() {
            return Ok(true);
        }
        for state in [JobState::Queued, JobState::Running] {
            let lookup = Lookup::new("state", state.as_str());
            if !self.catalogue.find(Job::KIND, &lookup)?.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Gives the jobs of a kind that run in this process.
    pub fn running(&self, kind: &str) -> Vec<Job> {
        let state = self.state.lock();
        let running = state.running.values().map(|(job, _)| job);
        running.filter(|job| job.kind == kind).cloned().collect()
    }

    /// Lists the jobs that are remembered, the latest first.
    ///
    /// # Errors
    ///
    /// When the catalogue fails.
    pub fn list(&self) -> Result<Vec<Job>> {
        let mut jobs = <Job as TypedObject>::list(&*self.catalogue, &ObjectPage::of(Job::KIND))?;
        let state = self.state.lock();
        for job in &mut jobs {
            if let Some((running, _)) = state.running.get(&job.id) {
                *job = running.clone();
            }
        }
        jobs.sort_by_key(|job| std::cmp::Reverse(job.order));
        Ok(jobs)
    }

    /// Stops a job: a waiting one at once, a running one at its next step.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownJob`].
    pub fn cancel(&self, id: &JobId) -> Result<Job> {
        let mut job = self.get(id)?;
        let is_waiting = {
            let mut state = self.state.lock();
            // One that is just beginning runs in a moment.
            while state.beginning.contains(id) {
                self.changed.wait_for(&mut state, WAIT_STEP);
            }
            if let Some((running, progress)) = state.running.get_mut(id) {
                running.is_cancelled = true;
                progress.cancel();
                return Ok(running.clone());
            }
            let turn = turn_of(&job);
            state.waiting.remove(&turn).is_some() || state.resting.remove(&turn).is_some()
        };
        if is_waiting {
            job.is_cancelled = true;
            match self.end(job.clone(), Err(JobFailure::Cancelled)) {
                // Another server has begun it just now.
                Err(Error::JobLost { .. }) => job = self.ask_to_stop(id)?,
                ended => {
                    ended?;
                    job = self.get(id)?;
                }
            }
        } else if self.sharing.is_some() && !job.state.is_final() {
            job = self.ask_to_stop(id)?;
        }
        Ok(job)
    }

    /// Lets a failed job wait again, with its checkpoint.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownJob`], [`Error::QueueFull`].
    pub fn retry(&self, id: &JobId) -> Result<Job> {
        let mut job = self.get(id)?;
        if job.state != JobState::Failed {
            return Ok(job);
        }
        if self.state.lock().n_taken() >= self.config.max_queued {
            return Err(Error::QueueFull { allowed: self.config.max_queued });
        }
        job.n_attempts = 0;
        job.is_cancelled = false;
        job.error = None;
        job.finished_at = None;
        self.wait_again(&mut job)?;
        Ok(job)
    }
}

//! Jobs shared by several servers over one catalogue.
//!
//! A job that waits is taken by whoever writes its row first; the row names the server that runs it.
//! Every server renews one lease of its own. A job whose server has no lease any more waits again
//! and is taken by another, from its checkpoint: hand-over takes at most the rest of the lease and
//! the next look of a living server. A server whose lease ran out stops its jobs by itself, and
//! what it still writes is refused, since the row names another server by then.
//!
//! What a job is about has a lease as well: two jobs on one collection or one table never run on two
//! servers at once. Inside one server their runners see to that.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::Clock;
use parking_lot::Mutex;
use store::{Catalogue, Change, Lookup, Object, TypedObject};

use super::context::Runner;
use super::job::{Job, JobId, JobState};
use super::queue::{JobQueue, QueueConfig, turn_of};
use crate::{Error, Result};

/// How often waiting jobs of other servers are looked for, at most.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A lease is renewed after this part of it.
const RENEWALS_PER_LEASE: u32 = 3;
/// How often a row that others write at the same time is tried.
const MAX_WRITES: u32 = 8;

/// How a queue shares the jobs of a catalogue.
pub(super) struct Sharing {
    /// Where leases are.
    pub(super) catalogue: Arc<dyn Catalogue>,
    /// Names this process among all that share the catalogue.
    pub(super) holder: String,
    /// How long a server keeps its jobs without a sign of life.
    pub(super) lease: Duration,
    /// What running jobs of this server are about, and how many are about it.
    subjects: Mutex<HashMap<String, usize>>,
}

impl Sharing {
    fn name(holder: &str) -> String {
        format!("server/{holder}")
    }

    fn name_of_subject(subject: &str) -> String {
        format!("subject/{subject}")
    }

    fn renew(&self) -> Result<()> {
        self.catalogue.take_lease(&Sharing::name(&self.holder), &self.holder, self.lease)?;
        // Locked over the calls, so that a subject is not renewed after it was released.
        for subject in self.subjects.lock().keys() {
            let name = Sharing::name_of_subject(subject);
            self.catalogue.take_lease(&name, &self.holder, self.lease)?;
        }
        Ok(())
    }

    /// Takes what a job is about for this server; tells whether no other one has it.
    pub(super) fn take_subject(&self, subject: &str) -> Result<bool> {
        let mut subjects = self.subjects.lock();
        let name = Sharing::name_of_subject(subject);
        let is_taken = self.catalogue.take_lease(&name, &self.holder, self.lease)?;
        if is_taken {
            *subjects.entry(subject.to_owned()).or_default() += 1;
        }
        Ok(is_taken)
    }

    /// Releases what a job was about, unless another job of this server is about it too.
    fn release_subject(&self, subject: &str) -> Result<()> {
        let mut subjects = self.subjects.lock();
        let Some(n_jobs) = subjects.get_mut(subject) else { return Ok(()) };
        *n_jobs -= 1;
        if *n_jobs == 0 {
            subjects.remove(subject);
            self.catalogue.end_lease(&Sharing::name_of_subject(subject), &self.holder)?;
        }
        Ok(())
    }
}

impl JobQueue {
    /// Opens the queue of a catalogue that other servers use too; see [`JobQueue::open`].
    ///
    /// # Errors
    ///
    /// When the catalogue fails.
    pub fn open_shared(
        catalogue: Arc<dyn Catalogue>,
        runners: HashMap<String, Arc<dyn Runner>>,
        config: QueueConfig,
        clock: Clock,
        lease: Duration,
    ) -> Result<Arc<Self>> {
        let holder = uuid::Uuid::new_v4().to_string();
        let subjects = Mutex::default();
        let sharing = Sharing { catalogue: catalogue.clone(), holder, lease, subjects };
        sharing.renew()?;
        let queue = JobQueue::new(catalogue, runners, config, clock, Some(sharing));
        queue.remember_finished()?;
        queue.look()?;
        Ok(Arc::new(queue))
    }

    /// Renews the lease, finds jobs that wait, and takes those back whose server is gone, until the
    /// queue closes.
    pub(super) fn share(&self) {
        let Some(sharing) = &self.sharing else { return };
        let mut renewed = Instant::now();
        let mut is_due = true;
        loop {
            if is_due || renewed.elapsed() >= sharing.lease / RENEWALS_PER_LEASE {
                let begun = Instant::now();
                match sharing.renew() {
                    Ok(()) => renewed = begun,
                    Err(error) => warn(&error, "the lease of this server could not be renewed"),
                }
            }
            let is_lost = renewed.elapsed() >= sharing.lease;
            self.note_lost(is_lost);
            let looked = self.look();
            if let Err(error) = &looked {
                warn(error, "jobs of other servers could not be checked");
            }
            // After a failure the lease is tried at the next turn, whatever its age.
            is_due = is_lost || looked.is_err();
            let mut state = self.state.lock();
            if !state.is_closing {
                let step = LOOK_EVERY.min(sharing.lease / RENEWALS_PER_LEASE);
                self.changed.wait_for(&mut state, step);
            }
            if state.is_closing {
                return;
            }
        }
    }

    /// Lets go of the lease, so that nobody waits for this server.
    pub(super) fn leave(&self) {
        let Some(sharing) = &self.sharing else { return };
        if let Err(error) =
            sharing.catalogue.end_lease(&Sharing::name(&sharing.holder), &sharing.holder)
        {
            tracing::debug!(error = &error as &dyn std::error::Error, "the lease ends by itself");
        }
    }

    /// Lets other servers work on what a job of this one was about.
    pub(super) fn release_subject(&self, subject: &str) {
        let Some(sharing) = &self.sharing else { return };
        if let Err(error) = sharing.release_subject(subject) {
            tracing::debug!(error = &error as &dyn std::error::Error, "the lease ends by itself");
        }
    }

    /// Notes whether this server may have lost its jobs; when it may, they stop.
    fn note_lost(&self, is_lost: bool) {
        let mut state = self.state.lock();
        if is_lost && !state.is_lost && !state.running.is_empty() {
            tracing::warn!(
                n_jobs = state.running.len(),
                "this server had no contact with the catalogue for a lease: its jobs stop here"
            );
        }
        if is_lost {
            state.running.values().for_each(|(_, progress)| progress.cancel());
        }
        state.is_lost = is_lost;
    }

    /// Looks at the jobs that wait and run anywhere.
    fn look(&self) -> Result<()> {
        let Some(sharing) = &self.sharing else { return Ok(()) };
        let known: BTreeSet<_> = self.state.lock().waiting.keys().cloned().collect();
        let mut found = BTreeSet::new();
        for object in self.in_state(JobState::Queued)? {
            let job = Job::from_object(object)?;
            found.insert(turn_of(&job));
        }
        {
            let mut state = self.state.lock();
            for turn in known.difference(&found) {
                state.waiting.remove(turn);
            }
            for turn in found.difference(&known) {
                if !state.running.contains_key(&turn.2) && !state.resting.contains_key(turn) {
                    state.next_order = state.next_order.max(turn.1);
                    state.waiting.insert(turn.clone(), turn.2.clone());
                }
            }
        }
        self.changed.notify_all();
        let mut living: HashSet<String> = HashSet::from([sharing.holder.clone()]);
        for object in self.in_state(JobState::Running)? {
            let version = object.version;
            let job = Job::from_object(object)?;
            if job.holder.as_ref() == Some(&sharing.holder) {
                if job.is_cancelled {
                    self.stop_running(&job.id);
                }
                continue;
            }
            if let Some(holder) = &job.holder {
                if living.contains(holder) {
                    continue;
                }
                if sharing.catalogue.lease(&Sharing::name(holder))?.is_some() {
                    living.insert(holder.clone());
                    continue;
                }
            }
            self.take_back(job, version)?;
        }
        Ok(())
    }

    fn in_state(&self, state: JobState) -> Result<Vec<Object>> {
        Ok(self.catalogue.find(Job::KIND, &Lookup::new("state", state.as_str()))?)
    }

    /// Lets a job wait again whose server is gone.
    fn take_back(&self, mut job: Job, version: u64) -> Result<()> {
        tracing::warn!(job = %job.id, holder = job.holder, "the server of a job is gone");
        job.holder = None;
        if job.is_cancelled {
            job.state = JobState::Failed;
            job.error = Some("cancelled".to_owned());
        } else {
            job.note_crash();
            job.state = JobState::Queued;
        }
        match self.catalogue.apply(&[Change::PutIfUnchanged(job.to_object(version)?)]) {
            // Another server was first, or the job has just ended.
            Err(store::Error::Conflict { .. }) => return Ok(()),
            applied => applied?,
        };
        if job.state == JobState::Queued {
            self.state.lock().waiting.insert(turn_of(&job), job.id);
            self.changed.notify_all();
        }
        Ok(())
    }

    fn stop_running(&self, id: &JobId) {
        if let Some((job, progress)) = self.state.lock().running.get_mut(id) {
            job.is_cancelled = true;
            progress.cancel();
        }
    }

    /// Asks the server that runs a job to stop it: it sees the note when it next looks.
    pub(super) fn ask_to_stop(&self, id: &JobId) -> Result<Job> {
        for _ in 0..MAX_WRITES {
            let Some((mut job, version)) = Job::load(&*self.catalogue, id)? else {
                return Err(Error::UnknownJob { id: id.to_string() });
            };
            if job.state.is_final() || job.is_cancelled {
                return Ok(job);
            }
            job.is_cancelled = true;
            match self.catalogue.apply(&[Change::PutIfUnchanged(job.to_object(version)?)]) {
                Err(store::Error::Conflict { .. }) => {}
                applied => {
                    applied?;
                    return Ok(job);
                }
            }
        }
        Err(Error::Busy)
    }

    /// Writes a job, unless another server runs it by now.
    pub(super) fn keep_shared(&self, sharing: &Sharing, job: &Job) -> Result<()> {
        for _ in 0..MAX_WRITES {
            let found = Job::load(&*self.catalogue, &job.id)?;
            let mut written = job.clone();
            let version = match found {
                None => 0,
                Some((found, version)) => {
                    let is_mine = found.holder.as_ref() == Some(&sharing.holder);
                    let is_run_elsewhere = found.state == JobState::Running && !is_mine;
                    // One that has ended elsewhere is only written to begin it again.
                    let has_ended = found.state.is_final() && job.state != JobState::Queued;
                    if is_run_elsewhere || has_ended {
                        return Err(Error::JobLost { id: job.id.to_string() });
                    }
                    written.is_cancelled |= found.is_cancelled;
                    version
                }
            };
            match self.catalogue.apply(&[Change::PutIfUnchanged(written.to_object(version)?)]) {
                Err(store::Error::Conflict { .. }) => {}
                applied => return Ok(applied.map(|_| ())?),
            }
        }
        Err(Error::Busy)
    }
}

fn warn(error: &Error, sentence: &'static str) {
    tracing::warn!(error = error as &dyn std::error::Error, "{sentence}");
}

//! What every command works with: the service, the caller, and waiting for jobs.

use std::time::Duration;

use anyhow::bail;
use ingest::{Job, JobState};
use knowledge::{KnowledgeBase, Service};
use model::{Caller, Deadline};

use crate::print;
use crate::wiring::SharedState;

/// How long a command waits between two looks at its job.
const JOB_WAIT: Duration = Duration::from_secs(1);

/// The service with the one who asks.
pub(super) struct Session {
    pub(super) service: Service,
    pub(super) shared_state: SharedState,
    pub(super) caller: Caller,
}

impl Session {
    /// Finds a knowledge base by its id, or by a name that only one has.
    pub(super) fn base(&self, wanted: &str) -> anyhow::Result<KnowledgeBase> {
        let bases = self.service.list_bases(&self.caller)?;
        if let Some(base) = bases.iter().find(|base| base.id == wanted) {
            return Ok(base.clone());
        }
        let mut named = bases.into_iter().filter(|base| base.name == wanted);
        match (named.next(), named.next()) {
            (Some(base), None) => Ok(base),
            (None, _) => {
                bail!("no knowledge base is called `{wanted}`\nhint: `dowse kb list` shows them")
            }
            (Some(_), Some(_)) => {
                bail!("several knowledge bases are called `{wanted}`\nhint: name one by its id")
            }
        }
    }

    /// Waits until vectors and summaries have followed what changed.
    pub(super) fn settle(&self) -> anyhow::Result<()> {
        loop {
            let jobs = self.shared_state.kept()?.queue.list()?;
            let is_open = |job: &&Job| {
                !job.state.is_final() && self.service.check_job(&self.caller, job).is_ok()
            };
            match jobs.iter().find(is_open) {
                Some(job) => self.wait(job)?,
                None => return Ok(()),
            }
        }
    }

    /// Waits for a job, however long it takes, and says how far it is.
    pub(super) fn wait(&self, job: &Job) -> anyhow::Result<()> {
        let queue = &self.shared_state.kept()?.queue;
        loop {
            let job = queue.wait(&job.id, &Deadline::after(JOB_WAIT))?;
            match job.state {
                JobState::Done => return Ok(()),
                JobState::Failed => bail!("{}", job.error.unwrap_or_default()),
                JobState::Queued | JobState::Running => {
                    let progress = &job.progress;
                    if let Some(n_total) = progress.n_total.filter(|n_total| *n_total > 0) {
                        let (stage, n_done) = (&progress.stage, progress.n_done);
                        print::note(format!("{stage}: {n_done} of {n_total}"));
                    }
                }
            }
        }
    }
}

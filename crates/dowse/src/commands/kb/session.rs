//! What every command works with: the service, the caller, and waiting for jobs.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use ingest::{Job, JobService as _, JobState};
use knowledge::{KnowledgeBase, Service};
use model::{Caller, Deadline};
use serde_json::json;

use crate::commands::check::Providers;
use crate::print;
use crate::wiring::SharedState;

/// How long a command waits between two looks at its job.
const JOB_WAIT: Duration = Duration::from_secs(1);

/// The service with the one who asks.
pub(super) struct Session {
    pub(super) service: Service,
    pub(super) shared_state: SharedState,
    pub(super) caller: Caller,
    pub(super) providers: Providers,
    /// The folder that the command was typed in, when that is not the one of this process.
    pub(super) folder: PathBuf,
    /// Whether the output goes to a terminal, which has only so much room.
    pub(super) is_terminal: bool,
    pub(super) is_json: bool,
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

    pub(super) fn made(&self, id: &str) -> anyhow::Result<()> {
        if self.is_json {
            return print::json(&json!({ "id": id }));
        }
        print::line(id);
        Ok(())
    }

    /// Says what became of an object that is there or was: its id to a program, a sentence to a
    /// person.
    pub(super) fn done(&self, id: &str, sentence: impl AsRef<str>) -> anyhow::Result<()> {
        if self.is_json {
            return print::json(&json!({ "id": id }));
        }
        print::note(sentence);
        Ok(())
    }

    /// Waits until vectors and summaries have followed what changed.
    pub(super) fn settle(&self) -> anyhow::Result<()> {
        loop {
            let jobs = self.shared_state.open_store()?.queue.list()?;
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
        let queue = &self.shared_state.open_store()?.queue;
        let bar = print::Bar::new();
        loop {
            print::ensure_reader()?;
            let job = queue.wait(&job.id, &Deadline::after(JOB_WAIT))?;
            match job.state {
                JobState::Done => return Ok(()),
                JobState::Failed => bail!(
                    "{}",
                    job.error.unwrap_or_else(|| format!("the job `{}` failed", job.kind))
                ),
                JobState::Queued | JobState::Running => {
                    bar.show(&job.progress);
                }
            }
        }
    }
}

//! What every command works with: the service, the caller, and waiting for all that follows.

use std::ops::Deref;

use anyhow::bail;
use ingest::{Job, JobService as _};
use knowledge::{KnowledgeBase, Service};

use crate::commands::check::Providers;
use crate::commands::objects;

/// The service with the one who asks.
pub(super) struct Session {
    pub(super) common: objects::Session,
    pub(super) service: Service,
    pub(super) providers: Providers,
}

impl Deref for Session {
    type Target = objects::Session;

    fn deref(&self) -> &objects::Session {
        &self.common
    }
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

    /// Waits until summaries have followed what changed.
    pub(super) fn settle(&self) -> anyhow::Result<()> {
        loop {
            let jobs = self.shared_state.open_store()?.queue.list()?;
            let is_open = |job: &&Job| {
                !job.state.is_final() && self.service.check_job(&self.caller, job).is_ok()
            };
            match jobs.iter().find(is_open) {
                Some(job) => drop(self.wait(job)?),
                None => return Ok(()),
            }
        }
    }
}

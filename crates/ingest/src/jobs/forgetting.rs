//! Finished jobs are remembered up to a number: the oldest ones beyond it are forgotten.

use store::{Change, ObjectKey, TypedObject as _};

use super::job::Job;
use super::queue::JobQueue;
use crate::Result;

impl JobQueue {
    /// Forgets the oldest finished jobs beyond those that are remembered.
    pub(super) fn forget_old(&self) -> Result<()> {
        let mut old = vec![];
        {
            let mut state = self.state.lock();
            while state.finished.len() > self.config.max_finished {
                let Some((_, id)) = state.finished.pop_first() else { break };
                old.push(Change::Delete(ObjectKey::new(Job::KIND, id.as_str())));
            }
        }
        if !old.is_empty() {
            self.catalogue.apply(&old)?;
        }
        Ok(())
    }
}

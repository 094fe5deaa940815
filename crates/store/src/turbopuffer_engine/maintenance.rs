//! Keeping turbopuffer in step with the catalogue: catch up, compare, erase.

use model::Deadline;

use super::client::{ENGINE, QUESTION_LIMIT};
use super::engine::TurbopufferEngine;
use super::ledger::Named;
use super::namespace::Namespace;
use super::words;
use crate::remote;
use crate::store::state_of;
use crate::{DroppedNamespace, Error, Result};

impl TurbopufferEngine {
    /// Sends what turbopuffer could not take earlier, and erases what is not in use. A
    /// turbopuffer that cannot be reached is met again the next time.
    pub(super) fn keep_in_shape(&self) -> Result<()> {
        for state in self.catalogue.namespaces()? {
            let id = state.info.id;
            let Ok(namespace) = self.namespace_of(&id) else { continue };
            if namespace.following.is_locked() {
                continue;
            }
            if let Err(error) = self.follow_to_the_end(&namespace) {
                tracing::warn!(
                    namespace = %id,
                    error = &error as &dyn std::error::Error,
                    "turbopuffer could not follow"
                );
            }
        }
        self.follower().erase_leftovers();
        Ok(())
    }

    /// Erases what was derived from a dropped namespace. When turbopuffer cannot be reached, the
    /// name is not used meanwhile, and the erasure is tried again later.
    pub(super) fn erase_namespace(&self, dropped: &DroppedNamespace) -> Result<()> {
        self.take_out(dropped);
        remote::let_go::<Named>(&*self.catalogue, dropped.number)?;
        self.follower().erase_leftovers();
        match remote::erasures::<Named>(&*self.catalogue)?.first() {
            None => Ok(()),
            Some(at) => self.client.erase(&at.name),
        }
    }

    /// Compares how many rows turbopuffer has with how many passages the catalogue has.
    pub(super) fn find_problem(&self, namespace: &Namespace) -> Result<Option<String>> {
        let following = namespace.following.lock();
        let n_passages = state_of(&*self.catalogue, &namespace.id)?.counts.n_passages;
        let Some(entry) = &following.entry else {
            let problem = format!("{ENGINE} has none of `{n_passages}` passages");
            return Ok((n_passages > 0).then_some(problem));
        };
        let deadline = Deadline::after(QUESTION_LIMIT);
        let n_rows = match self.client.ask(&entry.at.name, &[words::totals()], &deadline) {
            Ok(results) => words::read_statistics(&results, vec![]).n_passages as usize,
            Err(Error::EngineMissing { .. }) => 0,
            Err(error) => return Err(error),
        };
        let problem = format!("{ENGINE} has `{n_rows}` of `{n_passages}` passages");
        Ok((n_rows != n_passages).then_some(problem))
    }
}

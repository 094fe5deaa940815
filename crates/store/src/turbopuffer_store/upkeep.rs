//! Keeping the engine in step with the catalogue: check, repair, rebuild, erasure.

use std::path::Path;

use model::{Deadline, NamespaceId};

use super::engine::{ENGINE, QUESTION_LIMIT};
use super::namespace::Namespace;
use super::store::TurbopufferStore;
use super::words;
use crate::{Error, Finding, PassageStore, Repair, Result};

/// Free pages given back to the disk in one round, so that a round stays short.
const PAGES_PER_ROUND: u32 = 4_096;

impl TurbopufferStore {
    /// Sends what the engine could not take earlier, erases what is not in use, and gives free
    /// space of the catalogue back.
    ///
    /// # Errors
    ///
    /// When the catalogue cannot be written. An engine that cannot be reached is met again the
    /// next time.
    pub(super) fn keep_in_shape(&self) -> Result<()> {
        for info in self.namespaces()? {
            let Ok(namespace) = self.namespace_of(&info.id) else { continue };
            let Some(mut following) = namespace.following.try_lock() else { continue };
            if let Err(error) = self.follower().catch_up(&namespace, &mut following) {
                tracing::warn!(
                    namespace = %info.id,
                    error = &error as &dyn std::error::Error,
                    "turbopuffer could not follow"
                );
                continue;
            }
            self.database.purge(namespace.number, following.seen())?;
        }
        self.follower().erase_leftovers();
        self.database.maintain(PAGES_PER_ROUND)
    }

    /// Checks the catalogue, and that the engine has as many rows as the catalogue has passages.
    ///
    /// # Errors
    ///
    /// When the engine cannot be reached, or a namespace cannot be made anew.
    pub fn check(&self, repair: Repair) -> Result<Vec<Finding>> {
        let mut findings = vec![];
        if let Err(error) = self.database.verify() {
            let Error::Damaged { reason: problem, .. } = error else { return Err(error) };
            findings.push(Finding { namespace: None, problem, is_repaired: false });
        }
        for info in self.namespaces()? {
            let namespace = match self.namespace_of(&info.id) {
                Ok(namespace) => namespace,
                Err(error @ Error::ManifestMismatch { .. }) => {
                    findings.push(Finding {
                        namespace: Some(info.id),
                        problem: error.to_string(),
                        is_repaired: false,
                    });
                    continue;
                }
                Err(Error::UnknownNamespace { .. }) => continue,
                Err(error) => return Err(error),
            };
            let Some(problem) = self.problem_of(&namespace)? else { continue };
            let is_repaired = repair == Repair::Yes;
            if is_repaired {
                self.rebuild(&info.id)?;
            }
            findings.push(Finding { namespace: Some(info.id), problem, is_repaired });
        }
        Ok(findings)
    }

    /// Sends everything in a namespace to the engine anew, under a fresh name. Searches go on with
    /// the earlier one meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownNamespace`], or when the engine cannot take it.
    pub fn rebuild(&self, id: &NamespaceId) -> Result<()> {
        let namespace = self.namespace_of(id)?;
        let mut following = namespace.following.lock();
        self.follower().make_anew(&namespace, &mut following)
    }

    /// Asks the engine whether it answers and takes the key.
    ///
    /// # Errors
    ///
    /// Why it does not.
    pub fn reach(&self) -> Result<()> {
        self.engine.attributes("dowse-reachability").map(|_| ())
    }

    /// Writes a backup of the catalogue to a new file, from which the engine can be filled again.
    ///
    /// # Errors
    ///
    /// As [`crate::EmbeddedStore::backup`].
    pub fn backup(&self, file: &Path) -> Result<()> {
        crate::truth::backup(&self.database, file)
    }

    fn problem_of(&self, namespace: &Namespace) -> Result<Option<String>> {
        let following = namespace.following.lock();
        let n_passages = self.database.row_of(&namespace.id)?.counts.n_passages;
        let Some(entry) = &following.entry else {
            let problem = format!("{ENGINE} has none of `{n_passages}` passages");
            return Ok((n_passages > 0).then_some(problem));
        };
        let deadline = Deadline::after(QUESTION_LIMIT);
        let n_rows = match self.engine.ask(&entry.name, &[words::totals()], &deadline) {
            Ok(results) => words::read_statistics(&results, vec![]).n_passages as usize,
            Err(Error::EngineMissing { .. }) => 0,
            Err(error) => return Err(error),
        };
        let problem = format!("{ENGINE} has `{n_rows}` of `{n_passages}` passages");
        Ok((n_rows != n_passages).then_some(problem))
    }
}

//! What keeps a store in order: catching up, checking, rebuilding, health, backup, closing.

use std::path::Path;
use std::time::Instant;

use model::NamespaceId;

use super::{Store, state_of};
use crate::health::{self, Health};
use crate::{Changes, DroppedNamespace, EnginePlace, Erased, Error, Rebuild, Result};

/// Whether a check mends what it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// Only say what is wrong.
    No,
    /// Make damaged indexes anew from the catalogue.
    Yes,
}

/// Something that a check found wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The namespace, or nothing for the catalogue itself.
    pub namespace: Option<NamespaceId>,
    /// What is wrong.
    pub problem: String,
    /// Whether it is right again.
    pub is_repaired: bool,
}

impl Store {
    /// Lets the engine follow every namespace to its last change: what another server wrote, or
    /// what the engine could not take earlier. A namespace that was made with another analyser is
    /// passed over.
    ///
    /// # Errors
    ///
    /// The first failure, after all namespaces were tried.
    pub fn catch_up(&self) -> Result<()> {
        let mut first_failure = Ok(());
        for state in self.catalogue.namespaces()? {
            match self.follow(&state.info.id, None) {
                Ok(()) => {}
                Err(Error::UnknownNamespace { .. } | Error::ManifestMismatch { .. }) => {}
                Err(error) if first_failure.is_ok() => first_failure = Err(error),
                Err(_) => {}
            }
        }
        first_failure
    }

    /// Lets the engine follow what other servers have written to the namespaces in use here; cheap
    /// enough to be called every second.
    ///
    /// # Errors
    ///
    /// When the catalogue does not answer, or the first failure of the engine.
    pub fn follow_others(&self) -> Result<()> {
        let begun = Instant::now();
        // The first call begins the count: what came before it is followed by this one.
        self.followed_at.lock().get_or_insert(begun);
        let heads = self.catalogue.heads()?;
        self.engine.follow(Changes::OfOthers(&heads))?;
        *self.followed_at.lock() = Some(begun);
        self.follow_behind()
    }

    /// Lets the engine take what it could not take earlier. It may take as long as all of that.
    ///
    /// # Errors
    ///
    /// The first failure.
    pub fn follow_behind(&self) -> Result<()> {
        let behind: Vec<NamespaceId> = self.behind.lock().keys().cloned().collect();
        for namespace in behind {
            match self.follow(&namespace, None) {
                Ok(()) | Err(Error::UnknownNamespace { .. } | Error::ManifestMismatch { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Asks an engine elsewhere whether it answers, and remembers that for [`Store::health`] and
    /// [`Store::accepts_changes`]. Nothing else is done here: a write to an engine that hangs takes
    /// minutes, and who looks would not look meanwhile.
    ///
    /// # Errors
    ///
    /// When it does not answer.
    pub fn look_for_engine(&self) -> Result<()> {
        let reached = self.engine.info().reach();
        *self.engine_away.lock() = reached.as_ref().err().map(ToString::to_string);
        reached
    }

    /// Refuses a change that an engine elsewhere could not take, while it is known not to answer:
    /// whoever sends documents learns it at once instead of finding nothing later. What is running
    /// goes on, since the catalogue keeps it.
    ///
    /// # Errors
    ///
    /// [`Error::EngineUnavailable`] from the moment that [`Store::look_for_engine`] found nobody.
    pub fn accepts_changes(&self) -> Result<()> {
        let Some(reason) = self.engine_away.lock().clone() else { return Ok(()) };
        Err(Error::EngineUnavailable { engine: self.engine.info().name, what: "write", reason })
    }

    /// Checks the catalogue, and what the engine has against it.
    ///
    /// # Errors
    ///
    /// When something cannot be read or made anew; what is merely damaged is a finding.
    pub fn check(&self, repair: Repair) -> Result<Vec<Finding>> {
        let mut findings = vec![];
        if let Err(error) = self.catalogue.verify() {
            let Error::CatalogueDamaged { .. } = &error else { return Err(error) };
            let problem = error.to_string();
            findings.push(Finding { namespace: None, problem, is_repaired: false });
        }
        for info in self.namespaces()? {
            let problem = match self.engine.problem(&info.id) {
                Ok(None) | Err(Error::UnknownNamespace { .. }) => continue,
                Ok(Some(problem)) => problem,
                Err(error @ Error::CatalogueBehind { .. }) => {
                    findings.push(self.forget_the_lost(&info.id, &error, repair)?);
                    continue;
                }
                Err(error @ Error::ManifestMismatch { .. }) => {
                    let (problem, is_repaired) = (error.to_string(), false);
                    findings.push(Finding { namespace: Some(info.id), problem, is_repaired });
                    continue;
                }
                Err(error) => return Err(error),
            };
            let is_repaired = repair == Repair::Yes;
            if is_repaired {
                self.engine.rebuild(&info.id, Rebuild::Now)?;
            }
            findings.push(Finding { namespace: Some(info.id), problem, is_repaired });
        }
        Ok(findings)
    }

    /// An engine that has read further than the catalogue goes is filled anew from what is left,
    /// when asked.
    fn forget_the_lost(
        &self,
        namespace: &NamespaceId,
        error: &Error,
        repair: Repair,
    ) -> Result<Finding> {
        let is_repaired = repair == Repair::Yes;
        if is_repaired {
            let number = state_of(&*self.catalogue, namespace)?.number;
            let dropped = DroppedNamespace { id: namespace.clone(), number };
            self.engine.erase(Erased::Namespace(&dropped))?;
            self.follow(namespace, None)?;
        }
        Ok(Finding { namespace: Some(namespace.clone()), problem: error.to_string(), is_repaired })
    }

    /// Makes what the engine has of a namespace anew. Searches go on with the earlier state
    /// meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownNamespace`], or when the engine cannot take it.
    pub fn rebuild(&self, namespace: &NamespaceId) -> Result<()> {
        self.engine.rebuild(namespace, Rebuild::Now)
    }

    /// Takes on the analyser and index format of this program for a namespace that was made with
    /// others, by making its indexes anew. Documents and vectors stay.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownNamespace`], or when the new indexes cannot be written.
    pub fn reindex(&self, namespace: &NamespaceId) -> Result<()> {
        let state = state_of(&*self.catalogue, namespace)?;
        self.catalogue.adopt_manifest(namespace)?;
        let dropped = DroppedNamespace { id: state.info.id, number: state.number };
        self.engine.erase(Erased::Namespace(&dropped))?;
        self.follow(namespace, None)
    }

    /// Tells what works now, for a readiness check: cheap enough to be asked every second.
    pub fn health(&self) -> Health {
        let behind = self.behind.lock().clone();
        let away = self.engine_away.lock().clone();
        health::examine(&*self.catalogue, &*self.engine, away, &behind)
    }

    /// Writes a copy of everything that cannot be derived; see [`crate::Catalogue::backup`].
    pub fn backup(&self, file: &Path) -> Result<()> {
        self.catalogue.backup(file)
    }

    /// Ends all writing and leaves everything in a state that can be copied as it is: the last call
    /// before the process ends.
    pub fn stop(&self) -> Result<()> {
        self.catalogue.stop_writes();
        self.close()
    }

    /// Leaves everything in a state that can be copied as it is.
    pub fn close(&self) -> Result<()> {
        if let EnginePlace::Here(engine) = self.engine.info().place {
            engine.close()?;
        }
        self.catalogue.close()
    }
}

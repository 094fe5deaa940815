//! Keeping the store in shape while it serves: merge, vacuum, checkpoint, check, repair.

use model::NamespaceId;

use super::derived::Derived;
use super::following::remove_folder;
use super::namespace::{Namespace, folder_of};
use super::store::EmbeddedStore;
use crate::{Error, PassageStore, Result};

/// Free pages given back to the disk in one round, so that a round stays short.
const PAGES_PER_ROUND: u32 = 4_096;

/// Whether a check mends what it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// Only say what is wrong.
    No,
    /// Rebuild damaged indexes from the catalogue.
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

impl EmbeddedStore {
    /// Merges the indexes of the open namespaces, forgets what was erased, gives free space back
    /// and folds the log of the catalogue. Searches go on meanwhile; a namespace that is being
    /// written is passed over.
    ///
    /// # Errors
    ///
    /// When a file cannot be written; nothing is lost then.
    pub(super) fn keep_in_shape(&self) -> Result<()> {
        for namespace in self.open_namespaces() {
            let Some(mut derived) = namespace.derived.try_lock() else { continue };
            derived.maintain()?;
            self.let_go_of_files(&namespace, &mut derived)?;
        }
        self.database.maintain(PAGES_PER_ROUND)
    }

    /// Writes the indexes of these namespaces anew where they hold something erased, and empties
    /// the free pages and the log of the catalogue.
    pub(super) fn take_off_disk(&self, namespaces: &[NamespaceId]) -> Result<()> {
        for id in namespaces {
            let namespace = match self.namespace_of(id) {
                Err(Error::UnknownNamespace { .. }) => continue,
                namespace => namespace?,
            };
            let mut derived = namespace.derived.lock();
            derived.forget_erased()?;
            self.let_go_of_files(&namespace, &mut derived)?;
        }
        self.database.give_back_erased()
    }

    /// Lets searches see the new files, and only then removes the old ones: an index keeps every
    /// file that a snapshot still reads.
    fn let_go_of_files(&self, namespace: &Namespace, derived: &mut Derived) -> Result<()> {
        namespace.publish(derived, &self.database)?;
        derived.words().remove_unused_files()?;
        derived.rest()
    }

    /// Checks the catalogue and every index against its checksums and against the catalogue.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or an index cannot be rebuilt; what is merely damaged is a
    /// finding.
    pub fn check(&self, repair: Repair) -> Result<Vec<Finding>> {
        let mut findings = vec![];
        if let Err(error) = self.database.verify() {
            let Error::Damaged { reason: problem, .. } = error else { return Err(error) };
            findings.push(Finding { namespace: None, problem, is_repaired: false });
        }
        for info in self.namespaces()? {
            findings.extend(self.check_namespace(&info.id, repair)?);
        }
        Ok(findings)
    }

    /// Throws the indexes of a namespace away and makes them anew from the catalogue. Searches go
    /// on with the earlier state meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownNamespace`], or when the new indexes cannot be written.
    pub fn rebuild(&self, id: &NamespaceId) -> Result<()> {
        let namespace = self.namespace_of(id)?;
        let mut derived = namespace.derived.lock();
        derived.rebuild(&self.database)?;
        namespace.publish(&mut derived, &self.database)
    }

    /// Takes on the analyser and format of this program for a namespace that was made with
    /// others, by making its indexes anew. Documents and vectors stay.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownNamespace`], or when the new indexes cannot be written.
    pub fn reindex(&self, id: &NamespaceId) -> Result<()> {
        self.take_out(id);
        let number = self.database.take_on_manifest(id)?;
        remove_folder(&folder_of(&self.root, number).join("words"))?;
        self.namespace_of(id).map(|_| ())
    }

    fn check_namespace(&self, id: &NamespaceId, repair: Repair) -> Result<Option<Finding>> {
        let finding = |problem: String, is_repaired| {
            Some(Finding { namespace: Some(id.clone()), problem, is_repaired })
        };
        let namespace = match self.namespace_of(id) {
            Ok(namespace) => namespace,
            Err(error @ Error::ManifestMismatch { .. }) => {
                return Ok(finding(error.to_string(), false));
            }
            Err(Error::UnknownNamespace { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut derived = namespace.derived.lock();
        let problem = match derived.verify() {
            Err(Error::Damaged { path, reason }) => {
                Some(format!("`{}` is damaged: {reason}", path.display()))
            }
            Err(error) => return Err(error),
            Ok(()) => {
                let snapshot = namespace.snapshot();
                let counts = self.counts(id)?;
                let n_words = snapshot.words.n_passages();
                let n_vectors = snapshot.vectors.as_ref().map_or(0, |vectors| vectors.len());
                if n_words != counts.n_passages {
                    Some(format!(
                        "the full-text index has `{n_words}` of `{}` passages",
                        counts.n_passages
                    ))
                } else if n_vectors != counts.n_vectors {
                    Some(format!(
                        "the vector file has `{n_vectors}` of `{}` vectors",
                        counts.n_vectors
                    ))
                } else {
                    None
                }
            }
        };
        let Some(problem) = problem else { return Ok(None) };
        if repair == Repair::No {
            return Ok(finding(problem, false));
        }
        derived.rebuild(&self.database)?;
        namespace.publish(&mut derived, &self.database)?;
        Ok(finding(problem, true))
    }
}

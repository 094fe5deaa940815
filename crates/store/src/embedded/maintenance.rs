//! Keeping the indexes in shape while they serve: merge, check, rebuild, erase.

use model::NamespaceId;

use super::derived::Derived;
use super::engine::EmbeddedEngine;
use super::following::remove_folder;
use super::namespace::{Namespace, all_folders};
use crate::store::state_of;
use crate::{Access, Error, Result};

impl EmbeddedEngine {
    /// Merges the indexes of the open namespaces and forgets what was erased. Searches go on
    /// meanwhile; a namespace that is being written is passed over.
    pub(super) fn keep_in_shape(&self) -> Result<()> {
        for namespace in self.open_namespaces() {
            let Some(mut derived) = namespace.derived.try_lock() else { continue };
            derived.maintain()?;
            match self.let_go_of_files(&namespace, &mut derived) {
                // It was dropped meanwhile.
                Err(Error::UnknownNamespace { .. }) => {}
                done => done?,
            }
        }
        self.remove_unknown_folders()
    }

    /// Writes the indexes of these namespaces anew where they hold something erased.
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
        Ok(())
    }

    /// Removes the indexes of namespaces that the catalogue does not have: what a crash between
    /// two steps of an erasure left, or what a namespace left that was dropped while it was opened.
    pub(super) fn remove_unknown_folders(&self) -> Result<()> {
        let entries = match fs_err::read_dir(all_folders(&self.root)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let folders: Vec<_> = entries.collect::<std::io::Result<_>>()?;
        // Asked after the listing, so that a namespace made meanwhile is known.
        let known: std::collections::HashSet<u32> =
            self.catalogue.namespaces()?.into_iter().map(|state| state.number).collect();
        for folder in folders {
            let number = folder.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
            if number.is_some_and(|number| !known.contains(&number)) {
                remove_folder(&folder.path())?;
            }
        }
        Ok(())
    }

    /// Lets searches see the new files, and only then removes the old ones: an index keeps every
    /// file that a snapshot still reads.
    fn let_go_of_files(&self, namespace: &Namespace, derived: &mut Derived) -> Result<()> {
        namespace.publish(derived, &*self.catalogue)?;
        derived.words().remove_unused_files()?;
        derived.rest()?;
        self.catalogue.release(namespace.number, &self.follower, derived.written())
    }

    /// Compares the indexes of a namespace with their checksums and with the catalogue.
    pub(super) fn find_problem(&self, id: &NamespaceId) -> Result<Option<String>> {
        let namespace = self.namespace_of(id)?;
        let mut derived = namespace.derived.lock();
        match derived.verify() {
            Err(Error::Damaged { path, reason }) => {
                return Ok(Some(format!("`{}` is damaged: {reason}", path.display())));
            }
            verified => verified?,
        }
        // A server that shares the catalogue may have written since.
        if self.config.access == Access::Write {
            derived.catch_up(&*self.catalogue)?;
        }
        namespace.publish(&mut derived, &*self.catalogue)?;
        let snapshot = namespace.snapshot();
        let counts = state_of(&*self.catalogue, id)?.counts;
        let n_words = snapshot.words.n_passages();
        let n_vectors = snapshot.vectors.as_ref().map_or(0, |vectors| vectors.len());
        if n_words != counts.n_passages {
            let problem =
                format!("the full-text index has `{n_words}` of `{}` passages", counts.n_passages);
            return Ok(Some(problem));
        }
        if n_vectors != counts.n_vectors {
            let problem =
                format!("the vector file has `{n_vectors}` of `{}` vectors", counts.n_vectors);
            return Ok(Some(problem));
        }
        Ok(None)
    }
}

//! Every change: first the catalogue in one transaction, then the indexes, then the searches.

use model::{DocumentId, NamespaceId, PassageId};

use super::derived::Derived;
use super::following::remove_folder;
use super::namespace::{Namespace, folder_of};
use super::store::EmbeddedStore;
use crate::lexical::Entry;
use crate::truth::{Op, Outcome, SpaceChange, check_documents};
use crate::{Document, Error, Manifest, Result, Upserted, VectorSpace};

impl EmbeddedStore {
    pub(super) fn create(&self, id: &NamespaceId, manifest: &Manifest) -> Result<()> {
        match self.database.create(id, manifest, self.clock.now())? {
            SpaceChange::None => Ok(()),
            SpaceChange::TakeOn => self.change_space(id, manifest.vectors.as_ref()),
        }
    }

    pub(super) fn change_space(&self, id: &NamespaceId, space: Option<&VectorSpace>) -> Result<()> {
        let namespace = self.namespace_of(id)?;
        let mut derived = namespace.derived.lock();
        if self.database.change_space(id, namespace.number, space)? {
            let space = space.cloned();
            self.follow(&namespace, &mut derived, |derived| {
                derived.open_vectors(&self.database, space)
            })?;
        }
        Ok(())
    }

    pub(super) fn drop_whole(&self, id: &NamespaceId) -> Result<bool> {
        // A namespace that cannot be opened (another analyser, say) can still be dropped.
        let open = match self.namespace_of(id) {
            Ok(namespace) => Some(namespace),
            Err(Error::UnknownNamespace { .. }) => return Ok(false),
            Err(_) => None,
        };
        let mut derived = open.as_ref().map(|namespace| namespace.derived.lock());
        self.database.mark_dropped(id)?;
        self.take_out(id);
        if let Some(derived) = &mut derived {
            derived.words().abandon();
        }
        drop(derived);
        erase_dropped(self)?;
        // The freed pages and the log still hold what was erased until they are given back.
        self.database.give_back_erased()?;
        Ok(true)
    }

    pub(super) fn write_documents(
        &self,
        id: &NamespaceId,
        documents: &[Document],
    ) -> Result<Upserted> {
        check_documents(documents)?;
        let namespace = self.namespace_of(id)?;
        let mut derived = namespace.derived.lock();
        let written = derived.written();
        let now = self.clock.now();
        let outcome = self.database.upsert(id, namespace.number, documents, written, now)?;
        self.follow(&namespace, &mut derived, |derived| {
            if outcome.sequence_before == derived.words_seen() {
                apply(derived, &outcome, documents)?;
            }
            derived.catch_up(&self.database)
        })?;
        if outcome.ops.iter().any(|op| matches!(op, Op::Removed { .. })) {
            derived.purge(&self.database)?;
        }
        drop(derived);
        self.rest_unused_writers(id)?;
        Ok(outcome.upserted)
    }

    pub(super) fn delete_documents(
        &self,
        id: &NamespaceId,
        documents: &[DocumentId],
    ) -> Result<usize> {
        let namespace = self.namespace_of(id)?;
        let mut derived = namespace.derived.lock();
        let written = derived.written();
        let n_deleted = self.database.delete(id, namespace.number, documents, written)?;
        if n_deleted > 0 {
            self.follow(&namespace, &mut derived, |derived| derived.catch_up(&self.database))?;
            derived.purge(&self.database)?;
        }
        drop(derived);
        self.rest_unused_writers(id)?;
        Ok(n_deleted)
    }

    pub(super) fn write_vectors(
        &self,
        id: &NamespaceId,
        vectors: &[(PassageId, Vec<f32>)],
    ) -> Result<usize> {
        let namespace = self.namespace_of(id)?;
        let mut derived = namespace.derived.lock();
        let written = derived.written();
        let n_set = self.database.set_vectors(id, namespace.number, vectors, written)?;
        if n_set > 0 {
            self.follow(&namespace, &mut derived, |derived| derived.catch_up(&self.database))?;
        }
        Ok(n_set)
    }

    /// Lets the indexes follow the catalogue, and the searches the indexes.
    ///
    /// After a failure it goes back to what is on disk and tries once more from the catalogue:
    /// a change that the catalogue has is never given up.
    fn follow(
        &self,
        namespace: &Namespace,
        derived: &mut Derived,
        step: impl FnOnce(&mut Derived) -> Result<()>,
    ) -> Result<()> {
        let followed = step(derived).and_then(|()| namespace.publish(derived, &self.database));
        let Err(first_failure) = followed else { return Ok(()) };
        tracing::warn!(
            namespace = %namespace.id,
            error = &first_failure as &dyn std::error::Error,
            "index could not follow; trying again from the catalogue"
        );
        derived
            .recover(&self.database)
            .and_then(|()| namespace.publish(derived, &self.database))
            .map_err(|source| Error::IndexBehind {
                namespace: namespace.id.clone(),
                source: Box::new(source),
            })
    }
}

/// Erases what is left of namespaces that were dropped.
pub(super) fn erase_dropped(store: &EmbeddedStore) -> Result<()> {
    while let Some(number) = store.database.next_dropped()? {
        remove_folder(&folder_of(&store.root, number))?;
        store.database.erase_namespace(number)?;
    }
    Ok(())
}

/// Puts what the transaction did into the full-text index, from the documents in hand.
fn apply(derived: &mut Derived, outcome: &Outcome, documents: &[Document]) -> Result<()> {
    if outcome.ops.is_empty() {
        return Ok(());
    }
    for op in &outcome.ops {
        match op {
            Op::Removed { first } => derived.words().remove_version(*first)?,
            Op::Added { document_idx, first, language } => {
                let document = &documents[*document_idx];
                for (number, passage) in (*first..).zip(&document.passages) {
                    derived.words().add(&Entry {
                        number,
                        version: *first,
                        document: &document.id,
                        title: &document.title,
                        attributes: &document.attributes,
                        language: *language,
                        passage,
                    })?;
                }
            }
        }
    }
    derived.commit_words(outcome.sequence)
}

//! Documents are written to the catalogue, and the engine follows: from the documents in hand, or
//! where their text is long from the catalogue, in pages.

use model::{DocumentId, NamespaceId};

use super::{Store, state_of};
use crate::{Document, Fresh, Result, Upserted, Written, limits};

impl Store {
    /// Writes documents; each replaces the earlier version with the same id. A batch is one
    /// commit, so that a few large batches are much cheaper than many small ones. See
    /// [`crate::Catalogue::upsert`].
    pub fn upsert(&self, namespace: &NamespaceId, documents: &[Document]) -> Result<Upserted> {
        let written = self.write_to_catalogue(namespace, documents)?;
        self.follow(namespace, Some(&Fresh { written: &written, documents }))?;
        Ok(written.upserted)
    }

    /// Writes documents as [`Store::upsert`] does, and takes their passages. Those of long texts go
    /// as soon as the catalogue has them, and the engine reads them from there in pages: they are
    /// not in memory beside the index that is made of them.
    ///
    /// When the catalogue does not take them, the documents are as they were.
    pub fn upsert_and_let_go(
        &self,
        namespace: &NamespaceId,
        documents: &mut [Document],
    ) -> Result<Upserted> {
        let passages = documents.iter().flat_map(|document| &document.passages);
        let n_bytes: usize = passages.map(|passage| passage.text.len()).sum();
        if n_bytes <= limits::MAX_FRESH_TEXT_BYTES {
            return self.upsert(namespace, documents);
        }
        let written = self.write_to_catalogue(namespace, documents)?;
        documents.iter_mut().for_each(|document| document.passages = vec![]);
        self.follow(namespace, None)?;
        Ok(written.upserted)
    }

    /// Erases documents and gives how many there were; unknown ids are passed over.
    pub fn delete(&self, namespace: &NamespaceId, documents: &[DocumentId]) -> Result<usize> {
        let n_deleted = self.catalogue.delete(namespace, documents)?;
        if n_deleted > 0 {
            self.follow(namespace, None)?;
        }
        Ok(n_deleted)
    }

    /// Writes documents that the engine accepts.
    fn write_to_catalogue(
        &self,
        namespace: &NamespaceId,
        documents: &[Document],
    ) -> Result<Written> {
        let manifest = state_of(&*self.catalogue, namespace)?.info.manifest;
        manifest.check_current(namespace)?;
        if let Some(server) = self.engine.info().server() {
            server.accepts(documents, manifest.vectors.as_ref())?;
        }
        self.catalogue.upsert(namespace, documents)
    }
}

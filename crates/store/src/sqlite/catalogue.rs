//! The SQLite catalogue as a whole: what the contract asks for, and where it is done.

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use model::{Clock, DocumentId, NamespaceId, Passage, PassageId, Pointer, Timestamp};

use super::backup;
use super::commit::Released;
use super::database::Database;
use super::rows;
use crate::{
    Catalogue, Config, Document, DocumentCount, DocumentInfo, DocumentPage, DroppedNamespace,
    Fingerprint, Lease, LogPage, Manifest, NamespaceHead, NamespaceState, PassageSource, Result,
    SourceParts, StoredPassage, VectorSpace, Written, bounds,
};

/// Free pages given back to the disk in one round, so that a round stays short.
const PAGES_PER_ROUND: u32 = 4_096;

/// A catalogue in one SQLite file.
pub struct SqliteCatalogue {
    pub(super) database: Database,
    pub(super) clock: Clock,
    released: Released,
}

impl SqliteCatalogue {
    /// Opens the catalogue of a data folder, or makes an empty one; one of an earlier format is
    /// upgraded in one transaction. The caller sees to it that no other process has it open.
    ///
    /// # Errors
    ///
    /// [`crate::Error::FormatTooNew`] when a later program wrote it,
    /// [`crate::Error::CatalogueLost`] when the folder had another catalogue or more of this one,
    /// [`crate::Error::CatalogueDamaged`] when it cannot be read.
    pub fn open(folder: &Path, config: &Config, clock: Clock) -> Result<Self> {
        let database = Database::open_in(folder, config)?;
        Ok(SqliteCatalogue { database, clock, released: Released::default() })
    }
}

impl SqliteCatalogue {
    /// Opens a file that holds a catalogue and nothing else, such as a backup.
    pub(crate) fn open_file(file: &Path, config: &Config, clock: Clock) -> Result<Self> {
        let database = Database::open(file, config)?;
        Ok(SqliteCatalogue { database, clock, released: Released::default() })
    }
}

impl Catalogue for SqliteCatalogue {
    fn identity(&self) -> Result<String> {
        self.database.can_read()?;
        Ok(self.database.seen()?.identity)
    }

    fn create_namespace(&self, namespace: &NamespaceId, manifest: &Manifest) -> Result<()> {
        self.database.create(namespace, manifest, self.clock.now())
    }

    fn namespace(&self, namespace: &NamespaceId) -> Result<Option<NamespaceState>> {
        let row = self.database.read(|connection| rows::namespace(connection, namespace))?;
        Ok(row.map(rows::NamespaceRow::into_state))
    }

    fn namespaces(&self) -> Result<Vec<NamespaceState>> {
        let rows = self.database.read(rows::namespaces)?;
        Ok(rows.into_iter().map(rows::NamespaceRow::into_state).collect())
    }

    fn set_vector_space(
        &self,
        namespace: &NamespaceId,
        space: Option<&VectorSpace>,
    ) -> Result<bool> {
        self.database.change_space(namespace, space)
    }

    fn adopt_manifest(&self, namespace: &NamespaceId) -> Result<()> {
        self.database.take_on_manifest(namespace)
    }

    fn drop_namespace(&self, namespace: &NamespaceId) -> Result<bool> {
        self.database.mark_dropped(namespace)
    }

    fn dropped(&self) -> Result<Vec<DroppedNamespace>> {
        self.database.dropped()
    }

    fn erase_dropped(&self, dropped: &DroppedNamespace) -> Result<()> {
        self.database.erase_namespace(dropped.number)
    }

    fn upsert(&self, namespace: &NamespaceId, documents: &[Document]) -> Result<Written> {
        bounds::check_documents(documents)?;
        self.database.upsert(namespace, documents, &self.released, self.clock.now())
    }

    fn delete(&self, namespace: &NamespaceId, documents: &[DocumentId]) -> Result<usize> {
        self.database.delete(namespace, documents, &self.released)
    }

    fn set_vectors(
        &self,
        namespace: &NamespaceId,
        vectors: &[(PassageId, Vec<f32>)],
    ) -> Result<usize> {
        self.database.set_vectors(namespace, vectors, &self.released)
    }

    fn set_blobs(&self, namespace: &NamespaceId, blobs: &[(PassageId, Vec<u8>)]) -> Result<usize> {
        self.database.set_blobs(namespace, blobs)
    }

    fn documents_by_id(
        &self,
        namespace: &NamespaceId,
        documents: &[DocumentId],
    ) -> Result<Vec<Option<DocumentInfo>>> {
        self.database.documents_by_id(namespace, documents)
    }

    fn documents(&self, namespace: &NamespaceId, page: &DocumentPage) -> Result<Vec<DocumentInfo>> {
        self.database.documents(namespace, page)
    }

    fn documents_with(
        &self,
        namespace: &NamespaceId,
        attribute: &str,
        values: &[Option<&str>],
        page: &DocumentPage,
    ) -> Result<Vec<DocumentInfo>> {
        self.database.documents_with(namespace, attribute, values, page)
    }

    fn fingerprints(&self, namespace: &NamespaceId, prefix: &str) -> Result<Vec<Fingerprint>> {
        self.database.fingerprints(namespace, prefix)
    }

    fn count_documents(
        &self,
        namespace: &NamespaceId,
        attributes: &[&str],
    ) -> Result<Vec<DocumentCount>> {
        self.database.count_documents(namespace, attributes)
    }

    fn passages_of(&self, namespace: &NamespaceId, document: &DocumentId) -> Result<Vec<Passage>> {
        self.database.passages_of(namespace, document)
    }

    fn passages(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<StoredPassage>>> {
        self.database.passages(namespace, passages)
    }

    fn blobs(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        self.database.blobs(namespace, passages)
    }

    fn passages_without_vectors(
        &self,
        namespace: &NamespaceId,
        limit: usize,
    ) -> Result<Vec<StoredPassage>> {
        self.database.passages_without_vectors(namespace, limit)
    }

    fn without_vectors(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<StoredPassage>> {
        self.database.without_vectors(namespace, passages)
    }

    fn log(&self, number: u32, after: u64, limit: usize) -> Result<LogPage> {
        self.database.log_page(number, after, limit)
    }

    fn heads(&self) -> Result<Vec<NamespaceHead>> {
        self.database.heads()
    }

    fn sources(
        &self,
        number: u32,
        passages: Range<u32>,
        limit: usize,
        with: SourceParts,
    ) -> Result<Vec<PassageSource>> {
        self.database.sources(number, passages, limit, with)
    }

    fn vectors(
        &self,
        number: u32,
        passages: Range<u32>,
        limit: usize,
    ) -> Result<Vec<(u32, Vec<f32>)>> {
        self.database.vectors(number, passages, limit)
    }

    fn names(&self, number: u32, passages: &[u32]) -> Result<Vec<Option<(DocumentId, PassageId)>>> {
        self.database.names(number, passages)
    }

    fn labels(&self, number: u32, passages: Range<u32>) -> Result<Vec<(PassageId, Pointer)>> {
        self.database.labels(number, passages)
    }

    fn release(&self, number: u32, _follower: &str, sequence: u64) -> Result<()> {
        // One process has the file, and it has one engine, so that nobody else is waited for.
        self.released.note(number, sequence);
        self.database.purge(number, sequence)
    }

    fn take_lease(&self, name: &str, holder: &str, length: Duration) -> Result<bool> {
        self.database.take_lease(name, holder, length, self.clock.now())
    }

    fn end_lease(&self, name: &str, holder: &str) -> Result<bool> {
        self.database.end_lease(name, holder, self.clock.now())
    }

    fn lease(&self, name: &str) -> Result<Option<Lease>> {
        self.database.lease(name, self.clock.now())
    }

    fn put_piece(&self, file: &str, piece: u32, bytes: &[u8]) -> Result<()> {
        self.database.put_piece(file, piece, bytes)
    }

    fn piece(&self, file: &str, piece: u32) -> Result<Option<Vec<u8>>> {
        self.database.piece(file, piece)
    }

    fn erase_file(&self, file: &str) -> Result<usize> {
        self.database.erase_file(file)
    }

    fn files(&self, after: Option<&str>, limit: usize) -> Result<Vec<(String, u32)>> {
        self.database.files(after, limit)
    }

    fn kinds(&self) -> Result<Vec<String>> {
        self.database.kinds()
    }

    fn import(&self, namespace: &NamespaceId, documents: &[(Document, Timestamp)]) -> Result<()> {
        for (document, _) in documents {
            bounds::check_document(document)?;
        }
        self.database.import(namespace, documents)
    }

    fn can_write(&self) -> Result<()> {
        self.database.can_write()
    }

    fn concern(&self) -> Option<String> {
        self.database.concern()
    }

    fn maintain(&self) -> Result<()> {
        self.database.maintain(PAGES_PER_ROUND)
    }

    fn forget_erased(&self) -> Result<()> {
        self.database.give_back_erased()
    }

    fn verify(&self) -> Result<()> {
        self.database.verify()
    }

    fn backup(&self, file: &Path) -> Result<()> {
        backup::backup(&self.database, file)
    }

    fn stop_writes(&self) {
        self.database.stop_writes();
    }

    fn close(&self) -> Result<()> {
        self.database.close()
    }
}

//! The PostgreSQL catalogue as a whole: what the contract asks for, and where it is done.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use model::{Clock, DocumentId, NamespaceId, Passage, PassageId, Pointer, Timestamp};
use parking_lot::Mutex;
use store::{
    Catalogue, Document, DocumentInfo, DocumentPage, DroppedNamespace, Fingerprint, Lease, LogPage,
    Manifest, NamespaceHead, NamespaceState, Object, PassageSource, Result, SourceParts,
    StoredPassage, VectorSpace, Written, bounds,
};

use crate::PostgresConfig;
use crate::database::Database;
use crate::objects;
use crate::rows::{self, Lock};

/// A release that says nothing new is written again after this time, so that the follower counts as
/// present.
const RELEASE_REFRESH: Duration = Duration::from_secs(600);

/// A catalogue in PostgreSQL.
pub struct PostgresCatalogue {
    pub(crate) database: Database,
    pub(crate) clock: Clock,
    /// What followers of this process have released, and when that was written.
    released: Mutex<HashMap<(u32, String), (u64, Instant)>>,
}

impl PostgresCatalogue {
    /// Connects, makes the tables where there are none, and brings those of an earlier format up to
    /// date; several servers may do so at once.
    ///
    /// # Errors
    ///
    /// [`store::Error::CatalogueSettings`] when the address cannot be used,
    /// [`store::Error::CatalogueUnavailable`] when nobody answers there,
    /// [`store::Error::FormatTooNew`] when a later program made the tables.
    pub fn open(config: &PostgresConfig, clock: Clock) -> Result<Self> {
        let database = Database::open(config)?;
        Ok(PostgresCatalogue { database, clock, released: Mutex::default() })
    }

    /// Gives a view of this moment that only reads, for a copy: what others write is not seen.
    pub(crate) fn of_this_moment(&self) -> Result<Self> {
        let database = self.database.pinned()?;
        Ok(PostgresCatalogue { database, clock: self.clock.clone(), released: Mutex::default() })
    }
}

impl Catalogue for PostgresCatalogue {
    fn identity(&self) -> Result<String> {
        self.database.read(async |connection| {
            let sql = "SELECT value FROM about WHERE key = 'identity'";
            Ok(connection.query_one(sql, &[]).await?.get(0))
        })
    }

    fn create_namespace(&self, namespace: &NamespaceId, manifest: &Manifest) -> Result<()> {
        self.database.create(namespace, manifest, self.clock.now())
    }

    fn namespace(&self, namespace: &NamespaceId) -> Result<Option<NamespaceState>> {
        self.database.read(async |connection| {
            let found = rows::find_namespace(connection, namespace, Lock::No).await?;
            Ok(found.map(|row| row.state))
        })
    }

    fn namespaces_by_id(&self, namespaces: &[&NamespaceId]) -> Result<Vec<Option<NamespaceState>>> {
        let found = self
            .database
            .read(async |connection| rows::namespaces_by_id(connection, namespaces).await)?;
        let state_of = |id: &&NamespaceId| {
            found.iter().find(|row| row.state.info.id == **id).map(|row| row.state.clone())
        };
        Ok(namespaces.iter().map(state_of).collect())
    }

    fn namespace_with_note(
        &self,
        namespace: &NamespaceId,
        kind: &str,
    ) -> Result<Option<(NamespaceState, Option<Object>)>> {
        self.database.read(async |connection| {
            objects::namespace_with_note(connection, namespace, kind).await
        })
    }

    fn namespaces(&self) -> Result<Vec<NamespaceState>> {
        self.database.read(async |connection| {
            let found = rows::namespaces(connection).await?;
            Ok(found.into_iter().map(|row| row.state).collect())
        })
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
        self.database.upsert(namespace, documents, &[self.clock.now()])
    }

    fn delete(&self, namespace: &NamespaceId, documents: &[DocumentId]) -> Result<usize> {
        self.database.delete(namespace, documents)
    }

    fn set_vectors(
        &self,
        namespace: &NamespaceId,
        vectors: &[(PassageId, Vec<f32>)],
    ) -> Result<usize> {
        self.database.set_vectors(namespace, vectors)
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

    fn fingerprints(&self, namespace: &NamespaceId, prefix: &str) -> Result<Vec<Fingerprint>> {
        self.database.fingerprints(namespace, prefix)
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
        let head = |(id, number, sequence)| NamespaceHead { id, number, sequence };
        Ok(self.database.heads()?.into_iter().map(head).collect())
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

    fn release(&self, number: u32, follower: &str, sequence: u64) -> Result<()> {
        let key = (number, follower.to_owned());
        let is_known = self.released.lock().get(&key).is_some_and(|(known, written)| {
            *known == sequence && written.elapsed() < RELEASE_REFRESH
        });
        if is_known {
            return Ok(());
        }
        self.database.release(number, follower, sequence)?;
        self.released.lock().insert(key, (sequence, Instant::now()));
        Ok(())
    }

    fn take_lease(&self, name: &str, holder: &str, length: Duration) -> Result<bool> {
        self.database.take_lease(name, holder, length)
    }

    fn end_lease(&self, name: &str, holder: &str) -> Result<bool> {
        self.database.end_lease(name, holder)
    }

    fn lease(&self, name: &str) -> Result<Option<Lease>> {
        self.database.lease(name)
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
        self.database.read(async |connection| {
            let sql = "SELECT DISTINCT kind FROM objects ORDER BY kind";
            let found = connection.query(sql, &[]).await?;
            Ok(found.iter().map(|row| rows::text(row, 0)).collect())
        })
    }

    fn import(&self, namespace: &NamespaceId, documents: &[(Document, Timestamp)]) -> Result<()> {
        let (documents, times): (Vec<Document>, Vec<Timestamp>) = documents.iter().cloned().unzip();
        bounds::check_documents(&documents)?;
        self.database.upsert(namespace, &documents, &times).map(|_| ())
    }

    fn can_write(&self) -> Result<()> {
        self.database.can_write()
    }

    fn maintain(&self) -> Result<()> {
        self.database.forget_followers()?;
        self.database.forget_leases()
    }

    fn forget_erased(&self) -> Result<()> {
        // PostgreSQL takes rows that were deleted off the disk with its next vacuum.
        Ok(())
    }

    fn verify(&self) -> Result<()> {
        self.database.verify()
    }

    fn backup(&self, file: &Path) -> Result<()> {
        self.back_up(file)
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn close(&self) -> Result<()> {
        self.database.close();
        Ok(())
    }
}

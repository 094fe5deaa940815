//! The contract of a catalogue: everything that was acknowledged, and the log that engines follow.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use model::{Attributes, DocumentId, NamespaceId, Passage, PassageId, Pointer, Timestamp};
use text::{Language, LanguageSet};

use super::listing;
use crate::{
    Counts, Document, DocumentCount, DocumentInfo, DocumentPage, Fingerprint, Manifest,
    NamespaceInfo, Object, ObjectKey, Objects, Result, StoredPassage, Upserted, VectorSpace,
};

/// The truth: namespaces, documents, passages, vectors, blobs, objects, leases, files in pieces,
/// and the log of changes. Whatever an engine derives from it can be made again.
///
/// All calls block and may come from many threads and, with a shared database, many servers.
///
/// **Durability.** When a writing call returns `Ok`, the change survives the death of the process
/// at any later moment. Each call is one transaction: `Err` means that nothing of it was written.
///
/// **Numbers.** A namespace has a number that is never used again, and the passages of a
/// namespace are numbered in the order of writing from 0; every version of a document takes a
/// fresh run of numbers. Engines use these numbers for their own rows.
///
/// **The log.** Every change to passages and vectors of a namespace appends to its log in the
/// same transaction. A reader that has seen every entry up to a sequence number and asks for those
/// after it never misses one that commits later: entries of a namespace become visible in the
/// order of their sequence numbers.
///
/// **Failure.** Methods with a [`NamespaceId`] fail with [`crate::Error::UnknownNamespace`] when
/// there is none, unless they say otherwise, and with [`crate::Error::TooLarge`] when the input is
/// over a limit of [`crate::limits`].
pub trait Catalogue: Objects {
    /// Gives the name that was drawn when the catalogue was made. Followers write it next to what
    /// they derive, so that they notice when it belongs to another catalogue.
    fn identity(&self) -> Result<String>;

    /// Makes a namespace; one that exists with the same manifest is left as it is.
    ///
    /// # Errors
    ///
    /// [`crate::Error::ManifestMismatch`] when it exists with another manifest. A namespace that
    /// has no vector space yet does not mismatch one that names it: it takes it on.
    fn create_namespace(&self, namespace: &NamespaceId, manifest: &Manifest) -> Result<()>;

    /// Gives a namespace, or nothing when there is none with this id.
    fn namespace(&self, namespace: &NamespaceId) -> Result<Option<NamespaceState>>;

    /// Gives namespaces by id, in the order asked, by one query; nothing where there is none.
    fn namespaces_by_id(&self, namespaces: &[&NamespaceId]) -> Result<Vec<Option<NamespaceState>>> {
        namespaces.iter().map(|namespace| self.namespace(namespace)).collect()
    }

    /// Gives a namespace together with the object of a kind whose id is the namespace's number, by
    /// one query: what an engine on a server notes about each. Nothing when there is no namespace
    /// with this id.
    fn namespace_with_note(
        &self,
        namespace: &NamespaceId,
        kind: &str,
    ) -> Result<Option<(NamespaceState, Option<Object>)>> {
        let Some(state) = self.namespace(namespace)? else { return Ok(None) };
        let note = self.get(&ObjectKey::new(kind, state.number.to_string()))?;
        Ok(Some((state, note)))
    }

    /// Lists all namespaces in the order of their ids.
    fn namespaces(&self) -> Result<Vec<NamespaceState>>;

    /// Changes the vector space and erases vectors and blobs of another one; tells whether it
    /// changed. The change is not in the log: followers compare the manifest.
    fn set_vector_space(
        &self,
        namespace: &NamespaceId,
        space: Option<&VectorSpace>,
    ) -> Result<bool>;

    /// Takes on the analyser and the index format of this program. What was derived with others
    /// has to be made anew.
    fn adopt_manifest(&self, namespace: &NamespaceId) -> Result<()>;

    /// Marks a namespace as dropped, so that it is gone for every later call, and tells whether it
    /// existed. Its rows stay until [`Catalogue::erase_dropped`].
    fn drop_namespace(&self, namespace: &NamespaceId) -> Result<bool>;

    /// Gives the namespaces that were dropped and are not erased yet.
    fn dropped(&self) -> Result<Vec<DroppedNamespace>>;

    /// Erases the rows of a dropped namespace. It may be called again after a crash.
    fn erase_dropped(&self, dropped: &DroppedNamespace) -> Result<()>;

    /// Writes documents; each replaces the earlier version with the same id.
    ///
    /// A passage that keeps its id, text, headings and title keeps its vector and its blob.
    ///
    /// # Errors
    ///
    /// [`crate::Error::DuplicatePassage`] when a passage id is used twice, in this batch or by
    /// another document.
    fn upsert(&self, namespace: &NamespaceId, documents: &[Document]) -> Result<Written>;

    /// Erases documents and gives how many there were; unknown ids are passed over.
    fn delete(&self, namespace: &NamespaceId, documents: &[DocumentId]) -> Result<usize>;

    /// Gives passages their vectors and tells how many there were; a passage that is gone is
    /// passed over. The length of a vector does not matter, only its direction.
    ///
    /// # Errors
    ///
    /// [`crate::Error::NoVectorSpace`], [`crate::Error::WrongDimensions`],
    /// [`crate::Error::BadVector`].
    fn set_vectors(
        &self,
        namespace: &NamespaceId,
        vectors: &[(PassageId, Vec<f32>)],
    ) -> Result<usize>;

    /// Stores a blob with each passage (token vectors) and tells how many were stored; a passage
    /// that is gone is passed over.
    fn set_blobs(&self, namespace: &NamespaceId, blobs: &[(PassageId, Vec<u8>)]) -> Result<usize>;

    /// Gives documents by id, in the order asked, by one query; nothing where there is none.
    fn documents_by_id(
        &self,
        namespace: &NamespaceId,
        documents: &[DocumentId],
    ) -> Result<Vec<Option<DocumentInfo>>>;

    /// Gives one document, or nothing.
    fn document(
        &self,
        namespace: &NamespaceId,
        document: &DocumentId,
    ) -> Result<Option<DocumentInfo>> {
        let found = self.documents_by_id(namespace, std::slice::from_ref(document))?;
        Ok(found.into_iter().next().flatten())
    }

    /// Lists documents in the order of their ids.
    fn documents(&self, namespace: &NamespaceId, page: &DocumentPage) -> Result<Vec<DocumentInfo>>;

    /// Lists documents in the order of their ids whose attribute has one of some values, where none
    /// stands for a value that is missing or is no word.
    ///
    /// A catalogue that can choose does so by one query; the others look at every document.
    fn documents_with(
        &self,
        namespace: &NamespaceId,
        attribute: &str,
        values: &[Option<&str>],
        page: &DocumentPage,
    ) -> Result<Vec<DocumentInfo>> {
        listing::documents_with(self, namespace, attribute, values, page)
    }

    /// Gives the fingerprints of all documents whose ids start with `prefix`, in the order of the
    /// ids, by one query.
    fn fingerprints(&self, namespace: &NamespaceId, prefix: &str) -> Result<Vec<Fingerprint>>;

    /// Counts documents by the values of some attributes and by whether they have passages. A value
    /// that is missing, or is no word, is none.
    ///
    /// A catalogue that can group does so by one query; the others look at every document.
    fn count_documents(
        &self,
        namespace: &NamespaceId,
        attributes: &[&str],
    ) -> Result<Vec<DocumentCount>> {
        listing::count_documents(self, namespace, attributes)
    }

    /// Gives the passages of a document in order; none when there is no such document.
    fn passages_of(&self, namespace: &NamespaceId, document: &DocumentId) -> Result<Vec<Passage>>;

    /// Gives passages by id, in the order asked; nothing where there is none.
    fn passages(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<StoredPassage>>>;

    /// Gives the blobs of passages, in the order asked; nothing where there is none.
    fn blobs(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<Option<Vec<u8>>>>;

    /// Gives up to `limit` passages that have no vector yet, the longest waiting first.
    fn passages_without_vectors(
        &self,
        namespace: &NamespaceId,
        limit: usize,
    ) -> Result<Vec<StoredPassage>>;

    /// Gives those of some passages that have no vector yet; unknown ids are passed over. A
    /// catalogue that cannot tell gives all of them.
    fn without_vectors(
        &self,
        namespace: &NamespaceId,
        passages: &[PassageId],
    ) -> Result<Vec<StoredPassage>> {
        Ok(self.passages(namespace, passages)?.into_iter().flatten().collect())
    }

    /// Gives up to `limit` entries of a namespace's log that come after a sequence number.
    fn log(&self, number: u32, after: u64, limit: usize) -> Result<LogPage>;

    /// Gives every namespace with its last sequence number, so that a follower of many of them sees
    /// at once which have changed.
    fn heads(&self) -> Result<Vec<NamespaceHead>>;

    /// Gives up to `limit` passages of the present versions of their documents whose numbers are
    /// in a range, in the order of the numbers. Numbers whose passages are gone are passed over.
    fn sources(
        &self,
        number: u32,
        passages: Range<u32>,
        limit: usize,
        with: SourceParts,
    ) -> Result<Vec<PassageSource>>;

    /// Gives up to `limit` vectors of such passages, in the order of the numbers. Vectors have
    /// length 1.
    fn vectors(
        &self,
        number: u32,
        passages: Range<u32>,
        limit: usize,
    ) -> Result<Vec<(u32, Vec<f32>)>>;

    /// Gives the ids of passages by number, in the order asked; nothing where a passage was erased.
    fn names(&self, number: u32, passages: &[u32]) -> Result<Vec<Option<(DocumentId, PassageId)>>>;

    /// Gives ids and pointers of the passages of a range, of removed versions too until every
    /// follower has released their removal.
    fn labels(&self, number: u32, passages: Range<u32>) -> Result<Vec<(PassageId, Pointer)>>;

    /// Says that a follower has made everything up to a sequence number durable on its side.
    ///
    /// The catalogue may shorten the log and erase the rows of removed passages up to where all
    /// its followers are. A follower that was away for longer than the catalogue waits finds that
    /// [`LogPage::starts_after`] is beyond what it has seen, and starts anew from the passages.
    fn release(&self, number: u32, follower: &str, sequence: u64) -> Result<()>;

    /// Takes or renews a lease: gives `true` when `holder` has it for `length` from now, and
    /// `false` when somebody else has it. Time is the catalogue's own, so that the clocks of
    /// servers do not matter.
    fn take_lease(&self, name: &str, holder: &str, length: Duration) -> Result<bool>;

    /// Ends a lease before its time; tells whether `holder` had it.
    fn end_lease(&self, name: &str, holder: &str) -> Result<bool>;

    /// Gives who has a lease now and until when.
    fn lease(&self, name: &str) -> Result<Option<Lease>>;

    /// Writes one piece of a file, at most [`crate::limits::MAX_PIECE_BYTES`] long, replacing the
    /// piece that is there. Files are for originals and uploads that several servers have to read.
    fn put_piece(&self, file: &str, piece: u32, bytes: &[u8]) -> Result<()>;

    /// Gives one piece of a file, or nothing.
    fn piece(&self, file: &str, piece: u32) -> Result<Option<Vec<u8>>>;

    /// Erases all pieces of a file and gives how many there were.
    fn erase_file(&self, file: &str) -> Result<usize>;

    /// Lists files in the order of their names, those after one of them, each with one more than the
    /// number of its last piece.
    fn files(&self, after: Option<&str>, limit: usize) -> Result<Vec<(String, u32)>>;

    /// Gives the kinds of objects that there are.
    fn kinds(&self) -> Result<Vec<String>>;

    /// Writes documents with the times at which they were written to another catalogue; otherwise
    /// as [`Catalogue::upsert`].
    fn import(&self, namespace: &NamespaceId, documents: &[(Document, Timestamp)]) -> Result<()>;

    /// Tells whether other servers may use this catalogue at the same time.
    fn is_shared(&self) -> bool {
        false
    }

    /// Tells whether writes are possible now. After one that found no room, a small one is tried.
    ///
    /// # Errors
    ///
    /// [`crate::Error::DiskFull`], or whatever else stops a write.
    fn can_write(&self) -> Result<()>;

    /// Gives what cannot be known of it, and what to do about that: whether its last changes are
    /// there, for one.
    fn concern(&self) -> Option<String> {
        None
    }

    /// Gives free space back and shortens internal logs. Calls go on meanwhile.
    fn maintain(&self) -> Result<()>;

    /// Takes what was erased off the disk: free pages and logs. It may take as long as rewriting
    /// what is free.
    fn forget_erased(&self) -> Result<()>;

    /// Reads everything and compares it with its checksums and constraints.
    ///
    /// # Errors
    ///
    /// [`crate::Error::CatalogueDamaged`] says what is wrong.
    fn verify(&self) -> Result<()>;

    /// Copies everything into a new file, of one moment, while calls go on, and verifies the copy.
    ///
    /// # Errors
    ///
    /// [`crate::Error::AlreadyThere`] when the file exists. A copy that does not finish leaves no
    /// file of that name.
    fn backup(&self, file: &Path) -> Result<()>;

    /// Refuses writes from now on, since the process ends: a worker that is still busy would leave
    /// something unfinished behind. A catalogue elsewhere has nothing to leave.
    fn stop_writes(&self) {}

    /// Leaves everything in a state that can be copied as it is; called before a clean stop.
    fn close(&self) -> Result<()>;
}

/// All that is known of a namespace without reading what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceState {
    /// Its number, which is never used again.
    pub number: u32,
    /// Its id, its manifest and its age.
    pub info: NamespaceInfo,
    /// How much is in it.
    pub counts: Counts,
    /// The number that the next passage gets.
    pub next_passage: u32,
    /// The languages of the documents ever written.
    pub languages: LanguageSet,
}

/// How far the log of a namespace goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceHead {
    /// Its name; several numbers may have had it, one after another.
    pub id: NamespaceId,
    /// Which the log is asked by; a name may be given again, a number never.
    pub number: u32,
    /// The sequence number of its last change.
    pub sequence: u64,
}

/// A namespace that was dropped and is not erased yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedNamespace {
    /// The id that it had; a new namespace may have it by now.
    pub id: NamespaceId,
    /// Which everything that was derived from it is filed under.
    pub number: u32,
}

/// What a transaction did, for the engine of the same process: it need not read back what it is
/// given along with this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// What the caller is told.
    pub upserted: Upserted,
    /// The last sequence number of the namespace before the transaction.
    pub sequence_before: u64,
    /// The last sequence number of the transaction.
    pub sequence: u64,
    /// The versions that came and went, in order.
    pub versions: Vec<VersionChange>,
}

/// A version of a document that came or went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionChange {
    /// A version went.
    Removed {
        /// The number of its first passage.
        first: u32,
    },
    /// A version came.
    Added {
        /// The position of the document among those that were written.
        document_idx: usize,
        /// The number of its first passage.
        first: u32,
        /// The language that the whole document is cut into words in.
        language: Language,
    },
}

/// One entry of a namespace's log, over passage numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogEntry {
    /// Its sequence number; later entries of the namespace have larger ones.
    pub sequence: u64,
    /// What happened.
    pub kind: LogKind,
    /// The number of the first passage that it happened to.
    pub first: u32,
    /// How many passages.
    pub count: u32,
}

impl LogEntry {
    /// Gives the numbers of the passages.
    pub fn passages(&self) -> Range<u32> {
        self.first..self.first + self.count
    }
}

/// What happened to the passages of a log entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogKind {
    /// A document's version came with these passages.
    Added,
    /// A document's version went with these passages.
    Removed,
    /// Some of these passages got vectors.
    Vectors,
}

/// A part of a namespace's log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogPage {
    /// The log holds every change after this sequence number; earlier ones were forgotten.
    pub starts_after: u64,
    /// The sequence number of the namespace's last change, on this page or later.
    pub last: u64,
    /// The entries, in order.
    pub entries: Vec<LogEntry>,
}

/// What a follower wants to know of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceParts {
    /// Everything but the vector.
    WithoutVector,
    /// The vector too, where there is one.
    WithVector,
}

/// A passage as a follower takes it in.
#[derive(Debug, Clone, PartialEq)]
pub struct PassageSource {
    /// Its number in its namespace.
    pub number: u32,
    /// The document that it belongs to, shared by neighbours.
    pub document: Arc<DocumentSource>,
    /// As it is stored, with its text.
    pub passage: Passage,
    /// Its vector, when it was asked for and there is one.
    pub vector: Option<Vec<f32>>,
}

/// What a passage's entry in an index takes from its document.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentSource {
    /// The document's id.
    pub id: DocumentId,
    /// Indexed with each of its passages.
    pub title: String,
    /// What the document can be filtered by.
    pub attributes: Attributes,
    /// The language that the whole document is cut into words in.
    pub language: Language,
    /// The number of the first passage of this version.
    pub first_passage: u32,
}

/// Who may do something until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Who has it.
    pub holder: String,
    /// Until when, by the catalogue's clock.
    pub until: Timestamp,
}

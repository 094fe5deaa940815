//! A folder that feeds a collection: its files are documents, and new, changed and gone files
//! follow. Documents that were added in other ways stay as they are.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ingest::{ObjectError, new_id};
use model::{Caller, Clearance, Deadline, Identity, TenantId};
use store::{Change, ObjectPage, TypedObject};

use crate::intake::Intake;
use crate::moved::MissingFiles;
use crate::new_document::{Content, NewDocument};
use crate::object_ids::{CollectionId, KnowledgeDocumentId};
use crate::objects::{Collection, Document, DocumentState, SourceFile};
use crate::{Error, Result, Service, limits};

/// The documents are brought up to their files for at least so many times as long as it took to find
/// out what is known of them, so that a large folder is not looked at for the most part.
const WORK_FACTOR: u32 = 4;

/// Files that are added in one step.
const FILES_PER_STEP: usize = 100;

/// Documents that are removed by one commit. All of a folder that somebody deletes go at once: each
/// commit waits for the disk, and for whoever erases what the one before has removed.
const REMOVED_PER_STEP: usize = 2_000;

/// A file that a collection follows, by its path inside the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderFile {
    /// Its path below the folder, which names it.
    pub path: String,
    /// Its size and when it was changed last.
    pub stamp: String,
    /// Its size.
    pub n_bytes: u64,
    /// Where it is.
    pub place: PathBuf,
}

/// What is in the folder now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderListing {
    /// Every file that can be seen.
    pub files: Vec<FolderFile>,
    /// Folders inside that nobody lets us read, by their paths below it with `/` at the end.
    pub forbidden: BTreeSet<String>,
    /// Files and folders inside of which it is not known what they hold, by their paths below it.
    pub unread: BTreeSet<String>,
    /// The volume that the folder is on, where the system tells.
    pub volume: Option<u64>,
}

impl FolderListing {
    /// Tells whether a file that is not listed may be there all the same.
    fn may_have(&self, path: &str) -> bool {
        self.unread.iter().any(|unread| {
            path.strip_prefix(unread.as_str())
                .is_some_and(|below| below.is_empty() || below.starts_with('/'))
        })
    }
}

/// What a look at the folder changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Followed {
    /// Files that were added.
    pub n_added: usize,
    /// Files whose content replaced the one before.
    pub n_replaced: usize,
    /// Files that have another path than before.
    pub n_moved: usize,
    /// Documents whose files are gone.
    pub n_removed: usize,
    /// Documents whose files may not be read any more.
    pub n_closed: usize,
    /// Files that could not be taken, which the next look tries again.
    pub n_failed: usize,
    /// The time was over before the last file was looked at.
    pub is_cut: bool,
}

/// What is known of a file that a document follows.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) document: KnowledgeDocumentId,
    stamp: String,
    volume: Option<u64>,
    /// The size of its content, where that is kept.
    pub(crate) n_bytes: Option<u64>,
    pub(crate) sha256: String,
}

impl Service {
    /// Fails where a collection that is to follow a folder is not there.
    ///
    /// # Errors
    ///
    /// [`ObjectError::NotFound`] when there is no such collection.
    pub fn ensure_can_follow(&self, collection: &CollectionId) -> Result<()> {
        let found = Collection::load(&*self.0.catalogue, collection)?;
        found.map(drop).ok_or_else(|| Error::missing("Collection", collection))
    }

    /// Brings the documents of a collection up to the files of a folder, in the order in which they
    /// are listed, until the time is over: another call goes on. To find out what is known takes
    /// time of its own, and what is done lasts longer than that. `open` opens one of them, and no
    /// other file, whatever was put in its place since it was listed.
    ///
    /// # Errors
    ///
    /// [`ObjectError::NotFound`] when there is no such collection, [`ObjectError::BadRequest`] when the folder
    /// looks empty and is not known to be on the volume that its files were on: it is taken for one
    /// that is not mounted. [`ObjectError::TooLarge`] when too many of its files wait already: the rest
    /// can follow later.
    pub fn follow_folder(
        &self,
        collection: &CollectionId,
        listing: &FolderListing,
        open: &dyn Fn(&FolderFile) -> io::Result<File>,
        time: Duration,
    ) -> Result<Followed> {
        let files = &listing.files;
        let found = Collection::load(&*self.0.catalogue, collection)?;
        let (collection, _) = found.ok_or_else(|| Error::missing("Collection", collection))?;
        let caller = administrator(&collection.tenant);
        let begun = Instant::now();
        let known = self.followed_in(&collection)?;
        let deadline = Deadline::after(time.max(begun.elapsed() * WORK_FACTOR));
        let is_mounted = listing.volume.is_some()
            && known.values().all(|source| source.volume == listing.volume);
        let is_empty =
            files.is_empty() && listing.forbidden.is_empty() && listing.unread.is_empty();
        if is_empty && known.len() > 1 && !is_mounted {
            let problem = format!(
                "the folder looks empty, {} documents come from it, and it may not be mounted: \
                 nothing is removed",
                known.len()
            );
            return Err(Error::Object(ObjectError::BadRequest { problem }));
        }
        let mut followed = Followed::default();
        let present: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let new_sizes: HashSet<u64> = files
            .iter()
            .filter(|file| !known.contains_key(&file.path))
            .map(|file| file.n_bytes)
            .collect();
        let (mut left, mut gone) = (MissingFiles::default(), vec![]);
        // What is gone goes first: that which comes may have to wait for space.
        for (path, source) in &known {
            if present.contains(path.as_str()) || listing.may_have(path) {
                continue;
            }
            if deadline.is_over() && followed.has_progressed() {
                followed.is_cut = true;
                break;
            }
            if listing.forbidden.iter().any(|folder| path.starts_with(folder)) {
                // It is not known to be gone, and must not answer for what nobody lets us read.
                if source.stamp != UNSEEN {
                    self.close_document(&source.document, UNSEEN)?;
                    followed.n_closed += 1;
                }
                continue;
            }
            if source.n_bytes.is_some_and(|n_bytes| new_sizes.contains(&n_bytes)) {
                left.add(path, source);
                continue;
            }
            gone.push(source.document.clone());
            if gone.len() == REMOVED_PER_STEP {
                followed.n_removed += self.remove_gone(&collection, &std::mem::take(&mut gone))?;
            }
        }
        followed.n_removed += self.remove_gone(&collection, &gone)?;
        let mut new = vec![];
        for file in files {
            let before = known.get(&file.path);
            if before.is_some_and(|source| source.stamp == file.stamp) {
                continue;
            }
            if deadline.is_over() && (followed.has_progressed() || !new.is_empty()) {
                followed.is_cut = true;
                break;
            }
            match before {
                // An earlier version knew less of a file: it is not read again for that.
                Some(source) if is_earlier_stamp(&source.stamp, &file.stamp) => {
                    self.stamp(&source.document, &file.stamp)?;
                }
                Some(source) => {
                    let changed = self.received(file, listing, open).and_then(|content| {
                        self.replace_content(&caller, &source.document, content).map(|_| ())
                    });
                    match changed {
                        Ok(()) => followed.n_replaced += 1,
                        Err(error) => {
                            if is_forbidden(open(file)) {
                                self.close_document(&source.document, &file.stamp)?;
                            }
                            followed.fail(file, &error);
                        }
                    }
                }
                None => match self.received(file, listing, open) {
                    Ok(document) => match left.take(file, &document) {
                        Some(moved) => {
                            self.replace_content(&caller, &moved, document)?;
                            followed.n_moved += 1;
                        }
                        None => new.push(document),
                    },
                    Err(error) => followed.fail(file, &error),
                },
            }
            if new.len() == FILES_PER_STEP {
                followed.n_added += new.len();
                self.add_documents(&caller, &collection.id, std::mem::take(&mut new))?;
            }
        }
        if !new.is_empty() {
            followed.n_added += new.len();
            self.add_documents(&caller, &collection.id, new)?;
        }
        // Which of the rest moved is known when all files were looked at.
        if !followed.is_cut {
            let gone: Vec<KnowledgeDocumentId> = left.into_documents().collect();
            for gone in gone.chunks(REMOVED_PER_STEP) {
                followed.n_removed += self.remove_gone(&collection, gone)?;
            }
        }
        Ok(followed)
    }

    /// Deletes documents whose files are gone, by one commit; gives how many there were.
    fn remove_gone(&self, collection: &Collection, gone: &[KnowledgeDocumentId]) -> Result<usize> {
        let found = Document::load_many(&*self.0.catalogue, gone)?;
        let documents: Vec<Document> =
            found.into_iter().flatten().map(|(document, _)| document).collect();
        if !documents.is_empty() {
            self.remove_documents(collection, &documents)?;
        }
        Ok(documents.len())
    }

    /// Refuses to change a document that follows a file of a configured folder: the file says what
    /// it holds. One whose folder feeds the collection no more is a document as any other.
    pub(crate) fn check_follows_no_file(&self, document: &Document) -> Result<()> {
        let Some(SourceFile { path, .. }) = &document.source else { return Ok(()) };
        let mut folders = self.0.settings.folders.iter();
        match folders.any(|folder| folder.collection == document.collection_id) {
            true => Err(Error::FollowsFile { path: path.clone() }),
            false => Ok(()),
        }
    }

    /// Lists the documents that follow files, by path.
    fn followed_in(&self, collection: &Collection) -> Result<BTreeMap<String, Source>> {
        let mut known = BTreeMap::new();
        let mut page = ObjectPage {
            parent: Some(collection.id.to_string()),
            limit: limits::MAX_PAGE,
            ..ObjectPage::of(Document::KIND)
        };
        loop {
            let documents = Document::list(&*self.0.catalogue, &page)?;
            let Some(last) = documents.last() else { return Ok(known) };
            page.after = Some(last.id.to_string());
            for document in documents {
                let upload = document.upload.as_ref().map(|upload| upload.n_bytes);
                let original = document.original.as_ref().map(|original| original.n_bytes);
                let (id, n_bytes, sha256) = (document.id, upload.or(original), document.sha256);
                if let Some(SourceFile { path, stamp, volume }) = document.source {
                    known.insert(path, Source { document: id, stamp, volume, n_bytes, sha256 });
                }
            }
        }
    }

    /// Notes the stamp of a file that has not changed.
    fn stamp(&self, id: &KnowledgeDocumentId, stamp: &str) -> Result<()> {
        ingest::change_object(&*self.0.catalogue, id, |document: &mut Document| {
            if let Some(source) = &mut document.source {
                stamp.clone_into(&mut source.stamp);
            }
            Ok::<_, Error>(vec![])
        })?;
        Ok(())
    }

    /// Takes the text of a document away whose file nobody lets us read any more: it would answer
    /// for a file that may say something else. The document stays and says why, until the file can
    /// be read, which changes its stamp.
    pub(crate) fn close_document(&self, id: &KnowledgeDocumentId, stamp: &str) -> Result<()> {
        let Some((document, _)) = Document::load(&*self.0.catalogue, id)? else {
            return Ok(());
        };
        let collection = self.in_turn(&document.collection_id, || {
            let mut files: Vec<String> = vec![];
            let mut n_waited = 0;
            let collection = self.change_collection(&document.collection_id, |collection| {
                let row = Document::load(&*self.0.catalogue, id)?;
                let Some((mut document, version)) = row else { return Ok(vec![]) };
                files = document.files().map(str::to_owned).collect();
                n_waited = usize::from(document.upload.is_some());
                if document.state.is_indexed() {
                    collection.n_documents = collection.n_documents.saturating_sub(1);
                    collection.n_chunks = collection.n_chunks.saturating_sub(document.n_chunks);
                }
                document.state = DocumentState::Failed;
                document.error = Some(FORBIDDEN.to_owned());
                (document.n_chunks, document.original, document.before) = (0, None, None);
                document.upload = None;
                document.updated_at = self.0.clock.now();
                if let Some(source) = &mut document.source {
                    stamp.clone_into(&mut source.stamp);
                }
                Ok(vec![Change::PutIfUnchanged(document.to_object(version)?)])
            })?;
            self.forget_uploads(files.iter().map(String::as_str));
            self.1.backlog.fewer(&collection.id, n_waited);
            match self.0.store.delete(&collection.namespace(), &[document.store_id()]) {
                Err(store::Error::UnknownNamespace { .. }) => {}
                deleted => deleted.map(|_| ())?,
            }
            Ok(collection)
        })?;
        self.forget_summary(&collection)?;
        self.follow_up(&collection)
    }

    /// Copies a file, so that it may change or go while it waits for its job.
    fn received(
        &self,
        file: &FolderFile,
        listing: &FolderListing,
        open: &dyn Fn(&FolderFile) -> io::Result<File>,
    ) -> Result<NewDocument> {
        let copy = Intake::into_folder(self.0.uploads.arrivals()?).file();
        let copied = open(file).and_then(|mut content| {
            io::copy(&mut content, &mut fs_err::File::create(copy.path())?)
        });
        copied.map_err(Error::Upload)?;
        let name = file.path.rsplit('/').next().unwrap_or(&file.path).to_owned();
        let (path, stamp) = (file.path.clone(), file.stamp.clone());
        let source = SourceFile { path, stamp, volume: listing.volume };
        Ok(NewDocument {
            content: Content::Received { file: copy, name: Some(name) },
            source: Some(source),
            ..NewDocument::text("", "")
        })
    }
}

impl Followed {
    /// Tells whether nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == Followed::default()
    }

    /// Tells whether the next call has less to do than this one had.
    fn has_progressed(&self) -> bool {
        let Followed { n_added, n_replaced, n_moved, n_removed, n_closed, .. } = *self;
        n_added + n_replaced + n_moved + n_removed + n_closed > 0
    }

    fn fail(&mut self, file: &FolderFile, error: &Error) {
        let cause = model::with_causes(error);
        tracing::warn!(path = file.path, cause, "a file of a folder could not be taken");
        self.n_failed += 1;
    }
}

/// What a document says whose file may not be read.
const FORBIDDEN: &str = "the file in the folder cannot be read any more: permission denied";

/// The stamp of a file in a folder that may not be read: no file has it, so the file is read as soon
/// as it is seen again.
const UNSEEN: &str = "unseen";

/// Tells whether a file is there and may not be read.
fn is_forbidden(opened: io::Result<File>) -> bool {
    opened.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

/// Tells whether a stamp is what an earlier version wrote for the same file: its beginning.
fn is_earlier_stamp(kept: &str, now: &str) -> bool {
    kept.split(' ').count() == 2 && now.strip_prefix(kept).is_some_and(|rest| rest.starts_with(' '))
}

/// Whoever the configuration speaks for: it names the folder and the collection.
fn administrator(tenant: &TenantId) -> Caller {
    Caller {
        subject: format!("folder-{}", new_id()),
        tenant: tenant.clone(),
        department: None,
        clearance: Clearance::TopSecret,
        roles: [Caller::ADMIN.to_owned()].into(),
        identity: Identity::Local,
    }
}

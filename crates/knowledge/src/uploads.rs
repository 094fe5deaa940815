//! Uploads: contents that wait for their job, and the originals of documents.
//!
//! A file belongs to the document whose row names it; where it is, [`crate::UploadFiles`] knows. Whatever takes a document away takes its files away; what a dead process
//! left behind is swept when the service starts again.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use ingest::{Job, ObjectError, new_id};
use model::Timestamp;
use store::{Change, Lookup, TypedObject};

use crate::jobs::{ADD_JOB, Addition, Additions, Purge};
use crate::new_document::{Content, NewDocument};
use crate::object_ids::{CollectionId, KnowledgeDocumentId};
use crate::objects::{Collection, Document, DocumentState, Upload, waiting_anywhere, waiting_in};
use crate::upload_files::{Bytes, Stored};
use crate::{Error, Result, Service, limits};

/// What a document says whose upload will never be read.
const ABANDONED: &str = "the upload was cancelled before it was read";

impl Service {
    /// Stores a content until its job runs, under a name that no other upload has, or gives the
    /// change that stores it with its row.
    pub(crate) fn stage(&self, document: &Document, new: NewDocument) -> Result<Staged> {
        let ocr = new.ocr;
        let (upload, name) = match new.content {
            Content::Text(text) => {
                check_text(text.len())?;
                refuse_blank(&text)?;
                (Bytes::InMemory(text.into_bytes()), TEXT_NAME.to_owned())
            }
            Content::File { bytes, name } => (Bytes::InMemory(bytes), name),
            Content::Received { file, name: Some(name) } => (Bytes::OnDisk(file), name),
            Content::Received { file, name: None } => {
                let n_bytes = file.n_bytes().map_err(Error::Upload)?;
                check_text(usize::try_from(n_bytes).unwrap_or(usize::MAX))?;
                if n_bytes <= MAX_BLANK_BYTES {
                    let bytes = fs_err::read(file.path()).map_err(Error::Upload)?;
                    refuse_blank(&String::from_utf8_lossy(&bytes))?;
                }
                (Bytes::OnDisk(file), TEXT_NAME.to_owned())
            }
        };
        // The name says whose it is, so that a file can be told from one that was left behind.
        let staged = format!("{}/{}{OF_DOCUMENT}{}", document.collection_id, document.id, new_id());
        let Stored { sha256, n_bytes, with_row } = self.0.uploads.put_with_row(&staged, upload)?;
        Ok(Staged { upload: Upload { staged, name, ocr, n_bytes }, sha256, with_row })
    }

    /// Removes uploads that nobody waits for. One that its document still names stays: whoever asks
    /// may know less than the row, as a job that listed an upload before another one indexed it.
    pub(crate) fn forget_uploads<'a>(&self, staged: impl IntoIterator<Item = &'a str>) {
        let Some(_leave) = self.0.uploads.may_remove() else { return };
        for staged in staged {
            // One that stays is swept at the next start.
            if matches!(self.is_known(staged), Ok(false)) {
                let _ = self.0.uploads.remove(staged);
            }
        }
    }

    /// Lists the documents of a collection whose content waits to be indexed.
    pub(crate) fn documents_waiting_in(&self, collection: &CollectionId) -> Result<Vec<Document>> {
        self.documents_waiting(&waiting_in(collection))
    }

    pub(crate) fn documents_waiting(&self, lookup: &Lookup) -> Result<Vec<Document>> {
        let found = self.0.catalogue.find(Document::KIND, lookup)?;
        Ok(found.into_iter().map(Document::from_object).collect::<store::Result<_>>()?)
    }

    /// Lists the uploads that a job of a collection is to index: those that wait, and those that
    /// a job of an earlier version names.
    pub(crate) fn waiting_uploads(
        &self,
        collection: &Collection,
        additions: &Additions,
    ) -> Result<Vec<Addition>> {
        let mut waiting = additions.documents.clone();
        waiting.extend(self.documents_waiting_in(&collection.id)?.into_iter().filter_map(
            |document| {
                let Upload { staged, name, ocr, n_bytes } = document.upload?;
                let (document, version) = (document.id, document.version);
                Some(Addition { document, version, staged, name, ocr, n_bytes })
            },
        ));
        Ok(waiting)
    }

    /// Ends what a job that will never run again was to do: the uploads that wait in its
    /// collection go, and their documents say so, or stay as they were.
    pub(crate) fn abandon(&self, job: &Job) -> Result<()> {
        if job.kind != ADD_JOB {
            return Ok(());
        }
        let Ok(additions) = serde_json::from_value::<Additions>(job.arguments.clone()) else {
            return Ok(());
        };
        let Some((collection, _)) = Collection::load(&*self.0.catalogue, &additions.collection)?
        else {
            return Ok(());
        };
        for addition in self.waiting_uploads(&collection, &additions)? {
            self.settle(&addition.document, addition.version)?;
            self.forget_uploads([addition.staged.as_str()]);
            self.1.backlog.fewer(&collection.id, 1);
        }
        Ok(())
    }

    /// Asks for the jobs of uploads that wait, and lists the files that may have been left behind.
    ///
    /// For the start of a process, before any upload can be taken: one that is being taken has
    /// no row yet. The files can be swept later; where other servers store files in the same place,
    /// not before [`LeftBehind::sweep_after`].
    pub fn resume_uploads(&self) -> Result<LeftBehind> {
        let n_taken = self.0.uploads.take_from_folder()?;
        if n_taken > 0 {
            tracing::info!(n_taken, "uploads were moved from `data_dir` into the catalogue");
        }
        let files = self.0.uploads.list()?;
        let waiting = self.documents_waiting(&waiting_anywhere())?;
        let collections: BTreeSet<&CollectionId> =
            waiting.iter().map(|document| &document.collection_id).collect();
        for id in collections {
            // A job that is there may fail as any other.
            self.1.unfinished.begin(id);
            if let Some((collection, _)) = Collection::load(&*self.0.catalogue, id)?
                && self.0.queue.active(ADD_JOB, id.as_str())?.is_none()
            {
                self.submit_additions(&collection)?;
            }
        }
        self.resume_purges()?;
        let since = self.0.clock.now();
        Ok(LeftBehind { files, since, is_shared: self.0.uploads.is_shared() })
    }

    /// Removes files of which no document knows, and gives how many there were.
    pub fn sweep(&self, left_behind: &LeftBehind) -> Result<usize> {
        let mut wanted = HashSet::new();
        for job in self.0.queue.list()? {
            if job.kind == ADD_JOB && !job.state.is_final() {
                let additions = serde_json::from_value::<Additions>(job.arguments).ok();
                let named = additions.into_iter().flat_map(|additions| additions.documents);
                wanted.extend(named.map(|addition| addition.staged));
            }
        }
        let waiting = self.documents_waiting(&waiting_anywhere())?;
        wanted.extend(waiting.iter().filter_map(Document::staged).map(str::to_owned));
        let mut n_removed = 0;
        if left_behind.sweep_after(self.0.clock.now()) > Duration::ZERO {
            return Ok(0);
        }
        for name in &left_behind.files {
            if wanted.contains(name) || self.is_known(name)? {
                continue;
            }
            // Earlier versions named an upload after its document and version.
            if let Some((document, version)) = name.rsplit_once('.')
                && let Ok(version) = version.parse()
            {
                self.settle(&KnowledgeDocumentId::new(document), version)?;
            }
            self.0.uploads.remove(name)?;
            n_removed += 1;
        }
        Ok(n_removed)
    }

    /// Tells whether the document that a file is named after knows of it.
    fn is_known(&self, name: &str) -> Result<bool> {
        let document = name.rsplit('/').next().and_then(|name| name.split_once(OF_DOCUMENT));
        let Some((document, _)) = document else { return Ok(false) };
        let row = Document::load(&*self.0.catalogue, &KnowledgeDocumentId::new(document))?;
        Ok(row.is_some_and(|(document, _)| document.files().any(|file| file == name)))
    }

    /// Removes the files of what was deleted. While a backup copies them they stay, and the job
    /// is tried again.
    pub(crate) fn remove_files(&self, purge: &Purge) -> Result<()> {
        if purge.folders.is_empty() && purge.files.is_empty() {
            return Ok(());
        }
        let _leave = self.0.uploads.may_remove().ok_or(Error::Object(ObjectError::Busy))?;
        for collection in &purge.folders {
            // A collection that is there keeps its files, whatever the job says.
            if Collection::load(&*self.0.catalogue, collection)?.is_none() {
                self.0.uploads.remove_collection(collection)?;
            }
        }
        purge.files.iter().try_for_each(|file| self.0.uploads.remove(file))
    }

    /// Lets a document whose upload is given up say so; one that was indexed before stays.
    fn settle(&self, document: &KnowledgeDocumentId, upload: u64) -> Result<()> {
        let Some((mut document, version)) = Document::load(&*self.0.catalogue, document)? else {
            return Ok(());
        };
        let waits = matches!(document.state, DocumentState::Pending | DocumentState::Replacing);
        if !waits || document.version != upload {
            return Ok(());
        }
        document.error = Some(ABANDONED.to_owned());
        document.upload = None;
        document.restore();
        document.state = match document.state.is_indexed() {
            true => DocumentState::Ready,
            false => DocumentState::Failed,
        };
        document.updated_at = self.0.clock.now();
        match self.0.catalogue.apply(&[Change::PutIfUnchanged(document.to_object(version)?)]) {
            // Someone else changed it meanwhile, and knows better.
            Err(store::Error::Conflict { .. }) => Ok(()),
            changed => Ok(changed.map(|_| ())?),
        }
    }
}

/// A content that is stored and waits to be accepted.
pub(crate) struct Staged {
    pub(crate) upload: Upload,
    /// SHA-256 of it, in hexadecimal.
    pub(crate) sha256: String,
    /// Stores the content together with the row that names it, where nothing has stored it yet.
    pub(crate) with_row: Option<Change>,
}

/// Files that were there when the service began.
#[derive(Debug)]
pub struct LeftBehind {
    files: Vec<String>,
    since: Timestamp,
    is_shared: bool,
}

impl LeftBehind {
    /// Gives how long to wait before the files can be told from those that are arriving at another
    /// server, which have no row yet.
    pub fn sweep_after(&self, now: Timestamp) -> Duration {
        let millis = now.millis().saturating_sub(self.since.millis());
        let waited = Duration::from_millis(u64::try_from(millis).unwrap_or_default());
        if self.is_shared { ARRIVAL_LIMIT.saturating_sub(waited) } else { Duration::ZERO }
    }
}

/// The longest that an upload may take from its first byte to its row.
const ARRIVAL_LIMIT: Duration = Duration::from_secs(3_600);

/// Separates a document's id from the rest of the name of its file.
const OF_DOCUMENT: char = '~';

/// The name under which plain text is read.
const TEXT_NAME: &str = "text.txt";

/// Longer texts are not read to see whether they are blank: their job finds it out.
const MAX_BLANK_BYTES: u64 = 1 << 20;

/// Refuses a text that says nothing: it could never be found.
fn refuse_blank(text: &str) -> Result<()> {
    if !text::is_blank(text) {
        return Ok(());
    }
    let problem = "`text` is blank: a document needs text that can be found".to_owned();
    Err(Error::Object(ObjectError::BadRequest { problem }))
}

fn check_text(received: usize) -> Result<()> {
    let allowed = limits::MAX_TEXT_BYTES;
    if received > allowed {
        let what = "the size of `text` in bytes";
        return Err(Error::Object(ObjectError::TooLarge { what, received, allowed }));
    }
    Ok(())
}

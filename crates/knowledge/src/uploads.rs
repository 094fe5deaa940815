//! Uploads on disk: kept until their job has run, and no longer.
//!
//! A file here belongs to the document whose row names it. Whatever takes that away takes the
//! file away; what a dead process left behind is swept when the service starts again.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use ingest::{Job, new_id};
use store::{Change, Lookup, TypedObject};

use crate::documents::{Content, NewDocument};
use crate::intake::ReceivedFile;
use crate::jobs::{ADD_JOB, Addition, Additions};
use crate::objects::{Collection, Document, DocumentState, Upload, waiting_anywhere, waiting_in};
use crate::{Error, Result, Service, hold, limits};

/// What a document says whose upload will never be read.
const ABANDONED: &str = "the upload was given up before it was read";

impl Service {
    /// Puts a content on disk until its job runs, under a name that no other upload has.
    pub(crate) fn stage(&self, new: NewDocument) -> Result<Upload> {
        let ocr = new.ocr;
        let (upload, name) = match new.content {
            Content::Text(text) => {
                check_text(text.len())?;
                (Bytes::InMemory(text.into_bytes()), TEXT_NAME.to_owned())
            }
            Content::File { bytes, name } => (Bytes::InMemory(bytes), name),
            Content::Received { file, name: Some(name) } => (Bytes::OnDisk(file), name),
            Content::Received { file, name: None } => {
                let n_bytes = file.n_bytes().map_err(Error::Upload)?;
                check_text(usize::try_from(n_bytes).unwrap_or(usize::MAX))?;
                (Bytes::OnDisk(file), TEXT_NAME.to_owned())
            }
        };
        fs_err::create_dir_all(&self.0.uploads).map_err(Error::Upload)?;
        let staged = new_id();
        let path = self.0.uploads.join(&staged);
        let written = match &upload {
            Bytes::InMemory(bytes) => write_durably(&path, bytes),
            Bytes::OnDisk(file) => file.move_to(&path),
        };
        if let Err(error) = written {
            let _ = fs_err::remove_file(&path);
            return Err(Error::Upload(error));
        }
        Ok(Upload { staged, name, ocr })
    }

    /// Removes uploads that nobody waits for.
    pub(crate) fn forget_uploads<'a>(&self, staged: impl IntoIterator<Item = &'a str>) {
        let Some(_leave) = hold::may_remove(&self.0.uploads) else { return };
        for staged in staged {
            // A file that is gone already is fine; one that stays is swept at the next start.
            let _ = fs_err::remove_file(self.0.uploads.join(staged));
        }
    }

    /// Lists the documents of a collection whose content waits to be indexed.
    pub(crate) fn documents_waiting_in(&self, collection: &str) -> Result<Vec<Document>> {
        self.documents_waiting(&waiting_in(collection))
    }

    fn documents_waiting(&self, lookup: &Lookup) -> Result<Vec<Document>> {
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
                let Upload { staged, name, ocr } = document.upload?;
                let (document, version) = (document.id, document.version);
                Some(Addition { document, version, staged, name, ocr })
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

    /// Removes uploads that no document waits for, and gives how many there were; asks for the
    /// jobs of those that do.
    ///
    /// For the start of a process, before any upload can be taken: one that is being taken has
    /// no row yet.
    pub fn sweep_uploads(&self) -> Result<usize> {
        let waiting = self.documents_waiting(&waiting_anywhere())?;
        let mut wanted: HashSet<String> =
            waiting.iter().filter_map(Document::staged).map(str::to_owned).collect();
        for job in self.0.queue.list()? {
            if job.kind == ADD_JOB && !job.state.is_final() {
                let additions = serde_json::from_value::<Additions>(job.arguments).ok();
                let named = additions.into_iter().flat_map(|additions| additions.documents);
                wanted.extend(named.map(|addition| addition.staged));
            }
        }
        let mut n_removed = 0;
        for entry in self.staged_files()? {
            let name = entry.file_name().to_string_lossy().into_owned();
            if wanted.contains(&name) || hold::is_lock(&name) {
                continue;
            }
            // Earlier versions named an upload after its document and version.
            if let Some((document, version)) = name.rsplit_once('.')
                && let Ok(version) = version.parse()
            {
                self.settle(document, version)?;
            }
            fs_err::remove_file(entry.path()).map_err(Error::Upload)?;
            n_removed += 1;
        }
        let collections: BTreeSet<&str> =
            waiting.iter().map(|document| document.collection_id.as_str()).collect();
        for id in collections {
            if let Some((collection, _)) = Collection::load(&*self.0.catalogue, id)?
                && self.0.queue.active(ADD_JOB, id)?.is_none()
            {
                self.submit_additions(&collection)?;
            }
        }
        Ok(n_removed)
    }

    fn staged_files(&self) -> Result<Vec<fs_err::DirEntry>> {
        let entries = match fs_err::read_dir(&self.0.uploads) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(vec![]),
            Err(error) => return Err(Error::Upload(error)),
        };
        entries.collect::<std::io::Result<_>>().map_err(Error::Upload)
    }

    /// Lets a document whose upload is given up say so; one that was indexed before stays.
    fn settle(&self, document: &str, upload: u64) -> Result<()> {
        let Some((mut document, version)) = Document::load(&*self.0.catalogue, document)? else {
            return Ok(());
        };
        let waits = matches!(document.state, DocumentState::Pending | DocumentState::Replacing);
        if !waits || document.version != upload {
            return Ok(());
        }
        document.error = Some(ABANDONED.to_owned());
        document.upload = None;
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

/// The name under which plain text is read.
const TEXT_NAME: &str = "text.txt";

/// Where an upload is before it is stored.
enum Bytes {
    InMemory(Vec<u8>),
    OnDisk(ReceivedFile),
}

fn check_text(received: usize) -> Result<()> {
    let allowed = limits::MAX_TEXT_BYTES;
    if received > allowed {
        let what = "the size of `text` in bytes";
        return Err(Error::TooLarge { what, received, allowed });
    }
    Ok(())
}

/// An upload that was accepted survives the death of the process.
fn write_durably(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut file = fs_err::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

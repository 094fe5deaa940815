//! Uploads on disk: kept until their job has run, and no longer.
//!
//! A file here belongs to a job that waits or runs. Whatever takes the job away takes the file
//! away; what a dead process left behind is swept when the service stands again.

use std::collections::HashSet;
use std::path::Path;

use ingest::Job;
use store::{Change, TypedObject};

use crate::documents::{Content, NewDocument};
use crate::intake::ReceivedFile;
use crate::jobs::{ADD_JOB, Addition, Additions};
use crate::objects::{Collection, Document, DocumentState};
use crate::{Error, Result, Service, hold, limits};

/// What a document says whose upload will never be read.
const ABANDONED: &str = "the upload was given up before it was read";

impl Service {
    /// Keeps uploads until their job runs.
    pub(crate) fn stage<'a>(
        &self,
        collection: &Collection,
        documents: impl IntoIterator<Item = (&'a Document, NewDocument)>,
    ) -> Result<Additions> {
        let mut additions = Additions::of(collection);
        fs_err::create_dir_all(&self.0.uploads).map_err(Error::Upload)?;
        for (document, new) in documents {
            let kept = self.keep_upload(document, new);
            match kept {
                Ok(addition) => additions.documents.push(addition),
                Err(error) => {
                    self.forget_uploads(&additions.documents);
                    return Err(error);
                }
            }
        }
        Ok(additions)
    }

    fn keep_upload(&self, document: &Document, new: NewDocument) -> Result<Addition> {
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
        let staged = format!("{}.{}", document.id, document.version);
        let path = self.0.uploads.join(&staged);
        let written = match &upload {
            Bytes::InMemory(bytes) => write_durably(&path, bytes),
            Bytes::OnDisk(file) => file.move_to(&path),
        };
        if let Err(error) = written {
            let _ = fs_err::remove_file(&path);
            return Err(Error::Upload(error));
        }
        let (document, version) = (document.id.clone(), document.version);
        Ok(Addition { document, version, staged, name, ocr: new.ocr })
    }

    /// Removes uploads that nobody waits for.
    pub(crate) fn forget_uploads<'a>(&self, additions: impl IntoIterator<Item = &'a Addition>) {
        let Some(_leave) = hold::may_remove(&self.0.uploads) else { return };
        for addition in additions {
            // A file that is gone already is fine; one that stays is swept at the next start.
            let _ = fs_err::remove_file(self.0.uploads.join(&addition.staged));
        }
    }

    /// Ends what a job that will never run again was to do: its uploads go, and its documents
    /// say so, or stay as they were.
    pub(crate) fn abandon(&self, job: &Job) -> Result<()> {
        if job.kind != ADD_JOB {
            return Ok(());
        }
        let Ok(additions) = serde_json::from_value::<Additions>(job.arguments.clone()) else {
            return Ok(());
        };
        self.forget_uploads(&additions.documents);
        additions
            .documents
            .iter()
            .try_for_each(|addition| self.settle(&addition.document, addition.version))
    }

    /// Removes uploads that no job waits for, and gives how many there were.
    ///
    /// For the start of a process, before any upload can be taken: one that is being taken has
    /// no job yet.
    pub fn sweep_uploads(&self) -> Result<usize> {
        let entries = match fs_err::read_dir(&self.0.uploads) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(Error::Upload(error)),
        };
        let wanted: HashSet<String> = self
            .0
            .queue
            .list()?
            .into_iter()
            .filter(|job| job.kind == ADD_JOB && !job.state.is_final())
            .filter_map(|job| serde_json::from_value::<Additions>(job.arguments).ok())
            .flat_map(|additions| additions.documents)
            .map(|addition| addition.staged)
            .collect();
        let mut n_removed = 0;
        for entry in entries {
            let entry = entry.map_err(Error::Upload)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if wanted.contains(&name) || hold::is_lock(&name) {
                continue;
            }
            if let Some((document, version)) = name.rsplit_once('.')
                && let Ok(version) = version.parse()
            {
                self.settle(document, version)?;
            }
            fs_err::remove_file(entry.path()).map_err(Error::Upload)?;
            n_removed += 1;
        }
        Ok(n_removed)
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

/// Where an upload is before it is kept.
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

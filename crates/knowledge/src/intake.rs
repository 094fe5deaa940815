//! Documents on their way in: rights are checked first, then bytes go to a file as they arrive.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ingest::new_id;
use model::Caller;

use crate::access::Right;
use crate::object_ids::{CollectionId, KnowledgeDocumentId};
use crate::{Result, Service};

/// What the name of a file begins with that is arriving; hidden, so that no backup takes it along.
const ARRIVING: &str = ".incoming-";

/// Tells whether a file is one that is arriving, or was when a process died. Earlier versions did
/// not hide them.
pub(crate) fn is_arriving(name: &str) -> bool {
    name.trim_start_matches('.').starts_with("incoming-")
}

/// What becomes of a document once all of it has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadTarget<'a> {
    /// New documents of this collection.
    Collection(&'a CollectionId),
    /// The new content of this document.
    Document(&'a KnowledgeDocumentId),
}

/// A place for the files of one upload, for a caller who may make it.
#[derive(Debug, Clone)]
pub struct Intake {
    folder: PathBuf,
}

/// A file that arrived, or is arriving. It is removed with the last of its clones unless a
/// document has taken it.
#[derive(Debug, Clone)]
pub struct ReceivedFile(Arc<OnDisk>);

#[derive(Debug)]
struct OnDisk {
    path: PathBuf,
}

impl Service {
    /// Prepares for an upload: whoever may not make it is refused before it begins.
    pub fn begin_upload(&self, caller: &Caller, target: UploadTarget<'_>) -> Result<Intake> {
        match target {
            UploadTarget::Collection(collection) => {
                self.collection_of(caller, collection, Right::Change).map(|_| ())?;
            }
            UploadTarget::Document(document) => {
                let (_, document, _) = self.document_of(caller, document, Right::Change)?;
                self.check_follows_no_file(&document)?;
            }
        }
        Ok(Intake::into_folder(self.0.uploads.arrivals()?))
    }
}

impl Intake {
    /// Takes files into a folder. Whether anybody may is the business of whoever calls.
    pub fn into_folder(folder: PathBuf) -> Self {
        Intake { folder }
    }

    /// Gives a place for one file, which does not exist yet. It has no job: what a dead process
    /// leaves there is swept at the next start. It is hidden, so that no backup takes a file along
    /// that is still arriving.
    pub fn file(&self) -> ReceivedFile {
        let path = self.folder.join(format!("{ARRIVING}{}", new_id()));
        ReceivedFile(Arc::new(OnDisk { path }))
    }
}

impl ReceivedFile {
    /// Gives where it is.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Gives how many bytes it holds.
    pub fn n_bytes(&self) -> std::io::Result<u64> {
        Ok(fs_err::metadata(&self.0.path)?.len())
    }

    /// Moves the file to its place for good, so that it survives the death of the machine.
    pub(crate) fn move_to(&self, place: &Path) -> std::io::Result<()> {
        fs_err::File::open(&self.0.path)?.sync_all()?;
        fs_err::rename(&self.0.path, place)?;
        match place.parent() {
            Some(folder) => fs_err::File::open(folder)?.sync_all(),
            None => Ok(()),
        }
    }
}

impl PartialEq for ReceivedFile {
    fn eq(&self, other: &Self) -> bool {
        self.0.path == other.0.path
    }
}

impl Eq for ReceivedFile {}

impl Drop for OnDisk {
    fn drop(&mut self) {
        // One that was never written or was taken is not there; what stays is swept later.
        let _ = fs_err::remove_file(&self.path);
    }
}

//! Files as they are on the disk, for whoever may have more than their text.

use model::{Caller, DocumentId};

use crate::name::text_of;
use crate::{Error, Result, Service};

/// A file that is open.
#[derive(Debug)]
pub struct OriginalFile {
    /// The file.
    pub file: std::fs::File,
    /// Its size when it was opened.
    pub n_bytes: u64,
    /// Its name, without the folders that it is in.
    pub name: String,
}

impl Service {
    /// Opens a file of a root that the caller may use and that the index knows, so that what is
    /// ignored stays where it is. Nothing in it is redacted, which is for administrators.
    ///
    /// Fails with [`Error::NeedsAdmin`] for others, and as [`Service::preview`] does.
    pub fn original(&self, caller: &Caller, path: &str) -> Result<OriginalFile> {
        let indexer = self.indexer();
        let (root, resolved) = indexer.roots().locate(caller, path)?;
        if !caller.is_admin() {
            return Err(Error::NeedsAdmin);
        }
        let missing = || Error::NotFound { path: path.to_owned() };
        let document = DocumentId::new(text_of(&resolved));
        match indexer.config().store.document(indexer.namespace(), &document) {
            Ok(Some(_)) => {}
            // Before the first file is indexed there is no namespace.
            Ok(None) | Err(store::Error::UnknownNamespace { .. }) => return Err(missing()),
            Err(error) => return Err(error.into()),
        }
        let relative = resolved.strip_prefix(&root.path).map_err(|_| missing())?;
        let file = root.open_beneath(relative).map_err(|_| missing())?;
        let n_bytes = file.metadata().map_err(|_| missing())?.len();
        let name = resolved.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(OriginalFile { file, n_bytes, name })
    }
}

//! The files that documents were made from, as they were uploaded.
//!
//! Redaction does not reach inside a file: whoever downloads an original needs a role of the
//! configuration beside the right to see the document. Tools give text only.

use model::Caller;

use crate::access::Right;
use crate::{Document, Error, Result, Service};

/// The name of an original that was sent as text and has no title.
const UNNAMED: &str = "document";

/// A file that a caller may download.
#[derive(Debug)]
pub struct OriginalFile {
    /// The document.
    pub document: Document,
    /// The open file.
    pub file: std::fs::File,
    /// Its size.
    pub n_bytes: u64,
    /// The name to save it under.
    pub name: String,
}

impl Service {
    /// Tells whether the caller holds a role with which originals may be downloaded.
    pub fn may_download(&self, caller: &Caller) -> bool {
        self.0.settings.originals.roles.iter().any(|role| caller.has_role(role))
    }

    /// Opens the file that a document was made from.
    ///
    /// # Errors
    ///
    /// [`Error::OriginalDenied`] without one of the roles, [`Error::NotFound`] where the document
    /// was added before originals were kept.
    pub fn original(&self, caller: &Caller, document: &str) -> Result<OriginalFile> {
        let (_, document, _) = self.document_of(caller, document, Right::Read)?;
        if !self.may_download(caller) {
            return Err(Error::OriginalDenied { roles: self.0.settings.originals.roles.clone() });
        }
        let missing = || Error::missing("Original", &document.id);
        let original = document.original.clone().ok_or_else(missing)?;
        let file = self.0.uploads.open(&original.file)?.ok_or_else(missing)?;
        let n_bytes = file.metadata().map_err(Error::Upload)?.len();
        let name = match (document.file_name.as_str(), document.title.trim()) {
            ("", "") => format!("{UNNAMED}.txt"),
            ("", title) => format!("{title}.txt"),
            (file_name, _) => file_name.to_owned(),
        };
        Ok(OriginalFile { document, file, n_bytes, name })
    }
}

//! The files that documents were made from, as they were uploaded.
//!
//! Redaction does not reach inside a file: whoever downloads an original needs a role of the
//! configuration beside the right to see the document. Tools give text only.

use std::fs::File;
use std::io::{Read, Seek};

use model::Caller;
use sha2::{Digest, Sha256};
use store::{Lookup, ObjectPage, Objects, TypedObject};

use crate::access::Right;
use crate::object_ids::KnowledgeDocumentId;
use crate::{
    Document, DocumentState, DocumentVersion, Error, Result, Service, UploadFiles, limits,
};

/// Bytes of a file that are compared at once.
const READ_BYTES: usize = 256 << 10;

/// The name of an original that was sent as text and has no title.
const UNNAMED: &str = "document";

/// A file that a caller may download.
#[derive(Debug)]
pub struct OriginalFile {
    /// Whose indexed content was made from the file.
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
    /// [`Error::OriginalDenied`] without one of the roles, [`ingest::ObjectError::NotFound`] where the document
    /// was added before originals were kept, [`Error::OriginalDamaged`] where the file is gone or
    /// is not the one that was uploaded.
    pub fn original(
        &self,
        caller: &Caller,
        document: &KnowledgeDocumentId,
    ) -> Result<OriginalFile> {
        let (_, document, _) = self.document_of(caller, document, Right::Read)?;
        if !self.may_download(caller) {
            return Err(Error::OriginalDenied { roles: self.0.settings.originals.roles.clone() });
        }
        let missing = || Error::missing("Original", document.id.as_str());
        let original = document.original.clone().ok_or_else(missing)?;
        let opened = open_whole(&*self.0.catalogue, &self.0.uploads, &document, &original.file)?;
        let file = opened.map_err(|problem| {
            tracing::error!(document = %document.id, problem, "the file of a document is damaged");
            Error::OriginalDamaged { id: document.id.clone(), problem }
        })?;
        let n_bytes = original.n_bytes;
        let name = match (document.file_name.as_str(), document.title.trim()) {
            ("", "") => format!("{UNNAMED}.txt"),
            ("", title) => format!("{title}.txt"),
            (file_name, _) => file_name.to_owned(),
        };
        Ok(OriginalFile { document, file, n_bytes, name })
    }
}

/// A document whose file is gone or is not the one that was uploaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedOriginal {
    /// The document's id.
    pub document: KnowledgeDocumentId,
    /// As a person knows the document.
    pub title: String,
    /// What is wrong with the file.
    pub problem: String,
}

/// Reads the files of all documents, of all tenants, and names those that are damaged.
pub fn damaged_originals(
    catalogue: &dyn Objects,
    uploads: &UploadFiles,
) -> Result<Vec<DamagedOriginal>> {
    let mut damaged = vec![];
    let mut page = ObjectPage { limit: limits::MAX_PAGE, ..ObjectPage::of(Document::KIND) };
    loop {
        let documents = Document::list(catalogue, &page)?;
        let Some(last) = documents.last() else { return Ok(damaged) };
        page.after = Some(last.id.to_string());
        for document in documents {
            let Some(original) = &document.original else { continue };
            // Uploads that an earlier version took were not kept: nothing is known of them.
            if original.n_bytes == 0 && sha256_of_original(catalogue, &document)?.is_none() {
                continue;
            }
            let Err(problem) = open_whole(catalogue, uploads, &document, &original.file)? else {
                continue;
            };
            // It was changed or deleted while its file was read.
            let now = Document::load(catalogue, &document.id)?;
            if now.is_some_and(|(now, _)| now.original == document.original) {
                let (document, title) = (document.id, document.title);
                damaged.push(DamagedOriginal { document, title, problem });
            }
        }
    }
}

/// Opens the file of a document and compares it with what was uploaded, or says what is wrong.
fn open_whole(
    catalogue: &dyn Objects,
    uploads: &UploadFiles,
    document: &Document,
    name: &str,
) -> Result<std::result::Result<File, String>> {
    let Some(mut file) = uploads.open(name)? else {
        return Ok(Err("its file is gone".to_owned()));
    };
    let expected = document.original.as_ref().map_or(0, |original| original.n_bytes);
    let n_bytes = file.metadata().map_err(Error::Upload)?.len();
    if n_bytes != expected {
        return Ok(Err(format!("its file has {n_bytes} bytes, and had {expected}")));
    }
    let Some(sha256) = sha256_of_original(catalogue, document)? else { return Ok(Ok(file)) };
    let mut hasher = Sha256::new();
    let mut piece = vec![0; READ_BYTES];
    loop {
        match file.read(&mut piece).map_err(Error::Upload)? {
            0 => break,
            n_read => hasher.update(piece.get(..n_read).unwrap_or_default()),
        }
    }
    file.rewind().map_err(Error::Upload)?;
    let found = model::hex(hasher.finalize());
    let problem = || "its file is not the one that was uploaded: its SHA-256 differs".to_owned();
    Ok(if found == sha256 { Ok(file) } else { Err(problem()) })
}

/// Gives what the file of a document hashes to: the row has that of the newest content, which may
/// wait or be one that could not be read.
fn sha256_of_original(catalogue: &dyn Objects, document: &Document) -> Result<Option<String>> {
    let lookup = Lookup::new("version_of", document.id.as_str());
    let versions = catalogue.find(DocumentVersion::KIND, &lookup)?;
    let mut latest: Option<DocumentVersion> = None;
    for version in versions {
        let version = DocumentVersion::from_object(version)?;
        if latest.as_ref().is_none_or(|latest| latest.version < version.version) {
            latest = Some(version);
        }
    }
    let n_bytes = document.original.as_ref().map(|original| original.n_bytes);
    let sha256 = match latest {
        Some(version) => Some(version.sha256).filter(|_| Some(version.n_bytes) == n_bytes),
        None => Some(document.sha256.clone()).filter(|_| document.state == DocumentState::Failed),
    };
    Ok(sha256.filter(|sha256| !sha256.is_empty()))
}

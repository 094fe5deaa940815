//! What is in the index of the folders, for people who look at it: files in the order of their
//! paths, a page at a time, and the passages of one file.

use model::{Caller, DocumentId, Passage, ReadOutcome};
use serde::Serialize;
use store::{Counts, DocumentPage};

use crate::outcomes::outcome_of;
use crate::{Error, Result, Service};

/// Files of one page.
pub const MAX_LISTED: usize = 200;

/// Files that are gone through for one page with a word in their paths.
const MAX_COMPARED: usize = 20_000;

/// One file of the index.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileEntry {
    /// Its path.
    pub path: String,
    /// What became of it.
    pub outcome: ReadOutcome,
    /// Why it has no text, where it has none.
    pub reason: Option<String>,
    /// Its passages; none when only its name could be indexed.
    pub n_passages: usize,
    /// Its size, where it is known.
    pub bytes: Option<u64>,
    /// When it was changed, in milliseconds since the Unix epoch, where that is known.
    pub modified: Option<i64>,
    /// When it was indexed, in milliseconds since the Unix epoch.
    pub indexed_at: i64,
}

/// A page of files.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FilePage {
    /// In the order of their paths.
    pub files: Vec<FileEntry>,
    /// The path to go on after, where there may be more.
    pub next: Option<String>,
}

impl Service {
    /// Lists the files below a folder that the caller may see, after a path; of those, the ones
    /// with a word in their path where one is given.
    ///
    /// Fails when the folder lies outside of what the caller may see.
    pub fn list_files(
        &self,
        caller: &Caller,
        folder: &str,
        word: Option<&str>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<FilePage> {
        let indexer = self.indexer();
        let (_, resolved) = indexer.roots().locate(caller, folder)?;
        let missing = || Error::NotFound { path: folder.to_owned() };
        let prefix = format!("{}/", resolved.to_str().ok_or_else(missing)?.trim_end_matches('/'));
        let limit = limit.clamp(1, MAX_LISTED);
        let word = word.map(text::fold);
        let mut page = FilePage::default();
        let mut after = after.map(DocumentId::new);
        let mut n_compared = 0;
        loop {
            let wanted =
                DocumentPage { prefix: prefix.clone(), after: after.clone(), limit: MAX_LISTED };
            let documents = indexer.config().store.documents(indexer.namespace(), &wanted)?;
            let is_last = documents.len() < MAX_LISTED;
            for document in documents {
                let path = document.id.to_string();
                after = Some(document.id.clone());
                n_compared += 1;
                if word.as_ref().is_some_and(|word| !text::fold(&path).contains(word.as_str())) {
                    continue;
                }
                page.files.push(FileEntry {
                    outcome: outcome_of(&document),
                    reason: document.metadata["reason"].as_str().map(str::to_owned),
                    n_passages: document.n_passages,
                    bytes: document.metadata["bytes"].as_u64(),
                    modified: document.metadata["modified"].as_i64(),
                    indexed_at: document.updated_at.0,
                    path,
                });
                if page.files.len() == limit {
                    page.next = page.files.last().map(|last| last.path.clone());
                    return Ok(page);
                }
            }
            if is_last {
                return Ok(page);
            }
            if n_compared >= MAX_COMPARED {
                page.next = after.map(|last| last.to_string());
                return Ok(page);
            }
        }
    }

    /// Gives the passages of a file that the caller may see, in order.
    ///
    /// Fails when the file lies outside of what the caller may see.
    pub fn passages(&self, caller: &Caller, path: &str) -> Result<Vec<Passage>> {
        let indexer = self.indexer();
        let (_, resolved) = indexer.roots().locate(caller, path)?;
        let Some(resolved) = resolved.to_str() else {
            return Err(Error::NotFound { path: path.to_owned() });
        };
        let document = DocumentId::new(resolved);
        Ok(indexer.config().store.passages_of(indexer.namespace(), &document)?)
    }

    /// Counts what is in the index, over all folders.
    ///
    /// Fails when the store does.
    pub fn counts(&self) -> Result<Counts> {
        let indexer = self.indexer();
        Ok(indexer.config().store.counts(indexer.namespace())?)
    }
}

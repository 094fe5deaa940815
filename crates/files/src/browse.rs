//! What is in the index of the folders, for people who look at it: files in the order of their
//! paths, a page at a time, and the passages of one file.

use std::path::Path;

use model::{Caller, DocumentId, Passage, ReadOutcome, Warning};
use serde::Serialize;
use store::{Counts, DocumentPage};

use crate::name::text_of;
use crate::outcomes::outcome_of;
use crate::{Error, Result, Service};

/// Files of one page.
pub const MAX_LISTED: usize = 200;

/// Files that are gone through for one page with a word in their paths.
const MAX_COMPARED: usize = 20_000;

/// One file of the index.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileEntry {
    /// Resolved, as answers name it.
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

/// Which entries of a folder are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderRequest {
    /// The folder: a root, or one inside.
    pub path: String,
    /// The name to go on after, as the page before gave it.
    pub after: Option<String>,
    /// How many.
    pub limit: usize,
}

/// A file or folder right inside a folder that is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name; a folder's ends in a slash.
    pub name: String,
    /// The size of a file, where it is known.
    pub bytes: Option<u64>,
    /// When a file was changed, in milliseconds since the Unix epoch, where that is known.
    pub modified: Option<i64>,
}

/// What is right inside a folder, as much as was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct FolderPage {
    /// The folder, resolved.
    pub path: String,
    /// In the order of their names.
    pub entries: Vec<FolderEntry>,
    /// Whether more follow.
    pub has_more: bool,
    /// What is missing: an index that is not complete yet.
    pub warnings: Vec<Warning>,
}

/// Documents that are read at once; the rest of a folder's folder is passed over.
const FOLDER_STEP: usize = 64;

/// What of the index was asked for, with how much there is.
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
        let prefix = format!("{}/", text_of(&resolved).trim_end_matches('/'));
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
                let owner = indexer.roots().owner_of(Path::new(&path));
                if !owner.is_some_and(|root| caller.may_use(&root.access)) {
                    continue;
                }
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

    /// Lists the entries of a folder that the caller may see: what the index knows of it.
    ///
    /// Fails when the folder lies outside of what the caller may see, or is a file.
    pub fn list_folder(&self, caller: &Caller, request: &FolderRequest) -> Result<FolderPage> {
        let indexer = self.indexer();
        let given = request.path.as_str();
        let (root, resolved) = indexer.roots().locate(caller, given)?;
        if resolved.is_file() {
            return Err(Error::IsFile { path: given.to_owned() });
        }
        let folder = text_of(&resolved).into_owned();
        let prefix = format!("{}/", folder.trim_end_matches('/'));
        let limit = request.limit.clamp(1, MAX_LISTED);
        let mut page = FolderPage {
            path: folder,
            entries: Vec::new(),
            has_more: false,
            warnings: self.first_index(&root.name)?,
        };
        let mut after = request.after.as_ref().map(|name| behind(&prefix, name));
        'pages: loop {
            let wanted = DocumentPage { prefix: prefix.clone(), after, limit: FOLDER_STEP };
            let documents = match indexer.config().store.documents(indexer.namespace(), &wanted) {
                Err(store::Error::UnknownNamespace { .. }) => Vec::new(),
                documents => documents?,
            };
            let is_last = documents.len() < FOLDER_STEP;
            after = documents.last().map(|document| document.id.clone());
            for document in documents {
                let path = document.id.to_string();
                let owner = indexer.roots().owner_of(Path::new(&path));
                if !owner.is_some_and(|root| caller.may_use(&root.access)) {
                    continue;
                }
                let Some(inner) = path.strip_prefix(&prefix) else { continue };
                if page.entries.len() == limit {
                    page.has_more = true;
                    break 'pages;
                }
                match inner.split_once('/') {
                    None => page.entries.push(FolderEntry {
                        // A folder that may not be read is known by its own name.
                        name: match document.metadata["folder"].as_bool() {
                            Some(true) => format!("{inner}/"),
                            _ => inner.to_owned(),
                        },
                        bytes: document.metadata["bytes"].as_u64(),
                        modified: document.metadata["modified"].as_i64(),
                    }),
                    Some((name, _)) => {
                        // Whatever else is in it is passed over.
                        let name = format!("{name}/");
                        after = Some(behind(&prefix, &name));
                        page.entries.push(FolderEntry { name, bytes: None, modified: None });
                        continue 'pages;
                    }
                }
            }
            if is_last {
                break;
            }
        }
        Ok(page)
    }

    /// Gives the passages of a file that the caller may see, in order.
    ///
    /// Fails when the file lies outside of what the caller may see.
    pub fn passages(&self, caller: &Caller, path: &str) -> Result<Vec<Passage>> {
        let indexer = self.indexer();
        let (_, resolved) = indexer.roots().locate(caller, path)?;
        let document = DocumentId::new(text_of(&resolved));
        Ok(indexer.config().store.passages_of(indexer.namespace(), &document)?)
    }

    /// Counts what is in the index, over all folders; nothing for callers who may not see all.
    ///
    /// Fails when the store does.
    pub fn counts(&self, caller: &Caller) -> Result<Option<Counts>> {
        let indexer = self.indexer();
        if indexer.roots().visible(caller).len() < indexer.roots().all().len() {
            return Ok(None);
        }
        Ok(Some(indexer.config().store.counts(indexer.namespace())?))
    }

    /// Tells whether passages wait for vectors at all: without a model none is made.
    pub fn makes_vectors(&self) -> bool {
        !self.indexer().config().vectors.are_off()
    }
}

/// Gives an id behind an entry of a folder and everything in it. Nothing in a folder comes after
/// its path with the last of all characters.
fn behind(prefix: &str, name: &str) -> DocumentId {
    if name.ends_with('/') {
        DocumentId::new(format!("{prefix}{name}{}", char::MAX))
    } else {
        DocumentId::new(format!("{prefix}{name}"))
    }
}

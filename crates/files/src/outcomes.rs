//! What became of every file, kept with it until it changes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use ingest::{Changes, Priority, Unchanged};
use model::{AttributeValue, Caller, Deadline, DocumentId, ReadOutcome};
use serde::{Deserialize, Serialize};
use store::{DocumentInfo, DocumentPage};

use crate::index::{IndexArguments, attribute};
use crate::name::path_of;
use crate::walk::Selection;
use crate::{Error, Indexer, Result, Service};

/// Documents looked at in one go.
const LIST_PAGE: usize = 1_000;

/// Files of a root, counted by what became of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RootOutcomes {
    /// Its name, under which it is configured.
    pub root: String,
    /// Whether it was ever indexed to its end.
    pub is_completed: bool,
    /// How many files came to each outcome; those without files are left out.
    pub counts: BTreeMap<ReadOutcome, usize>,
}

/// What of a root the index does not hold as it is on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootChanges {
    /// Its name, under which it is configured.
    pub root: String,
    /// Whether it was ever indexed to its end.
    pub is_completed: bool,
    /// What is new, changed or gone; nothing where the root cannot be reached.
    pub changes: Option<Changes>,
}

/// A file with what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileOutcome {
    /// Resolved, as answers name it.
    pub path: String,
    /// What became of it.
    pub outcome: ReadOutcome,
    /// Why it has no text, where it has none.
    pub reason: Option<String>,
}

impl Indexer {
    /// Counts the files of every root that the caller may use by what became of them.
    pub(crate) fn outcomes(&self, caller: &Caller) -> Result<Vec<RootOutcomes>> {
        let mut counted: BTreeMap<String, BTreeMap<ReadOutcome, usize>> = self
            .roots()
            .visible(caller)
            .iter()
            .map(|root| (root.name.clone(), BTreeMap::new()))
            .collect();
        let names = [attribute::ROOT, attribute::OUTCOME];
        for count in self.config().store.count_documents(self.namespace(), &names)? {
            let [Some(root), code] = count.values.as_slice() else { continue };
            if let Some(counts) = counted.get_mut(root) {
                let outcome = outcome_from(code.as_deref(), count.has_passages);
                *counts.entry(outcome).or_default() += count.n_documents;
            }
        }
        let outcomes = counted.into_iter().map(|(root, counts)| {
            let is_completed = self.is_completed(&root)?;
            Ok(RootOutcomes { root, is_completed, counts })
        });
        outcomes.collect()
    }

    /// Compares every root that the caller may use with its index, until the deadline.
    fn compare(&self, caller: &Caller, deadline: &Deadline) -> Result<Vec<RootChanges>> {
        let mut compared = vec![];
        for root in self.roots().visible(caller) {
            let changes = match self.is_there(&root.path) {
                true => {
                    let all = Selection::Folder(root.path.clone());
                    let mut source = self.source(root, &all)?;
                    let pipeline = self.pipeline(root, &all, Unchanged::Skip);
                    Some(pipeline.changes(&mut source, deadline)?)
                }
                false => None,
            };
            let is_completed = self.is_completed(&root.name)?;
            compared.push(RootChanges { root: root.name.clone(), is_completed, changes });
        }
        Ok(compared)
    }

    /// Lists files that the caller may see and that came to an outcome, in the order of their
    /// paths.
    pub(crate) fn files_with(
        &self,
        caller: &Caller,
        outcome: ReadOutcome,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<FileOutcome>> {
        let roots: Vec<String> =
            self.roots().visible(caller).iter().map(|root| root.name.clone()).collect();
        // What an earlier version wrote has no outcome, and says it by its passages.
        let mut values = vec![Some(outcome.code())];
        if matches!(outcome, ReadOutcome::NoText | ReadOutcome::Indexed) {
            values.push(None);
        }
        let mut files = vec![];
        let after = after.map(DocumentId::new);
        let mut page = DocumentPage { prefix: String::new(), after, limit: LIST_PAGE };
        while files.len() < limit {
            let store = &self.config().store;
            let found =
                store.documents_with(self.namespace(), attribute::OUTCOME, &values, &page)?;
            let Some(last) = found.last() else { break };
            page.after = Some(last.id.clone());
            let is_last = found.len() < LIST_PAGE;
            let is_wanted = |document: &DocumentInfo| {
                let root = document.attributes.get(attribute::ROOT);
                outcome_of(document) == outcome
                    && matches!(root, Some(AttributeValue::Keyword(root)) if roots.contains(root))
            };
            let wanted = found.into_iter().filter(is_wanted).map(|document| FileOutcome {
                path: document.id.to_string(),
                outcome,
                reason: document.metadata["reason"].as_str().map(str::to_owned),
            });
            files.extend(wanted);
            if is_last {
                break;
            }
        }
        files.truncate(limit);
        Ok(files)
    }
}

/// Files that one retry takes at most; the next one takes those after them.
const MAX_RETRIED: usize = 10_000;

impl Service {
    /// Tells of every root that the caller may use what the index does not hold as it is on the
    /// disk. Files are looked at, not read, until the deadline.
    pub fn compare(&self, caller: &Caller, deadline: &Deadline) -> Result<Vec<RootChanges>> {
        self.indexer().compare(caller, deadline)
    }

    /// Reads files again that came to an outcome, whether they have changed or not: one, or all of
    /// them that the caller may see. Gives how many there are.
    ///
    /// Fails with [`Error::NeedsAdmin`] for others than administrators.
    pub fn retry(
        &self,
        caller: &Caller,
        outcome: ReadOutcome,
        path: Option<&str>,
    ) -> Result<usize> {
        if !caller.is_admin() {
            return Err(Error::NeedsAdmin);
        }
        let indexer = self.indexer();
        let mut paths: BTreeSet<PathBuf> = BTreeSet::new();
        match path {
            Some(path) => {
                let (_, resolved) = indexer.roots().locate(caller, path)?;
                paths.insert(resolved);
            }
            None => {
                let files = indexer.files_with(caller, outcome, None, MAX_RETRIED)?;
                paths.extend(files.into_iter().map(|file| path_of(&file.path)));
            }
        }
        let n_files = paths.len();
        let mut by_root: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
        for path in paths {
            if let Some(root) = indexer.roots().owner_of(&path) {
                by_root.entry(root.name.clone()).or_default().insert(path);
            }
        }
        for (root, paths) in by_root {
            let subject = format!("{root} (again: {})", outcome.code());
            let (folder, paths) = (root.clone(), Some(paths));
            let arguments = IndexArguments { root, folder, full: true, paths, since: None };
            self.submit_job(&caller.tenant, subject, Priority::High, &arguments)?;
        }
        Ok(n_files)
    }
}

/// Gives what became of a file; what an earlier version wrote says it by its passages.
pub(crate) fn outcome_of(document: &DocumentInfo) -> ReadOutcome {
    let code = match document.attributes.get(attribute::OUTCOME) {
        Some(AttributeValue::Keyword(code)) => Some(code.as_str()),
        _ => None,
    };
    outcome_from(code, document.n_passages > 0)
}

fn outcome_from(code: Option<&str>, has_passages: bool) -> ReadOutcome {
    code.and_then(|code| code.parse().ok()).unwrap_or(match has_passages {
        false => ReadOutcome::NoText,
        true => ReadOutcome::Indexed,
    })
}

//! What became of every file, kept with it until it changes.

use std::collections::BTreeMap;

use model::{AttributeValue, Caller, DocumentId, ReadOutcome};
use serde::Serialize;
use store::{DocumentInfo, DocumentPage};

use crate::index::attribute;
use crate::{Indexer, Result};

/// Documents looked at in one go.
const LIST_PAGE: usize = 1_000;

/// Files of a root, counted by what became of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RootOutcomes {
    /// The root.
    pub root: String,
    /// How many files came to each outcome; those without files are left out.
    pub counts: BTreeMap<ReadOutcome, usize>,
}

/// A file with what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileOutcome {
    /// The file.
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
        self.each_document(|document| {
            let Some(AttributeValue::Keyword(root)) = document.attributes.get(attribute::ROOT)
            else {
                return true;
            };
            if let Some(counts) = counted.get_mut(root) {
                *counts.entry(outcome_of(document)).or_default() += 1;
            }
            true
        })?;
        Ok(counted.into_iter().map(|(root, counts)| RootOutcomes { root, counts }).collect())
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
        let mut files = vec![];
        self.each_document_after(after, |document| {
            let is_visible = matches!(
                document.attributes.get(attribute::ROOT),
                Some(AttributeValue::Keyword(root)) if roots.contains(root)
            );
            if is_visible && outcome_of(document) == outcome {
                files.push(FileOutcome {
                    path: document.id.to_string(),
                    outcome,
                    reason: document.metadata["reason"].as_str().map(str::to_owned),
                });
            }
            files.len() < limit
        })?;
        Ok(files)
    }

    fn each_document(&self, each: impl FnMut(&DocumentInfo) -> bool) -> Result<()> {
        self.each_document_after(None, each)
    }

    /// Shows documents until `each` has enough.
    fn each_document_after(
        &self,
        after: Option<&str>,
        mut each: impl FnMut(&DocumentInfo) -> bool,
    ) -> Result<()> {
        let after = after.map(DocumentId::new);
        let mut page = DocumentPage { prefix: String::new(), after, limit: LIST_PAGE };
        loop {
            let documents = self.config().store.documents(self.namespace(), &page)?;
            let Some(last) = documents.last() else { return Ok(()) };
            page.after = Some(last.id.clone());
            if !documents.iter().all(&mut each) {
                return Ok(());
            }
        }
    }
}

/// Gives what became of a file; what an earlier version wrote says it by its passages.
pub(crate) fn outcome_of(document: &DocumentInfo) -> ReadOutcome {
    let stored = match document.attributes.get(attribute::OUTCOME) {
        Some(AttributeValue::Keyword(code)) => code.parse().ok(),
        _ => None,
    };
    stored.unwrap_or(match document.n_passages {
        0 => ReadOutcome::NoText,
        _ => ReadOutcome::Indexed,
    })
}

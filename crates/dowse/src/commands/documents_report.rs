//! What `dowse status` says of the documents in knowledge bases: how many there are, and which of
//! them have no text that can be found, each with the reason.

use anyhow::Context;
use knowledge::{Document, DocumentState, Service};
use model::Caller;
use serde::{Deserialize, Serialize};

/// Documents that are looked at, so that the answer comes at once.
const MAX_LOOKED_AT: usize = 50_000;

/// Documents that are read at a time.
const DOCUMENTS_PER_PAGE: usize = 500;

/// The documents of all knowledge bases of this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DocumentsReport {
    indexed: usize,
    /// Uploads whose text cannot be found yet.
    waiting: usize,
    /// Uploads without text.
    failed: usize,
    /// Whether there are more than were looked at.
    is_cut: bool,
    /// Uploads without text, each with the reason, where they are asked for; also where a document
    /// kept what it said before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing: Vec<MissingDocument>,
}

/// A document of which nothing could be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct MissingDocument {
    knowledge_base: String,
    collection: String,
    document: String,
    reason: String,
}

/// Looks at the documents; lists those without text when they are asked for.
pub(super) fn look(knowledge: &Service, is_listed: bool) -> anyhow::Result<DocumentsReport> {
    let caller = Caller::local_admin();
    let mut report = DocumentsReport::default();
    for base in knowledge.list_bases(&caller)? {
        for collection in knowledge.list_collections(&caller, &base.id)? {
            let mut after: Option<String> = None;
            loop {
                let id = &collection.id;
                let page =
                    knowledge.list_documents(&caller, id, after.as_deref(), DOCUMENTS_PER_PAGE);
                let page = page.context("the documents of a collection cannot be listed")?;
                let Some(last) = page.last() else { break };
                after = Some(last.id.to_string());
                for document in &page {
                    report.add(document);
                    if let Some(reason) = document.error.as_ref().filter(|_| is_listed) {
                        report.missing.push(MissingDocument {
                            knowledge_base: base.name.clone(),
                            collection: collection.name.clone(),
                            document: document.title.clone(),
                            reason: reason.clone(),
                        });
                    }
                }
                if report.n_looked_at() >= MAX_LOOKED_AT {
                    report.is_cut = true;
                    return Ok(report);
                }
            }
        }
    }
    Ok(report)
}

impl DocumentsReport {
    fn add(&mut self, document: &Document) {
        match document.state {
            DocumentState::Ready | DocumentState::Replacing => self.indexed += 1,
            DocumentState::Pending => self.waiting += 1,
            DocumentState::Failed => self.failed += 1,
        }
    }

    fn n_looked_at(&self) -> usize {
        self.indexed + self.waiting + self.failed
    }

    /// Says it in a line.
    pub(super) fn in_words(&self) -> String {
        let mut words = vec![format!("{} indexed", self.indexed)];
        if self.waiting > 0 {
            words.push(format!("{} waiting", self.waiting));
        }
        match self.failed {
            0 if self.waiting == 0 => words.push("nothing missing".to_owned()),
            0 => {}
            n_failed => words.push(format!("without text: {n_failed} failed")),
        }
        let mut said = words.join(", ");
        if self.is_cut {
            said.push_str(&format!(" of the first {}", self.n_looked_at()));
        }
        said
    }

    /// Says of each document without text why it has none.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.missing.iter().map(
            |MissingDocument { knowledge_base, collection, document, reason }| {
                format!("failed: {knowledge_base} / {collection} / {document}: {reason}")
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said() {
        let check = |indexed, waiting, failed, is_cut, expected: &str| {
            let report = DocumentsReport { indexed, waiting, failed, is_cut, missing: vec![] };
            assert_eq!(report.in_words(), expected);
        };
        check(3, 0, 0, false, "3 indexed, nothing missing");
        check(3, 0, 1, false, "3 indexed, without text: 1 failed");
        check(3, 2, 1, false, "3 indexed, 2 waiting, without text: 1 failed");
        check(0, 2, 0, false, "0 indexed, 2 waiting");
        check(50_000, 0, 0, true, "50000 indexed, nothing missing of the first 50000");
    }
}

//! What a namespace had before a run, asked for once, and what the run has come by.
//!
//! Only hashes are held, 24 bytes for a document, so that a source of millions of documents fits
//! into memory. The hash is keyed anew for each run, so nobody can prepare two ids that share one.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use model::{DocumentId, NamespaceId};
use parking_lot::Mutex;
use store::{DocumentPage, PassageStore};

use crate::{Result, limits};

/// The documents that a source answers for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Ids begin so.
    pub prefix: String,
    /// But not so: these belong to another source.
    pub except: Vec<String>,
}

impl Scope {
    /// Everything in the namespace.
    pub fn everything() -> Self {
        Scope::default()
    }

    /// Documents whose ids begin so.
    pub fn prefix(prefix: impl Into<String>) -> Self {
        Scope { prefix: prefix.into(), except: vec![] }
    }

    /// Tells whether the source answers for a document.
    pub fn holds(&self, document: &DocumentId) -> bool {
        let id = document.as_str();
        id.starts_with(&self.prefix) && !self.except.iter().any(|other| id.starts_with(other))
    }
}

/// The documents of a scope before a run.
pub(super) struct Known {
    hasher: RandomState,
    before: HashMap<u64, Before>,
    seen: Mutex<HashSet<u64>>,
}

#[derive(Clone, Copy)]
struct Before {
    fingerprint: u64,
    n_passages: usize,
}

/// What left the namespace since the source has it no more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Removed {
    pub(super) n_documents: usize,
    pub(super) n_passages: usize,
}

impl Known {
    /// Asks the store, once.
    pub(super) fn load(
        store: &dyn PassageStore,
        namespace: &NamespaceId,
        scope: Option<&Scope>,
    ) -> Result<Self> {
        let hasher = RandomState::new();
        let mut before = HashMap::new();
        if let Some(scope) = scope {
            let fingerprints = store.fingerprints(namespace, &scope.prefix)?;
            for found in fingerprints.iter().filter(|found| scope.holds(&found.id)) {
                let fingerprint = hasher.hash_one(&found.fingerprint);
                let n_passages = found.n_passages;
                before.insert(hasher.hash_one(&found.id), Before { fingerprint, n_passages });
            }
        }
        Ok(Known { hasher, before, seen: Mutex::default() })
    }

    /// Notes that the source has a document.
    pub(super) fn see(&self, document: &DocumentId) {
        self.seen.lock().insert(self.hasher.hash_one(document));
    }

    /// Takes that back: the document is left out.
    pub(super) fn unsee(&self, document: &DocumentId) {
        self.seen.lock().remove(&self.hasher.hash_one(document));
    }

    /// Gives the passages of a document, if there was one.
    pub(super) fn n_passages(&self, document: &DocumentId) -> Option<usize> {
        self.before.get(&self.hasher.hash_one(document)).map(|before| before.n_passages)
    }

    /// Gives the passages of a document that has this fingerprint already.
    pub(super) fn unchanged(&self, document: &DocumentId, fingerprint: &str) -> Option<usize> {
        let before = self.before.get(&self.hasher.hash_one(document))?;
        let is_equal =
            !fingerprint.is_empty() && before.fingerprint == self.hasher.hash_one(fingerprint);
        is_equal.then_some(before.n_passages)
    }

    /// Removes the documents of a scope that the source did not give.
    pub(super) fn remove_unseen(
        &self,
        store: &dyn PassageStore,
        namespace: &NamespaceId,
        scope: &Scope,
    ) -> Result<Removed> {
        let seen = self.seen.lock();
        let mut removed = Removed::default();
        if self.before.keys().all(|id| seen.contains(id)) {
            return Ok(removed);
        }
        let (prefix, limit) = (scope.prefix.clone(), limits::DOCUMENTS_PER_PAGE);
        let mut page = DocumentPage { prefix, after: None, limit };
        loop {
            let documents = store.documents(namespace, &page)?;
            let Some(last) = documents.last() else { return Ok(removed) };
            page.after = Some(last.id.clone());
            let mut gone: Vec<DocumentId> = vec![];
            for document in documents {
                let hash = self.hasher.hash_one(&document.id);
                // Whoever wrote a document since the run began knows better.
                if scope.holds(&document.id)
                    && self.before.contains_key(&hash)
                    && !seen.contains(&hash)
                {
                    removed.n_passages += document.n_passages;
                    gone.push(document.id);
                }
            }
            if !gone.is_empty() {
                removed.n_documents += store.delete(namespace, &gone)?;
            }
        }
    }
}

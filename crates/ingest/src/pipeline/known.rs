//! What a namespace had before a run, asked for once, and what the run has come by.
//!
//! Only hashes are held, 24 bytes for a document, so that a source of millions of documents fits
//! into memory. The hash is keyed anew for each run, so nobody can prepare two ids that share one.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use model::{DocumentId, NamespaceId};
use parking_lot::Mutex;
use store::{DocumentPage, Store};

use super::Scope;
use super::scope::Part;
use crate::{Result, limits};

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
    /// Asks the store, once for each part of the scope.
    pub(super) fn load(
        store: &Store,
        namespace: &NamespaceId,
        scope: Option<&Scope>,
    ) -> Result<Self> {
        let hasher = RandomState::new();
        let mut before = HashMap::new();
        let mut add = |id: &DocumentId, fingerprint: &str, n_passages: usize| {
            let fingerprint = hasher.hash_one(fingerprint);
            before.insert(hasher.hash_one(id), Before { fingerprint, n_passages });
        };
        let parts = scope.map(|scope| scope.parts.as_slice()).unwrap_or_default();
        for part in parts {
            match part {
                Part::Prefix(prefix) => {
                    for found in store.fingerprints(namespace, prefix)? {
                        if scope.is_some_and(|scope| scope.holds(&found.id)) {
                            add(&found.id, &found.fingerprint, found.n_passages);
                        }
                    }
                }
                Part::One(id) => {
                    if let Some(found) = store.document(namespace, id)? {
                        add(id, &found.fingerprint, found.n_passages);
                    }
                }
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

    /// Tells whether the source has given every document that there was.
    pub(super) fn has_all(&self) -> bool {
        let seen = self.seen.lock();
        self.before.keys().all(|id| seen.contains(id))
    }

    /// Removes the documents of a scope that the source did not give.
    pub(super) fn remove_unseen(
        &self,
        store: &Store,
        namespace: &NamespaceId,
        scope: &Scope,
    ) -> Result<Removed> {
        let mut removed = Removed::default();
        if self.has_all() {
            return Ok(removed);
        }
        for part in &scope.parts {
            let part_removed = match part {
                Part::Prefix(prefix) => self.remove_below(store, namespace, scope, prefix)?,
                Part::One(id) => self.remove_one(store, namespace, id)?,
            };
            removed.n_documents += part_removed.n_documents;
            removed.n_passages += part_removed.n_passages;
        }
        Ok(removed)
    }

    fn remove_below(
        &self,
        store: &Store,
        namespace: &NamespaceId,
        scope: &Scope,
        prefix: &str,
    ) -> Result<Removed> {
        let mut removed = Removed::default();
        let (prefix, limit) = (prefix.to_owned(), limits::DOCUMENTS_PER_PAGE);
        let mut page = DocumentPage { prefix, after: None, limit };
        loop {
            let documents = store.documents(namespace, &page)?;
            let Some(last) = documents.last() else { return Ok(removed) };
            page.after = Some(last.id.clone());
            let mut gone: Vec<DocumentId> = vec![];
            for document in documents {
                if scope.holds(&document.id) && self.is_gone(&document.id) {
                    removed.n_passages += document.n_passages;
                    gone.push(document.id);
                }
            }
            if !gone.is_empty() {
                removed.n_documents += store.delete(namespace, &gone)?;
            }
        }
    }

    fn remove_one(
        &self,
        store: &Store,
        namespace: &NamespaceId,
        id: &DocumentId,
    ) -> Result<Removed> {
        if !self.is_gone(id) {
            return Ok(Removed::default());
        }
        let n_passages = self.n_passages(id).unwrap_or_default();
        let n_documents = store.delete(namespace, std::slice::from_ref(id))?;
        Ok(Removed { n_documents, n_passages })
    }

    /// Whoever wrote a document since the run began knows better, so only what was there before
    /// can be gone.
    fn is_gone(&self, id: &DocumentId) -> bool {
        let hash = self.hasher.hash_one(id);
        self.before.contains_key(&hash) && !self.seen.lock().contains(&hash)
    }
}

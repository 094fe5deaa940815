//! What a namespace had before a run, asked for once, and what the run has come by.
//!
//! Only hashes are held, 24 bytes for a document, so that a source of millions of documents fits
//! into memory. The hash is keyed anew for each run, so nobody can prepare two ids that share one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use model::{DocumentId, NamespaceId};
use parking_lot::Mutex;
use store::{DocumentPage, Store};

use super::scope::ScopePart;
use super::{Hooks, Scope, Target};
use crate::{Item, Result, limits};

/// The documents of a scope before a run.
pub(super) struct KnownDocuments {
    hasher: RandomState,
    before: HashMap<u64, Before>,
    /// The prefixes of the scope below which nothing was, so that nothing can be gone there.
    empty: HashSet<String>,
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

impl KnownDocuments {
    /// Asks the store: once for all single documents, and once for each prefix. What is a document
    /// has nothing below it, so that of a thousand changed files, each of which might have been a
    /// folder, only those that are new are asked about one by one.
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
        let mut single = vec![];
        let mut prefixes = vec![];
        for part in parts {
            match part {
                ScopePart::One(id) => single.push(id.clone()),
                ScopePart::Prefix(prefix) => prefixes.push(prefix),
            }
        }
        let mut empty = HashSet::new();
        if !single.is_empty() {
            for found in store.documents_by_id(namespace, &single)?.into_iter().flatten() {
                add(&found.id, &found.fingerprint, found.n_passages);
                empty.insert(format!("{}/", found.id));
            }
        }
        for prefix in prefixes {
            if empty.contains(prefix) {
                continue;
            }
            let below = store.fingerprints(namespace, prefix)?;
            if below.is_empty() {
                empty.insert(prefix.clone());
            }
            for found in below {
                if scope.is_some_and(|scope| scope.holds(&found.id)) {
                    add(&found.id, &found.fingerprint, found.n_passages);
                }
            }
        }
        Ok(KnownDocuments { hasher, before, empty, seen: Mutex::default() })
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

    /// Gives the passages of an item's document where the item has not changed.
    pub(super) fn unchanged_item(&self, item: &Item) -> Option<usize> {
        let earlier = item.earlier_fingerprint.as_deref();
        self.unchanged(&item.id, &item.fingerprint)
            .or_else(|| self.unchanged(&item.id, earlier.unwrap_or_default()))
    }

    /// Tells whether the source has given every document that there was.
    pub(super) fn has_all(&self) -> bool {
        let seen = self.seen.lock();
        self.before.keys().all(|id| seen.contains(id))
    }

    /// Counts the documents that the source has not given.
    pub(super) fn n_unseen(&self) -> usize {
        let seen = self.seen.lock();
        self.before.keys().filter(|id| !seen.contains(id)).count()
    }

    /// Takes what the source could not look into as given: documents of these ids, and those below
    /// them.
    pub(super) fn see_unread(
        &self,
        store: &Store,
        namespace: &NamespaceId,
        unread: &[String],
    ) -> Result<()> {
        if self.before.is_empty() {
            return Ok(());
        }
        for folder in unread {
            for known in store.fingerprints(namespace, folder)? {
                let below = known.id.as_str().strip_prefix(folder.as_str());
                if below.is_some_and(|below| below.is_empty() || below.starts_with('/')) {
                    self.see(&known.id);
                }
            }
        }
        Ok(())
    }

    /// Removes the documents of a scope that the source did not give.
    pub(super) fn remove_unseen(
        &self,
        target: &Target<'_>,
        scope: &Scope,
        hooks: &dyn Hooks,
    ) -> Result<Removed> {
        let Target { store, namespace } = *target;
        let mut removed = Removed::default();
        self.gone_in(store, namespace, scope, &mut |gone| {
            removed.n_passages += gone.values().sum::<usize>();
            let gone: Vec<DocumentId> = gone.into_keys().collect();
            hooks.removing(target, &gone)?;
            removed.n_documents += store.delete(namespace, &gone)?;
            Ok(())
        })?;
        Ok(removed)
    }

    /// Gives the documents of a scope that the source did not give, with their passages. Those of
    /// all parts come together: a commit waits for the disk, and a folder that was deleted is as
    /// many parts as it had files.
    fn gone_in(
        &self,
        store: &Store,
        namespace: &NamespaceId,
        scope: &Scope,
        take: &mut dyn FnMut(BTreeMap<DocumentId, usize>) -> Result<()>,
    ) -> Result<()> {
        if self.has_all() {
            return Ok(());
        }
        let mut gone = BTreeMap::new();
        for part in &scope.parts {
            let prefix = match part {
                ScopePart::Prefix(prefix) if self.empty.contains(prefix) => continue,
                ScopePart::Prefix(prefix) => prefix.clone(),
                ScopePart::One(id) => {
                    if self.is_gone(id) {
                        gone.insert(id.clone(), self.n_passages(id).unwrap_or_default());
                    }
                    continue;
                }
            };
            let mut page = DocumentPage { prefix, after: None, limit: limits::DOCUMENTS_PER_PAGE };
            loop {
                let documents = store.documents(namespace, &page)?;
                let Some(last) = documents.last() else { break };
                page.after = Some(last.id.clone());
                for document in documents {
                    if scope.holds(&document.id) && self.is_gone(&document.id) {
                        gone.insert(document.id, document.n_passages);
                    }
                }
                if gone.len() >= limits::DOCUMENTS_PER_COMMIT {
                    take(std::mem::take(&mut gone))?;
                }
            }
        }
        if gone.is_empty() { Ok(()) } else { take(gone) }
    }

    /// Whoever wrote a document since the run began knows better, so only what was there before
    /// can be gone.
    fn is_gone(&self, id: &DocumentId) -> bool {
        let hash = self.hasher.hash_one(id);
        self.before.contains_key(&hash) && !self.seen.lock().contains(&hash)
    }
}

#[cfg(test)]
mod tests {
    use model::{Attributes, Clock, Timestamp};
    use store::{Config, Document, Manifest};

    use super::*;
    use crate::pipeline::Cut;

    fn document(id: &DocumentId) -> Document {
        Document {
            id: id.clone(),
            title: String::new(),
            attributes: Attributes::new(),
            metadata: serde_json::Value::Null,
            fingerprint: "one".to_owned(),
            passages: vec![],
        }
    }

    /// A path may have been a file or a folder: a file that became a folder and a folder that
    /// became a file lose what they were, and files beside them are known by one question.
    #[test]
    fn a_path_is_a_document_or_has_documents_below_it() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::fixed(Timestamp(0));
        let store = Store::open(folder.path(), &Config::for_one_machine(), clock).unwrap();
        let namespace = NamespaceId::new("known");
        store.create_namespace(&namespace, &Manifest::current(None)).unwrap();
        let id = DocumentId::new;
        let before = ["/a/folder/1.md", "/a/folder/2.md", "/a/file", "/a/other"].map(id);
        store.upsert(&namespace, &before.iter().map(document).collect::<Vec<_>>()).unwrap();
        let paths = ["/a/folder", "/a/file", "/a/new"];
        let scope = Scope::of(
            paths.iter().map(|path| id(path)).collect(),
            paths.iter().map(|path| format!("{path}/")).collect(),
        );
        let known = KnownDocuments::load(&store, &namespace, Some(&scope)).unwrap();
        assert_eq!(known.unchanged(&id("/a/file"), "one"), Some(0));
        assert_eq!(known.empty, ["/a/file/", "/a/new/"].map(str::to_owned).into());
        for seen in ["/a/folder", "/a/file/1.md", "/a/new"] {
            known.see(&id(seen));
        }
        let target = Target { store: &store, namespace: &namespace };
        let removed = known.remove_unseen(&target, &scope, &Cut::prose()).unwrap();
        assert_eq!(removed.n_documents, 3);
        let left = store.fingerprints(&namespace, "").unwrap();
        assert_eq!(left.iter().map(|left| left.id.as_str()).collect::<Vec<_>>(), ["/a/other"]);
    }

    /// However a deletion is told, file by file or by their folders, or both, it is one commit.
    #[test]
    fn what_is_gone_leaves_together() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::fixed(Timestamp(0));
        let store = Store::open(folder.path(), &Config::for_one_machine(), clock).unwrap();
        let namespace = NamespaceId::new("known");
        store.create_namespace(&namespace, &Manifest::current(None)).unwrap();
        let id = |n: usize| DocumentId::new(format!("/a/{}/{n}.md", n % 3));
        let documents: Vec<Document> = (0..40).map(|n| document(&id(n))).collect();
        store.upsert(&namespace, &documents).unwrap();
        let files: Vec<DocumentId> = (0..40).map(id).collect();
        let below_files: Vec<String> = files.iter().map(|file| format!("{file}/")).collect();
        let folders: Vec<String> = (0..3).map(|n| format!("/a/{n}/")).collect();
        for scope in [
            Scope::everything(),
            Scope::of(files.clone(), below_files),
            Scope::of(files.clone(), folders.clone()),
            Scope::of(vec![], folders),
        ] {
            let known = KnownDocuments::load(&store, &namespace, Some(&scope)).unwrap();
            known.see(&id(7));
            let mut batches = vec![];
            known
                .gone_in(&store, &namespace, &scope, &mut |gone| {
                    batches.push(gone.len());
                    Ok(())
                })
                .unwrap();
            assert_eq!(batches, [39], "{scope:?}");
        }
    }
}

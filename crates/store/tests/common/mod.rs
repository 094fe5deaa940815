//! What the tests of the embedded store share.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::{Clock, Deadline, NamespaceId, Timestamp};
use store::conformance::{space, vector};
use store::{Access, Bm25, Config, DocumentPage, Filter, Manifest, Store, WordsQuery};

/// Lets no other test of the process run meanwhile: failpoints are the process's, and one that a
/// test arms may be met by another.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn open(folder: &Path) -> Store {
    try_open(folder).unwrap()
}

pub fn try_open(folder: &Path) -> store::Result<Store> {
    let clock = Clock::fixed(Timestamp(1_700_000_000_000));
    Store::open(folder, &Config::for_one_machine(), clock)
}

/// Opens a folder as whoever may not write it does.
pub fn open_to_read(folder: &Path) -> store::Result<Store> {
    let config = Config { access: Access::Read, ..Config::for_one_machine() };
    Store::open(folder, &config, Clock::fixed(Timestamp(1_700_000_000_000)))
}

pub fn namespace() -> NamespaceId {
    NamespaceId::new("crash")
}

pub fn make(store: &Store) {
    store.create_namespace(&namespace(), &Manifest::current(Some(space()))).unwrap();
}

/// Gives the passages that hold a word.
pub fn holding(store: &Store, word: &str) -> BTreeSet<String> {
    let query = WordsQuery::from_text(word, Bm25::PASSAGES, 1.0, 0.0);
    let deadline = Deadline::after(Duration::from_secs(60));
    let found = store.by_words(&namespace(), &query, &Filter::All, 5_000, &deadline).unwrap();
    let ids: BTreeSet<String> = found.hits.iter().map(|hit| hit.passage.to_string()).collect();
    assert_eq!(ids.len(), found.hits.len(), "nothing is doubled");
    ids
}

/// Gives all passages that have a vector, nearest first.
pub fn near(store: &Store) -> Vec<String> {
    let deadline = Deadline::after(Duration::from_secs(60));
    let found =
        store.by_vector(&namespace(), &vector(3, 0.3), &Filter::All, 5_000, &deadline).unwrap();
    found.hits.iter().map(|hit| hit.passage.to_string()).collect()
}

/// Checks that the indexes say what the catalogue says, and what indexes made anew would say.
pub fn check_whole(store: &Store) {
    let namespace = namespace();
    let page = DocumentPage { limit: 10_000, ..DocumentPage::default() };
    let mut passages = BTreeSet::new();
    for document in store.documents(&namespace, &page).unwrap() {
        let kept = store.passages_of(&namespace, &document.id).unwrap();
        assert_eq!(kept.len(), document.n_passages);
        passages.extend(kept.into_iter().map(|passage| passage.id.to_string()));
    }
    assert_eq!(holding(store, "common"), passages);
    let counts = store.counts(&namespace).unwrap();
    assert_eq!(counts.n_passages, passages.len());
    let nearest = near(store);
    assert_eq!(counts.n_vectors, nearest.len());
    assert_eq!(store.check(store::Repair::No).unwrap(), []);
    store.rebuild(&namespace).unwrap();
    assert_eq!(holding(store, "common"), passages, "words equal a rebuild");
    assert_eq!(near(store), nearest, "vectors equal a rebuild");
}

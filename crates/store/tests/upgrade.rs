//! A data folder of the version before this format opens without loss.
//!
//! - documents, passages, vectors, blobs and objects are those that the earlier file has;
//! - words and vectors are found at once, with the indexes that are there, words also while those
//!   of an earlier analyser are made anew;
//! - the process may be killed at any moment of the upgrade;
//! - the upgraded catalogue is smaller, and a check finds nothing wrong.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{alone, try_open};
use model::{Deadline, DocumentId, NamespaceId};
use store::failpoint::{self, Failure};
use store::{Bm25, Filter, Repair, Store, WordsQuery};

const FOLDER: &str = "DOWSE_TEST_UPGRADE_FOLDER";
const FAILPOINT: &str = "DOWSE_TEST_UPGRADE_FAILPOINT";

/// Unpacks the folder of the earlier version and gives where its store is.
fn unpack(into: &Path) -> PathBuf {
    let archive =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/folder-1/folder.tar.gz");
    let status = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(into).status().unwrap();
    assert!(status.success());
    into.join("data/store")
}

/// What the earlier version had, read with SQL of its format.
#[derive(Debug, PartialEq)]
struct Earlier {
    /// Namespace, document, passage and text.
    passages: Vec<(String, String, String, String)>,
    /// Namespace and passage of each vector.
    vectors: Vec<(String, String)>,
    /// How many objects of each kind.
    objects: BTreeMap<String, usize>,
    bodies: Vec<String>,
    n_blobs: usize,
}

fn read_earlier(store: &Path) -> Earlier {
    let copy = tempfile::tempdir().unwrap();
    for name in ["catalogue.sqlite", "catalogue.sqlite-wal"] {
        fs_err::copy(store.join(name), copy.path().join(name)).unwrap();
    }
    let connection = rusqlite::Connection::open(copy.path().join("catalogue.sqlite")).unwrap();
    let format: u32 = connection.pragma_query_value(None, "user_version", |it| it.get(0)).unwrap();
    assert_eq!(format, 1, "the fixture is of the earlier format");
    let joined = "FROM passages JOIN documents ON documents.row = passages.document
         JOIN namespaces ON namespaces.number = documents.namespace";
    let rows = |sql: &str| -> Vec<Vec<String>> {
        let mut statement = connection.prepare(sql).unwrap();
        let n_columns = statement.column_count();
        let found = statement.query_map([], |row| (0..n_columns).map(|at| row.get(at)).collect());
        found.unwrap().map(Result::unwrap).collect()
    };
    let passages = rows(&format!(
        "SELECT namespaces.id, documents.id, passages.id, text {joined} ORDER BY 1, 2, passages.row"
    ));
    let vectors = rows(&format!(
        "SELECT namespaces.id, passages.id {joined} JOIN vectors ON vectors.row = passages.row
         ORDER BY 1, 2"
    ));
    let mut objects = BTreeMap::new();
    for kind in rows("SELECT kind FROM objects") {
        *objects.entry(kind[0].clone()).or_insert(0) += 1;
    }
    Earlier {
        passages: passages
            .into_iter()
            .map(|row| (row[0].clone(), row[1].clone(), row[2].clone(), row[3].clone()))
            .collect(),
        vectors: vectors.into_iter().map(|row| (row[0].clone(), row[1].clone())).collect(),
        objects,
        bodies: rows("SELECT kind || id || body FROM objects ORDER BY kind, id")
            .into_iter()
            .map(|row| row[0].clone())
            .collect(),
        n_blobs: rows("SELECT 'x' FROM blobs").len(),
    }
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

/// Checks that every passage is found by a word of it.
fn check_words(store: &Store, earlier: &Earlier) {
    for (namespace, document, passage, text) in &earlier.passages {
        let word = text.split(|char: char| !char.is_alphabetic()).find(|word| word.len() > 3);
        let query = WordsQuery::from_text(word.unwrap(), Bm25::PASSAGES, 1.0, 0.0);
        let namespace = NamespaceId::new(namespace);
        let only = Filter::Documents(vec![DocumentId::new(document)]);
        let found = store.by_words(&namespace, &query, &only, 1_000, &soon()).unwrap();
        assert!(found.hits.iter().any(|hit| hit.passage.as_str() == passage), "{passage}");
    }
}

/// Checks that a store has everything of the earlier version.
fn check_whole(store: &Store, earlier: &Earlier) {
    let mut passages = vec![];
    let mut vectors = vec![];
    let mut n_blobs = 0;
    for info in store.namespaces().unwrap() {
        let namespace = info.id;
        for id in store.fingerprints(&namespace, "").unwrap().into_iter().map(|it| it.id) {
            for passage in store.passages_of(&namespace, &id).unwrap() {
                let blobs = store.blobs(&namespace, std::slice::from_ref(&passage.id)).unwrap();
                n_blobs += blobs.iter().flatten().count();
                passages.push((
                    namespace.to_string(),
                    id.to_string(),
                    passage.id.to_string(),
                    passage.text,
                ));
            }
        }
        let state = store.catalogue().namespace(&namespace).unwrap().unwrap();
        let found = store.catalogue().vectors(state.number, 0..u32::MAX, 10_000).unwrap();
        assert_eq!(found.len(), state.counts.n_vectors);
        let numbers: Vec<u32> = found.iter().map(|(number, _)| *number).collect();
        for name in store.catalogue().names(state.number, &numbers).unwrap() {
            vectors.push((namespace.to_string(), name.unwrap().1.to_string()));
        }
        if let Some((_, vector)) = found.first() {
            let near = store.by_vector(&namespace, vector, &Filter::All, 100, &soon()).unwrap();
            assert_eq!(near.hits.len(), found.len(), "every vector is found");
            assert!(near.hits[0].score > 0.98);
        }
    }
    vectors.sort();
    assert_eq!(passages, earlier.passages);
    assert_eq!(vectors, earlier.vectors);
    assert_eq!(n_blobs, earlier.n_blobs);
    check_words(store, earlier);
    let objects = store.objects();
    for (kind, n_objects) in &earlier.objects {
        let listed = objects.list(&store::ObjectPage::of(kind)).unwrap();
        assert_eq!(listed.len(), *n_objects, "{kind}");
        for object in listed {
            let body = format!("{}{}{}", object.key.kind, object.key.id, object.body);
            let is_there = earlier.bodies.iter().any(|earlier| {
                let prefix = format!("{}{}", object.key.kind, object.key.id);
                let json = earlier.strip_prefix(&prefix);
                json.is_some_and(|json| {
                    serde_json::from_str::<serde_json::Value>(json).unwrap() == object.body
                })
            });
            assert!(is_there, "{body}");
        }
    }
    assert_eq!(store.check(Repair::No).unwrap(), []);
}

#[test]
fn a_folder_of_the_earlier_version_opens_without_loss() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = unpack(folder.path());
    let earlier = read_earlier(&path);
    assert!(earlier.passages.len() >= 25 && earlier.vectors.len() >= 5 && earlier.n_blobs > 0);
    assert!(earlier.objects["job"] > 10 && earlier.objects.len() >= 9, "{:?}", earlier.objects);
    let store = try_open(&path).unwrap();
    check_whole(&store, &earlier);
    drop(store);
    check_whole(&try_open(&path).unwrap(), &earlier);
}

#[test]
fn words_answer_while_indexes_are_made_anew() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = unpack(folder.path());
    let earlier = read_earlier(&path);
    let rebuild = failpoint::Hold::at(failpoint::REBUILD);
    let store = try_open(&path).unwrap();
    check_words(&store, &earlier);
    assert!(rebuild.is_reached(), "the indexes of the earlier analyser are made anew");
    check_words(&store, &earlier);
    drop(rebuild);
    check_whole(&store, &earlier);
}

#[test]
fn a_kill_at_every_step_of_the_upgrade_leaves_a_folder_that_opens() {
    let _alone = alone();
    for name in failpoint::UPGRADE {
        let folder = tempfile::tempdir().unwrap();
        let path = unpack(folder.path());
        let earlier = read_earlier(&path);
        let status = child(&path).env(FAILPOINT, name).status().unwrap();
        assert!(!status.success(), "the child dies at `{name}`");
        assert_eq!(read_earlier(&path), earlier, "nothing of the upgrade is there");
        check_whole(&try_open(&path).unwrap(), &earlier);
    }
}

#[test]
fn a_kill_at_any_moment_leaves_a_folder_that_opens() {
    let _alone = alone();
    for round in 0..6 {
        let folder = tempfile::tempdir().unwrap();
        let path = unpack(folder.path());
        let earlier = read_earlier(&path);
        let mut process = child(&path).spawn().unwrap();
        // The moment differs from round to round and from machine to machine: any will do.
        for _ in 0..round * round * 400_000 {
            std::hint::spin_loop();
        }
        process.kill().unwrap();
        process.wait().unwrap();
        check_whole(&try_open(&path).unwrap(), &earlier);
    }
}

fn child(store: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["child_that_upgrades", "--exact", "--nocapture"])
        .env(FOLDER, store)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[test]
fn child_that_upgrades() {
    let _alone = alone();
    let Ok(folder) = std::env::var(FOLDER) else { return };
    if let Ok(name) = std::env::var(FAILPOINT) {
        failpoint::arm(&name, 0, Failure::Abort);
    }
    drop(try_open(Path::new(&folder)).unwrap());
}

//! A folder written by each format version still opens and answers.
//!
//! `tests/fixtures/format-1` was written by the first version of the format. With the variable
//! `DOWSE_WRITE_FORMAT_FIXTURE` set, the test writes the fixture of the present format first.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::path::{Path, PathBuf};

use common::{check_whole, holding, namespace, near, open};
use model::{DocumentId, PassageId};
use store::conformance::{document, vector};
use store::{Error, FORMAT, Manifest};

fn fixture(format: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/format-{format}"))
}

fn write_fixture(folder: &Path) {
    let _ = fs_err::remove_dir_all(folder);
    let store = open(folder);
    common::make(&store);
    let namespace = namespace();
    let mut notes = document("notes", &["common castle above the river", "common tram"]);
    notes.title = "Lisbon".to_owned();
    notes.attributes.insert("year".to_owned(), 2021.into());
    notes.metadata = serde_json::json!({"size": 2});
    store.upsert(&namespace, &[notes, document("gone", &["common gone"])]).unwrap();
    store.upsert(&namespace, &[document("other", &["common other"])]).unwrap();
    store.delete(&namespace, &[DocumentId::new("gone")]).unwrap();
    let vectors =
        [(PassageId::new("notes#0"), vector(3, 0.1)), (PassageId::new("other#0"), vector(6, 0.1))];
    store.set_vectors(&namespace, &vectors).unwrap();
    store.set_blobs(&namespace, &[(PassageId::new("notes#1"), vec![7, 8])]).unwrap();
    store.maintain().unwrap();
    drop(store);
    for name in ["lock", "catalogue.sqlite-wal", "catalogue.sqlite-shm"] {
        let _ = fs_err::remove_file(folder.join(name));
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs_err::create_dir_all(to).unwrap();
    for entry in fs_err::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs_err::copy(&path, &target).unwrap();
        }
    }
}

#[test]
fn every_format_still_opens() {
    if std::env::var_os("DOWSE_WRITE_FORMAT_FIXTURE").is_some() {
        write_fixture(&fixture(FORMAT));
    }
    for format in 1..=FORMAT {
        let folder = tempfile::tempdir().unwrap();
        copy_folder(&fixture(format), folder.path());
        let store = open(folder.path());
        let namespace = namespace();
        let notes = store.document(&namespace, &DocumentId::new("notes")).unwrap().unwrap();
        assert_eq!((notes.title.as_str(), notes.n_passages), ("Lisbon", 2));
        assert_eq!(notes.metadata, serde_json::json!({"size": 2}));
        let blobs = store.blobs(&namespace, &[PassageId::new("notes#1")]).unwrap();
        assert_eq!(blobs, [Some(vec![7, 8])]);
        let info = store.namespace(&namespace).unwrap().unwrap();
        if info.manifest != Manifest::current(info.manifest.vectors.clone()) {
            // The analyser has changed since: the store says so, and indexes anew when asked.
            let terms = store.term_statistics(&namespace, &[]);
            assert!(matches!(terms, Err(Error::ManifestMismatch { .. })));
            store.reindex(&namespace).unwrap();
        }
        assert_eq!(holding(&store, "castle"), ["notes#0".to_owned()].into());
        assert_eq!(holding(&store, "gone"), [].into());
        assert_eq!(near(&store), ["notes#0", "other#0"]);
        check_whole(&store);
    }
}

//! What was erased is gone from the disk, and its room with it:
//!
//! - a dropped namespace leaves none of its text in the catalogue's files;
//! - deleted objects leave nothing once the catalogue was told to forget them.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::path::Path;

use common::{make, namespace, open};
use model::TenantId;
use serde_json::json;
use store::conformance::document;
use store::{Change, Object, ObjectKey, PassageStore};

/// Stands in everything that is erased.
const SECRET: &str = "the combination is seven four nine";

/// More pages than one round gives back.
const N_ROWS: usize = 100;

/// Counts the bytes of the catalogue's files, none of which may hold the secret.
fn clean_bytes(folder: &Path) -> usize {
    let mut n_bytes = 0;
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("catalogue.sqlite") {
            let bytes = fs_err::read(&path).unwrap();
            let is_there = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
            assert!(!is_there, "`{}` still holds it", path.display());
            n_bytes += bytes.len();
        }
    }
    n_bytes
}

fn long_text() -> String {
    format!("{SECRET} ").repeat(6_000)
}

#[test]
fn a_dropped_namespace_leaves_nothing_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    make(&store);
    for number in 0..10 {
        let text = long_text();
        store.upsert(&namespace(), &[document(&number.to_string(), &[&text])]).unwrap();
    }
    store.drop_namespace(&namespace()).unwrap();
    assert!(clean_bytes(folder.path()) < 500_000);
}

#[test]
fn deleted_objects_leave_nothing_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let catalogue = store.catalogue();
    let key = |number: usize| ObjectKey::new("note", number.to_string());
    for number in 0..N_ROWS {
        let object = Object {
            key: key(number),
            tenant: TenantId::new("acme"),
            parent: None,
            lookups: vec![],
            body: json!(long_text()),
            version: 0,
        };
        catalogue.apply(&[Change::Put(object)]).unwrap();
    }
    for number in 0..N_ROWS {
        catalogue.apply(&[Change::Delete(key(number))]).unwrap();
    }
    catalogue.forget_erased().unwrap();
    assert!(clean_bytes(folder.path()) < 500_000);
}

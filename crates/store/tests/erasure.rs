//! What was erased leaves the disk: after [`Store::forget_erased`] and after
//! [`Store::maintain`] no file holds a word or a vector of it, byte by byte, and what stays
//! is still found. Its room is given back with it.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::{holding, make, namespace, near, open};
use model::{DocumentId, PassageId, TenantId};
use serde_json::json;
use store::conformance::{document, vector};
use store::{Change, Object, ObjectKey, Store};

/// A word of what is erased.
const WORD: &str = "qzxuvorak";

/// Counts the places under a folder where bytes are.
fn n_places(folder: &Path, bytes: &[u8]) -> usize {
    let entries = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| {
            if path.is_dir() {
                return n_places(&path, bytes);
            }
            let content = fs_err::read(&path).unwrap_or_default();
            content.windows(bytes.len()).filter(|window| *window == bytes).count()
        })
        .sum()
}

/// A vector of what is erased.
const VECTOR: [f32; 8] = [1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0, -1.0];

/// The eight bits for each dimension that the vector file keeps of it.
const CODES: [i8; 8] = [127, -127, 127, 127, -127, 127, -127, -127];

fn filled(folder: &Path) -> Store {
    let store = open(folder);
    make(&store);
    let long = format!("common {WORD} sentence ").repeat(300);
    // A text that is short and alone is stored as it is, so that it can be looked for.
    let short = document("goes-too", &[WORD]);
    let documents = [document("stays", &["common stays"]), document("goes", &[&long, WORD]), short];
    store.upsert(&namespace(), &documents).unwrap();
    let vectors =
        [(PassageId::new("stays#0"), vector(2, 0.0)), (PassageId::new("goes#0"), VECTOR.to_vec())];
    store.set_vectors(&namespace(), &vectors).unwrap();
    let in_catalogue =
        n_places(folder, WORD.as_bytes()) - n_places(&folder.join("namespaces"), WORD.as_bytes());
    assert!(in_catalogue > 0);
    assert!(n_places(folder, &CODES.map(|code| code as u8)) > 0);
    store
}

#[track_caller]
fn check_gone(folder: &Path, store: &Store) {
    assert_eq!(n_places(folder, WORD.as_bytes()), 0);
    assert_eq!(n_places(folder, &CODES.map(|code| code as u8)), 0);
    assert_eq!(holding(store, "common"), BTreeSet::from(["stays#0".to_owned()]));
    assert_eq!(near(store), ["stays#0"]);
}

#[test]
fn an_erased_document_leaves_the_disk_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    store.delete(&namespace(), &["goes", "goes-too"].map(DocumentId::new)).unwrap();
    store.forget_erased(&[namespace()]).unwrap();
    check_gone(folder.path(), &store);
    drop(store);
    check_gone(folder.path(), &open(folder.path()));
}

#[test]
fn a_round_of_maintenance_does_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    store.delete(&namespace(), &["goes", "goes-too"].map(DocumentId::new)).unwrap();
    store.maintain().unwrap();
    check_gone(folder.path(), &store);
}

#[test]
fn an_erased_object_leaves_the_disk_though_others_take_its_pages() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let catalogue = store.catalogue();
    let put = |id: &str, text: &str| {
        let object = Object {
            key: ObjectKey::new("note", id),
            tenant: TenantId::new("acme"),
            parent: None,
            body: json!({ "text": text }),
            lookups: vec![],
            version: 0,
        };
        catalogue.apply(&[Change::Put(object)]).unwrap();
    };
    put("goes", &format!("{WORD} ").repeat(40_000));
    catalogue.apply(&[Change::Delete(ObjectKey::new("note", "goes"))]).unwrap();
    // Shorter texts take pages of the erased one over and do not fill their last page.
    (0..20).for_each(|at| put(&format!("stays-{at}"), &"other ".repeat(900)));
    store.forget_erased(&[]).unwrap();
    assert_eq!(n_places(folder.path(), WORD.as_bytes()), 0);
}

/// Is in everything that is erased.
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
    store.forget_erased(&[]).unwrap();
    assert!(clean_bytes(folder.path()) < 500_000);
}

/// Whoever erased waited for readers with the one connection that writes in its hand: beside a backup
/// or a check of a large catalogue every write took ten seconds more.
#[test]
fn a_reader_that_takes_long_holds_no_writer_up() {
    const N_WRITES: usize = 300;
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    let reader = rusqlite::Connection::open(folder.path().join("catalogue.sqlite")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM objects").unwrap();
    store.delete(&namespace(), &[DocumentId::new("goes")]).unwrap();
    let mut n_written = 0;
    std::thread::scope(|scope| {
        let erasing = scope.spawn(|| store.forget_erased(&[namespace()]).unwrap());
        while !erasing.is_finished() {
            let row = Object {
                key: ObjectKey::new("row", n_written.to_string()),
                tenant: TenantId::local(),
                parent: None,
                lookups: vec![],
                body: json!({}),
                version: 0,
            };
            store.objects().apply(&[Change::Put(row)]).unwrap();
            n_written += 1;
            if n_written == N_WRITES {
                reader.execute_batch("COMMIT").unwrap();
            }
        }
    });
    assert!(n_written >= N_WRITES, "only {n_written} writes came between");
}

//! A bit that changed on the disk is noticed, or changes nothing that anybody reads.
//!
//! - after any flip, either opening or a check says that the catalogue is damaged, or everything
//!   that was stored reads back as it was;
//! - an index that differs from its table is noticed when the catalogue is opened;
//! - what is found while the store is open stops reads and writes, and the health says so, whether
//!   a read or a check found it.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::path::Path;

use common::{make, namespace, open, try_open};
use model::{Clock, PassageId, TenantId, Timestamp};
use store::conformance::{document, vector};
use store::{
    Change, Config, DocumentPage, Error, Object, ObjectKey, ObjectPage, Repair, Result, Store,
    Verify,
};

const CATALOGUE: &str = "catalogue.sqlite";

/// Every so many bytes that are not zero one is changed; a prime, so that each kind of cell is met.
const STEP: usize = 43;

fn object(id: &str) -> Object {
    Object {
        key: ObjectKey::new("thing", id),
        tenant: TenantId::new("acme"),
        parent: Some("parent".to_owned()),
        lookups: vec![],
        body: serde_json::json!({ "title": format!("thing number {id}"), "pages": [1, 22, 333] }),
        version: 0,
    }
}

fn fill(folder: &Path) {
    let store = open(folder);
    make(&store);
    for at in 0..12 {
        let id = format!("d{at}");
        let mut one = document(&id, &["common word of a passage", "common tram to the castle"]);
        one.title = format!("Title {at}");
        one.metadata = serde_json::json!({ "size": at * 1_000 });
        store.upsert(&namespace(), &[one]).unwrap();
        let passage = PassageId::new(format!("{id}#0"));
        store.set_vectors(&namespace(), &[(passage.clone(), vector(at, 0.2))]).unwrap();
        store.set_blobs(&namespace(), &[(passage, vec![7; 40])]).unwrap();
        store.objects().apply(&[Change::Put(object(&id))]).unwrap();
    }
    store.maintain().unwrap();
    store.close().unwrap();
}

/// Everything that can be read of the store.
fn dump(store: &Store) -> Result<Vec<String>> {
    let mut lines = vec![];
    let page = DocumentPage { limit: 1_000, ..DocumentPage::default() };
    for document in store.documents(&namespace(), &page)? {
        for passage in store.passages_of(&namespace(), &document.id)? {
            let blobs = store.blobs(&namespace(), std::slice::from_ref(&passage.id))?;
            lines.push(format!("{passage:?} {blobs:?}"));
        }
        lines.push(format!("{document:?}"));
    }
    for object in store.objects().list(&ObjectPage::of("thing"))? {
        lines.push(format!("{object:?}"));
    }
    let state = store.catalogue().namespace(&namespace())?;
    if let Some(state) = state {
        lines.push(format!("{:?}", store.catalogue().vectors(state.number, 0..1_000, 1_000)?));
    }
    Ok(lines)
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in fs_err::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            fs_err::create_dir_all(&target).unwrap();
            copy_folder(&path, &target);
        } else {
            fs_err::copy(&path, &target).unwrap();
        }
    }
}

#[test]
fn a_flipped_bit_is_noticed_or_changes_nothing() {
    let original = tempfile::tempdir().unwrap();
    fill(original.path());
    let before = dump(&open(original.path())).unwrap();
    let bytes = fs_err::read(original.path().join(CATALOGUE)).unwrap();
    let mut n_noticed = 0;
    for at in (0..bytes.len()).filter(|at| bytes[*at] != 0).step_by(STEP) {
        let folder = tempfile::tempdir().unwrap();
        copy_folder(original.path(), folder.path());
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        fs_err::write(folder.path().join(CATALOGUE), &flipped).unwrap();
        let read = try_open(folder.path()).and_then(|store| {
            let is_whole = store.check(Repair::No)?.is_empty();
            Ok(if is_whole { Some(dump(&store)?) } else { None })
        });
        match read {
            // An error or a finding: it was noticed.
            Err(_) | Ok(None) => n_noticed += 1,
            Ok(Some(after)) => {
                let differs = before.iter().zip(&after).find(|(before, after)| before != after);
                assert_eq!(differs, None, "byte {at} goes unnoticed");
                assert_eq!(before.len(), after.len(), "byte {at} goes unnoticed");
            }
        }
    }
    assert!(n_noticed > 100, "{n_noticed} flips were noticed");
}

#[test]
fn damage_that_is_met_stops_reads() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    let store = open(folder.path());
    assert!(store.health().is_whole());
    let other = rusqlite::Connection::open(folder.path().join(CATALOGUE)).unwrap();
    other.execute("UPDATE objects SET body = '{}' WHERE id = 'd3'", []).unwrap();
    let objects = store.objects();
    assert!(objects.get(&ObjectKey::new("thing", "d2")).unwrap().is_some());
    let error = objects.get(&ObjectKey::new("thing", "d3")).unwrap_err();
    assert!(matches!(error, Error::CatalogueDamaged { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("thing d3") && text.contains("restore the latest backup"), "{text}");
    let health = store.health();
    assert!(!health.reads && !health.writes && health.degraded[0].part == "catalogue");
}

/// Flips a bit of an entry of the index `objects_by_parent`, which only a comparison of the index
/// with its table can notice: pages and rows are whole.
fn flip_index_entry(folder: &Path) {
    // The table has these columns in another order.
    const ENTRY: &[u8] = b"parentthingd3";
    let path = folder.join(CATALOGUE);
    let mut bytes = fs_err::read(&path).unwrap();
    let places: Vec<usize> =
        (0..bytes.len()).filter(|at| bytes[*at..].starts_with(ENTRY)).collect();
    assert!(!places.is_empty(), "the index has no such entry");
    for at in places {
        bytes[at] ^= 1;
    }
    fs_err::write(&path, &bytes).unwrap();
}

fn open_unless_changed(folder: &Path) -> Result<Store> {
    let config = Config { verify: Verify::WhenChanged, ..Config::for_one_machine() };
    Store::open(folder, &config, Clock::fixed(Timestamp(1_700_000_000_000)))
}

#[test]
fn an_index_that_differs_from_its_table_is_noticed_at_opening() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    flip_index_entry(folder.path());
    let other = rusqlite::Connection::open(folder.path().join(CATALOGUE)).unwrap();
    let said: String = other.query_row("PRAGMA quick_check", [], |row| row.get(0)).unwrap();
    assert_eq!(said, "ok", "a quick check leaves indexes out");
    drop(other);
    for opened in [try_open(folder.path()), open_unless_changed(folder.path())] {
        let error = opened.err().unwrap();
        assert!(matches!(error, Error::CatalogueDamaged { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("objects_by_parent"), "{text}");
        assert!(text.contains("restore the latest backup"), "{text}");
    }
}

#[test]
fn damage_that_a_check_finds_is_remembered() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    open(folder.path()).stop().unwrap();
    // A disk that loses a bit leaves the time as it is, so that the opening trusts the file.
    let path = folder.path().join(CATALOGUE);
    let changed = fs_err::metadata(&path).unwrap().modified().unwrap();
    flip_index_entry(folder.path());
    let file = fs_err::OpenOptions::new().write(true).open(&path).unwrap();
    file.file().set_modified(changed).unwrap();
    drop(file);
    let store = open_unless_changed(folder.path()).unwrap();
    assert!(store.health().is_whole(), "{:?}", store.health());
    let findings = store.check(Repair::No).unwrap();
    assert!(findings[0].problem.contains("objects_by_parent"), "{findings:?}");
    let health = store.health();
    assert!(!health.reads && !health.writes, "{health:?}");
    let degraded = &health.degraded[0];
    assert!(degraded.part == "catalogue" && degraded.problem.contains("objects_by_parent"));
    let error = store.upsert(&namespace(), &[document("later", &["common"])]).unwrap_err();
    assert!(matches!(error, Error::CatalogueDamaged { .. }), "nothing is acknowledged: {error:?}");
    drop(store);
    let error = open_unless_changed(folder.path()).err().unwrap();
    assert!(matches!(error, Error::CatalogueDamaged { .. }), "it is not trusted again: {error:?}");
}

#[test]
fn a_catalogue_that_goes_while_it_is_open_is_said() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    let store = open(folder.path());
    fs_err::rename(folder.path().join(CATALOGUE), folder.path().join("elsewhere")).unwrap();
    let health = store.health();
    assert!(!health.reads && health.degraded[0].problem.contains("gone"), "{health:?}");
    fs_err::rename(folder.path().join("elsewhere"), folder.path().join(CATALOGUE)).unwrap();
    assert!(store.health().is_whole(), "it came back");
}

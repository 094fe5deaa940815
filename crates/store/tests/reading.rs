//! A folder that may only be read, as its explicit way of opening sees it; `disk.rs` has one that the
//! kernel refuses to write.
//!
//! - Searches and documents are as for who may write, and no file is made, changed or removed.
//! - Every change is refused as such, also by the engine.
//! - Readers share the folder; a writer has it alone.
//! - An index that is behind says by how much, and gives what it has.
//! - What only a writer can bring up to date is an error that says so.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use common::{check_whole, holding, make, namespace, near, open, open_to_read, try_open};
use model::{DocumentId, PassageId};
use store::conformance::{document, vector};
use store::{Access, Error, Repair, Store};

/// Every file below a folder, with its content and the time of its last change.
fn files(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    for entry in fs_err::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let changed = entry.metadata().unwrap().modified().unwrap();
            found.insert(path.clone(), (fs_err::read(&path).unwrap(), changed));
        }
    }
    found
}

/// Two documents, the first with a vector.
fn fill(store: &Store) {
    make(store);
    let documents = [document("a", &["common one"]), document("b", &["common two"])];
    store.upsert(&namespace(), &documents).unwrap();
    store.set_vectors(&namespace(), &[(PassageId::new("a#0"), vector(3, 0.1))]).unwrap();
}

fn is_refused<T>(result: store::Result<T>) -> bool {
    result.is_err_and(|error| matches!(error, Error::ReadOnly { .. }))
}

#[test]
fn a_folder_is_read_without_a_trace() {
    let folder = testkit::Folder::new();
    // A name that an address would take for something else.
    let place = folder.join("50% of? #it ü");
    let store = open(&place);
    fill(&store);
    drop(store);
    let before = files(&place);
    let reading = open_to_read(&place).unwrap();
    assert_eq!(reading.access(), Access::Read);
    assert_eq!(holding(&reading, "common").len(), 2);
    assert_eq!(near(&reading), ["a#0"]);
    assert!(reading.check(Repair::No).unwrap().is_empty());
    assert_eq!(reading.unseen_changes([&namespace()]).unwrap(), 0);
    assert_eq!(reading.health().lag, 0);
    reading.backup(&folder.join("copy")).unwrap();
    reading.stop().unwrap();
    drop(reading);
    assert_eq!(files(&place), before);
    assert_eq!(holding(&open(&place), "common").len(), 2);
}

#[test]
fn every_change_is_refused() {
    let folder = testkit::Folder::new();
    fill(&open(folder.path()));
    let before = files(folder.path());
    let reading = open_to_read(folder.path()).unwrap();
    let namespace = namespace();
    assert!(is_refused(reading.upsert(&namespace, &[document("c", &["common"])])));
    assert!(is_refused(reading.delete(&namespace, &[DocumentId::new("a")])));
    assert!(is_refused(
        reading.set_vectors(&namespace, &[(PassageId::new("b#0"), vector(3, 0.2))])
    ));
    assert!(is_refused(reading.drop_namespace(&namespace)));
    assert!(is_refused(reading.rebuild(&namespace)));
    assert!(is_refused(reading.maintain()));
    assert!(is_refused(reading.forget_erased(std::slice::from_ref(&namespace))));
    drop(reading);
    assert_eq!(files(folder.path()), before);
}

#[test]
fn readers_share_the_folder_and_keep_writers_off() {
    let folder = testkit::Folder::new();
    let store = open(folder.path());
    fill(&store);
    assert!(matches!(open_to_read(folder.path()), Err(Error::Locked { .. })));
    drop(store);
    let (one, other) = (open_to_read(folder.path()).unwrap(), open_to_read(folder.path()).unwrap());
    assert!(matches!(try_open(folder.path()), Err(Error::Locked { .. })));
    drop((one, other));
    try_open(folder.path()).unwrap();
    // A copy without the lock is nobody's.
    fs_err::remove_file(folder.join("lock")).unwrap();
    drop(open_to_read(folder.path()).unwrap());
    assert!(!folder.join("lock").exists());
}

#[test]
fn an_index_that_is_behind_says_so() {
    let folder = testkit::Folder::new();
    let indexes = folder.join("namespaces");
    fill(&open(folder.path()));
    let earlier = folder.join("earlier");
    copy(&indexes, &earlier);
    open(folder.path()).upsert(&namespace(), &[document("c", &["common three"])]).unwrap();
    fs_err::remove_dir_all(&indexes).unwrap();
    fs_err::rename(&earlier, &indexes).unwrap();
    let reading = open_to_read(folder.path()).unwrap();
    assert_eq!(holding(&reading, "common").len(), 2, "what the index has");
    assert!(reading.unseen_changes([&namespace()]).unwrap() > 0);
    assert!(reading.health().lag > 0);
    assert!(!reading.check(Repair::No).unwrap().is_empty());
    drop(reading);
    // One that is gone has nothing.
    fs_err::remove_dir_all(&indexes).unwrap();
    let reading = open_to_read(folder.path()).unwrap();
    assert!(holding(&reading, "common").is_empty());
    assert!(reading.unseen_changes([&namespace()]).unwrap() > 0);
    drop(reading);
    assert!(!indexes.exists());
    check_whole(&open(folder.path()));
}

#[test]
fn a_log_is_read_where_its_index_is_there() {
    let folder = testkit::Folder::new();
    let (place, killed) = (folder.join("store"), folder.join("killed"));
    let store = open(&place);
    fill(&store);
    // What a process leaves that is killed now.
    copy(&place, &killed);
    drop(store);
    assert!(fs_err::metadata(killed.join("catalogue.sqlite-wal")).unwrap().len() > 0);
    let before = files(&killed);
    let reading = open_to_read(&killed).unwrap();
    assert_eq!(holding(&reading, "common").len(), 2);
    drop(reading);
    assert_eq!(files(&killed), before);
    fs_err::remove_file(killed.join("catalogue.sqlite-shm")).unwrap();
    let error = open_to_read(&killed).err().unwrap();
    assert!(matches!(error, Error::LogUnread { .. }), "{error:?}");
    assert!(error.to_string().contains("run `dowse status` as its owner"), "{error}");
    assert!(!killed.join("catalogue.sqlite-shm").exists());
    check_whole(&open(&killed));
}

#[test]
fn what_is_not_there_or_is_of_an_earlier_format_is_left_as_it_is() {
    let folder = testkit::Folder::new();
    assert!(is_refused(open_to_read(folder.path())));
    assert!(files(folder.path()).is_empty());
    fill(&open(folder.path()));
    let file = rusqlite::Connection::open(folder.join("catalogue.sqlite")).unwrap();
    file.pragma_update(None, "user_version", 1).unwrap();
    drop(file);
    let before = files(folder.path());
    let error = open_to_read(folder.path()).err().unwrap();
    assert!(matches!(error, Error::FormatTooOld { found: 1, .. }), "{error:?}");
    assert_eq!(files(folder.path()), before);
}

fn copy(from: &Path, to: &Path) {
    fs_err::create_dir_all(to).unwrap();
    for entry in fs_err::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs_err::copy(&path, &target).unwrap();
        }
    }
}

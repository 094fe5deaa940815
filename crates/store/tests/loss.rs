//! A catalogue that was emptied, deleted, exchanged, cut off or damaged is noticed, and the error
//! names the remedy; a clean stop leaves one whole file; backups verify themselves; a full disk is
//! an error of its own and passes by itself; nothing is left of a namespace that is dropped while
//! documents arrive.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use common::{alone, check_whole, holding, make, namespace, open, try_open};
use model::{NamespaceId, TenantId};
use store::conformance::document;
use store::failpoint::{self, Failure};
use store::{Change, Config, Error, Manifest, Object, ObjectKey, Objects, Repair, SqliteCatalogue};

const CATALOGUE: &str = "catalogue.sqlite";

fn fill(folder: &Path, n_documents: usize) {
    let store = open(folder);
    make(&store);
    for at in 0..n_documents {
        store.upsert(&namespace(), &[document(&format!("d{at}"), &["common word"])]).unwrap();
    }
}

#[track_caller]
fn check_lost(folder: &Path, what: &str) {
    let error = try_open(folder).err().unwrap_or_else(|| panic!("{what} goes unnoticed"));
    let text = error.to_string();
    assert!(matches!(error, Error::CatalogueLost { .. }), "{what}: {text}");
    assert!(text.contains("restore the latest backup"), "{what}: {text}");
}

#[test]
fn a_catalogue_that_is_gone_is_noticed() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), 2);
    let path = folder.path().join(CATALOGUE);
    let bytes = fs_err::read(&path).unwrap();
    fs_err::remove_file(&path).unwrap();
    check_lost(folder.path(), "a deleted catalogue");
    fs_err::write(&path, b"").unwrap();
    check_lost(folder.path(), "an emptied catalogue");
    // A folder of a time before the mark has its indexes to tell.
    let mark = folder.path().join("catalogue.mark");
    let marked = fs_err::read(&mark).unwrap();
    fs_err::remove_file(&mark).unwrap();
    check_lost(folder.path(), "an emptied catalogue without a mark");
    fs_err::write(&mark, marked).unwrap();
    fs_err::write(&path, bytes).unwrap();
    check_whole(&open(folder.path()));
}

/// SQLite goes on writing into a file without a name: what it had taken went with the process.
#[test]
fn nothing_is_written_into_a_catalogue_that_went_while_it_was_open() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), 1);
    let store = open(folder.path());
    let (path, aside) = (folder.path().join(CATALOGUE), folder.path().join("aside"));
    let write = || store.upsert(&namespace(), &[document("late", &["common word"])]);
    let refused = |what: &str| {
        let error = write().err().unwrap_or_else(|| panic!("{what}: the write was taken"));
        assert!(matches!(error, Error::CatalogueLost { .. }), "{what}: {error}");
        let health = store.health();
        assert!(!health.reads && !health.writes, "{what}: {health:?}");
    };
    fs_err::rename(&path, &aside).unwrap();
    refused("gone");
    fs_err::write(&path, b"").unwrap();
    refused("empty");
    #[cfg(unix)]
    {
        fs_err::copy(&aside, &path).unwrap();
        refused("another file");
    }
    fs_err::rename(&aside, &path).unwrap();
    write().unwrap();
    assert!(store.health().is_whole(), "{:?}", store.health());
}

#[test]
fn an_exchanged_catalogue_is_noticed() {
    let _alone = alone();
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill(one.path(), 2);
    fill(other.path(), 3);
    fs_err::copy(other.path().join(CATALOGUE), one.path().join(CATALOGUE)).unwrap();
    check_lost(one.path(), "another catalogue");
}

#[test]
fn an_earlier_state_of_the_catalogue_is_noticed() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), 2);
    let earlier = fs_err::read(folder.path().join(CATALOGUE)).unwrap();
    let store = open(folder.path());
    store.upsert(&namespace(), &[document("later", &["common later"])]).unwrap();
    drop(store);
    fs_err::write(folder.path().join(CATALOGUE), &earlier).unwrap();
    check_lost(folder.path(), "a catalogue without its last changes");
    // With the mark gone, the indexes still know that they had read further.
    fs_err::remove_file(folder.path().join("catalogue.mark")).unwrap();
    let store = open(folder.path());
    let findings = store.check(Repair::No).unwrap();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].problem.contains("lost data") && !findings[0].is_repaired);
    assert!(store.check(Repair::Yes).unwrap()[0].is_repaired);
    assert_eq!(store.check(Repair::No).unwrap(), []);
    assert_eq!(holding(&store, "common").len(), 2);
    check_whole(&store);
}

#[test]
fn a_lost_write_ahead_log_is_noticed() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), 1);
    let store = open(folder.path());
    store.upsert(&namespace(), &[document("later", &["common later"])]).unwrap();
    let copy = tempfile::tempdir().unwrap();
    // The state after a kill: the change is in the write-ahead log alone.
    for name in [CATALOGUE, "catalogue.mark"] {
        fs_err::copy(folder.path().join(name), copy.path().join(name)).unwrap();
    }
    let wal = fs_err::read(folder.path().join("catalogue.sqlite-wal")).unwrap();
    assert!(!wal.is_empty());
    check_lost(copy.path(), "a deleted write-ahead log");
    fs_err::write(copy.path().join("catalogue.sqlite-wal"), &wal[..wal.len() / 2]).unwrap();
    check_lost(copy.path(), "a write-ahead log that was cut off");
    fs_err::write(copy.path().join("catalogue.sqlite-wal"), &wal).unwrap();
    let whole = open(copy.path());
    assert_eq!(holding(&whole, "common").len(), 2);
}

#[test]
fn a_damaged_catalogue_is_said() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), 20);
    let path = folder.path().join(CATALOGUE);
    let bytes = fs_err::read(&path).unwrap();
    let mut header = bytes.clone();
    header[..100].fill(0x55);
    fs_err::write(&path, &header).unwrap();
    let error = try_open(folder.path()).err().unwrap();
    assert!(matches!(error, Error::CatalogueDamaged { .. }), "{error:?}");
    assert!(error.to_string().contains("restore the latest backup"), "{error}");
    // Somewhere inside: a check reads everything, and does not say that it is repaired.
    let at = bytes.windows(4).position(|window| window == b"d7#0").unwrap();
    let mut page = bytes.clone();
    page[at / 4_096 * 4_096..][..8].fill(0x55);
    let text = bytes.windows(11).position(|window| window == b"common word").unwrap();
    let mut flipped = bytes;
    flipped[text + 3] ^= 1;
    for (damaged, what) in [(page, "a page"), (flipped, "a bit of a text")] {
        fs_err::write(&path, &damaged).unwrap();
        let is_found = match try_open(folder.path()) {
            Err(error) => matches!(error, Error::CatalogueDamaged { .. }),
            Ok(store) => match store.check(Repair::Yes) {
                Err(error) => matches!(error, Error::CatalogueDamaged { .. }),
                Ok(found) => found.iter().any(|it| it.namespace.is_none() && !it.is_repaired),
            },
        };
        assert!(is_found, "damage to {what} goes unnoticed");
    }
}

#[test]
fn a_clean_stop_leaves_one_whole_file() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    make(&store);
    let text = "common word ".repeat(2_000);
    for at in 0..40 {
        store.upsert(&namespace(), &[document(&format!("d{at}"), &[&text])]).unwrap();
    }
    let objects = store.objects();
    let wal = folder.path().join("catalogue.sqlite-wal");
    store.close().unwrap();
    assert_eq!(fs_err::metadata(&wal).unwrap().len(), 0, "everything is in the one file");
    // Somebody may still hold a part of the store when the process ends.
    drop(store);
    assert!(fs_err::metadata(&wal).is_ok_and(|metadata| metadata.len() == 0));
    drop(objects);
    let copy = tempfile::tempdir().unwrap();
    fs_err::copy(folder.path().join(CATALOGUE), copy.path().join(CATALOGUE)).unwrap();
    check_whole(&open(copy.path()));
}

#[test]
fn a_folder_that_is_only_read_stays_as_it_is() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), 3);
    let read = || {
        let store = open(folder.path());
        assert_eq!(holding(&store, "common").len(), 3);
        store.close().unwrap();
    };
    // The first one catches up with what was written.
    read();
    let before = files(folder.path());
    assert!(before.iter().any(|(path, ..)| path.ends_with("closed")), "{before:?}");
    read();
    assert_eq!(files(folder.path()), before);
}

/// Lists all files below a folder with their sizes and the times of their last change.
fn files(folder: &Path) -> Vec<(PathBuf, u64, SystemTime)> {
    let mut files = vec![];
    for entry in fs_err::read_dir(folder).unwrap() {
        let (path, metadata) = entry.map(|one| (one.path(), one.metadata().unwrap())).unwrap();
        match metadata.is_dir() {
            true => files.extend(self::files(&path)),
            false => files.push((path, metadata.len(), metadata.modified().unwrap())),
        }
    }
    files.sort();
    files
}

#[test]
fn a_backup_is_taken_while_others_write_and_restores_to_the_same() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), 5);
    let store = open(folder.path());
    let file = folder.path().join("backup");
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for at in 0..30 {
                store.upsert(&namespace(), &[document(&format!("w{at}"), &["common"])]).unwrap();
            }
        });
        store.backup(&file).unwrap();
        writer.join().unwrap();
    });
    let target = tempfile::tempdir().unwrap();
    let config = Config::for_one_machine();
    // What an earlier catalogue left in the folder is not taken for the backup's.
    fill(target.path(), 9);
    fs_err::remove_file(target.path().join(CATALOGUE)).unwrap();
    store::restore(&file, target.path(), &config).unwrap();
    let restored = open(target.path());
    check_whole(&restored);
    assert!(holding(&restored, "common").len() >= 5);
    for bytes in [&b""[..], b"SQLite format 3\0", b"something else altogether"] {
        let bad = folder.path().join("bad");
        fs_err::write(&bad, bytes).unwrap();
        let empty = tempfile::tempdir().unwrap();
        let error = store::restore(&bad, empty.path(), &config).unwrap_err();
        let is_said = matches!(error, Error::Damaged { .. } | Error::CatalogueDamaged { .. });
        assert!(is_said, "{error:?}");
        assert!(!empty.path().join(CATALOGUE).exists());
    }
}

#[test]
fn a_full_disk_is_said_and_passes() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), 1);
    let store = open(folder.path());
    assert!(store.health().is_whole(), "{:?}", store.health());
    failpoint::arm("catalogue begun", 0, Failure::DiskFull);
    let error = store.upsert(&namespace(), &[document("a", &["common"])]).unwrap_err();
    assert!(error.is_disk_full() && !is_stored(&error), "{error:?}");
    failpoint::arm("catalogue begun", 0, Failure::DiskFull);
    let health = store.health();
    assert!(health.reads && !health.writes, "{health:?}");
    assert_eq!(health.degraded[0].part, "disk");
    assert!(store.health().is_whole(), "there is room again");
    // The catalogue has it and the index had no room: it is stored, and found later.
    failpoint::arm("words prepared", 0, Failure::DiskFull);
    failpoint::arm("snapshot published", 0, Failure::DiskFull);
    let error = store.upsert(&namespace(), &[document("b", &["common"])]).unwrap_err();
    assert!(error.is_disk_full() && is_stored(&error), "{error:?}");
    let health = store.health();
    assert!(health.reads && health.writes && health.degraded[0].part == "index", "{health:?}");
    store.catch_up().unwrap();
    assert!(store.health().is_whole(), "{:?}", store.health());
    assert!(holding(&store, "common").contains("b#0"));
}

#[test]
fn nothing_is_left_of_a_namespace_dropped_while_documents_arrive() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let raced = NamespaceId::new("raced");
    for round in 0..8 {
        store.create_namespace(&raced, &Manifest::current(None)).unwrap();
        std::thread::scope(|scope| {
            let store = &store;
            let raced = &raced;
            let writers: Vec<_> = (0..3)
                .map(|writer| {
                    scope.spawn(move || {
                        for at in 0..12 {
                            let id = format!("{writer}-{at}");
                            match store.upsert(raced, &[document(&id, &["common", "word"])]) {
                                Ok(_) | Err(Error::UnknownNamespace { .. }) => {}
                                Err(error) => panic!("round {round}: {error:?}"),
                            }
                        }
                    })
                })
                .collect();
            store.drop_namespace(raced).unwrap();
            writers.into_iter().for_each(|writer| writer.join().unwrap());
        });
    }
    store.maintain().unwrap();
    drop(store);
    let connection = rusqlite::Connection::open(folder.path().join(CATALOGUE)).unwrap();
    for table in ["namespaces", "documents", "passages", "texts", "log"] {
        let sql = format!("SELECT count(*) FROM {table}");
        let n_rows: u64 = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(n_rows, 0, "{table} has orphan rows");
    }
    let folders = fs_err::read_dir(folder.path().join("namespaces"));
    assert_eq!(folders.map_or(0, Iterator::count), 0, "indexes without a namespace");
}

#[test]
fn an_object_can_ask_that_another_is_there() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let clock = model::Clock::fixed(model::Timestamp(0));
    let catalogue =
        SqliteCatalogue::open(folder.path(), &Config::for_one_machine(), clock).unwrap();
    let object = |kind: &str, parent: Option<&str>| Object {
        key: ObjectKey::new(kind, "1"),
        tenant: TenantId::new("t"),
        parent: parent.map(str::to_owned),
        lookups: vec![],
        body: serde_json::json!({}),
        version: 0,
    };
    let parent = ObjectKey::new("parent", "1");
    let add = [Change::Require(parent.clone()), Change::Put(object("child", Some("1")))];
    let error = catalogue.apply(&add).unwrap_err();
    assert!(matches!(error, Error::MissingObject { .. }), "{error}");
    assert_eq!(catalogue.get(&ObjectKey::new("child", "1")).unwrap(), None);
    catalogue.apply(&[Change::Put(object("parent", None))]).unwrap();
    catalogue.apply(&add).unwrap();
}

/// Tells whether the change is in the catalogue all the same, so that only searches do not see it.
fn is_stored(error: &store::Error) -> bool {
    matches!(error, store::Error::IndexBehind { .. })
}

/// The log and its index stayed beside the file, since the process ends with its connections open.
#[test]
fn a_clean_stop_leaves_nothing_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path(), 20);
    let store = open(folder.path());
    store.upsert(&namespace(), &[document("last", &["common word"])]).unwrap();
    assert_eq!(holding(&store, "common").len(), 21);
    store.close().unwrap();
    store.upsert(&namespace(), &[document("later", &["common word"])]).unwrap();
    store.stop().unwrap();
    for ending in ["-wal", "-shm"] {
        let file = folder.path().join(format!("{CATALOGUE}{ending}"));
        assert!(!file.exists(), "{}", file.display());
    }
    let refused = store.upsert(&namespace(), &[document("refused", &["common word"])]);
    assert!(refused.is_err());
    drop(store);
    assert_eq!(holding(&open(folder.path()), "common").len(), 22);
}

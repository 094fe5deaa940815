//! A damaged, missing or foreign folder gives a clear error or a repair, never wrong results.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::{check_whole, holding, make, namespace, open, try_open};
use model::PassageId;
use store::conformance::{document, vector};
use store::{Config, EmbeddedEngine, Error, Repair, SqliteCatalogue, Store};

fn fill(folder: &Path) {
    let store = open(folder);
    make(&store);
    let namespace = namespace();
    for round in 0..3 {
        let id = format!("d{round}");
        store.upsert(&namespace, &[document(&id, &["common apple", "common pear"])]).unwrap();
        let vectors = [(PassageId::new(format!("{id}#0")), vector(round, 0.4))];
        store.set_vectors(&namespace, &vectors).unwrap();
    }
}

fn files_under(folder: &Path) -> Vec<PathBuf> {
    let mut files = vec![];
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(files_under(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

fn copy_folder(from: &Path, to: &Path) {
    for file in files_under(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        fs_err::create_dir_all(target.parent().unwrap()).unwrap();
        fs_err::copy(&file, target).unwrap();
    }
}

#[test]
fn damaged_index_files_are_rebuilt() {
    let original = tempfile::tempdir().unwrap();
    fill(original.path());
    let indexes = original.path().join("namespaces");
    for file in files_under(&indexes) {
        let name = file.strip_prefix(original.path()).unwrap().to_owned();
        let length = fs_err::metadata(&file).unwrap().len() as usize;
        for damage in ["flip", "truncate", "empty", "remove"] {
            let folder = tempfile::tempdir().unwrap();
            copy_folder(original.path(), folder.path());
            let file = folder.path().join(&name);
            let mut bytes = fs_err::read(&file).unwrap();
            match damage {
                "flip" if length > 0 => {
                    bytes[length / 3] ^= 0x55;
                    fs_err::write(&file, &bytes).unwrap();
                }
                "truncate" => fs_err::write(&file, &bytes[..length / 2]).unwrap(),
                "empty" => fs_err::write(&file, b"").unwrap(),
                "remove" => fs_err::remove_file(&file).unwrap(),
                _ => continue,
            }
            let store = open(folder.path());
            let expected = ["d0#0", "d1#0", "d2#0"].map(str::to_owned).into();
            assert_eq!(holding(&store, "apple"), expected, "{damage} of {}", name.display());
            check_whole(&store);
        }
    }
}

#[test]
fn damage_while_open_is_found_and_repaired() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    let store = open(folder.path());
    assert_eq!(store.check(Repair::No).unwrap(), []);
    let codes = files_under(&folder.path().join("namespaces"))
        .into_iter()
        .find(|file| file.file_name().unwrap().to_str().unwrap().starts_with("codes"))
        .unwrap();
    let mut bytes = fs_err::read(&codes).unwrap();
    bytes[5] ^= 1;
    // Written in place: a shorter file under a map would end the process.
    std::os::unix::fs::FileExt::write_all_at(
        fs_err::OpenOptions::new().write(true).open(&codes).unwrap().file(),
        &bytes,
        0,
    )
    .unwrap();
    let findings = store.check(Repair::No).unwrap();
    assert_eq!(findings.len(), 1);
    assert!(!findings[0].is_repaired && findings[0].problem.contains("checksum"));
    assert!(store.check(Repair::Yes).unwrap()[0].is_repaired);
    assert_eq!(store.check(Repair::No).unwrap(), []);
    check_whole(&store);
}

#[test]
fn a_second_opening_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    assert!(matches!(try_open(folder.path()), Err(Error::Locked { .. })));
    drop(store);
    open(folder.path());
}

#[test]
fn a_folder_that_cannot_be_written_is_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs_err::write(&file, b"").unwrap();
    assert!(matches!(try_open(&file.join("under")), Err(Error::ReadOnly { .. })));
}

#[test]
fn a_newer_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    let connection = rusqlite::Connection::open(folder.path().join("catalogue.sqlite")).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let error = try_open(folder.path()).err().unwrap();
    assert!(matches!(error, Error::FormatTooNew { found: 99, .. }), "{error}");
}

fn change_manifests(folder: &Path, version: &str) {
    let connection = rusqlite::Connection::open(folder.join("catalogue.sqlite")).unwrap();
    let sql = format!(
        "UPDATE namespaces SET manifest = json_set(manifest, '$.analyser.version', {version})"
    );
    connection.execute(&sql, []).unwrap();
}

#[test]
fn a_later_analyser_asks_for_a_new_index() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    change_manifests(folder.path(), "9999");
    let store = open(folder.path());
    let error = store.upsert(&namespace(), &[document("x", &["y"])]).unwrap_err();
    assert!(matches!(error, Error::ManifestMismatch { .. }), "{error}");
    store.reindex(&namespace()).unwrap();
    check_whole(&store);
}

#[test]
fn an_index_of_an_earlier_analyser_answers_and_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    change_manifests(folder.path(), "0");
    let words = |folder: &Path| {
        let files = files_under(&folder.join("namespaces"));
        files.into_iter().filter(|file| file.extension().is_some_and(|it| it == "term")).collect()
    };
    let before: Vec<PathBuf> = words(folder.path());
    let store = open(folder.path());
    let expected = ["d0#0", "d1#0", "d2#0"].map(str::to_owned).into();
    assert_eq!(holding(&store, "apple"), expected, "words answer at once");
    store.upsert(&namespace(), &[document("later", &["common apple"])]).unwrap();
    check_whole(&store);
    let after = words(folder.path());
    assert!(
        before.iter().all(|file| !after.contains(file)),
        "no file of the earlier index is left"
    );
    drop(store);
    check_whole(&open(folder.path()));
}

#[test]
fn backups_restore_everything() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    let store = open(folder.path());
    let file = folder.path().join("backup.sqlite");
    store.backup(&file).unwrap();
    assert!(matches!(store.backup(&file), Err(Error::AlreadyThere { .. })));
    store.upsert(&namespace(), &[document("later", &["common"])]).unwrap();
    let target = tempfile::tempdir().unwrap();
    let config = Config::for_one_machine();
    store::restore(&file, target.path(), &config).unwrap();
    let error = store::restore(&file, target.path(), &config).unwrap_err();
    assert!(matches!(error, Error::AlreadyThere { .. }), "{error}");
    let restored = open(target.path());
    check_whole(&restored);
    assert_eq!(restored.counts(&namespace()).unwrap().n_documents, 3, "of the moment it was taken");
}

#[test]
fn a_dropped_namespace_leaves_nothing_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    let store = open(folder.path());
    store.upsert(&namespace(), &[document("secret", &["common sesameopen"])]).unwrap();
    store.drop_namespace(&namespace()).unwrap();
    drop(store);
    for file in files_under(folder.path()) {
        let bytes = fs_err::read(&file).unwrap();
        let is_there = bytes.windows(10).any(|window| window == b"sesameopen");
        assert!(!is_there, "`{}` still holds the text", file.display());
    }
}

#[test]
fn many_namespaces_stay_within_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let config =
        Config { max_open_namespaces: 4, max_open_writers: 2, ..Config::for_one_machine() };
    let clock = model::Clock::fixed(model::Timestamp(0));
    let catalogue = Arc::new(SqliteCatalogue::open(folder.path(), &config, clock).unwrap());
    let engine = EmbeddedEngine::open(folder.path(), &config, catalogue.clone(), "test").unwrap();
    let engine = Arc::new(engine);
    let store = Store::new(catalogue, engine.clone()).unwrap();
    for round in 0..12 {
        let id = model::NamespaceId::new(format!("n{round}"));
        store.create_namespace(&id, &store::Manifest::current(None)).unwrap();
        store.upsert(&id, &[document("a", &["common"])]).unwrap();
        assert!(engine.n_open() <= 4, "{} are open", engine.n_open());
    }
    for round in 0..12 {
        let id = model::NamespaceId::new(format!("n{round}"));
        let terms = [(store::Form::Exact, "common".to_owned())];
        let statistics = store.term_statistics(&id, &terms).unwrap();
        assert_eq!(statistics.terms[0].n_passages, 1);
    }
}

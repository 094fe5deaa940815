//! Changes of watched roots are taken in by themselves, whatever makes them.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

use ingest::{Job, JobContext, JobFailure};
use serde_json::Value;

use super::*;
use crate::Watcher;
use crate::walk::Selection;
use crate::watch::{Events, WatchConfig};

/// Looks are so seldom that only events can tell a change.
fn by_events() -> WatchConfig {
    let back = Duration::from_millis(20);
    WatchConfig { seldom: Duration::from_secs(3_600), same: back, back, ..WatchConfig::STANDARD }
}

impl Opened {
    /// Waits until a query finds so many files.
    pub(super) fn until(&self, query: &str, n_wanted: usize) {
        let deadline = soon();
        loop {
            let n_found = self.n_found(&Caller::local_admin(), query);
            if n_found == n_wanted {
                return;
            }
            assert!(!deadline.is_over(), "`{query}` found {n_found} files, never {n_wanted}");
            std::thread::yield_now();
        }
    }

    /// Waits until the store has so many passages.
    fn until_passages(&self, world: &Fixture, n_wanted: usize) {
        let deadline = soon();
        loop {
            let n_found = world.store.counts(self.indexer.namespace()).unwrap().n_passages;
            if n_found == n_wanted {
                return;
            }
            assert!(!deadline.is_over(), "{n_found} passages are there, never {n_wanted}");
            std::thread::yield_now();
        }
    }

    fn watched(&self, config: WatchConfig) -> Watcher {
        Watcher::start_with(self.service.clone(), config).unwrap()
    }
}

#[test]
fn new_changed_and_deleted_files_are_noticed() {
    let world = Fixture::new();
    world.write("a.txt", "The lighthouse was painted.");
    let opened = world.one_root();
    opened.index_all();
    let watcher = opened.watched(by_events());
    let path = world.write("deep/er/b.txt", "The harbour was closed.");
    opened.until("harbour", 1);
    world.write("deep/er/b.txt", "The bridge was closed for a long time.");
    opened.until("bridge", 1);
    opened.until("harbour", 0);
    // As editors save: beside it, under a hidden name, and then in its place.
    let beside = world.write("deep/er/.b.txt.tmp", "The ferry was closed.");
    fs_err::rename(beside, &path).unwrap();
    opened.until("ferry", 1);
    opened.until("bridge", 0);
    fs_err::remove_dir_all(path.parent().unwrap()).unwrap();
    opened.until("ferry", 0);
    opened.until("lighthouse", 1);
    drop(watcher);
}

#[test]
fn a_folder_that_moves_takes_its_files_along_and_stays_watched() {
    let world = Fixture::new();
    let path = world.write("old/deep/a.txt", "The lighthouse was painted.");
    let old = path.parent().unwrap().parent().unwrap().to_owned();
    let new = old.parent().unwrap().join("new");
    let opened = world.one_root();
    opened.index_all();
    let _watcher = opened.watched(by_events());
    // Once something is noticed below it, the folder is watched.
    world.write("old/deep/b.txt", "The harbour was closed.");
    opened.until("harbour", 1);
    fs_err::rename(&old, &new).unwrap();
    let is_at = |name: &str| {
        let documents = world.store.documents(
            opened.indexer.namespace(),
            &store::DocumentPage { prefix: String::new(), after: None, limit: 10 },
        );
        documents.unwrap().iter().filter(|one| one.id.as_str().contains(name)).count()
    };
    let deadline = soon();
    while (is_at("/old/"), is_at("/new/")) != (0, 2) {
        assert!(!deadline.is_over());
        std::thread::yield_now();
    }
    world.write("new/deep/c.txt", "The ferry was late.");
    opened.until("ferry", 1);
    // The old name may come back, as another folder.
    world.write("old/deep/d.txt", "The bridge was open.");
    opened.until("bridge", 1);
    // What leaves the root is gone.
    fs_err::rename(&new, world.folder.path().join("outside")).unwrap();
    opened.until("ferry", 0);
    opened.until("harbour", 0);
}

#[test]
fn a_changed_rule_changes_what_is_indexed_around_it() {
    let world = Fixture::new();
    world.write("logs/a.txt", "The lighthouse was painted.");
    world.write("b.txt", "The lighthouse was sold.");
    let opened = world.one_root();
    opened.index_all();
    let _watcher = opened.watched(by_events());
    let rules = world.write(".gitignore", "logs/\n");
    opened.until("lighthouse", 1);
    fs_err::remove_file(rules).unwrap();
    opened.until("lighthouse", 2);
    // The folder was left out, and is watched again.
    world.write("logs/c.txt", "The lighthouse was bought.");
    opened.until("lighthouse", 3);
    world.write("logs/.ignore", "*.txt\n");
    opened.until("lighthouse", 1);
}

#[test]
fn a_root_that_is_made_anew_is_watched_again() {
    let world = Fixture::new();
    let root = world.folder.path().join("docs");
    let write = |name: &str, text: &str| {
        fs_err::create_dir_all(&root).unwrap();
        fs_err::write(root.join(name), text).unwrap();
    };
    // It is not there when watching begins.
    let config =
        FilesConfig { roots: vec![RootConfig::Path("docs".into())], ..FilesConfig::default() };
    let opened = world.open(config);
    let _watcher = opened.watched(by_events());
    write("a.txt", "The lighthouse was painted.");
    opened.until("lighthouse", 1);
    write("b.txt", "The lighthouse was sold.");
    opened.until("lighthouse", 2);
    // Another folder comes into its place at once.
    let (next, before) = (world.folder.path().join("next"), world.folder.path().join("before"));
    fs_err::create_dir(&next).unwrap();
    fs_err::write(next.join("c.txt"), "The harbour was closed.").unwrap();
    fs_err::rename(&root, before).unwrap();
    fs_err::rename(&next, &root).unwrap();
    opened.until("harbour", 1);
    opened.until("lighthouse", 0);
    write("d.txt", "The harbour was open.");
    opened.until("harbour", 2);
}

/// That a folder went was asked for now and then, and one that came into its place, with the number
/// that the system had given the first one, was taken for the first one.
#[test]
fn a_root_that_was_deleted_and_comes_again_is_taken_in_without_waiting_for_a_look() {
    let world = Fixture::new();
    let root = world.folder.path().join("docs");
    fs_err::create_dir(&root).unwrap();
    fs_err::write(root.join("a.txt"), "The lighthouse was painted.").unwrap();
    let config =
        FilesConfig { roots: vec![RootConfig::Path("docs".into())], ..FilesConfig::default() };
    let opened = world.open(config);
    opened.index_all();
    let _watcher = opened.watched(WatchConfig { same: Duration::from_secs(3_600), ..by_events() });
    fs_err::write(root.join("b.txt"), "The harbour was closed.").unwrap();
    opened.until("harbour", 1);
    let deadline = soon();
    for (came, later) in [("ferry", "bridge"), ("tunnel", "crane"), ("survey", "pilot")] {
        fs_err::remove_dir_all(&root).unwrap();
        while opened.service.away_roots().is_empty() {
            assert!(!deadline.is_over(), "nobody noticed that the root went");
            std::thread::yield_now();
        }
        fs_err::create_dir(&root).unwrap();
        fs_err::write(root.join("c.txt"), format!("The {came} was late.")).unwrap();
        opened.until(came, 1);
        opened.until("harbour", 0);
        fs_err::write(root.join("d.txt"), format!("The {later} was finished.")).unwrap();
        opened.until(later, 1);
    }
    assert_eq!(opened.service.watch_problem(), None);
}

#[test]
fn thousands_of_changes_at_once_are_all_taken_in() {
    let world = Fixture::new();
    let opened = world.one_root();
    let _watcher = opened.watched(by_events());
    let n_files = 3_000;
    for number in 0..n_files {
        world.write(&format!("{}/{number}.txt", number % 40), format!("Note {number}."));
    }
    opened.until_passages(&world, n_files);
    for folder in 0..20 {
        fs_err::remove_dir_all(world.folder.path().join(format!("root/{folder}"))).unwrap();
    }
    opened.until_passages(&world, n_files / 2);
}

/// Without events, as on a network, looks find the changes; and they ask for nothing when there
/// are none.
#[test]
fn without_events_looks_find_what_changed() {
    let world = Fixture::new();
    let path = world.write("a.txt", "The lighthouse was painted.");
    let opened = world.one_root();
    let often = Duration::from_millis(10);
    let config = WatchConfig { events: Events::Off, often, ..by_events() };
    let _watcher = opened.watched(config);
    opened.until("lighthouse", 1);
    world.write("b.txt", "The lighthouse was sold.");
    opened.until("lighthouse", 2);
    fs_err::remove_file(path).unwrap();
    opened.until("lighthouse", 1);
    assert_eq!(opened.queue.list().unwrap().len(), 3);
    let problem = opened.service.watch_problem().unwrap();
    assert!(problem.contains("/root`"), "{problem}");
}

/// Indexes as always, but a run over a whole root ends only when it may.
struct Held {
    inner: Arc<dyn Runner>,
    has_read: std::sync::mpsc::SyncSender<()>,
    may_end: parking_lot::Mutex<Receiver<()>>,
}

impl Runner for Held {
    fn run(&self, job: &Job, context: &JobContext) -> Result<Value, JobFailure> {
        let result = self.inner.run(job, context)?;
        if job.arguments["paths"].is_null() && self.has_read.send(()).is_ok() {
            let _ = self.may_end.lock().recv();
        }
        Ok(result)
    }
}

/// What changes while a run over the root is under way is found at once, and nothing of it is
/// lost, even if the run wrote what it had read before.
#[test]
fn a_change_while_the_root_is_indexed_is_not_lost() {
    let world = Fixture::new();
    let path = world.write("a.txt", "The lighthouse was painted.");
    let (has_read, read) = std::sync::mpsc::sync_channel(1);
    let (end, may_end) = channel::<()>();
    let config =
        FilesConfig { roots: vec![RootConfig::Path("root".into())], ..FilesConfig::default() };
    let opened = world.open_with(config, |inner| {
        Arc::new(Held { inner, has_read, may_end: parking_lot::Mutex::new(may_end) })
    });
    let _watcher = opened.watched(by_events());
    opened.service.index_all().unwrap();
    read.recv_timeout(Duration::from_secs(60)).unwrap();
    fs_err::write(&path, "The harbour was closed.").unwrap();
    opened.until("harbour", 1);
    // As if the run had written after the change what it had read before it.
    overwrite(&world, &opened, &path, "The lighthouse was painted.");
    opened.until("lighthouse", 0);
    opened.until("harbour", 1);
    drop((read, end));
}

/// Opens with a run over the root that has read everything, and is under way until the second value
/// goes.
fn with_a_run_under_way(world: &Fixture) -> (Opened, impl Sized) {
    let (has_read, read) = std::sync::mpsc::sync_channel(1);
    let (end, may_end) = channel::<()>();
    let config =
        FilesConfig { roots: vec![RootConfig::Path("root".into())], ..FilesConfig::default() };
    let opened = world.open_with(config, |inner| {
        Arc::new(Held { inner, has_read, may_end: parking_lot::Mutex::new(may_end) })
    });
    opened.service.index_all().unwrap();
    read.recv_timeout(Duration::from_secs(60)).unwrap();
    (opened, (read, end))
}

/// So many changes at once that they are not told one by one do not wait for the run over the whole
/// root that is under way, which may take hours; nor do deletions.
#[test]
fn a_burst_of_changes_does_not_wait_for_the_whole_root() {
    let world = Fixture::new();
    world.write("a.txt", "The lighthouse was painted.");
    let (opened, run) = with_a_run_under_way(&world);
    let _watcher = opened.watched(by_events());
    let paths: Vec<PathBuf> = (0..2_500)
        .map(|number| world.write(&format!("{number}.txt"), format!("Note {number}.")))
        .collect();
    opened.until_passages(&world, 1 + paths.len());
    paths.iter().for_each(|path| fs_err::remove_file(path).unwrap());
    opened.until_passages(&world, 1);
    drop(run);
}

/// What changed after a run had read it and before the root was watched nobody tells: it is looked
/// for when the root is watched, and does not wait for the run.
#[test]
fn what_changed_before_the_watch_does_not_wait_for_the_whole_root() {
    let world = Fixture::new();
    let path = world.write("deep/a.txt", "The lighthouse was painted.");
    let gone = world.write("deep/b.txt", "The ferry was late.");
    let (opened, run) = with_a_run_under_way(&world);
    fs_err::write(&path, "The harbour was closed.").unwrap();
    fs_err::remove_file(gone).unwrap();
    let _watcher = opened.watched(by_events());
    opened.until("harbour", 1);
    opened.until("ferry", 0);
    drop(run);
}

/// The first run over a root begins when the root is watched, and does not wait for that for ever.
#[test]
fn a_run_waits_until_its_root_is_watched() {
    let world = Fixture::new();
    world.write("a.txt", "The lighthouse was painted.");
    let opened = world.one_root();
    let begun = std::time::Instant::now();
    opened.service.expect_watcher();
    opened.service.index_all().unwrap();
    opened.until("lighthouse", 1);
    assert!(begun.elapsed() >= Duration::from_millis(900));
    opened.service.expect_watcher();
    let _watcher = opened.watched(by_events());
    world.write("b.txt", "The lighthouse was sold.");
    opened.service.index_all().unwrap();
    opened.until("lighthouse", 2);
}

/// Of a folder in which much changed, a job takes in what changed since a moment and what is gone,
/// and leaves the rest to the run that comes to it.
#[test]
fn what_changed_since_a_moment_goes_before_the_rest() {
    let world = Fixture::new();
    let path = world.write("a.txt", "The lighthouse was painted.");
    let gone = world.write("b.txt", "The ferry was late.");
    let opened = world.one_root();
    opened.index_all();
    world.write("c.txt", "The harbour was closed.");
    fs_err::remove_file(gone).unwrap();
    let root = &opened.indexer.roots().all()[0];
    let changed = crate::platform::changed_at(&fs_err::metadata(path).unwrap()).unwrap();
    let since = |millis: i64| {
        let folders = std::collections::BTreeSet::from([root.path.clone()]);
        Selection::Recent(folders, Timestamp(changed.millis() + millis))
    };
    let a_day = 86_400_000;
    let take_in = |selection: &Selection| {
        opened.indexer.take_in(root, selection, false, &Progress::silent()).unwrap()
    };
    assert!(opened.indexer.has_changes(root, &since(a_day)).unwrap());
    let later = take_in(&since(a_day));
    assert_eq!((later.indexed, later.removed), (0, 1));
    assert!(!opened.indexer.has_changes(root, &since(a_day)).unwrap());
    assert!(opened.indexer.has_changes(root, &since(-a_day)).unwrap());
    let since_then = take_in(&since(-a_day));
    assert_eq!((since_then.indexed, since_then.removed), (1, 0));
    opened.until("harbour", 1);
}

/// Indexes as always, but a run over a whole root ends only when it may, and a job for changes
/// takes its time.
struct Slow {
    held: Held,
    takes: Duration,
}

impl Runner for Slow {
    fn run(&self, job: &Job, context: &JobContext) -> Result<Value, JobFailure> {
        let result = self.held.run(job, context)?;
        if !job.arguments["paths"].is_null() {
            std::thread::sleep(self.takes);
        }
        Ok(result)
    }
}

/// What changes while earlier changes are taken in waits for them, and not for the run over the
/// whole root that is under way, which may take hours.
#[test]
fn a_change_beside_another_one_does_not_wait_for_the_whole_root() {
    let world = Fixture::new();
    world.write("a.txt", "The lighthouse was painted.");
    let (has_read, read) = std::sync::mpsc::sync_channel(1);
    let (end, may_end) = channel::<()>();
    let config =
        FilesConfig { roots: vec![RootConfig::Path("root".into())], ..FilesConfig::default() };
    let opened = world.open_with(config, |inner| {
        let held = Held { inner, has_read, may_end: parking_lot::Mutex::new(may_end) };
        Arc::new(Slow { held, takes: Duration::from_millis(800) })
    });
    let _watcher = opened.watched(by_events());
    opened.service.index_all().unwrap();
    read.recv_timeout(Duration::from_secs(60)).unwrap();
    let path = world.write("b.txt", "The harbour was closed.");
    opened.until("harbour", 1);
    // The job for that is still under way.
    fs_err::remove_file(path).unwrap();
    world.write("c.txt", "The ferry was late.");
    opened.until("harbour", 0);
    opened.until("ferry", 1);
    drop((read, end));
}

/// Writes an older text of a file to the index.
fn overwrite(world: &Fixture, opened: &Opened, path: &Path, text: &str) {
    let path = fs_err::canonicalize(path).unwrap();
    let (namespace, id) =
        (opened.indexer.namespace(), model::DocumentId::new(path.to_str().unwrap()));
    let info = world.store.document(namespace, &id).unwrap().unwrap();
    let mut passages = world.store.passages_of(namespace, &id).unwrap();
    passages[0].text = text.to_owned();
    let document = store::Document {
        id,
        title: info.title,
        attributes: info.attributes,
        metadata: info.metadata,
        fingerprint: "older".to_owned(),
        passages,
    };
    world.store.upsert(namespace, &[document]).unwrap();
}

/// A name that is not Unicode once ended the watching of all roots. Its file is found like any
/// other, opened by the path that the search gave, and counted.
#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_unicode_is_watched_found_and_opened() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let world = Fixture::new();
    world.write("a.txt", "The lighthouse was painted.");
    let opened = world.one_root();
    opened.index_all();
    let _watcher = opened.watched(by_events());
    let root = fs_err::canonicalize(world.folder.path().join("root")).unwrap();
    let folder = root.join(OsStr::from_bytes(b"ann\xe9e"));
    fs_err::create_dir(&folder).unwrap();
    let path = folder.join(OsStr::from_bytes(b"caf\xe9.txt"));
    fs_err::write(&path, "The harbour was closed.").unwrap();
    fs_err::write(folder.join(OsStr::from_bytes(b"caf\xe8.txt")), "The ferry was late.").unwrap();
    opened.until("harbour", 1);
    opened.until("ferry", 1);
    let request = SearchRequest { k: 5, ..asked("harbour") };
    let found = opened.service.search(&Caller::local_admin(), &request, &soon()).unwrap();
    let shown = found.items[0].path.clone();
    assert!(shown.ends_with(r"/ann\xE9e/caf\xE9.txt"), "{shown}");
    let request = PreviewRequest { path: shown, ..PreviewRequest::default() };
    let preview = opened.service.preview(&Caller::local_admin(), &request).unwrap();
    assert_eq!(preview.preview, "The harbour was closed.");
    assert_eq!(opened.outcomes().get(&ReadOutcome::Indexed), Some(&3));
    // What is noticed afterwards is taken in as before.
    fs_err::write(&path, "The bridge was closed for a while.").unwrap();
    opened.until("bridge", 1);
    world.write("b.txt", "The tunnel was closed.");
    opened.until("tunnel", 1);
    fs_err::remove_dir_all(&folder).unwrap();
    opened.until("bridge", 0);
    opened.until("ferry", 0);
    assert_eq!(opened.service.watch_problem(), None);
}

//! Folders that are not entered: those that nobody lets us read, and data folders.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use super::*;
use crate::listing::list_files;
use crate::watch::WatchConfig;
use crate::{FolderRequest, Watcher};

/// A user that owns nothing.
const NOBODY: u32 = 65_534;

fn permit(path: &Path, mode: u32) {
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Tells whether permissions hold for this process. For the superuser they do not: then the test is
/// run by somebody else.
fn is_bound(test: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    permit(folder.path(), 0);
    let is_bound = fs_err::read_dir(folder.path()).is_err();
    permit(folder.path(), 0o700);
    if !is_bound {
        let test = format!("tests::not_entered::{test}");
        // The build folder may be where only its owner may look.
        permit(folder.path(), 0o755);
        let program = folder.path().join("tests");
        fs_err::copy(std::env::current_exe().unwrap(), &program).unwrap();
        permit(&program, 0o755);
        let mut command = Command::new(program);
        command.args(["--exact", &test, "--nocapture"]).uid(NOBODY).gid(NOBODY);
        let ended = command.current_dir("/").env("TMPDIR", "/tmp").output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    is_bound
}

/// One folder that may not be read is one entry with a reason, and keeps nothing else from being
/// taken in or out.
#[test]
fn a_folder_that_may_not_be_read_hides_its_files_and_nothing_else() {
    if !is_bound("a_folder_that_may_not_be_read_hides_its_files_and_nothing_else") {
        return;
    }
    let world = Fixture::new();
    let deep = world.write("dark/deep/a.txt", "The lighthouse was painted.");
    let gone = world.write("b.txt", "The harbour was closed.");
    let opened = world.one_root();
    opened.index_all();
    let dark = deep.parent().unwrap().parent().unwrap();
    let root = dark.parent().unwrap();
    let found = |query: &str| opened.n_found(&Caller::local_admin(), query);
    for mode in [0, 0o111, 0o444] {
        permit(dark, mode);
        assert_eq!(opened.index_all().removed, 1, "{mode:o}");
        assert_eq!(found("lighthouse"), 0, "{mode:o}");
        let unreadable =
            opened.service.files_with(&Caller::local_admin(), ReadOutcome::Unreadable, None, 10);
        let [entry] = <[_; 1]>::try_from(unreadable.unwrap()).unwrap();
        assert_eq!(Path::new(&entry.path), dark);
        assert!(entry.reason.unwrap().contains("permission denied"));
        let listed = list_files(root, &opened.indexer.config().files).unwrap();
        let inner = if mode == 0o444 { "dark/deep/" } else { "dark/" };
        assert_eq!(listed.forbidden, [inner.to_owned()].into(), "{mode:o}");
        // Looking again finds nothing new.
        let indexed = opened.index_all();
        assert_eq!((indexed.indexed, indexed.removed), (0, 0), "{mode:o}");
        let request = FolderRequest { path: root.display().to_string(), after: None, limit: 10 };
        let page = opened.service.list_folder(&Caller::local_admin(), &request).unwrap();
        assert!(page.entries.iter().any(|entry| entry.name == "dark/"), "{page:?}");
        permit(dark, 0o755);
        assert_eq!(opened.index_all().indexed, 1, "{mode:o}");
        assert_eq!((found("lighthouse"), opened.outcomes().len()), (1, 1), "{mode:o}");
    }
    permit(dark, 0);
    fs_err::remove_file(gone).unwrap();
    opened.index_all();
    assert_eq!(found("harbour"), 0);
    permit(dark, 0o755);
}

/// A search found it by its name, and opening what the search gave said that it does not exist.
#[test]
fn a_file_that_may_not_be_read_is_opened_with_the_reason() {
    if !is_bound("a_file_that_may_not_be_read_is_opened_with_the_reason") {
        return;
    }
    let world = Fixture::new();
    let read_before = world.write("lighthouse.txt", "The ferry was late.");
    let never_read = world.write("harbour.txt", "The bridge was closed.");
    permit(&never_read, 0);
    let opened = world.one_root();
    opened.index_all();
    permit(&read_before, 0);
    opened.index_all();
    for path in [&read_before, &never_read] {
        let path = path.to_str().unwrap().to_owned();
        let caller = Caller::local_admin();
        let request = PreviewRequest { path: path.clone(), ..PreviewRequest::default() };
        let preview = opened.service.preview(&caller, &request).unwrap();
        assert_eq!(preview.preview, "");
        let said = &preview.warnings[0].message;
        assert!(said.contains("unreadable") && said.contains("denied"), "{said}");
        assert!(!said.contains("indexFolder"), "{said}");
        permit(Path::new(&path), 0o644);
    }
    let gone = read_before.with_file_name("gone.txt").to_str().unwrap().to_owned();
    let gone = PreviewRequest { path: gone, ..PreviewRequest::default() };
    let refused = opened.service.preview(&Caller::local_admin(), &gone).unwrap_err();
    assert!(refused.to_string().contains("does not exist"), "{refused}");
}

#[test]
fn permissions_are_noticed_and_a_root_that_may_not_be_read_is_kept() {
    if !is_bound("permissions_are_noticed_and_a_root_that_may_not_be_read_is_kept") {
        return;
    }
    let world = Fixture::new();
    let path = world.write("dark/a.txt", "The lighthouse was painted.");
    let opened = world.one_root();
    opened.index_all();
    let back = Duration::from_millis(20);
    let seldom = Duration::from_secs(3_600);
    let config = WatchConfig { seldom, same: back, back, ..WatchConfig::STANDARD };
    let _watcher = Watcher::start_with(opened.service.clone(), config).unwrap();
    world.write("b.txt", "The harbour was closed.");
    opened.until("harbour", 1);
    let dark = path.parent().unwrap();
    permit(dark, 0);
    opened.until("lighthouse", 0);
    permit(dark, 0o755);
    opened.until("lighthouse", 1);
    let root = dark.parent().unwrap();
    assert!(opened.service.away_roots().is_empty());
    // The store of this fixture is inside the root: a run that had not ended yet could not end.
    let deadline = soon();
    let is_busy = |root: &crate::Root| opened.service.is_being_indexed(root);
    while opened.indexer.roots().all().iter().any(is_busy) {
        assert!(!deadline.is_over());
        std::thread::yield_now();
    }
    permit(root, 0);
    while opened.service.away_roots().is_empty() {
        assert!(!deadline.is_over());
        std::thread::yield_now();
    }
    assert_eq!(opened.n_found(&Caller::local_admin(), "lighthouse"), 1);
    permit(root, 0o755);
    world.write("c.txt", "The ferry was late.");
    opened.until("ferry", 1);
    assert!(opened.service.away_roots().is_empty());
}

/// The data folder of another Dowse holds what its callers asked and what they uploaded.
#[test]
fn no_data_folder_is_indexed() {
    let world = Fixture::new();
    world.write("sub/data/store.mark", "6b1790d23c929405e45a9edfb2962b23\n");
    world.write("sub/data/store/notes.txt", "The lighthouse was painted.");
    world.write("sub/data/audit/audit.jsonl", r#"{"query": "lighthouse"}"#);
    world.write("sub/uploads/a.txt", "The lighthouse was sold.");
    world.write("shop/store.mark", "The lighthouse was bought.");
    let opened = world.one_root();
    opened.index_all();
    assert_eq!(opened.n_found(&Caller::local_admin(), "lighthouse"), 2);
}

/// What callers asked could be searched for where the data folder itself was served.
#[test]
fn of_a_data_folder_that_is_served_nothing_of_our_own_is_indexed() {
    let world = Fixture::new();
    // One of this program, whose catalogue is elsewhere and leaves no mark, and one of another.
    for name in ["data", "other"] {
        for own in ["audit/audit.jsonl", "answers/a.jsonl", "uploads/a.txt", "store/notes.txt"] {
            world.write(&format!("{name}/{own}"), "The lighthouse was asked for.");
        }
        world.write(&format!("{name}/judged-0a.jsonl"), "The lighthouse was asked for.");
        // Two with the same text count as one.
        let text = format!("The lighthouse of {name} was painted.");
        world.write(&format!("{name}/notes/audit/plan.txt"), text);
    }
    let roots = ["root/data", "root/other", "root/data/uploads"];
    let config = FilesConfig {
        roots: roots.map(|root| RootConfig::Path(root.into())).into(),
        ..FilesConfig::default()
    };
    let opened = world.open(config);
    opened.index_all();
    assert_eq!(opened.n_found(&Caller::local_admin(), "lighthouse"), 2);
    let root = fs_err::canonicalize(world.folder.path().join("root")).unwrap();
    let is_ignored = |path: &str| opened.service.is_ignored(&root.join(path));
    assert!(is_ignored("data/audit/audit.jsonl") && is_ignored("data/uploads/a.txt"));
    assert!(!is_ignored("data/notes/audit/plan.txt"));
    assert_eq!(opened.service.roots_in_data().len(), 2);
}

/// One folder whose path is too long for the system kept everything in the index that was deleted
/// anywhere in the root, and the root was never indexed to its end.
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_keeps_nothing_else() {
    let world = Fixture::new();
    world.write("gone.md", "The harbour is old.");
    world.write("stays.md", "The lighthouse is old.");
    let root = world.write("deep/kept.md", "The ferry is old.").parent().unwrap().to_owned();
    let chain = |n: usize| -> PathBuf { (0..n).map(|_| "d".repeat(200)).collect() };
    let (upper, lower) = (root.join(chain(10)), root.join("lower"));
    fs_err::create_dir_all(&upper).unwrap();
    fs_err::create_dir_all(lower.join(chain(15))).unwrap();
    fs_err::rename(&lower, upper.join("lower")).unwrap();
    let opened = world.one_root();
    let root = opened.indexer.roots().all()[0].clone();
    let indexed = opened.indexer.index(&root, &root.path, false, &Progress::silent()).unwrap();
    let said: Vec<&str> = indexed.warnings.iter().map(|one| one.code.as_str()).collect();
    assert_eq!((indexed.indexed, said), (3, vec!["unreadable"]));
    assert!(opened.indexer.is_completed(&root.name).unwrap());
    fs_err::remove_file(root.path.join("gone.md")).unwrap();
    assert_eq!(opened.index_all().removed, 1);
    assert_eq!(opened.index_all().removed, 0);
    let listed = list_files(&root.path, &opened.indexer.config().files).unwrap();
    let names: Vec<&str> = listed.files.iter().map(|file| file.relative.as_str()).collect();
    assert!(names.contains(&"stays.md") && !names.contains(&"gone.md"), "{names:?}");
    let [unread] = Vec::from_iter(listed.unread).try_into().unwrap();
    assert!(unread.starts_with("deep/ddd"), "{unread}");
}

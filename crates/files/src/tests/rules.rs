//! Rules of the root hold wherever a run begins, and no rule shows what is hidden.

use super::*;
use crate::listing::list_files;

fn paths(opened: &Opened) -> Vec<String> {
    let root = opened.indexer.roots().all()[0].path.clone();
    let caller = Caller::local_admin();
    let files = opened.service.files_with(&caller, ReadOutcome::Indexed, None, 100).unwrap();
    let relative = |path: &str| Path::new(path).strip_prefix(&root).unwrap().display().to_string();
    files.iter().map(|file| relative(&file.path)).collect()
}

/// A line such as `!*/`, which lists of exceptions begin with, brought in `.git/config` with its
/// tokens.
#[test]
fn no_rule_shows_what_is_hidden() {
    let world = Fixture::new();
    world.write(".gitignore", "/*\n!*/\n!*.md\n!.env\n");
    world.write(".git/config", "The lighthouse has a token.");
    world.write(".env", "The lighthouse has a password.");
    world.write("sub/.notes/a.md", "The lighthouse is private.");
    world.write("sub/b.md", "The lighthouse is public.");
    let opened = world.one_root();
    opened.index_all();
    assert_eq!(paths(&opened), ["sub/b.md"]);
    let root = opened.indexer.roots().all()[0].path.clone();
    let listed = list_files(&root, &opened.indexer.config().files).unwrap();
    let listed = listed.files.iter().map(|file| file.relative.as_str());
    let listed: Vec<&str> = listed.filter(|path| !path.starts_with("data/")).collect();
    assert_eq!(listed, ["sub/b.md"]);
    drop(opened);
    let roots = vec![RootConfig::Path("root".into())];
    let opened = world.open(FilesConfig { roots, hidden: true, ..FilesConfig::default() });
    opened.index_all();
    assert_eq!(paths(&opened), [".env", ".git/config", "sub/.notes/a.md", "sub/b.md"]);
}

/// The rules above a folder were passed over where that folder alone was indexed, and so was that
/// it is hidden or left out itself.
#[test]
fn a_folder_inside_is_indexed_as_its_root_is() {
    let world = Fixture::new();
    world.write(".gitignore", "secret/\n*.tmp\n");
    world.write("sub/secret/a.md", "The lighthouse was sold.");
    world.write("sub/b.tmp", "The lighthouse was drawn.");
    world.write("sub/c.md", "The lighthouse was painted.");
    world.write("sub/.hidden/d.md", "The lighthouse was closed.");
    world.write("other/e.md", "The harbour was closed.");
    let opened = world.one_root();
    let root = opened.indexer.roots().all()[0].clone();
    let index = |folder: &str, full: bool| {
        let folder = root.path.join(folder);
        opened.indexer.index(&root, &folder, full, &Progress::silent()).unwrap()
    };
    assert_eq!(index("sub", false).indexed, 1);
    assert_eq!(paths(&opened), ["sub/c.md"], "nothing else of the root is taken in");
    assert_eq!(index("sub", true).indexed, 1);
    for left_out in ["sub/secret", "sub/.hidden"] {
        let indexed = index(left_out, true);
        assert_eq!((indexed.indexed, indexed.skipped, indexed.n_warnings), (0, 0, 0), "{left_out}");
    }
    assert_eq!(opened.index_all().indexed, 1);
    assert_eq!(index("other", false).skipped, 1);
    assert_eq!(paths(&opened), ["other/e.md", "sub/c.md"]);
    // What is gone from the folder alone leaves the index; what is elsewhere stays.
    fs_err::remove_file(root.path.join("sub/c.md")).unwrap();
    fs_err::remove_file(root.path.join("other/e.md")).unwrap();
    assert_eq!(index("sub", false).removed, 1);
    assert_eq!(paths(&opened), ["other/e.md"]);
}

/// A file whose name is not Unicode and one that is really called as that name is written were listed
/// under one path: whoever followed the folder took each for a change of the other, at every look.
#[cfg(unix)]
#[test]
fn no_two_files_are_listed_under_one_path() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = Fixture::new();
    world.write("caf\\xE9.md", "The lighthouse is open.");
    world.write("b.md", "The lighthouse is closed.");
    let opened = world.one_root();
    let root = opened.indexer.roots().all()[0].path.clone();
    for name in [&b"caf\xE9.md"[..], b"th\xE9.md"] {
        fs_err::write(root.join(std::ffi::OsStr::from_bytes(name)), "It is not Unicode.").unwrap();
    }
    let listed = list_files(&root, &opened.indexer.config().files).unwrap();
    let mut names: Vec<&str> = listed.files.iter().map(|file| file.relative.as_str()).collect();
    names.retain(|name| !name.starts_with("data/"));
    assert_eq!(names, ["b.md", "caf\\xE9.md", "th\\xE9.md"]);
    let [unnamed] = listed.problems.as_slice() else { panic!("{:?}", listed.problems) };
    assert!(unnamed.contains("another file has it"), "{unnamed}");
    // An index holds the same.
    opened.index_all();
    assert_eq!(paths(&opened), ["b.md", "caf\\xE9.md", "th\\xE9.md"]);
}

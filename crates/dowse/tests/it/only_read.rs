//! A data folder on a disk that may not be written, as the kernel refuses it: a name space of the
//! test's own has it mounted so. Where the system allows none, nothing is proved here, and `store` has
//! the same by an explicit way of opening.
//!
//! Proved here: what only looks works and leaves no file behind; what changes something says what to
//! do.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

use testkit::Folder;

use crate::test_server::dowse;

/// What the script ends with where the system lets nobody mount.
const CANNOT_MOUNT: i32 = 77;

const CONFIG: &str = "[embedder]\nprovider = \"none\"\n\
    [files]\nroots = [\"documents\"]\n\
    [[tables]]\nname = \"things\"\nsource = \"things.csv\"\n[tables.fields]\n\
    name = { type = \"string\" }\nn = { type = \"number\" }\n";

fn command(folder: &Folder, words: &[&str]) -> Command {
    let mut command = dowse(words[0]);
    command.args(&words[1..]).env("DOWSE_CONFIG", folder.join("dowse.toml"));
    command.env("DOWSE_DATA_DIR", folder.join("data"));
    command.env("HOME", folder.path()).current_dir(folder.path());
    command
}

#[track_caller]
fn said(output: &Output, code: i32) -> (String, String) {
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "stdout: {stdout}\nstderr: {stderr}");
    (stdout, stderr)
}

/// Runs a command where the data folder may not be written; nothing where the system lets nobody
/// mount.
fn over_read_only(folder: &Folder, words: &[&str]) -> Option<Output> {
    let inner = command(folder, words);
    let script = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" || exit 77\n\
                  shift; exec \"$@\"";
    let mut outer = Command::new("unshare");
    outer.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    outer.arg(folder.join("data")).arg(inner.get_program()).args(inner.get_args());
    outer.current_dir(folder.path());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    let output = outer.output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let is_refused = said.starts_with("unshare:") || output.status.code() == Some(CANNOT_MOUNT);
    (!is_refused).then_some(output)
}

/// Every file below a folder, with its size and the time of its last change.
fn files(folder: &Path) -> BTreeMap<PathBuf, (u64, SystemTime)> {
    let mut found = BTreeMap::new();
    for entry in fs_err::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        if metadata.is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.insert(entry.path(), (metadata.len(), metadata.modified().unwrap()));
        }
    }
    found
}

#[test]
fn what_only_looks_works_where_nothing_may_be_written() {
    let folder = Folder::new();
    folder.write("documents/plan.md", "# Plan\n\nThe harbour crane is painted in May.\n");
    folder.write("things.csv", "name,n\na,1\n");
    folder.write("note.txt", "The lighthouse is on the pier.\n");
    folder.write("dowse.toml", CONFIG);
    said(&command(&folder, &["index"]).output().unwrap(), 0);
    said(&command(&folder, &["kb", "create", "notes"]).output().unwrap(), 0);
    said(&command(&folder, &["kb", "add", "notes", "note.txt"]).output().unwrap(), 0);
    said(&command(&folder, &["context", "project", "create", "big"]).output().unwrap(), 0);
    let before = files(&folder.join("data"));
    let run = |words: &[&str]| over_read_only(&folder, words);
    let Some(found) = run(&["search", "harbour crane"]) else { return };
    let (found, note) = said(&found, 0);
    assert!(found.contains("plan.md"), "{found}");
    assert!(note.contains("may not write") && note.contains("read as it is"), "{note}");
    let copy = folder.join("copy");
    let looks: [(&[&str], &str); 10] = [
        (&["open", "documents/plan.md"], "painted in May"),
        (&["tools"], "query_table"),
        (&["status"], "1 indexed"),
        (&["check"], "table `things`: 1 row"),
        (&["kb", "list"], "notes"),
        (&["kb", "search", "notes", "lighthouse"], "pier"),
        (&["context", "project", "list"], "big"),
        (&["audit"], ""),
        (&["backup", copy.to_str().unwrap()], ""),
        (&["search", "--json", "harbour crane"], "painted in May"),
    ];
    for (words, expected) in looks {
        let (printed, _) = said(&run(words).unwrap(), 0);
        assert!(printed.contains(expected), "{words:?}: {printed}");
    }
    said(&run(&["search", "zeppelin"]).unwrap(), 1);
    let changes: [&[&str]; 6] = [
        &["index"],
        &["check", "--repair"],
        &["kb", "create", "more"],
        &["kb", "add", "notes", "note.txt"],
        &["context", "project", "create", "more"],
        &["serve", "--listen", "127.0.0.1:0"],
    ];
    for words in changes {
        let (_, error) = said(&run(words).unwrap(), 2);
        assert!(error.contains("hint:") && error.contains("writ"), "{words:?}: {error}");
    }
    assert_eq!(files(&folder.join("data")), before);
}

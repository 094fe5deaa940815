//! What goes wrong is said with the thing and the remedy, and the exit code is not that of success.

use std::process::Command;

use testkit::Folder;

use crate::test_server::dowse;

fn command(folder: &Folder, words: &[&str]) -> Command {
    let mut command = dowse(words[0]);
    command.args(&words[1..]).current_dir(folder.path()).env("HOME", folder.path());
    command.env_remove("XDG_DATA_HOME");
    command
}

/// Runs a command that must end with this code, and holds that it says all of `texts`.
#[track_caller]
fn says(command: &mut Command, code: i32, texts: &[&str]) {
    let output = command.output().unwrap();
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert_eq!(output.status.code(), Some(code), "{said}");
    for text in texts {
        assert!(said.contains(text), "`{text}` is missing in: {said}");
    }
    assert!(!said.contains("``"), "{said}");
}

/// "skipped" with exit code 0 hid an engine that did not answer.
#[test]
fn an_engine_that_does_not_answer_is_no_success() {
    let folder = Folder::new();
    folder.write("documents/a.md", "The harbour crane is painted in May.\n");
    let port = testkit::free_port();
    folder.write(
        "dowse.toml",
        format!(
            "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n\
             [files]\nroots = [\"documents\"]\n\
             [store]\nprovider = \"turbopuffer\"\nbase_url = \"http://127.0.0.1:{port}\"\n"
        ),
    );
    let with_key = |words: &[&str]| {
        let mut command = command(&folder, words);
        command.env("TURBOPUFFER_API_KEY", "0123456789abcdef");
        command
    };
    says(&mut with_key(&["index"]), 2, &["turbopuffer", "does not answer", "hint:"]);
    says(&mut with_key(&["search", "crane"]), 2, &["turbopuffer"]);
    // Both said `ready` beside it.
    for words in [["check"], ["status"]] {
        says(&mut with_key(&words), 1, &["engine: turbopuffer", "hint:", "degraded"]);
    }
    says(&mut with_key(&["doctor"]), 1, &["PROBLEM  engine", "remedy:"]);
    says(&mut command(&folder, &["check"]), 2, &["`TURBOPUFFER_API_KEY`", "hint:"]);
}

#[test]
fn a_key_without_its_variable_names_the_entry() {
    let folder = Folder::new();
    folder.write("dowse.toml", "[[auth.keys]]\nname = \"me\"\nkey_env = \"NO_SUCH_KEY\"\n");
    says(&mut command(&folder, &["check"]), 2, &["`auth.keys` entry `me`", "`NO_SUCH_KEY`"]);
}

#[test]
fn what_is_not_there_is_named() {
    let folder = Folder::new();
    folder.write("dowse.toml", "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n");
    says(&mut command(&folder, &["extract", "no.pdf"]), 2, &["no file `no.pdf`", "hint:"]);
    says(
        &mut command(&folder, &["kb", "documents", "nothing"]),
        2,
        &["collection `nothing`", "dowse kb collection list"],
    );
    says(
        &mut command(&folder, &["kb", "remove", "nothing"]),
        2,
        &["document `nothing`", "dowse kb documents"],
    );
    says(
        &mut command(&folder, &["context", "search", "nothing", "x"]),
        2,
        &["`nothing`", "dowse context tool list"],
    );
}

#[test]
fn colours_are_for_terminals_alone() {
    let folder = Folder::new();
    let output = command(&folder, &["extract", "no.pdf"]).output().unwrap();
    assert!(!output.stderr.contains(&0x1b), "{output:?}");
}

/// A query of blanks was searched for without a word, and two digits passed for a year.
#[test]
fn what_can_find_nothing_is_refused() {
    let folder = Folder::new();
    folder.write("documents/a.md", "The harbour crane is painted in May.\n");
    folder.write(
        "dowse.toml",
        "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n[files]\nroots = [\"documents\"]\n",
    );
    says(&mut command(&folder, &["index"]), 0, &[]);
    says(&mut command(&folder, &["kb", "create", "Rules"]), 0, &[]);
    for blank in ["", "  ", "\u{3000}", "\u{200b}"] {
        says(&mut command(&folder, &["search", blank]), 2, &["`query` must say", "blank"]);
        says(&mut command(&folder, &["kb", "search", "Rules", blank]), 2, &["`query` is blank"]);
        says(&mut command(&folder, &["kb", "add", "Rules", "--text", blank]), 2, &["blank"]);
    }
    for year in ["21", "0000", "3000", "next"] {
        says(&mut command(&folder, &["search", "crane", "--year", year]), 2, &["`years`", year]);
    }
    for (ext, said) in [("  ", "blank"), ("nonsense!!", "`nonsense!!`")] {
        says(&mut command(&folder, &["search", "crane", "--ext", ext]), 2, &["`exts`", said]);
    }
    folder.write("empty.txt", "");
    says(&mut command(&folder, &["kb", "add", "Rules", "empty.txt"]), 2, &["`empty.txt` is empty"]);
}

/// Whoever reads a pipe got the first 160 characters of a passage.
#[test]
fn passages_are_whole_in_a_pipe() {
    let folder = Folder::new();
    let passage = format!("The harbour crane {} is painted in May.", "of the old port ".repeat(20));
    folder.write("documents/a.md", &passage);
    folder.write(
        "dowse.toml",
        "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n[files]\nroots = [\"documents\"]\n",
    );
    says(&mut command(&folder, &["index"]), 0, &[]);
    says(&mut command(&folder, &["search", "crane painted"]), 0, &["painted in May."]);
    says(&mut command(&folder, &["kb", "create", "Rules"]), 0, &[]);
    says(&mut command(&folder, &["kb", "add", "Rules", "documents/a.md"]), 0, &[]);
    let search = ["kb", "search", "Rules", "crane painted", "--threshold", "0"];
    says(&mut command(&folder, &search), 0, &["painted in May."]);
}

/// Looking made a data folder.
#[test]
fn what_only_looks_makes_nothing() {
    let folder = Folder::new();
    for words in [
        &["kb", "list"][..],
        &["kb", "jobs"],
        &["context", "project", "list"],
        &["tools"],
        &["check"],
        &["status"],
    ] {
        let output = command(&folder, words).output().unwrap();
        assert!(output.status.code().is_some_and(|code| code < 2), "{words:?}: {output:?}");
        let left: Vec<_> = fs_err::read_dir(folder.path()).unwrap().flatten().collect();
        assert!(left.is_empty(), "{words:?} left {left:?}");
    }
    says(&mut command(&folder, &["kb", "search", "Rules", "x"]), 2, &["`Rules`", "hint:"]);
    assert!(!folder.join(".dowse").exists());
    says(&mut command(&folder, &["kb", "create", "Rules"]), 0, &[]);
    says(&mut command(&folder, &["kb", "list"]), 0, &["Rules"]);
}

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

/// Of a wrong variable nothing was said, or a flag was named that nobody had typed.
#[test]
fn a_variable_with_a_wrong_value_is_named() {
    let folder = Folder::new();
    for (name, value) in [
        ("DOWSE_KERNELS", "foo"),
        ("DOWSE_LOG_FORMAT", "xml"),
        ("DOWSE_FILES_WATCH", "yes"),
        ("DOWSE_CONFIG", "nowhere.toml"),
    ] {
        for words in [["status"], ["check"]] {
            says(command(&folder, &words).env(name, value), 2, &[&format!("`{name}`"), value]);
        }
        says(command(&folder, &["status"]).env(name, ""), 1, &["nothing is indexed here"]);
    }
    says(command(&folder, &["status"]).env("DOWSE_LOG", "inof"), 1, &["`DOWSE_LOG`", "inof"]);
    folder.write("documents/a.md", "The harbour crane is painted in May.\n");
    let mut index = command(&folder, &["index", "documents", "--no-model"]);
    assert!(index.output().unwrap().status.success());
    let mut doctor = command(&folder, &["doctor", "--no-model"]);
    says(doctor.env("DOWSE_FOO", "1"), 0, &["note     variable: `DOWSE_FOO`"]);
    let mut doctor = command(&folder, &["doctor", "--no-model"]);
    says(doctor.env("DOWSE_KERNELS", "foo"), 1, &["PROBLEM", "`DOWSE_KERNELS`"]);
}

/// A set whose list of folders was damaged was left out without a word.
#[test]
fn a_set_of_folders_with_a_damaged_list_is_found_again() {
    let folder = Folder::new();
    for name in ["one", "two"] {
        folder.write(format!("{name}/a.md"), format!("The harbour crane {name} is painted.\n"));
        let mut index = command(&folder, &["index", name, "--no-model"]);
        assert!(index.output().unwrap().status.success());
    }
    let sets = fs_err::read_dir(folder.join(".local/share/dowse/folders")).unwrap();
    let first = sets.map(|entry| entry.unwrap().path().join("folders.json")).min().unwrap();
    let search = || command(&folder, &["search", "crane", "--no-model"]);
    for is_there in [true, false] {
        match is_there {
            true => fs_err::write(&first, "{\"folders\": [\"/o").unwrap(),
            false => fs_err::remove_file(&first).unwrap(),
        }
        says(&mut search(), 0, &["was written anew", "/one/a.md", "/two/a.md"]);
        let again = search().output().unwrap();
        assert!(!String::from_utf8_lossy(&again.stderr).contains("folders.json"));
    }
    assert!(first.with_file_name("folders.json.damaged").is_file());
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
        says(&mut command(&folder, &["search", "crane", "--year", year]), 2, &["`--year`", year]);
    }
    for (ext, said) in [("  ", "blank"), ("nonsense!!", "`nonsense!!`")] {
        says(&mut command(&folder, &["search", "crane", "--ext", ext]), 2, &["`--ext`", said]);
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

/// "failed to query resolved metadata" named a call of the file system, and no remedy.
#[test]
fn a_source_that_is_not_there_is_named_with_the_remedy() {
    let folder = Folder::new();
    says(
        &mut command(&folder, &["tables", "infer", "no.csv"]),
        2,
        &["`no.csv` does not exist", "put the file there"],
    );
    says(&mut command(&folder, &["check", "--config", "no.toml"]), 2, &["`no.toml`", "dowse init"]);
    says(&mut command(&folder, &["restore", "no.tar"]), 2, &["`no.tar`", "dowse backup"]);
    says(&mut command(&folder, &["serve", "no"]), 2, &["no` is not a folder", "hint:"]);
    let head = "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n";
    let table = "[[tables]]\nname = \"people\"\nsource = \"no.csv\"\n\
                 [tables.fields]\nname = { type = \"string\" }\n";
    folder.write("dowse.toml", format!("{head}{table}"));
    for words in [["check"], ["doctor"]] {
        let output = command(&folder, &words).output().unwrap();
        let said = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat())
            .into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(!said.contains("resolved metadata"), "{said}");
        assert!(said.contains("no.csv` does not exist"), "{said}");
    }
}

/// What was exported before was emptied, then the source was looked for.
#[test]
fn an_export_that_fails_leaves_everything_as_it_was() {
    let folder = Folder::new();
    let table = |name: &str| {
        format!(
            "[[tables]]\nname = \"{name}\"\nsource = \"{name}.csv\"\n\
             [tables.fields]\nname = {{ type = \"string\" }}\n"
        )
    };
    let head = "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n";
    folder.write("dowse.toml", format!("{head}{}{}", table("people"), table("gone")));
    folder.write("people.csv", "name\nAnna\n");
    folder.write("out/keep.csv", "what was there\n");
    let export = |table: &str, file: &str, code: i32, texts: &[&str]| {
        let words = ["tables", "export", "--table", table, file];
        says(&mut command(&folder, &words), code, texts);
    };
    export("gone", "out/keep.csv", 2, &["gone.csv"]);
    export("gone", "out/new.csv", 2, &["gone.csv"]);
    export("people", "out/no/new.csv", 2, &["out/no", "hint:"]);
    assert_eq!(fs_err::read_to_string(folder.join("out/keep.csv")).unwrap(), "what was there\n");
    assert_eq!(fs_err::read_dir(folder.join("out")).unwrap().count(), 1);
    export("people", "out/keep.csv", 0, &["1 row in out/keep.csv"]);
    assert_eq!(fs_err::read_to_string(folder.join("out/keep.csv")).unwrap(), "name\r\nAnna\r\n");
    assert_eq!(fs_err::read_dir(folder.join("out")).unwrap().count(), 1);
}

/// Before something was indexed `doctor` looked at no source, and said that a file was a folder and
/// that half a model was a whole one.
#[test]
fn the_doctor_looks_at_everything_before_something_is_indexed() {
    let folder = Folder::new();
    let doctor = |config: &str| {
        folder.write("dowse.toml", format!("data_dir = \"data\"\n{config}"));
        let mut command = command(&folder, &["doctor"]);
        command.env("DOWSE_SERVER_LISTEN", "127.0.0.1:0");
        command
    };
    let none = "[embedder]\nprovider = \"none\"\n";
    let mut gone = doctor(&format!("{none}[files]\nroots = [\"no\"]\n"));
    says(&mut gone, 1, &["no` does not exist", "[files] roots", "run `dowse index`"]);
    let port = testkit::free_port();
    let away = format!(
        "{none}[store]\nengine = \"qdrant\"\n[store.qdrant]\nurls = [\"http://127.0.0.1:{port}\"]\n"
    );
    says(&mut doctor(&away), 1, &["PROBLEM  engine", "does not answer", "store.qdrant.urls"]);
    folder.write("models/multilingual-e5-small/model.e5s1", "cut short");
    let sum = "\"n_bytes\": 71600000, \"sha256\": \"0\"";
    folder.write(
        "models/multilingual-e5-small/manifest.json",
        format!(
            "{{\"name\": \"multilingual-e5-small\", \"version\": \"1\", \"purpose\": \"embedder\", \
             \"source\": \"x\", \"files\": {{\"model.e5s1\": {{{sum}}}}}}}"
        ),
    );
    let pull = "run `dowse models pull multilingual-e5-small`";
    let half = "models_dir = \"models\"\n";
    says(&mut doctor(half), 1, &["PROBLEM  model", "has 9 bytes", pull]);
    assert!(!folder.join("data").exists(), "looking made a data folder");
    folder.write("data", "");
    says(&mut doctor(none), 1, &["PROBLEM  data folder", "is a file"]);
}

/// Whoever had named a data folder got a hint that indexed into another one.
#[test]
fn hints_carry_the_flags_without_which_they_mean_something_else() {
    let folder = Folder::new();
    folder.write("my documents/a.md", "The harbour crane is painted in May.\n");
    let elsewhere = folder.join("elsewhere");
    let data = format!("--data-dir {}", elsewhere.display());
    let search = ["search", "crane", "--data-dir", "elsewhere"];
    says(&mut command(&folder, &search), 2, &[&format!("`dowse index {data} FOLDER`")]);
    let named = ["search", "crane", "--data-dir", "elsewhere", "--root", "my documents"];
    says(&mut command(&folder, &named), 2, &[&format!("`dowse index {data} '"), "my documents'"]);
    let usual = ["search", "crane", "--root", "my documents"];
    says(&mut command(&folder, &usual), 2, &["`dowse index '", "my documents'`"]);
    folder.write("other.toml", "data_dir = \"data\"\n[files]\nroots = [\"my documents\"]\n");
    let other = ["search", "crane", "--config", "other.toml"];
    says(&mut command(&folder, &other), 2, &["`dowse index --config other.toml`"]);
    // What they say is right.
    let index = ["index", "--no-model", "--data-dir", "elsewhere", "my documents"];
    says(&mut command(&folder, &index), 0, &["1 indexed"]);
    let again = ["index", "--no-model", "--data-dir", "elsewhere"];
    says(&mut command(&folder, &again), 0, &["my documents: 0 indexed, 1 skipped"]);
    let check = ["check", "--no-model", "--data-dir", "elsewhere"];
    says(&mut command(&folder, &check), 0, &["searchFiles"]);
}

/// `-v` and `-vv` logged nothing at all.
#[test]
fn verbose_commands_say_what_they_do() {
    let folder = Folder::new();
    folder.write("documents/a.md", "The harbour crane is painted in May.\n");
    let index = ["index", "--no-model", "documents", "-vv"];
    let read = ["INFO", "configuration read", "data opened", "indexing", "document read", "a.md"];
    says(&mut command(&folder, &index), 0, &read);
    let search = ["search", "--no-model", "crane", "-v"];
    says(&mut command(&folder, &search), 0, &["INFO", "data opened", "searched", "n_results=1"]);
    says(
        &mut command(&folder, &["search", "--no-model", "crane", "-vv"]),
        0,
        &["stage=\"sparse\""],
    );
    let quiet = command(&folder, &["search", "--no-model", "crane"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&quiet.stderr).contains("INFO"), "{quiet:?}");
}

/// A folder of the configuration that does not exist was "ready", "nothing missing" and "well".
#[test]
fn a_folder_that_is_not_there_is_a_problem() {
    let folder = Folder::new();
    folder.write(
        "dowse.toml",
        "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n[files]\nroots = [\"no\", \"yes\"]\n",
    );
    folder.write("yes/a.md", "The harbour crane is painted in May.\n");
    says(&mut command(&folder, &["index"]), 2, &["no` does not exist"]);
    for (word, code) in [("check", 1), ("status", 1), ("doctor", 1)] {
        let names = ["no` does not exist", "[files] roots"];
        says(&mut command(&folder, &[word]), code, &names);
    }
    fs_err::create_dir(folder.join("no")).unwrap();
    says(&mut command(&folder, &["check"]), 0, &[]);
    // It is there, and nothing of it is indexed.
    says(&mut command(&folder, &["status"]), 1, &["no` is indexed yet", "hint: run `dowse index`"]);
    says(&mut command(&folder, &["index"]), 0, &[]);
    for word in ["check", "status"] {
        says(&mut command(&folder, &[word]), 0, &[]);
    }
}

/// An empty file was left, which the next draft did not replace, and which every command read.
#[test]
fn a_draft_that_does_not_fit_on_the_disk_leaves_nothing() {
    let folder = Folder::new();
    let program = command(&folder, &["init"]).get_program().to_owned();
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" init"]).arg(program);
    says(limited.current_dir(folder.path()).env("HOME", folder.path()), 2, &["dowse.toml"]);
    assert!(!folder.join("dowse.toml").exists());
    says(&mut command(&folder, &["init"]), 0, &["wrote ./dowse.toml"]);
}

/// `dowse context tool list` alone is an error.
#[test]
fn what_is_in_a_project_is_listed_by_project() {
    let folder = Folder::new();
    for (what, list) in [
        ("project", "`dowse context project list`"),
        ("table", "`dowse context table list PROJECT`"),
        ("tool", "`dowse context tool list PROJECT`"),
        ("endpoint", "`dowse context endpoint list PROJECT`"),
    ] {
        let mut delete = command(&folder, &["context", what, "delete", "nothing"]);
        says(&mut delete, 2, &["nothing`", list]);
    }
}

/// It named `dowse index`, which is about other data there.
#[test]
fn a_note_names_the_command_that_indexes_what_was_searched() {
    let folder = Folder::new();
    folder.write(
        "sub/dowse.toml",
        "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n[files]\nroots = [\"no\", \"yes\"]\n",
    );
    folder.write("sub/yes/a.md", "The harbour crane is painted in May.\n");
    let config = ["--config", "sub/dowse.toml"];
    says(command(&folder, &["index"]).args(config), 2, &["no` does not exist"]);
    let said = "`dowse index --config sub/dowse.toml` begins it";
    says(command(&folder, &["search", "crane"]).args(config), 0, &["a.md", said]);
}

/// What an agent passes as an argument is a flag for whoever types.
#[test]
fn notes_name_flags() {
    let folder = Folder::new();
    folder.write("documents/a-2007.txt", "Lorem ipsum dolor, a report of the year 2007");
    folder.write(
        "dowse.toml",
        "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n[files]\nroots = [\"documents\"]\n",
    );
    says(&mut command(&folder, &["index"]), 0, &[]);
    let relaxed = ["a-2007.txt", "give `--year` or `--ext`"];
    says(&mut command(&folder, &["search", "Lorem ipsum 2008"]), 0, &relaxed);
    says(&mut command(&folder, &["kb", "create", "Rules"]), 0, &[]);
    says(&mut command(&folder, &["kb", "add", "Rules", "documents/a-2007.txt"]), 0, &[]);
    let search = ["kb", "search", "Rules", "lorem", "--threshold", "1"];
    says(&mut command(&folder, &search), 1, &["below the threshold 1;", "with `--threshold 0."]);
    for none in ["0", "-1", "some"] {
        let number = format!("-k={none}");
        says(&mut command(&folder, &["search", "lorem", &number]), 2, &["expected 1 or more"]);
    }
}

/// A search in a folder that was never indexed left its name behind; every command that is about
/// one data folder then said that there are several.
#[test]
fn a_search_that_finds_no_index_leaves_nothing() {
    let folder = Folder::new();
    folder.write("documents/a.md", "The harbour crane is painted in May.\n");
    folder.write("others/b.md", "Nothing here is indexed.\n");
    says(&mut command(&folder, &["index", "--no-model", "documents"]), 0, &[]);
    says(&mut command(&folder, &["search", "crane", "--root", "others"]), 2, &["dowse index"]);
    says(&mut command(&folder, &["status", "--root", "others"]), 1, &["nothing is indexed here"]);
    let kept = folder.join(".local/share/dowse/folders");
    assert_eq!(fs_err::read_dir(kept).unwrap().count(), 1);
    says(&mut command(&folder, &["kb", "create", "Rules"]), 0, &[]);
    says(&mut command(&folder, &["open", "others/b.md"]), 2, &["in no folder", "dowse extract"]);
}

/// `kb`, `context`, `check` and `connect` did not know the flag, and the first two loaded a model.
#[test]
fn every_command_that_could_use_a_model_goes_without() {
    let folder = Folder::new();
    folder.write("documents/a.md", "The harbour crane is painted in May.\n");
    let quiet = |words: &[&str], code: i32| {
        let mut command = command(&folder, words);
        // `doctor` looks at the port, and somebody else may have the default one.
        let output = command.env("DOWSE_SERVER_LISTEN", "127.0.0.1:0").output().unwrap();
        let said = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat())
            .into_owned();
        assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
        assert!(!said.contains("multilingual-e5-small"), "{words:?}: {said}");
        said
    };
    quiet(&["index", "--no-model", "documents"], 0);
    quiet(&["search", "--no-model", "crane"], 0);
    quiet(&["open", "--no-model", "documents/a.md"], 0);
    quiet(&["kb", "--no-model", "create", "Rules"], 0);
    quiet(&["kb", "add", "--no-model", "Rules", "documents/a.md"], 0);
    quiet(&["kb", "search", "Rules", "crane", "--no-model"], 0);
    for word in ["status", "doctor", "check", "tools"] {
        quiet(&[word, "--no-model"], 0);
    }
    quiet(&["context", "project", "list", "--no-model"], 0);
    let lines = quiet(&["connect", "cursor", "documents", "--no-model"], 0);
    assert!(lines.contains("\"--no-model\""), "{lines}");
}

//! Every guide is run as it is printed: its `sh` blocks, one after the other, in an empty folder,
//! with the binary under test as `dowse`.
//!
//! A guide that cannot run here is listed with the reason. Commands that only a sentence names are
//! not run.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use testkit::Folder;

/// How long one guide may take.
const LIMIT: Duration = Duration::from_secs(150);

/// Guides that cannot run here, and why.
const NOT_RUN: [(&str, &str); 4] = [
    ("console.md", "it has no commands"),
    ("contexts.md", "it installs a package from the network"),
    ("scale.md", "it has no commands"),
    ("turbopuffer.md", "it needs an account of the service"),
];

#[test]
fn folders() {
    run("folders.md");
}

#[test]
fn tables() {
    run("tables.md");
}

#[test]
fn knowledge() {
    run("knowledge.md");
}

#[test]
fn names() {
    run("names.md");
}

#[test]
fn models() {
    run("models.md");
}

#[test]
fn authentication() {
    run("authentication.md");
}

#[test]
fn operations() {
    run("operations.md");
}

#[test]
fn clients() {
    run("clients.md");
}

#[test]
fn writing_a_client() {
    run("writing-a-client.md");
}

/// The site is made from `docs/SUMMARY.md`: a page that is not in it would not be found, and one
/// that is gone would stop the build.
#[test]
fn the_summary_has_every_page_and_no_other() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let summary = fs_err::read_to_string(format!("{docs}/SUMMARY.md")).unwrap();
    let mut listed: Vec<&str> = summary
        .lines()
        .filter_map(|line| line.strip_suffix(')')?.rsplit_once("]("))
        .map(|(_, page)| page)
        .collect();
    let mut pages = Vec::new();
    for folder in ["", "guide/", "reference/"] {
        for entry in fs_err::read_dir(format!("{docs}/{folder}")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") && name != "SUMMARY.md" {
                pages.push(format!("{folder}{name}"));
            }
        }
    }
    pages.sort();
    listed.sort_unstable();
    assert_eq!(listed, pages);
    let book: toml::Table =
        fs_err::read_to_string(format!("{docs}/book.toml")).unwrap().parse().unwrap();
    assert_eq!(book["book"]["src"].as_str(), Some("."));
}

#[test]
fn evaluation() {
    run("evaluation.md");
}

/// A guide that is written and neither run nor listed would rot.
#[test]
fn every_guide_is_run_or_says_why_not() {
    let source = include_str!("guides.rs");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide");
    for entry in fs_err::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_run = source.contains(&format!("run(\"{name}\")"));
        let is_listed = NOT_RUN.iter().any(|(listed, _)| *listed == name);
        assert!(is_run || is_listed, "docs/guide/{name} has no test");
    }
}

/// Runs the blocks of a guide as one script, with a free port in the place of the usual one.
#[track_caller]
fn run(guide: &str) {
    let path = format!("{}/../../docs/guide/{guide}", env!("CARGO_MANIFEST_DIR"));
    let text = fs_err::read_to_string(&path).unwrap();
    let port = testkit::free_port().to_string();
    let script = format!("set -euo pipefail\n{}", blocks(&text)).replace("7700", &port);
    let folder = Folder::new();
    folder
        .write("bin/dowse", format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_dowse")));
    make_executable(&folder);
    folder.write("script.sh", script);
    fs_err::create_dir(folder.join("work")).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = fs_err::File::create(folder.join("output")).unwrap().into_file();
    let mut child = Command::new("bash")
        .arg(folder.join("script.sh"))
        .current_dir(folder.join("work"))
        .env("PATH", format!("{}:{path}", folder.join("bin").display()))
        // Nothing of the developer's own folders is read or written.
        .env("HOME", folder.path())
        .env("XDG_DATA_HOME", folder.join("data"))
        .stdin(Stdio::null())
        .stdout(output.try_clone().unwrap())
        .stderr(output)
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if begun.elapsed() > LIMIT {
            let _ = child.kill();
            break None;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let output = folder.read("output");
    assert!(
        status.is_some_and(|status| status.success()),
        "docs/guide/{guide} ended with {status:?} and printed:\n{output}"
    );
}

/// Gives the text of all `sh` blocks.
fn blocks(text: &str) -> String {
    let mut script = String::new();
    let mut is_inside = false;
    for line in text.lines() {
        match (line, is_inside) {
            ("```sh", false) => is_inside = true,
            ("```", true) => is_inside = false,
            (line, true) => {
                script.push_str(line);
                script.push('\n');
            }
            (_, false) => {}
        }
    }
    script
}

#[cfg(unix)]
fn make_executable(folder: &Folder) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("bin/dowse");
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn only_shell_blocks_are_run() {
    let text = "a\n```sh\none\ntwo\n```\n```json\nthree\n```\n```sh\nfour\n```\n";
    assert_eq!(blocks(text), "one\ntwo\nfour\n");
}

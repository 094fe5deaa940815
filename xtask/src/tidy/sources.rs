//! Rust files open with a header and stay short; nothing unfinished and no machine's paths stay
//! in any file.

use super::Problem;
use super::workspace::Workspace;
use crate::project;

/// The longest file, tests not counted.
const MAX_FILE_LINES: usize = 500;
/// What must not be in a Rust file, written so that this file passes its own rule.
const UNFINISHED: [(&str, &str); 4] = [
    (concat!("#[", "ignore"), "a test that does not run proves nothing; make it run or remove it"),
    (concat!("tod", "o!("), "finish it, or return an error that says what is missing"),
    (concat!("unimplement", "ed!("), "finish it, or return an error that says what is missing"),
    (concat!("db", "g!("), "use `tracing`"),
];

/// Checks every file by the rules that fit its kind.
pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in workspace.rust_files() {
        problems.extend(header(path, text));
        problems.extend(unfinished(path, text));
        if !workspace.table.tables.contains(path) {
            problems.extend(length(path, text));
        }
    }
    let declared = workspace.table.tables.iter();
    problems.extend(declared.filter(|path| !workspace.holds(path)).map(|path| {
        Problem::new("xtask/crates.toml", format!("`tables` names `{path}`, which does not exist"))
    }));
    let paths = machine_paths();
    for (path, text) in &workspace.files {
        problems.extend(machine_path(path, text, &paths));
    }
    problems
}

fn header(path: &str, text: &str) -> Option<Problem> {
    let what = "must open with `//!`: what the file is for, what it promises";
    (!text.starts_with("//!")).then(|| Problem::new(path, what))
}

fn unfinished(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line_idx, line) in text.lines().enumerate() {
        for (mark, advice) in UNFINISHED.iter().filter(|(mark, _)| line.contains(mark)) {
            let place = format!("{path}:{}", line_idx + 1);
            problems.push(Problem::new(place, format!("`{mark}` is left; {advice}")));
        }
    }
    problems
}

fn length(path: &str, text: &str) -> Option<Problem> {
    let is_test =
        path.contains("/tests/") || path.contains("/benches/") || path.ends_with("tests.rs");
    let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let n_lines = code.lines().count();
    (!is_test && n_lines > MAX_FILE_LINES).then(|| {
        let what = format!(
            "{n_lines} lines without tests are more than {MAX_FILE_LINES}; split it by responsibility, or declare a uniform table in xtask/crates.toml"
        );
        Problem::new(path, what)
    })
}

/// Gives the paths of this machine that have no place in the project.
fn machine_paths() -> Vec<String> {
    let home = std::env::var("HOME").unwrap_or_default();
    let root = project::root().to_string_lossy().into_owned();
    // A folder right under `/` is too common a word to be anybody's own, apart from the home.
    let parent = root.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
    let is_own = |path: &String| path.matches('/').count() >= 2;
    let mut paths: Vec<String> = [root, parent].into_iter().filter(is_own).collect();
    if home.len() > 1 {
        paths.push(home);
    }
    paths
}

fn machine_path(path: &str, text: &str, machine_paths: &[String]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line_idx, line) in text.lines().enumerate() {
        for machine_path in machine_paths.iter().filter(|it| names(line, it)) {
            let place = format!("{path}:{}", line_idx + 1);
            problems.push(Problem::new(
                place,
                format!("names `{machine_path}`, a path of one machine"),
            ));
        }
    }
    problems
}

/// Tells whether a line names a path from its root, not as the end of a longer one.
fn names(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + path.len()..].chars().next();
        let is_inside = before.is_some_and(|c| c.is_alphanumeric() || "._-~/".contains(c));
        !is_inside && after == Some('/')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_tests_do_not_count_as_length() {
        let code = "//! A file.\n".to_owned() + &"fn f() {}\n".repeat(490);
        let tests = "\n#[cfg(test)]\nmod tests {\n".to_owned() + &"// A case.\n".repeat(300);
        assert_eq!(length("crates/a/src/b.rs", &(code.clone() + &tests)), None);
        assert_eq!(length("crates/a/src/tests.rs", &code.repeat(3)), None);
        assert!(length("crates/a/src/b.rs", &code.repeat(2)).is_some());
    }

    #[test]
    fn header_comes_first() {
        assert_eq!(header("a.rs", "//! What it is for.\n"), None);
        assert!(header("a.rs", "use std::io;\n//! Late.\n").is_some());
    }

    #[test]
    fn unfinished_work_is_named_with_its_line() {
        let problems = unfinished("a.rs", concat!("fn f() {\n    tod", "o!()\n}"));
        assert_eq!(problems.len(), 1);
        assert!(problems[0].to_string().starts_with("a.rs:2: "), "{problems:?}");
    }

    #[test]
    fn machine_paths_are_whole_paths() {
        assert!(names("cd /home/ana/dowse", "/home/ana"));
        assert!(names("\"/home/ana/dowse\"", "/home/ana"));
        assert!(!names("cd /srv/home/ana/dowse", "/home/ana"));
        assert!(!names("cd /home/anabel", "/home/ana"));
    }
}

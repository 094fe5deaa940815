//! A public function or constant that the product never names is code that nobody runs.
//!
//! The compiler warns of unused private items only. This rule looks for the name of each public
//! one anywhere else in the clone; comments, re-exports and tests do not count as use. It finds
//! none that shares its name with something that is used, and never complains of one that is,
//! apart from what tests alone need: that is listed here.

use std::collections::HashMap;

use super::{Problem, Workspace};

/// How a line begins that defines something.
const BEGINNINGS: [&str; 4] = ["pub fn ", "pub async fn ", "pub const ", "pub static "];

/// What only tests of other crates, examples and laws name, and why it is there.
const FOR_TESTS: [(&str, &str); 10] = [
    ("DEMO_SEED", "tests make the demo's table again"),
    ("UPGRADE", "the place at which a test ends an upgrade"),
    ("arm", "a test says where a process is to end"),
    ("check_catalogue", "the laws of a catalogue, run by each of them"),
    ("check_engine", "the laws of an engine, run by each of them"),
    ("has_words_in_memory", "tells which of two ways a test has taken"),
    ("n_idle", "counts workers that are left"),
    ("open_with_turbopuffer", "opens an engine over a loopback server"),
    ("table_config", "the demo's table, in examples"),
    ("with_facets", "for programs that mount a table, of which an example is one"),
];

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    check_files(&workspace.rust_files().collect::<Vec<_>>())
}

fn check_files(files: &[(&str, &str)]) -> Vec<Problem> {
    let product: Vec<(&str, Vec<(usize, &str)>)> = files
        .iter()
        .filter(|(path, _)| !is_test(path))
        .map(|(path, text)| (*path, code_lines(text)))
        .collect();
    let mut n_named: HashMap<&str, usize> = HashMap::new();
    for word in product.iter().flat_map(|(_, lines)| lines).flat_map(|(_, line)| words(line)) {
        *n_named.entry(word).or_default() += 1;
    }
    let mut problems = Vec::new();
    for (path, lines) in product.iter().filter(|(path, _)| path.starts_with("crates/")) {
        for (at, line) in lines {
            if let Some(name) = defined(line)
                && n_named.get(name) == Some(&1)
                && !FOR_TESTS.iter().any(|(known, _)| *known == name)
            {
                problems.push(Problem::new(
                    format!("{path}:{at}"),
                    format!("`{name}` is public, and the product uses it nowhere: delete it"),
                ));
            }
        }
    }
    problems
}

/// Gives the name that a line defines for other files.
fn defined(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = BEGINNINGS.iter().find_map(|beginning| line.strip_prefix(beginning))?;
    words(rest).find(|word| !matches!(*word, "fn" | "unsafe" | "mut"))
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("tests.rs") || path.starts_with("crates/testkit/")
}

/// Gives the lines with their numbers, without comments, re-exports and modules of tests.
fn code_lines(text: &str) -> Vec<(usize, &str)> {
    let mut kept = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((line_idx, line)) = lines.next() {
        let begins = line.trim_start();
        let is_exported = begins.starts_with("pub use ") || begins.starts_with("pub(crate) use ");
        let is_module = |(_, next): &(usize, &str)| next.starts_with("mod ") && next.ends_with('{');
        if line == "#[cfg(test)]" && lines.next_if(is_module).is_some() {
            lines.by_ref().find(|(_, line)| *line == "}");
        } else if is_exported {
            if !line.ends_with(';') {
                lines.by_ref().find(|(_, line)| line.ends_with(';'));
            }
        } else if !begins.starts_with("//") {
            kept.push((line_idx + 1, line));
        }
    }
    kept
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|char: char| !char.is_alphanumeric() && char != '_');
    parts.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_names_is_found() {
        let one = "pub fn used() {}\n\npub const fn alone() {}\n// alone\nfn private() {}\n";
        let two = "use one::used;\n\npub const LIMIT: usize = 1;\n";
        let files = [("crates/one/src/lib.rs", one), ("crates/two/src/lib.rs", two)];
        let problems = check_files(&files);
        let places: Vec<&str> = problems.iter().map(|problem| problem.place.as_str()).collect();
        assert_eq!(places, ["crates/one/src/lib.rs:3", "crates/two/src/lib.rs:3"]);
        assert!(check_files(&[("xtask/src/x.rs", one)]).is_empty());
    }

    /// A test, a re-export and an example in a comment kept what nobody else used.
    #[test]
    fn tests_and_exports_are_no_use() {
        let one = "pub use x::{\n    alone,\n};\n/// alone()\npub fn alone() {}\npub fn used() {}\n\
                   #[cfg(test)]\nmod tests {\n    use super::*;\n\n    fn of() {\n        alone();\n    }\n\
                   }\nfn after() {\n    used();\n}\n";
        let test = "fn of() {\n    one::alone();\n}\n";
        let files = [("crates/one/src/lib.rs", one), ("crates/one/tests/it/main.rs", test)];
        let places: Vec<String> =
            check_files(&files).into_iter().map(|problem| problem.place).collect();
        assert_eq!(places, ["crates/one/src/lib.rs:5"]);
    }
}

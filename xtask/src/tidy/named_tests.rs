//! The tests that `docs/security.md` names exist: each sentence of the page is held by one.

use super::Problem;
use super::workspace::Workspace;

/// The page that names tests.
const PAGE: &str = "docs/security.md";

/// Names every test of the page that is not there.
pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let Some(text) = workspace.files.get(PAGE) else {
        return vec![Problem::new(PAGE, "the page does not exist")];
    };
    let sources: Vec<(&str, &str)> = workspace
        .files
        .iter()
        .filter(|(path, _)| path.ends_with(".rs"))
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let mut problems = Vec::new();
    for (line, name) in names_in(text) {
        if let Some(what) = fault_of(&name, &sources) {
            problems.push(Problem::new(format!("{PAGE}:{line}"), what));
        }
    }
    problems
}

/// A test as the page names it: a file, and a function or module in it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    file: String,
    item: Option<String>,
}

/// Finds `FILE.rs`, `FILE.rs: ITEM`, and further items of the same file, with their lines.
fn names_in(text: &str) -> Vec<(usize, Name)> {
    let mut names = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let mut file: Option<String> = None;
        for code in line.split('`').skip(1).step_by(2) {
            let (path, item) = code.split_once(": ").map_or((code, None), |(a, b)| (a, Some(b)));
            let name = if path.ends_with(".rs") && !path.contains(' ') {
                file = Some(path.to_owned());
                Name { file: path.to_owned(), item: item.map(str::to_owned) }
            } else if let Some(file) = file.clone().filter(|_| is_item(code)) {
                Name { file, item: Some(code.to_owned()) }
            } else {
                continue;
            };
            names.push((at + 1, name));
        }
    }
    names
}

/// Tells whether code is the name of a test and not a setting: a sentence in snake case.
fn is_item(code: &str) -> bool {
    code.matches('_').count() >= 2 && code.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

fn fault_of(name: &Name, sources: &[(&str, &str)]) -> Option<String> {
    let ending = format!("/{}", name.file);
    let mut files = sources.iter().filter(|(path, _)| path.ends_with(&ending)).peekable();
    if files.peek().is_none() {
        return Some(format!("no file `{}` exists", name.file));
    }
    let item = name.item.as_ref()?;
    let is_there = files.any(|(_, text)| {
        text.contains(&format!("fn {item}(")) || text.contains(&format!("mod {item}"))
    });
    (!is_there).then(|| format!("`{}` has no test `{item}`", name.file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_found_by_file_and_name() {
        let page = "- It holds. `denial.rs: memory`, `a_body_that_stops`\n\
                    - A setting. `limits.connections_per_peer` `peers.rs`\n";
        let names = names_in(page);
        let shown: Vec<(usize, &str, Option<&str>)> = names
            .iter()
            .map(|(line, name)| (*line, name.file.as_str(), name.item.as_deref()))
            .collect();
        let expected = [
            (1, "denial.rs", Some("memory")),
            (1, "denial.rs", Some("a_body_that_stops")),
            (2, "peers.rs", None),
        ];
        assert_eq!(shown, expected);
        let sources = [("a/denial.rs", "mod memory {}\nfn a_body_that_goes_on() {}")];
        let faults: Vec<Option<String>> =
            names.iter().map(|(_, name)| fault_of(name, &sources)).collect();
        assert_eq!(
            faults,
            [
                None,
                Some("`denial.rs` has no test `a_body_that_stops`".to_owned()),
                Some("no file `peers.rs` exists".to_owned()),
            ]
        );
    }
}

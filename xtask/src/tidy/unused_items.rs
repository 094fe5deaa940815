//! A public function or constant that nobody names is code that nobody runs.
//!
//! The compiler warns of unused private items only. This rule looks for the name of each public
//! one anywhere else in the clone, comments left out. It finds none that shares its name with
//! something that is used, and never complains of one that is.

use std::collections::HashMap;

use super::{Problem, Workspace};

/// How a line begins that defines something.
const BEGINNINGS: [&str; 4] = ["pub fn ", "pub async fn ", "pub const ", "pub static "];

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    check_files(&workspace.rust_files().collect::<Vec<_>>())
}

fn check_files(files: &[(&str, &str)]) -> Vec<Problem> {
    let mut n_named: HashMap<&str, usize> = HashMap::new();
    for word in
        files.iter().flat_map(|(_, text)| code_lines(text)).flat_map(|(_, line)| words(line))
    {
        *n_named.entry(word).or_default() += 1;
    }
    let mut problems = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| path.starts_with("crates/")) {
        for (at, line) in code_lines(text) {
            if let Some(name) = defined(line)
                && n_named.get(name) == Some(&1)
            {
                problems.push(Problem::new(
                    format!("{path}:{at}"),
                    format!("`{name}` is public and used nowhere: delete it"),
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

fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(line_idx, line)| (line_idx + 1, line));
    lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
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
}

//! The pages of decisions say how large what we keep by hand is, as `` `PATH` (N lines …) ``, and N
//! is about right: a part that has grown by a fifth may be worth another look.

use super::{Problem, Workspace};

const PAGES: &str = "docs/decisions/";

/// What a count may be off by, as a part of it.
const TOLERANCE: f64 = 0.2;

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let sources: Vec<(&str, &str)> = workspace.rust_files().collect();
    let pages = workspace.files.iter().filter(|(path, _)| path.starts_with(PAGES));
    pages.flat_map(|(path, text)| check_page(path, text, &sources)).collect()
}

fn check_page(page: &str, text: &str, sources: &[(&str, &str)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line_idx, line) in text.lines().enumerate() {
        for (path, n_said) in counts_in(line) {
            let n_lines: usize = sources
                .iter()
                .filter(|(source, _)| is_part(source, path))
                .map(|(_, text)| text.lines().count())
                .sum();
            if (n_lines as f64 - n_said as f64).abs() > n_said as f64 * TOLERANCE {
                let place = format!("{page}:{}", line_idx + 1);
                let what = format!("`{path}` has {n_lines} lines of Rust, not {n_said}");
                problems.push(Problem::new(place, what));
            }
        }
    }
    problems
}

/// Tells whether a file is what a path names: a file, a folder, or all that begins so before a star.
fn is_part(file: &str, path: &str) -> bool {
    match path.strip_suffix('*') {
        Some(beginning) => file.starts_with(beginning),
        None => file == path || file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')),
    }
}

/// Finds each `` `PATH` (N lines `` of a line.
fn counts_in(line: &str) -> impl Iterator<Item = (&str, usize)> {
    line.match_indices("` (").filter_map(|(at, mark)| {
        let path = line[..at].rsplit('`').next()?;
        let (count, _) = line[at + mark.len()..].split_once(" lines")?;
        let n_lines = count.replace(',', "").parse().ok()?;
        path.contains('/').then_some((path, n_lines))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_about_right() {
        let text = "x\n".repeat(1000);
        let sources = [("crates/a/src/b/c.rs", text.as_str()), ("crates/a/src/b.rs", "x\n")];
        let n_problems = |page: &str| check_page("docs/decisions/1.md", page, &sources).len();
        assert_eq!(n_problems("It is `crates/a/src/b` (1,100 lines with their tests)."), 0);
        assert_eq!(n_problems("It is `crates/a/src/b` (700 lines), and `x` (3 lines)."), 1);
        assert_eq!(n_problems("`crates/a/src/b*` (1,001 lines), `crates/a/src/b.rs` (1 lines)"), 0);
        assert_eq!(n_problems("`crates/a/src/gone` (10 lines) and `crates/a` (see below)"), 1);
    }
}

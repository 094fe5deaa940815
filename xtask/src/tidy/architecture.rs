//! The map is right: every path that the guides name is there, every crate is on the map, and its
//! table of ranks is that of `xtask/crates.toml`.

use std::collections::BTreeMap;

use super::Problem;
use super::crates::CrateTable;
use super::workspace::Workspace;

/// The pages whose paths are followed.
const GUIDES: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"];
/// The longest map that is still read.
const MAX_MAP_LINES: usize = 300;
/// Folders at the root; a code span that starts with one of them is a path.
const FOLDERS: [&str; 8] =
    ["crates/", "docs/", "xtask/", "fuzz/", ".ci/", ".cargo/", ".config/", "demo/"];
/// Endings that make a code span without a folder a path.
const ENDINGS: [&str; 3] = [".md", ".toml", ".rs"];

/// The row of the crates without a rank.
const FOR_CHORES: &str = "for tests and chores";

/// Names every path that is gone and every crate that is missing.
pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for guide in GUIDES {
        let Some(text) = workspace.files.get(guide) else {
            problems.push(Problem::new(guide, "the page is missing"));
            continue;
        };
        for (line_idx, line) in text.lines().enumerate() {
            for path in paths_in(line).filter(|path| !workspace.holds(path)) {
                let place = format!("{guide}:{}", line_idx + 1);
                problems.push(Problem::new(place, format!("`{path}` does not exist")));
            }
        }
    }
    let Some(map) = workspace.files.get("ARCHITECTURE.md") else { return problems };
    let n_lines = map.lines().count();
    if n_lines > MAX_MAP_LINES {
        let what = format!("{n_lines} lines are more than {MAX_MAP_LINES}");
        problems.push(Problem::new("ARCHITECTURE.md", what));
    }
    let is_missing = |folder: &str| !map.contains(&format!("`{folder}`"));
    let missing = workspace.members.iter().filter(|member| is_missing(&member.folder));
    problems.extend(missing.map(|member| {
        Problem::new("ARCHITECTURE.md", format!("the crate `{}` is not on the map", member.folder))
    }));
    problems.extend(check_ranks(map, &workspace.table));
    problems
}

/// Compares the rows `| rank | crates |` of the map with the table of crates, both ways.
fn check_ranks(map: &str, table: &CrateTable) -> Vec<Problem> {
    let mut drawn: BTreeMap<&str, Option<u8>> = BTreeMap::new();
    for line in map.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", rank, names, ""] = cells[..] else { continue };
        let rank = match rank.parse() {
            Ok(rank) => Some(rank),
            Err(_) if rank == FOR_CHORES => None,
            Err(_) => continue,
        };
        drawn.extend(names.split('`').skip(1).step_by(2).map(|name| (name, rank)));
    }
    let mut problems = Vec::new();
    for (name, entry) in &table.crates {
        let what = match drawn.remove(name.as_str()) {
            None => format!("the table of ranks leaves out `{name}`"),
            Some(rank) if rank != entry.rank => {
                format!("the table gives `{name}` another rank than xtask/crates.toml")
            }
            Some(_) => continue,
        };
        problems.push(Problem::new("ARCHITECTURE.md", what));
    }
    let unknown = drawn.keys().map(|name| format!("the table of ranks names `{name}`, no crate"));
    problems.extend(unknown.map(|what| Problem::new("ARCHITECTURE.md", what)));
    problems
}

/// Finds the code spans of a line that name a file or a folder of the clone.
///
/// `dowse.toml` is the user's file, and names with a hole (`NAME`, `{id}`, `…`) are patterns.
fn paths_in(line: &str) -> impl Iterator<Item = &str> {
    let spans = line.split('`').skip(1).step_by(2);
    spans.filter(|span| {
        let has_hole = span.contains(|c: char| "{<*… ".contains(c)) || span.contains("NAME");
        let starts_like_one = FOLDERS.iter().any(|folder| span.starts_with(folder));
        let is_bare = !span.contains('/') && *span != "dowse.toml" && !span.starts_with('.');
        let ends_like_one = is_bare && ENDINGS.iter().any(|ending| span.ends_with(ending));
        let is_root_page = ends_like_one && span.starts_with(|c: char| c.is_ascii_uppercase());
        !has_hole && (starts_like_one || is_root_page)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        assert_eq!(paths_in(line).collect::<Vec<_>>(), expected, "{line}");
    }

    #[test]
    fn the_table_of_ranks_is_that_of_the_crates() {
        let table = "everyone = []\nfor_tests = []\ntables = []\nlicences = []\n\
            [crates.model]\nrank = 0\n[crates.text]\nrank = 1\n[crates.testkit]\ndev = true\n";
        let table: CrateTable = toml::from_str(table).unwrap();
        let found = |map: &str| check_ranks(map, &table).len();
        let right = "| rank | crates |\n|---|---|\n| 0 | `model` |\n| 1 | `text` |\n";
        assert_eq!(found(&format!("{right}| for tests and chores | `testkit` |")), 0);
        assert_eq!(found(right), 1, "`testkit` is left out");
        assert_eq!(found("| 0 | `model` `text` |\n| for tests and chores | `testkit` |"), 1);
        assert_eq!(found(&format!("{right}| for tests and chores | `testkit` `gone` |")), 1);
    }

    #[test]
    fn only_paths_of_the_clone_are_followed() {
        check(
            "see `crates/text/src/lib.rs` and `docs/limits.md`",
            &["crates/text/src/lib.rs", "docs/limits.md"],
        );
        check("`CHANGELOG.md`, `error.rs`, `dowse.toml`", &["CHANGELOG.md"]);
        check("call `tools/list` at `/mcp`, or `crates/NAME`", &[]);
        check("one `docs/decisions/{number}.md`", &[]);
        check("crates/text without marks", &[]);
    }
}

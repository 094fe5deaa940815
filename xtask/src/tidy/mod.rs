//! Rules of the workspace that the compiler cannot check: `cargo xtask tidy`.
//!
//! A rule is a file here: it takes plain values, gives a list of problems, and is tried on small
//! cases beside it. This file says which rules there are; what they allow is in
//! `xtask/crates.toml`. All problems are shown at once, each naming the file or the crate.

mod crates;
mod product;
mod workspace;

mod owners;
mod ranks;
mod unused;
mod unused_items;

mod licences;

mod architecture;
mod id_types;
mod json_values;
mod line_counts;
mod links;
mod metrics;
mod named_tests;
mod plain_words;
mod repeated_names;
mod sources;
mod statements;

use std::fmt;

pub(crate) use workspace::Workspace;

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    /// Where: a path with a line where there is one, or a crate.
    place: String,
    /// What, and what would be right.
    what: String,
}

impl Problem {
    fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Problem { place: place.into(), what: what.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Checks the whole clone; any problem is an error that lists them all.
pub(crate) fn run() -> anyhow::Result<()> {
    let workspace = Workspace::look()?;
    let problems = check(&workspace);
    let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
    anyhow::ensure!(problems.is_empty(), "tidy: {} problems\n{}", lines.len(), lines.join("\n"));
    eprintln!(
        "tidy: {} crates, {} files, {} packages: no problem",
        workspace.members.len(),
        workspace.files.len(),
        workspace.licences.len()
    );
    Ok(())
}

/// Applies every rule.
pub(crate) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = [
        ranks::check(&workspace.table, &workspace.members),
        owners::check(&workspace.table, &workspace.members),
        unused::check(workspace),
        unused_items::check(workspace),
        licences::check(&workspace.table.licences, &workspace.licences),
        licences::check_deny(&workspace.table.licences, workspace.files.get("deny.toml"))
            .into_iter()
            .collect(),
        architecture::check(workspace),
        id_types::check(workspace),
        json_values::check(workspace),
        line_counts::check(workspace),
        links::check(workspace),
        metrics::check(workspace),
        named_tests::check(workspace),
        plain_words::check(workspace),
        repeated_names::check(workspace),
        sources::check(workspace),
        statements::check(workspace),
    ]
    .concat();
    problems.sort();
    problems
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_clone_is_tidy() {
        super::run().unwrap();
    }
}

//! A crate uses only crates of a lower rank, and chores look at the product from outside.

use super::Problem;
use super::crates::CrateTable;
use super::workspace::{Member, UseKind};

/// The crate of chores, and the only crate of the workspace that it may use.
const CHORES: (&str, &str) = ("xtask", "testkit");

/// Names both crates of every use that goes sideways or up.
pub(super) fn check(table: &CrateTable, members: &[Member]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in members {
        let Some(entry) = table.crates.get(&member.name) else {
            problems.push(Problem::new(&member.name, "the crate is not in xtask/crates.toml"));
            continue;
        };
        if entry.rank.is_some() == entry.dev {
            problems.push(Problem::new(&member.name, "needs either `rank` or `dev = true`"));
        }
        for used in member.uses.iter().filter(|used| used.is_member) {
            // A crate's tests may use the crate itself, with features that only they switch on.
            let is_itself = used.name == member.name && used.kind == UseKind::Tests;
            if is_itself {
                continue;
            }
            if member.name == CHORES.0 && used.name != CHORES.1 {
                let what =
                    format!("`{}` uses `{}`: it may use `{}` alone", CHORES.0, used.name, CHORES.1);
                problems.push(Problem::new(&member.name, what));
            }
            let Some(below) = table.crates.get(&used.name) else { continue };
            let what = match (entry.rank, below.rank) {
                (Some(rank), Some(rank_below)) if rank <= rank_below => format!(
                    "`{}` (rank {rank}) uses `{}` (rank {rank_below}), which does not have a lower rank",
                    member.name, used.name
                ),
                (Some(_), None) if used.kind != UseKind::Tests => format!(
                    "`{}` uses `{}`, which is for tests, outside `[dev-dependencies]`",
                    member.name, used.name
                ),
                _ => continue,
            };
            problems.push(Problem::new(&member.name, what));
        }
    }
    let is_member = |name: &str| members.iter().any(|member| member.name == name);
    let gone = table.crates.keys().filter(|name| !is_member(name));
    problems
        .extend(gone.map(|name| Problem::new("xtask/crates.toml", format!("no crate `{name}`"))));
    problems
}

#[cfg(test)]
mod tests {
    use super::super::workspace::Use;
    use super::*;

    const TABLE: &str = "
        everyone = []\nfor_tests = []\ntables = []\nlicences = []
        [crates.model]\nrank = 0\n[crates.net]\nrank = 0\n[crates.text]\nrank = 1\n[crates.testkit]\ndev = true
        [crates.xtask]\ndev = true
    ";

    #[track_caller]
    fn check_use(crate_name: &str, used: &str, kind: UseKind, expected: &[&str]) {
        let table: CrateTable = toml::from_str(TABLE).unwrap();
        let members = table.crates.keys().map(|name| {
            let used = Use { name: used.to_owned(), word: used.to_owned(), kind, is_member: true };
            let uses = if name == crate_name { vec![used] } else { Vec::new() };
            Member { name: name.clone(), folder: String::new(), uses }
        });
        let problems = super::check(&table, &members.collect::<Vec<_>>());
        let whats: Vec<&str> = problems.iter().map(|problem| problem.what.as_str()).collect();
        assert_eq!(whats, expected);
    }

    #[test]
    fn only_lower_ranks_are_seen() {
        check_use("text", "model", UseKind::Product, &[]);
        let up = "`model` (rank 0) uses `text` (rank 1), which does not have a lower rank";
        check_use("model", "text", UseKind::Product, &[up]);
        check_use("model", "text", UseKind::Tests, &[up]);
        let sideways = "`model` (rank 0) uses `net` (rank 0), which does not have a lower rank";
        check_use("model", "net", UseKind::Build, &[sideways]);
        check_use("model", "model", UseKind::Tests, &[]);
    }

    #[test]
    fn crates_for_tests_stay_in_tests() {
        check_use("model", "testkit", UseKind::Tests, &[]);
        check_use("testkit", "text", UseKind::Product, &[]);
        let leak = "`model` uses `testkit`, which is for tests, outside `[dev-dependencies]`";
        check_use("model", "testkit", UseKind::Product, &[leak]);
        check_use("xtask", "testkit", UseKind::Product, &[]);
        check_use(
            "xtask",
            "text",
            UseKind::Product,
            &["`xtask` uses `text`: it may use `testkit` alone"],
        );
    }

    #[test]
    fn table_and_workspace_agree() {
        let table: CrateTable = toml::from_str(TABLE).unwrap();
        let member = Member { name: "attic".into(), folder: String::new(), uses: Vec::new() };
        let problems = super::check(&table, &[member]);
        assert_eq!(problems.len(), 6, "{problems:?}");
        assert_eq!(problems[0].to_string(), "attic: the crate is not in xtask/crates.toml");
    }
}

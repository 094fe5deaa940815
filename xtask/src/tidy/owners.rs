//! Foreign crates have owners: whoever wants to know how Dowse talks HTTP looks in one crate.

use super::Problem;
use super::crates::CrateTable;
use super::workspace::{Member, Use, UseKind};

/// Names every use of a foreign crate that the table does not allow, with the crate that uses it.
pub(super) fn check(table: &CrateTable, members: &[Member]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in members {
        for used in member.uses.iter().filter(|used| !used.is_member) {
            if !may_use(table, &member.name, used) {
                let what = match table.owners_of(&used.name).as_slice() {
                    [] => format!(
                        "`{}` uses `{}`, which has no owner; hint: add it to `owns` of the crate in xtask/crates.toml",
                        member.name, used.name
                    ),
                    owners => format!(
                        "`{}` uses `{}`, which belongs to `{}`",
                        member.name,
                        used.name,
                        owners.join("`, `")
                    ),
                };
                problems.push(Problem::new(&member.name, what));
            }
        }
    }
    problems.extend(stale(table, members));
    problems
}

/// Names every entry of the table whose crate no longer uses what it owns: a list that promises
/// more than there is hides who really talks to the outside.
fn stale(table: &CrateTable, members: &[Member]) -> Vec<Problem> {
    let uses = |name: &str, foreign: &str| {
        let member = members.iter().find(|member| member.name == name);
        // Every crate may use those in its tests, without owning them.
        let is_free = |used: &Use| {
            used.kind == UseKind::Tests && table.for_tests.iter().any(|name| *name == used.name)
        };
        let owns = |used: &Use| used.name == foreign && !is_free(used);
        member.is_none_or(|member| member.uses.iter().any(owns))
    };
    let is_used = |foreign: &str| {
        members.iter().any(|member| member.uses.iter().any(|used| used.name == foreign))
    };
    let owned = table.crates.iter().flat_map(|(name, entry)| {
        entry.owns.iter().filter(|foreign| !uses(name, foreign)).map(move |foreign| {
            format!("`{name}` owns `{foreign}` and does not use it; hint: remove the line")
        })
    });
    let shared = [("everyone", &table.everyone), ("for_tests", &table.for_tests)];
    let shared = shared.into_iter().flat_map(|(list, names)| {
        names.iter().filter(|foreign| !is_used(foreign)).map(move |foreign| {
            format!("`{list}` names `{foreign}`, which no crate uses; hint: remove the line")
        })
    });
    owned.chain(shared).map(|what| Problem::new("xtask/crates.toml", what)).collect()
}

fn may_use(table: &CrateTable, crate_name: &str, used: &Use) -> bool {
    let is_owner =
        table.crates.get(crate_name).is_some_and(|entry| entry.owns.contains(&used.name));
    let is_for_all = table.everyone.contains(&used.name);
    // A test may look at the world with any foreign crate that the workspace already has.
    let is_for_tests = used.kind == UseKind::Tests
        && (table.for_tests.contains(&used.name) || !table.owners_of(&used.name).is_empty());
    is_owner || is_for_all || is_for_tests
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"
        everyone = ["serde"]
        for_tests = ["insta"]
        tables = []
        licences = []
        [crates.net]
        rank = 0
        owns = ["reqwest"]
        [crates.text]
        rank = 1
    "#;

    #[track_caller]
    fn check_use(crate_name: &str, foreign: &str, kind: UseKind, expected: &[&str]) {
        let table: CrateTable = toml::from_str(TABLE).unwrap();
        let used =
            Use { name: foreign.to_owned(), word: foreign.to_owned(), kind, is_member: false };
        let member =
            Member { name: crate_name.to_owned(), folder: String::new(), uses: vec![used] };
        let mut problems = super::check(&table, &[member]);
        // What the table names and this one use leaves unused is the matter of another test.
        problems.retain(|problem| problem.place != "xtask/crates.toml");
        let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn both_crates_are_named() {
        check_use("net", "reqwest", UseKind::Product, &[]);
        check_use("text", "serde", UseKind::Product, &[]);
        let foreign = "text: `text` uses `reqwest`, which belongs to `net`";
        check_use("text", "reqwest", UseKind::Product, &[foreign]);
        let unknown = "text: `text` uses `left-pad`, which has no owner; hint: add it to `owns` of the crate in xtask/crates.toml";
        check_use("text", "left-pad", UseKind::Tests, &[unknown]);
    }

    #[test]
    fn entries_that_nobody_uses_are_named() {
        let table: CrateTable = toml::from_str(TABLE).unwrap();
        let member = Member { name: "net".to_owned(), folder: String::new(), uses: Vec::new() };
        let lines: Vec<String> =
            super::check(&table, &[member]).iter().map(Problem::to_string).collect();
        assert!(lines[0].contains("`net` owns `reqwest` and does not use it"), "{lines:?}");
        assert!(lines[1].contains("`everyone` names `serde`"), "{lines:?}");
    }

    #[test]
    fn tests_may_use_what_the_workspace_has() {
        check_use("text", "insta", UseKind::Tests, &[]);
        check_use("text", "reqwest", UseKind::Tests, &[]);
        let product = "text: `text` uses `insta`, which has no owner; hint: add it to `owns` of the crate in xtask/crates.toml";
        check_use("text", "insta", UseKind::Product, &[product]);
    }
}

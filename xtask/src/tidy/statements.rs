//! Statements of the map that can be tested: where `unsafe` is, where code is asynchronous, and who
//! reads the environment.
//!
//! Each is a line of `ARCHITECTURE.md` that names files or folders in code spans. A source that
//! does it and is not named is a problem, and so is a name under which nobody does it.

use super::product::product;
use super::{Problem, Workspace};

/// A statement of the map.
struct Statement {
    /// How its line begins.
    beginning: &'static str,
    /// What a source holds that it is about.
    signs: &'static [&'static str],
    /// What is said of a source that is not named.
    what: &'static str,
    /// Folders that it is not about: tests, chores and instruments.
    elsewhere: &'static [&'static str],
}

const STATEMENTS: [Statement; 3] = [
    Statement {
        beginning: "- **`unsafe` is denied**",
        signs: &["expect(unsafe_code", "allow(unsafe_code"],
        what: "has `unsafe` code",
        elsewhere: &["xtask/"],
    },
    Statement {
        beginning: "- **Services are synchronous.**",
        signs: &["async fn ", "async move ", ".await"],
        what: "is asynchronous",
        elsewhere: &["xtask/", "crates/conformance/", "crates/testkit/"],
    },
    Statement {
        beginning: "**Environment.**",
        signs: &["env::var(", "env::var_os(", "env::vars("],
        what: "reads the environment",
        elsewhere: &[
            "xtask/",
            "fuzz/",
            "compare/",
            "crates/testkit/",
            "crates/fit/",
            "crates/measure/",
        ],
    },
];

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let Some(map) = workspace.files.get("ARCHITECTURE.md") else { return Vec::new() };
    let sources: Vec<(&str, &str)> = workspace.rust_files().collect();
    STATEMENTS.iter().flat_map(|statement| check_one(statement, map, &sources)).collect()
}

fn check_one(statement: &Statement, map: &str, sources: &[(&str, &str)]) -> Vec<Problem> {
    let Some(line) = map.lines().find(|line| line.starts_with(statement.beginning)) else {
        let what = format!("a line must begin with `{}`", statement.beginning);
        return vec![Problem::new("ARCHITECTURE.md", what)];
    };
    let named: Vec<&str> =
        line.split('`').skip(1).step_by(2).filter(|span| span.contains('/')).collect();
    let is_elsewhere = |path: &str| {
        path.contains("/tests/")
            || statement.elsewhere.iter().any(|folder| path.starts_with(folder))
    };
    let does_it = |text: &str| {
        let product = product(text);
        statement.signs.iter().any(|sign| product.contains(sign))
    };
    let doing: Vec<&str> = sources
        .iter()
        .filter(|(path, text)| !is_elsewhere(path) && does_it(text))
        .map(|(path, _)| *path)
        .collect();
    let unnamed = doing.iter().filter(|path| !named.iter().any(|name| path.starts_with(name)));
    let idle = named.iter().filter(|name| !doing.iter().any(|path| path.starts_with(**name)));
    let unnamed = unnamed.map(|path| {
        let what = format!("{}, and the map does not name it", statement.what);
        Problem::new(*path, what)
    });
    let idle = idle.map(|name| {
        let what = format!("the map names `{name}`, and nothing there {}", statement.what);
        Problem::new("ARCHITECTURE.md", what)
    });
    unnamed.chain(idle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_and_map_agree() {
        let map = "**Environment.** Only `crates/dowse`, and `crates/a/src/b.rs` for x.\n";
        let check = |sources: &[(&str, &str)]| {
            let problems = check_one(&STATEMENTS[2], map, sources);
            problems.into_iter().map(|problem| problem.place).collect::<Vec<_>>()
        };
        let reads = "let x = std::env::var(\"X\");";
        let two = [("crates/dowse/src/main.rs", reads), ("crates/a/src/b.rs", reads)];
        assert!(check(&two).is_empty());
        assert_eq!(check(&two[..1]), ["ARCHITECTURE.md"]);
        let three = [two[0], two[1], ("crates/a/src/c.rs", reads)];
        assert_eq!(check(&three), ["crates/a/src/c.rs"]);
        let tested = format!("#[cfg(test)]\nmod tests {{ {reads} }}");
        assert!(check(&[two[0], two[1], ("crates/a/src/c.rs", &tested)]).is_empty());
    }
}

//! Licences of everything that is linked in, against the list in `xtask/crates.toml`.
//!
//! `deny.toml` says the same for those who have cargo-deny; this check needs nothing installed.

use std::collections::{BTreeMap, BTreeSet};

use super::Problem;

/// Names every package whose declared licence the list does not allow.
pub(super) fn check(
    allowed: &BTreeSet<String>,
    packages: &BTreeMap<String, Option<String>>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (package, licence) in packages {
        let what = match licence {
            None => "declares no licence".to_owned(),
            Some(licence) if allows(allowed, licence) => continue,
            Some(licence) => format!("has the licence `{licence}`, which is not on the list"),
        };
        problems.push(Problem::new(package, what));
    }
    problems
}

/// Compares the list with the one in `deny.toml`, so that both tools say the same.
pub(super) fn check_deny(allowed: &BTreeSet<String>, deny: Option<&String>) -> Option<Problem> {
    let deny: toml::Table = deny?.parse().ok()?;
    let listed = deny.get("licenses")?.get("allow")?.as_array()?;
    let listed: BTreeSet<String> =
        listed.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    let differing: Vec<&str> = listed.symmetric_difference(allowed).map(String::as_str).collect();
    (!differing.is_empty()).then(|| {
        let what =
            format!("`{}` is not in both deny.toml and xtask/crates.toml", differing.join("`, `"));
        Problem::new("deny.toml", what)
    })
}

/// Evaluates an SPDX expression; old manifests write `A/B` for `A OR B`.
fn allows(allowed: &BTreeSet<String>, expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let is_allowed = any_of(allowed, &mut words);
    is_allowed == Some(true) && words.next().is_none()
}

type Words<'text> = std::iter::Peekable<std::str::SplitWhitespace<'text>>;

/// Reads what is between `OR`s; `None` when the expression is broken.
fn any_of(allowed: &BTreeSet<String>, words: &mut Words<'_>) -> Option<bool> {
    let mut is_allowed = all_of(allowed, words)?;
    while words.next_if_eq(&"OR").is_some() {
        is_allowed |= all_of(allowed, words)?;
    }
    Some(is_allowed)
}

fn all_of(allowed: &BTreeSet<String>, words: &mut Words<'_>) -> Option<bool> {
    let mut is_allowed = one(allowed, words)?;
    while words.next_if_eq(&"AND").is_some() {
        is_allowed &= one(allowed, words)?;
    }
    Some(is_allowed)
}

fn one(allowed: &BTreeSet<String>, words: &mut Words<'_>) -> Option<bool> {
    if words.next_if_eq(&"(").is_some() {
        let is_allowed = any_of(allowed, words)?;
        words.next_if_eq(&")")?;
        return Some(is_allowed);
    }
    let name = words.next()?;
    if words.next_if_eq(&"WITH").is_some() {
        let exception = words.next()?;
        // An exception only ever adds permissions, so the licence alone is enough as well.
        let with_exception = format!("{name} WITH {exception}");
        return Some(allowed.contains(&with_exception) || allowed.contains(name));
    }
    Some(allowed.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, expected: bool) {
        let allowed = ["MIT", "Apache-2.0", "Unicode-3.0"].map(str::to_owned).into();
        assert_eq!(allows(&allowed, expression), expected, "{expression}");
    }

    #[test]
    fn both_lists_are_the_same() {
        let allowed = ["MIT", "ISC"].map(str::to_owned).into();
        let deny = |list: &str| format!("[licenses]\nallow = {list}\n");
        assert_eq!(check_deny(&allowed, Some(&deny("['ISC', 'MIT']"))), None);
        let problem = check_deny(&allowed, Some(&deny("['MIT', 'Zlib']"))).unwrap();
        assert!(problem.to_string().contains("`ISC`, `Zlib`"), "{problem}");
    }

    #[test]
    fn expressions_are_evaluated() {
        check("MIT", true);
        check("GPL-3.0", false);
        check("MIT OR GPL-3.0", true);
        check("GPL-3.0/MIT", true);
        check("MIT AND GPL-3.0", false);
        check("(MIT OR Apache-2.0) AND Unicode-3.0", true);
        check("(MIT OR Apache-2.0) AND (GPL-3.0 OR ISC)", false);
        check("Apache-2.0 WITH LLVM-exception OR GPL-2.0", true);
        check("MIT OR (", false);
        check("", false);
    }
}

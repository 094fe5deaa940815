//! The page of limits: every named bound and every wait in the sources of the crates.

use super::{Page, cell, heading};
use crate::project;

/// Words in the name of a number that make it a limit. A duration is one whatever its name.
const WORDS: [&str; 11] = [
    "MAX", "MIN", "LIMIT", "TIMEOUT", "CAP", "GRACE", "DEADLINE", "CAPACITY", "BUDGET", "PER",
    "PAGE",
];

/// One constant.
#[derive(Debug, PartialEq, Eq)]
struct Limit {
    name: String,
    value: String,
    what: String,
}

/// Collects the limits of all crates into one page.
pub(super) fn page() -> anyhow::Result<Page> {
    let mut text = heading(
        "Limits in the sources",
        "Every constant that bounds something or is a time to wait, with its value as the source writes it. What users meet is in [limits](../limits.md).",
    );
    let mut section = String::new();
    for path in project::files()? {
        let path = path.to_string_lossy().into_owned();
        let Some(inside) = path.strip_prefix("crates/").filter(|it| it.ends_with(".rs")) else {
            continue;
        };
        let Some((owner, file)) = inside.split_once("/src/") else { continue };
        if owner == "testkit" || file.ends_with("tests.rs") || file.starts_with("bench") {
            continue;
        }
        let source = fs_err::read_to_string(project::root().join(&path))?;
        for limit in limits_in(&source) {
            if section != owner {
                owner.clone_into(&mut section);
                text.push_str(&format!(
                    "\n## {section}\n\n| limit | value | what for |\n|---|---|---|\n"
                ));
            }
            let Limit { name, value, what } = limit;
            text.push_str(&format!("| `{name}` | `{}` | {} |\n", cell(&value), cell(&what)));
        }
    }
    Ok(Page { name: "limits.md", text })
}

/// Finds the limits of one file, outside its tests.
fn limits_in(source: &str) -> Vec<Limit> {
    let code = source.split("\n#[cfg(test)]").next().unwrap_or_default();
    let mut limits = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    for line in code.lines().map(str::trim) {
        if let Some(sentence) = line.strip_prefix("///") {
            comment.push(sentence.trim());
            continue;
        }
        if let Some(limit) = limit_in(line, &comment.join(" ")) {
            limits.push(limit);
        }
        if !line.starts_with("#[") {
            comment.clear();
        }
    }
    limits
}

fn limit_in(line: &str, what: &str) -> Option<Limit> {
    let declaration = line.strip_prefix("pub ").unwrap_or(line);
    let declaration = declaration.strip_prefix("pub(crate) ").unwrap_or(declaration);
    let declaration = declaration.strip_prefix("pub(super) ").unwrap_or(declaration);
    let (name, rest) = declaration.strip_prefix("const ")?.split_once(": ")?;
    let (kind, value) = rest.strip_suffix(';')?.split_once(" = ")?;
    let is_limit = name.split('_').any(|word| WORDS.contains(&word));
    let is_number = kind.starts_with(['u', 'i', 'f']);
    let is_wait = kind.ends_with("Duration");
    (is_wait || is_limit && is_number).then(|| Limit {
        name: name.to_owned(),
        value: readable(value),
        what: what.to_owned(),
    })
}

/// Writes durations as people do; other values stay as the source has them.
fn readable(value: &str) -> String {
    let inner = |unit: &str| {
        let (_, inside) = value.split_once(&format!("Duration::from_{unit}("))?;
        inside.strip_suffix(')')
    };
    for (constructor, unit) in [("secs", "s"), ("millis", "ms"), ("mins", "min"), ("micros", "µs")]
    {
        if let Some(number) = inner(constructor) {
            return format!("{number} {unit}");
        }
    }
    value.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_bounds_are_found_with_their_sentence() {
        let source = "\
/// The largest body.
pub const MAX_BODY_BYTES: usize = 4 << 20;
/// How long a call
/// may take.
#[doc(hidden)]
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// A name.
const MAXIMAL: &str = \"x\";
const PORT: u16 = 7700;
/// How often it looks.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Rows of a commit.
const ROWS_PER_COMMIT: usize = 500;

#[cfg(test)]
mod tests {
    const MAX_CASES: usize = 1;
}
";
        let limit = |name: &str, value: &str, what: &str| Limit {
            name: name.to_owned(),
            value: value.to_owned(),
            what: what.to_owned(),
        };
        let expected = [
            limit("MAX_BODY_BYTES", "4 << 20", "The largest body."),
            limit("CALL_TIMEOUT", "30 s", "How long a call may take."),
            limit("LOOK_EVERY", "200 ms", "How often it looks."),
            limit("ROWS_PER_COMMIT", "500", "Rows of a commit."),
        ];
        assert_eq!(limits_in(source), expected);
    }
}

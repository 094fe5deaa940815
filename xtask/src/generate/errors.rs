//! The page of error codes, read from the one table in the `tools` crate.

use super::{Page, cell, heading};
use crate::project;

const TABLE: &str = "crates/tools/src/error.rs";

/// Makes the page; a table without entries is an error, since the form must have changed.
pub(super) fn page() -> anyhow::Result<Page> {
    let source = fs_err::read_to_string(project::root().join(TABLE))?;
    let codes = codes_in(&source);
    anyhow::ensure!(!codes.is_empty(), "no error codes were found in `{TABLE}`");
    let mut text = heading(
        "Error codes",
        "What `error.code` can be in an answer, and the HTTP status of a REST answer with it.",
    );
    text.push_str("| code | HTTP | meaning |\n|---|---|---|\n");
    for (code, status, meaning) in codes {
        text.push_str(&format!("| `{code}` | {status} | {} |\n", cell(&meaning)));
    }
    Ok(Page { name: "errors.md", text })
}

/// Finds entries of the form `Name = "CODE", 400;` with the comment above each.
fn codes_in(source: &str) -> Vec<(String, u16, String)> {
    let mut codes = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    for line in source.lines().map(str::trim) {
        if let Some(sentence) = line.strip_prefix("///") {
            comment.push(sentence.trim());
            continue;
        }
        if let Some((code, status)) = code_in(line) {
            codes.push((code, status, comment.join(" ")));
        }
        comment.clear();
    }
    codes
}

fn code_in(line: &str) -> Option<(String, u16)> {
    let (name, rest) = line.split_once(" = \"")?;
    let (code, status) = rest.strip_suffix(';')?.split_once("\", ")?;
    let is_entry = name.chars().all(char::is_alphanumeric);
    is_entry.then_some(())?;
    Some((code.to_owned(), status.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_carry_their_comment() {
        let source = "codes! {\n    /// It is\n    /// not there.\n    NotFound = \"NOT_FOUND\", 404;\n}\nlet x = \"y\", 1;";
        let expected = ("NOT_FOUND".to_owned(), 404, "It is not there.".to_owned());
        assert_eq!(codes_in(source), [expected]);
    }
}

//! A dependency that no source of the room names is only compile time.

use super::Problem;
use super::house::{House, Member};

/// Names the room and the crate of every dependency whose name never occurs.
///
/// The search is by word, not by meaning: a crate that is only mentioned in a comment passes. It
/// never cries wolf over a crate that is used, apart from those a macro names unseen.
pub(super) fn check(house: &House) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in &house.members {
        let sources = sources_of(house, member);
        // A room that nobody moved into has the dependencies that its plan says.
        if !sources.iter().any(|source| has_code(source)) {
            continue;
        }
        for used in &member.uses {
            if !sources.iter().any(|source| has_word(source, &used.word)) {
                let what =
                    format!("`{}` depends on `{}` and never uses it", member.name, used.name);
                problems.push(Problem::new(&member.name, what));
            }
        }
    }
    problems
}

fn sources_of<'house>(house: &'house House, member: &Member) -> Vec<&'house str> {
    let folder = format!("{}/", member.folder);
    let files = house.rust_files().filter(|(path, _)| path.starts_with(&folder));
    files.map(|(_, text)| text).collect()
}

fn has_code(source: &str) -> bool {
    source.lines().any(|line| !line.trim().is_empty() && !line.starts_with("//"))
}

fn has_word(source: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    source.match_indices(word).any(|(at, _)| {
        let before = source[..at].chars().next_back();
        let after = source[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole() {
        assert!(has_word("use serde_json::Value;", "serde_json"));
        assert!(has_word("#[derive(serde::Serialize)]", "serde"));
        assert!(!has_word("use serde_json::Value;", "serde"));
        assert!(!has_word("let my_http = 1;", "http"));
    }

    #[test]
    fn header_alone_is_no_code() {
        assert!(!has_code("//! A room to come.\n\n// Nothing.\n"));
        assert!(has_code("//! A room.\nmod attic;\n"));
    }
}

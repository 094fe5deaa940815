//! A dependency that no source of the crate names is only compile time.

use super::Problem;
use super::workspace::{Member, Workspace};

/// Names every dependency whose name never occurs, with the crate that has it.
///
/// The search is by word, not by meaning: a crate that is only mentioned in a comment passes. It
/// never cries wolf over a crate that is used, apart from those a macro names unseen.
pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in &workspace.members {
        let sources = sources_of(workspace, member);
        // A crate without code yet has the dependencies that its plan says.
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
    problems.extend(unused_in_workspace(workspace));
    problems
}

/// Names every line of `[workspace.dependencies]` that no crate takes up.
fn unused_in_workspace(workspace: &Workspace) -> Vec<Problem> {
    let Some(manifest) = workspace.files.get("Cargo.toml") else { return Vec::new() };
    let Ok(manifest) = manifest.parse::<toml::Table>() else { return Vec::new() };
    let declared = manifest
        .get("workspace")
        .and_then(|table| table.get("dependencies"))
        .and_then(toml::Value::as_table);
    let Some(declared) = declared else { return Vec::new() };
    let is_used = |name: &str| {
        workspace.members.iter().any(|member| member.uses.iter().any(|used| used.name == name))
    };
    let unused = declared.keys().filter(|name| !is_used(name));
    unused
        .map(|name| {
            let what = format!("`{name}` is a workspace dependency that no crate uses");
            Problem::new("Cargo.toml", what)
        })
        .collect()
}

fn sources_of<'workspace>(
    workspace: &'workspace Workspace,
    member: &Member,
) -> Vec<&'workspace str> {
    let folder = format!("{}/", member.folder);
    let files = workspace.rust_files().filter(|(path, _)| path.starts_with(&folder));
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
        assert!(!has_code("//! A crate to come.\n\n// Nothing.\n"));
        assert!(has_code("//! A crate.\nmod attic;\n"));
    }
}

//! Families take and return Rust types: JSON begins in `tools`.
//!
//! No public function of a family has `serde_json::Value` in its signature. What is stored as
//! JSON because its shape is the user's (metadata) is a field, not a parameter, and is not looked
//! at. The exceptions are named here with their reason.

use super::{Problem, Workspace};

/// The families.
const FAMILIES: [&str; 5] = ["files", "tables", "filters", "contexts", "knowledge"];

/// Files whose public functions may speak JSON, and why.
const EXCEPTIONS: [(&str, &str); 4] = [
    ("crates/contexts/src/jobs.rs", "what a job gives is stored as JSON"),
    ("crates/knowledge/src/jobs.rs", "what a job gives is stored as JSON"),
    ("crates/filters/src/reconcile/", "the OpenRefine protocol is JSON, message by message"),
    ("crates/filters/src/error.rs", "one lookup of a batch fails alone, inside the answer"),
];

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in &workspace.files {
        let is_family =
            FAMILIES.iter().any(|family| path.starts_with(&format!("crates/{family}/src/")));
        let is_test = path.contains("/tests/") || path.ends_with("tests.rs");
        let is_excepted = EXCEPTIONS.iter().any(|(place, _)| path.starts_with(place));
        if is_family && path.ends_with(".rs") && !is_test && !is_excepted {
            problems.extend(check_file(path, text));
        }
    }
    problems
}

fn check_file(path: &str, text: &str) -> Vec<Problem> {
    let product = text.split("#[cfg(test)]").next().unwrap_or(text);
    let imports_value = product
        .lines()
        .filter(|line| line.starts_with("use serde_json::"))
        .any(|line| words(line).any(|word| word == "Value"));
    let mut problems = Vec::new();
    for (at, signature) in signatures(product) {
        let says_value = signature.contains("serde_json::Value")
            || (imports_value && words(&signature).any(|word| word == "Value"));
        if says_value {
            problems.push(Problem::new(
                format!("{path}:{at}"),
                "a public function of a family takes or gives `serde_json::Value`: \
                 use a type of the family, and write JSON in `tools`",
            ));
        }
    }
    problems
}

/// Gives each public function's signature with the number of its first line.
fn signatures(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (line_idx, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        if open.is_none()
            && (trimmed.starts_with("pub fn ") || trimmed.starts_with("pub async fn "))
        {
            open = Some((line_idx + 1, String::new()));
        }
        if let Some((_, signature)) = &mut open {
            signature.push_str(trimmed);
            signature.push(' ');
        }
        let is_over = trimmed.ends_with('{') || trimmed.ends_with(';') || trimmed.ends_with('}');
        if is_over && let Some(signature) = open.take() {
            found.push(signature);
        }
    }
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !char.is_alphanumeric() && char != '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_public_signatures_are_found() {
        let text = "use serde_json::{Map, Value};\n\
                    pub fn plain(name: &str) -> usize {\n}\n\
                    pub fn call(\n    arguments: &Value,\n) -> usize {\n}\n\
                    pub(crate) fn inner(value: &Value) {}\n\
                    fn private() -> Value {}\n";
        let problems = check_file("crates/files/src/x.rs", text);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].place, "crates/files/src/x.rs:4");
        let other = "use columns::Value;\npub fn cell() -> Value {\n}\n";
        assert!(check_file("crates/files/src/x.rs", other).is_empty());
        let named = "pub fn cell() -> serde_json::Value {\n}\n";
        assert_eq!(check_file("crates/files/src/x.rs", named).len(), 1);
        let tested = "#[cfg(test)]\nmod tests {\n    pub fn cell() -> serde_json::Value {\n}\n}\n";
        assert!(check_file("crates/files/src/x.rs", tested).is_empty());
    }
}

//! Families take and return Rust types: JSON begins in `tools`.
//!
//! No public function, field, variant or type alias of a family or of `across`, and no trait that it implements,
//! has `serde_json::Value` in it, apart from what is named here with its reason: what is stored as
//! JSON because its shape is the user's.

use super::product::product;
use super::{Problem, Workspace};

const FAMILIES: [&str; 6] = ["files", "tables", "filters", "contexts", "knowledge", "across"];

/// Places that may speak JSON, by a file or folder and the name of a field or function in it; and why.
const EXCEPTIONS: [(&str, &str, &str); 7] = [
    ("crates/files/src/jobs.rs", "run_job", "what a job gives is stored as JSON"),
    ("crates/contexts/src/jobs.rs", "run_job", "what a job gives is stored as JSON"),
    ("crates/knowledge/src/jobs.rs", "run_job", "what a job gives is stored as JSON"),
    ("crates/knowledge/src/", "metadata", "metadata of a document is stored as its user gave it"),
    ("crates/knowledge/src/new_document.rs", "check_description", "it looks at that metadata"),
    ("crates/across/src/source.rs", "metadata", "of a thing of any family, its user's among it"),
    ("crates/filters/src/response.rs", "metadata", "metadata of a name is the operator's"),
];

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in &workspace.files {
        let is_family =
            FAMILIES.iter().any(|family| path.starts_with(&format!("crates/{family}/src/")));
        let is_test = path.contains("/tests/") || path.ends_with("tests.rs");
        if is_family && path.ends_with(".rs") && !is_test {
            problems.extend(check_file(path, text));
        }
    }
    problems
}

fn check_file(path: &str, text: &str) -> Vec<Problem> {
    let product = product(text);
    let imports_value = product
        .lines()
        .filter(|line| line.starts_with("use serde_json::"))
        .any(|line| words(line).any(|word| word == "Value"));
    let mut problems = Vec::new();
    for Public { at, name, text } in public_items(&product) {
        // `Value::…` is a pattern or a path, not a type.
        let says_value = text.contains("serde_json::Value")
            || (imports_value && words(&text.replace("Value::", "")).any(|word| word == "Value"));
        let is_excepted = EXCEPTIONS
            .iter()
            .any(|(place, excepted, _)| path.starts_with(place) && *excepted == name);
        if says_value && !is_excepted {
            let what = format!(
                "`{name}` of a family takes or gives `serde_json::Value`: use a type of the \
                 family, and write JSON in `tools`"
            );
            problems.push(Problem::new(format!("{path}:{at}"), what));
        }
    }
    problems
}

/// Something of a file that other crates can use.
pub(super) struct Public {
    /// The number of its first line.
    pub(super) at: usize,
    pub(super) name: String,
    /// Its signature or type.
    pub(super) text: String,
}

/// Gives public functions, fields, variants and aliases, and what traits are implemented with.
pub(super) fn public_items(text: &str) -> Vec<Public> {
    let mut found = Vec::new();
    let mut open: Option<Public> = None;
    let (mut is_in_trait, mut is_in_enum) = (false, false);
    for (line_idx, line) in text.lines().enumerate() {
        let (at, trimmed) = (line_idx + 1, line.trim_start());
        if line.starts_with("impl") {
            is_in_trait = line.contains(" for ");
        }
        is_in_enum = (is_in_enum && line != "}") || line.starts_with("pub enum ");
        if is_in_enum && !trimmed.starts_with("//") && !line.starts_with("pub enum ") {
            found.push(public(at, trimmed, trimmed));
        }
        if let Some(alias) = line.strip_prefix("pub type ") {
            found.push(public(at, alias, trimmed));
        }
        if open.is_none() && !is_in_enum {
            let of_trait = if is_in_trait { trimmed.strip_prefix("fn ") } else { None };
            let function =
                ["pub fn ", "pub async fn "].iter().find_map(|it| trimmed.strip_prefix(it));
            let field = trimmed.strip_prefix("pub ").filter(|rest| is_field(rest));
            if let Some(field) = field {
                found.push(public(at, field, trimmed));
            }
            open = function.or(of_trait).map(|rest| public(at, rest, ""));
            if line.starts_with("impl") && is_in_trait {
                found.push(public(at, "impl", trimmed));
            }
        }
        if let Some(public) = &mut open {
            public.text.push_str(trimmed);
            public.text.push(' ');
        }
        let is_over = trimmed.ends_with('{') || trimmed.ends_with(';') || trimmed.ends_with('}');
        if is_over {
            found.extend(open.take());
        }
    }
    found
}

/// Tells whether a line goes on as a field does: a name and a colon.
fn is_field(rest: &str) -> bool {
    let name = rest.split(':').next().unwrap_or_default();
    rest.contains(": ") && name.chars().all(|char| char.is_alphanumeric() || char == '_')
}

fn public(at: usize, rest: &str, text: &str) -> Public {
    let name = words(rest).next().unwrap_or_default().to_owned();
    Public { at, name, text: text.to_owned() }
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
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
        let fields = "use serde_json::Value;\n\
                      pub struct Row {\n    pub cells: Vec<Value>,\n    hidden: Value,\n}\n\
                      impl From<Value> for Row {\n    fn from(value: Value) -> Self {\n    }\n}\n\
                      impl Row {\n    fn inner(&self) -> Value {\n    }\n}\n";
        let places: Vec<String> = check_file("crates/files/src/x.rs", fields)
            .into_iter()
            .map(|problem| problem.place)
            .collect();
        let wanted = [3, 6, 7].map(|at| format!("crates/files/src/x.rs:{at}"));
        assert_eq!(places, wanted);
        let variants = "use serde_json::Value;\n\
                        pub enum Test {\n    /// A value.\n    AnyOf(Vec<Value>),\n    Range {\n        \
                        min: Option<Value>,\n    },\n    None,\n}\n\
                        enum Inner {\n    Of(Value),\n}\npub type Row = Vec<Value>;\n";
        let places: Vec<String> = check_file("crates/files/src/x.rs", variants)
            .into_iter()
            .map(|problem| problem.place)
            .collect();
        assert_eq!(places, [4, 6, 13].map(|at| format!("crates/files/src/x.rs:{at}")));
        let stored = "pub metadata: serde_json::Value,\n";
        assert!(check_file("crates/knowledge/src/objects.rs", stored).is_empty());
    }
}

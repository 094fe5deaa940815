//! Services take ids as types of their own: a document's id is never passed for a collection's.
//!
//! In a crate that defines ids with `object_id!`, no public function takes text under a name that
//! says it is one of them: `id`, the object's name, or either with `_id`. Public fields are text
//! only where they hold the object's name, and in errors, which repeat what was received.

use std::collections::{BTreeMap, BTreeSet};

use super::json_values::{Public, public_items, words};
use super::product::product;
use super::{Problem, Workspace};

/// What may be text although it is called like an id: a folder or file, the function or field, and
/// why.
const EXCEPTIONS: [(&str, &str, &str); 5] = [
    ("crates/contexts/src/endpoints.rs", "open_endpoint", "its `key` is the secret, and no id"),
    ("crates/contexts/src/search.rs", "id", "a chunk is no object: its id names where it is"),
    ("crates/filters/src/reconcile/", "id", "the dimension and the value of an entity"),
    ("crates/filters/src/reconcile/", "extend", "as the `id` of a candidate"),
    ("crates/filters/src/reconcile/", "entity", "as the `id` of a candidate"),
];

/// The files of a crate that say what is wrong.
const ERRORS: [&str; 2] = ["/error.rs", "/refusal.rs"];

/// Crates for tests, and those in which text becomes an id.
const ELSEWHERE: [&str; 3] = ["crates/model/", "crates/testkit/", "crates/conformance/"];

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let sources: Vec<(&str, String)> = workspace
        .rust_files()
        .filter(|(path, _)| path.starts_with("crates/") && path.contains("/src/"))
        .filter(|(path, _)| !ELSEWHERE.iter().any(|folder| path.starts_with(folder)))
        .filter(|(path, _)| !path.contains("/tests/") && !path.ends_with("tests.rs"))
        .filter(|(path, _)| !ERRORS.iter().any(|file| path.ends_with(file)))
        .map(|(path, text)| (path, product(text)))
        .collect();
    let mut names: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in &sources {
        names.entry(crate_of(path)).or_default().extend(defined(text));
    }
    names.retain(|_, names| !names.is_empty());
    sources
        .iter()
        .filter_map(|(path, text)| Some((path, text, names.get(crate_of(path))?)))
        .flat_map(|(path, text, names)| check_file(path, text, names))
        .collect()
}

fn crate_of(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or_default()
}

/// Gives the names of the objects whose ids a source defines: `knowledge_base` and `base` for
/// `KnowledgeBaseId`.
fn defined(text: &str) -> Vec<String> {
    let blocks = text.split("object_id! {").skip(1).filter_map(|rest| rest.split('}').next());
    let types = blocks.filter_map(|block| words(block).filter(|word| word.ends_with("Id")).last());
    types.flat_map(|name| names_of(name.trim_end_matches("Id"))).collect()
}

fn names_of(object: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![];
    for char in object.chars() {
        match parts.last_mut() {
            Some(part) if !char.is_uppercase() => part.push(char),
            _ => parts.push(char.to_lowercase().to_string()),
        }
    }
    let last = parts.last().cloned().unwrap_or_default();
    vec![parts.join("_"), last]
}

fn check_file(path: &str, text: &str, names: &BTreeSet<String>) -> Vec<Problem> {
    let mut problems = vec![];
    for Public { at, name, text } in public_items(text) {
        let is_excepted = EXCEPTIONS
            .iter()
            .any(|(place, excepted, _)| path.starts_with(place) && *excepted == name);
        if is_excepted {
            continue;
        }
        let is_field = text.starts_with("pub ") && !text.contains("fn ");
        let may_be_name = |id: &&str| is_field && names.contains(*id);
        for id in texts(&text).filter(|id| is_id(id, names) && !may_be_name(id)) {
            let what = format!(
                "`{id}` of `{name}` is an id and is text: use the type of its ids, and make one \
                 of text in `tools` or `serve`"
            );
            problems.push(Problem::new(format!("{path}:{at}"), what));
        }
    }
    problems
}

/// Gives the names of the parameters and fields of a signature that are text.
fn texts(signature: &str) -> impl Iterator<Item = &str> {
    let parts = signature.split([',', '(']).filter_map(|part| part.split_once(": "));
    parts.filter_map(|(name, kind)| {
        let kind: String = kind.split(") ->").next()?.split_whitespace().collect();
        let is_text = ["&str", "String", "Option<&str>", "Option<String>", "&[String]"]
            .iter()
            .chain(&["Vec<String>", "Option<Vec<String>>", "implInto<String>", "&[&str]"])
            .any(|text| kind.trim_end_matches(')') == *text);
        is_text.then(|| words(name).last()).flatten()
    })
}

fn is_id(name: &str, names: &BTreeSet<String>) -> bool {
    let name = name.strip_suffix("_ids").or(name.strip_suffix("_id")).unwrap_or(name);
    name == "id" || name == "ids" || names.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_are_text_are_found() {
        let ids = "model::object_id! {\n    /// A base.\n    KnowledgeBaseId\n}\n\
                   model::object_id! {\n    ToolId\n}\n";
        let names: BTreeSet<String> = defined(ids).into_iter().collect();
        assert_eq!(names.iter().collect::<Vec<_>>(), ["base", "knowledge_base", "tool"]);
        let text = "pub struct New {\n    pub tool_ids: Vec<String>,\n    pub tool: String,\n}\n\
                    impl Service {\n    pub fn get(&self, caller: &Caller, id: &str) -> Result<Tool> {\n    }\n    \
                    pub fn search(\n        &self,\n        base: &KnowledgeBaseId,\n        query: &str,\n    ) {\n    }\n    \
                    pub fn read(&self, tool: Option<&str>) -> String {\n    }\n    \
                    fn private(&self, id: &str) {\n    }\n}\n";
        let places: Vec<String> = check_file("crates/contexts/src/x.rs", text, &names)
            .into_iter()
            .map(|problem| problem.place)
            .collect();
        assert_eq!(places, [2, 6, 14].map(|at| format!("crates/contexts/src/x.rs:{at}")));
    }
}

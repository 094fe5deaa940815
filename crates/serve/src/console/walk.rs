//! Answers that go on: one ends at its limit or at its budget, and names where the next one begins.
//! What a page says of all results is read from as many answers as that takes.

use serde_json::{Value, json};
use tools::ToolError;

use super::viewer::Viewer;

/// A tool whose answers are ranked results and go on by a cursor.
pub(super) struct Ranked<'a> {
    pub(super) tool: &'a str,
    /// The member of an answer with its results.
    list: &'a str,
    /// The pointer of what an answer says of where the next one begins.
    next: &'a str,
    /// The argument that takes it.
    cursor: &'a str,
}

/// `search`, over everything.
pub(super) const SEARCH: Ranked<'static> =
    Ranked { tool: "search", list: "results", next: "/next", cursor: "cursor" };

/// `searchFiles`, over the folders.
pub(super) const SEARCH_FILES: Ranked<'static> =
    Ranked { tool: "searchFiles", list: "items", next: "/pagination/next", cursor: "offset" };

/// `search_documents`, over one knowledge base.
pub(super) const SEARCH_DOCUMENTS: Ranked<'static> =
    Ranked { tool: "search_documents", list: "results", next: "/next", cursor: "cursor" };

/// The results of as many answers as were asked for.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// In their order.
    pub(super) results: Vec<Value>,
    /// What the answers said beside them, each once.
    pub(super) warnings: Vec<String>,
    /// Whether there are no others.
    pub(super) is_whole: bool,
}

/// Asks until there are `most` results, or no others, or one of them is the one that is looked for.
pub(super) async fn walk(
    viewer: &Viewer,
    ranked: &Ranked<'_>,
    mut arguments: Value,
    most: usize,
    is_wanted: impl Fn(&Value) -> bool,
) -> Result<Walked, ToolError> {
    let mut walked = Walked::default();
    loop {
        let mut answer = viewer.tool(ranked.tool, arguments.clone()).await?.value;
        for warning in answer["warnings"].as_array().into_iter().flatten() {
            let warning = super::layout::shown(warning);
            if !walked.warnings.contains(&warning) {
                walked.warnings.push(warning);
            }
        }
        let results = match answer[ranked.list].take() {
            Value::Array(results) => results,
            _ => Vec::new(),
        };
        let is_found = results.iter().any(&is_wanted);
        let is_empty = results.is_empty();
        walked.results.extend(results);
        let next = answer.pointer(ranked.next).and_then(Value::as_str);
        walked.is_whole = next.is_none();
        match next {
            // An answer without results that goes on would never end.
            Some(next) if !is_found && !is_empty && walked.results.len() < most => {
                arguments[ranked.cursor] = json!(next);
            }
            _ => break,
        }
    }
    if walked.results.len() > most {
        walked.results.truncate(most);
        walked.is_whole = false;
    }
    Ok(walked)
}

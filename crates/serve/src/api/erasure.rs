//! Which kept answers go when something is deleted: those that may hold text of it.
//!
//! Whatever cannot be told for sure counts as holding it: an answer of a tool that is not known
//! here, or of an earlier version.

use std::sync::Arc;

use guard::{Erasure, StoredAnswer};
use model::{Caller, Timestamp};
use serde_json::Value;

use crate::App;

/// Tools whose answers hold text of the folders.
const FILES: [&str; 7] = [
    "listRoots",
    "listFiles",
    "indexFolder",
    "searchFiles",
    "openFile",
    "summarizeResults",
    "rewriteQuery",
];
/// Tools whose answers hold text of tables and dimensions.
const TABLES: [&str; 7] = [
    "query_table",
    "describe_schema",
    "aggregate_table",
    "chart_table",
    "search_filters",
    "search_filters_batch",
    "generate_chart_data",
];
/// Tools that name their knowledge base in an argument.
const KNOWLEDGE: [&str; 2] = ["search_documents", "get_knowledge_base_summary"];

/// The summary of a knowledge base repeats sentences of its documents without naming them.
const SUMMARY: &str = "get_knowledge_base_summary";

/// Characters of an id of `search` that are the same for every place of one thing.
const SAME_THING_CHARS: usize = 15;

/// Something that was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Deleted {
    /// When it was made.
    pub(crate) since: Timestamp,
    pub(crate) what: What,
}

/// What was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// A knowledge base, or a collection of it.
    OfBase { base: String },
    /// A document of a knowledge base.
    Document { base: String, id: String },
    /// A project, or a JSON document of it.
    OfProject,
    /// A chart.
    Chart { id: String },
    /// Something that held no text.
    Nothing,
}

/// Erases the kept answers that may hold text of what a caller has deleted; all of the tenant where
/// that is not known.
pub(super) async fn erase(app: &Arc<App>, caller: &Caller, deleted: Option<Deleted>) {
    let (app, tenant) = (Arc::clone(app), caller.tenant.to_string());
    let at = app.clock.now();
    let erased = tokio::task::spawn_blocking(move || match deleted {
        None => app.answers.erase(Some(&tenant)),
        Some(Deleted { what: What::Nothing, .. }) => Ok(()),
        Some(Deleted { since, what }) => {
            let same = match &what {
                What::Document { id, .. } => app.across.id_of("knowledge", id),
                What::OfBase { .. } | What::OfProject | What::Chart { .. } | What::Nothing => None,
            };
            app.answers.erase_some(&Erasure {
                tenant: &tenant,
                since,
                at,
                marks: &marks(&what, same.as_deref()),
                may_hold: &|answer| may_hold(&what, answer),
            })
        }
    });
    match erased.await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::error!(%error, "kept answers could not be erased"),
        Err(error) => tracing::error!(%error, "kept answers could not be erased"),
    }
}

/// What the JSON of an answer has one of when it holds text of what was deleted. An answer that
/// quotes a document names it: by its own id, or by the id of a result.
fn marks(what: &What, id_in_search: Option<&str>) -> Vec<String> {
    match (what, id_in_search) {
        (What::Document { id, .. }, Some(same)) => {
            let thing: String = same.chars().take(SAME_THING_CHARS).collect();
            vec![id.clone(), thing, SUMMARY.to_owned()]
        }
        (What::Chart { id }, _) => vec![id.clone()],
        _ => Vec::new(),
    }
}

/// Tells whether an answer may hold text of what was deleted.
fn may_hold(what: &What, answer: &StoredAnswer) -> bool {
    let family = match what {
        What::Nothing => return false,
        // Its id was in the answer.
        What::Chart { .. } => return true,
        What::OfBase { .. } | What::Document { .. } => "knowledge",
        What::OfProject => "contexts",
    };
    let Some(rights) = &answer.rights else { return true };
    // The tools of an endpoint have names of their own, and search JSON documents alone.
    if rights.is_endpoint {
        return family == "contexts";
    }
    let tool = answer.tool.as_str();
    let value = answer.answer.as_ref().unwrap_or(&Value::Null);
    match (what, tool) {
        (_, "search") => match value["results"].as_array() {
            Some(results) => results.iter().any(|result| {
                let copies = result["duplicates"].as_array().into_iter().flatten();
                std::iter::once(result).chain(copies).any(|one| one["source"] == family)
            }),
            None => true,
        },
        (_, "fetch") => value["metadata"]["source"].as_str().is_none_or(|source| source == family),
        (What::OfBase { base } | What::Document { base, .. }, tool)
            if KNOWLEDGE.contains(&tool) =>
        {
            let asked = answer.arguments.as_ref().and_then(|asked| asked.get("knowledge_base_id"));
            asked.and_then(Value::as_str).is_none_or(|asked| asked == base)
        }
        (_, tool) if KNOWLEDGE.contains(&tool) => family == "knowledge",
        (_, tool) => !FILES.contains(&tool) && !TABLES.contains(&tool),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(tool: &str, arguments: &Value, value: Value) -> StoredAnswer {
        StoredAnswer {
            at: Timestamp(1),
            request: "r".to_owned(),
            tool: tool.to_owned(),
            tenant: "acme".to_owned(),
            caller: "ann".to_owned(),
            rights: Some(guard::CallRights::default()),
            arguments: arguments.as_object().cloned(),
            answer: Some(value),
            is_erased: false,
            ids: vec![],
            hash: String::new(),
            generation: None,
        }
    }

    #[track_caller]
    fn check(answer: &StoredAnswer, of_base: bool, of_project: bool) {
        let base = What::OfBase { base: "b1".to_owned() };
        assert_eq!(may_hold(&base, answer), of_base, "{answer:?}");
        assert_eq!(may_hold(&What::OfProject, answer), of_project, "{answer:?}");
        assert!(!may_hold(&What::Nothing, answer));
    }

    #[test]
    fn answers_of_other_families_and_other_bases_stay() {
        let found = |source: &str| json!({ "results": [{ "id": "x", "source": source }] });
        let none = json!({});
        check(&answer("search", &none, found("knowledge")), true, false);
        check(&answer("search", &none, found("contexts")), false, true);
        check(&answer("search", &none, found("files")), false, false);
        check(&answer("search", &none, json!({ "results": [] })), false, false);
        let copy = json!({ "results": [{ "source": "files", "duplicates": [{ "source": "knowledge" }] }] });
        check(&answer("search", &none, copy), true, false);
        check(&answer("query_table", &none, json!({})), false, false);
        check(&answer("openFile", &none, json!({})), false, false);
        let asked = |base: &str| json!({ "knowledge_base_id": base });
        check(&answer("search_documents", &asked("b1"), json!({})), true, false);
        check(&answer("search_documents", &asked("b2"), json!({})), false, false);
        check(&answer("search_documents", &none, json!({})), true, false);
        check(&answer("fetch", &none, json!({ "metadata": { "source": "tables" } })), false, false);
    }

    #[test]
    fn what_is_not_known_counts_as_holding_it() {
        let unknown = answer("of_tomorrow", &json!({}), json!({}));
        check(&unknown, true, true);
        check(
            &StoredAnswer { rights: None, ..answer("query_table", &json!({}), json!({})) },
            true,
            true,
        );
        let rights = guard::CallRights { is_endpoint: true, ..guard::CallRights::default() };
        check(&StoredAnswer { rights: Some(rights), ..unknown }, false, true);
    }
}

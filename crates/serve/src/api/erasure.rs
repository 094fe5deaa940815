//! Which kept answers go when something is deleted: those that may hold text of it.
//!
//! Whatever cannot be told for sure counts as holding it: an answer of a tool that is not known
//! here, or of an earlier version.

use std::sync::Arc;

use guard::{Answers, Erasure, StoredAnswer};
use model::{Caller, TenantId, Timestamp};
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

/// A summary of what was found names files by its own numbers.
const FOUND: &str = "summarizeResults";

/// Of more files that left at once than this, every answer of the folders goes: each would be
/// looked for in each answer.
const MAX_LOOKED_FOR: usize = 200;

/// Something that was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deleted {
    /// When it was made; the earliest time there is where that is not known.
    pub since: Timestamp,
    /// What it was.
    pub what: What,
}

/// What was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A knowledge base, or a collection of it.
    OfBase {
        /// The knowledge base.
        base: String,
    },
    /// A document of a knowledge base.
    Document {
        /// Its knowledge base.
        base: String,
        /// The document.
        id: String,
    },
    /// Files of the folders, by their paths.
    Files {
        /// Their paths, as answers have them.
        paths: Vec<String>,
    },
    /// A project, or a JSON document of it.
    OfProject,
    /// The figures of a chart, which link to it.
    Chart {
        /// That of its address.
        id: String,
    },
    /// Something that held no text.
    Nothing,
}

/// Erases the kept answers that may hold text of what a caller has deleted; all of the tenant where
/// that is not known.
pub(super) async fn erase(app: &Arc<App>, caller: &Caller, deleted: Option<Deleted>) {
    let (app, tenant) = (Arc::clone(app), caller.tenant.clone());
    let at = app.clock.now();
    let erased = tokio::task::spawn_blocking(move || match deleted {
        None => app.answers.erase(Some(tenant.as_str())),
        Some(deleted) => erase_answers(&app.answers, Some(&tenant), at, &deleted),
    });
    match erased.await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::error!(%error, "stored answers could not be erased"),
        Err(error) => tracing::error!(%error, "stored answers could not be erased"),
    }
}

/// Erases the kept answers of a tenant, or of all, that may hold text of what was deleted.
///
/// # Errors
///
/// When they cannot be erased now, as [`Answers::erase`] says.
pub fn erase_answers(
    answers: &Answers,
    tenant: Option<&TenantId>,
    at: Timestamp,
    deleted: &Deleted,
) -> std::io::Result<()> {
    if deleted.what == What::Nothing {
        return Ok(());
    }
    let shown = shown(&deleted.what);
    answers.erase_some(&Erasure {
        tenant: tenant.map(TenantId::as_str),
        since: deleted.since,
        at,
        marks: &marks(&deleted.what, &shown),
        may_hold: &|answer| may_hold(&deleted.what, &shown, answer),
    })
}

/// What an answer shows of the files that left: its JSON has one of these where it has text of one.
/// Nothing for other things, and where there are too many.
fn shown(what: &What) -> Vec<String> {
    let What::Files { paths } = what else { return Vec::new() };
    if paths.len() > MAX_LOOKED_FOR {
        return Vec::new();
    }
    paths.iter().flat_map(|path| [in_json(path), across::file_prefix(path)]).collect()
}

/// Writes a text as it is inside a string of JSON.
fn in_json(text: &str) -> String {
    let mut quoted = Value::from(text).to_string();
    quoted.pop();
    quoted.split_off(1)
}

/// What the JSON of an answer has one of when it holds text of what was deleted. An answer that
/// quotes a document names it: by its own id, or by the id of a result.
fn marks(what: &What, shown: &[String]) -> Vec<String> {
    match what {
        What::Document { id, .. } => {
            vec![id.clone(), across::document_prefix(id), SUMMARY.to_owned()]
        }
        What::Chart { id } => vec![id.clone()],
        What::Files { .. } if !shown.is_empty() => {
            shown.iter().cloned().chain([FOUND.to_owned()]).collect()
        }
        What::Nothing | What::OfBase { .. } | What::OfProject | What::Files { .. } => Vec::new(),
    }
}

/// Tells whether an answer may hold text of what was deleted.
fn may_hold(what: &What, shown: &[String], answer: &StoredAnswer) -> bool {
    let family = match what {
        What::Nothing => return false,
        // Its id was in the answer.
        What::Chart { .. } => return true,
        What::OfBase { .. } | What::Document { .. } => "knowledge",
        What::OfProject => "contexts",
        What::Files { .. } => "files",
    };
    let Some(rights) = &answer.rights else { return true };
    // The tools of an endpoint have names of their own, and search JSON documents alone.
    if rights.is_endpoint {
        return family == "contexts";
    }
    let tool = answer.tool.as_str();
    let value = answer.answer.as_ref().unwrap_or(&Value::Null);
    match (what, tool) {
        // Whoever asked may have named a file of which the answer has nothing.
        (What::Files { .. }, tool)
            if tool != FOUND && !shown.is_empty() && !names(value, shown) =>
        {
            false
        }
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
        (_, tool) if FILES.contains(&tool) => family == "files" && !has_nothing(value),
        (_, tool) => !TABLES.contains(&tool),
    }
}

/// Tells whether the JSON of an answer has one of some texts.
fn names(answer: &Value, texts: &[String]) -> bool {
    let json = answer.to_string();
    texts.iter().any(|text| json.contains(text.as_str()))
}

/// Tells whether an answer is a list without results.
fn has_nothing(answer: &Value) -> bool {
    ["results", "items"].iter().any(|list| answer[*list].as_array().is_some_and(Vec::is_empty))
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
        assert_eq!(may_hold(&base, &[], answer), of_base, "{answer:?}");
        assert_eq!(may_hold(&What::OfProject, &[], answer), of_project, "{answer:?}");
        assert!(!may_hold(&What::Nothing, &[], answer));
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
    fn of_files_that_left_only_answers_with_their_text_go() {
        let gone = What::Files { paths: vec!["/shelf/a \"b\".txt".to_owned()] };
        let shown = shown(&gone);
        let goes = |tool: &str, value: Value| {
            may_hold(&gone, &shown, &answer(tool, &json!({ "path": "/shelf/a" }), value))
        };
        let found = |path: &str| json!({ "items": [{ "path": path, "snippet": "s" }] });
        assert!(goes("searchFiles", found("/shelf/a \"b\".txt")));
        assert!(!goes("searchFiles", found("/shelf/c.txt")));
        assert!(!goes("searchFiles", json!({ "items": [] })));
        assert!(goes("openFile", json!({ "path": "/shelf/a \"b\".txt", "preview": "p" })));
        assert!(goes("summarizeResults", json!({ "summary": "s" })));
        let id = across::file_prefix("/shelf/a \"b\".txt") + "AAAAAA";
        let by_id = |source: &str| json!({ "results": [{ "id": id, "source": source }] });
        assert!(goes("search", by_id("files")));
        assert!(!goes("search", by_id("knowledge")));
        assert!(!goes("query_table", json!({ "note": "/shelf/a \"b\".txt" })));
        // Of very many each answer of the folders goes that has any result.
        let many = What::Files { paths: vec![String::from("/x"); MAX_LOOKED_FOR + 1] };
        let all = |tool: &str, value: Value| may_hold(&many, &[], &answer(tool, &json!({}), value));
        assert!(all("searchFiles", found("/shelf/c.txt")));
        assert!(!all("searchFiles", json!({ "items": [] })));
        assert!(!all("search_documents", json!({})));
        assert!(!all("query_table", json!({})));
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

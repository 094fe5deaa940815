//! Typical answers of every tool over the demo, in tokens.

use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};
use testkit::Mcp;

use super::agent::count;

/// A typical answer.
pub(crate) struct Typical {
    pub(crate) tool: String,
    /// The arguments, shortened where they are long.
    pub(crate) arguments: String,
    pub(crate) tokens: usize,
}

/// Characters of arguments in the table.
const SHOWN_CHARS: usize = 80;

/// Whose answers are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// This version: every tool has a typical call and takes it.
    Ours,
    /// An earlier one, which may refuse what it does not know.
    Earlier,
}

/// Calls every tool that the demo lists as an agent typically does.
///
/// Fails when a listed tool of this version has no typical call here, or refuses it.
pub(crate) fn of_every_tool(
    mcp: &mut Mcp,
    world: &Path,
    whose: Whose,
) -> anyhow::Result<Vec<Typical>> {
    let documents = world.join("documents");
    let search = mcp.call("search", &json!({ "query": "remote work allowance" })).success();
    let files = mcp.call("searchFiles", &json!({ "query": "remote work allowance" })).success();
    let period =
        json!({ "type": "YEAR", "selection": { "interval": { "start": "2020", "end": "2024" } } });
    let filter = json!({ "report_period": period, "account_category": "ch", "functional_prefixes": ["65."] });
    let chart = json!({
        "title": "Education", "chart_type": "line",
        "series_definitions": [{ "label": "Education", "filter": filter }],
    });
    let first = &files["items"][0];
    let calls: Vec<(&str, Value)> = vec![
        ("search", json!({ "query": "remote work allowance" })),
        ("fetch", json!({ "id": search["results"][0]["id"] })),
        ("listRoots", json!({})),
        ("listFiles", json!({ "path": documents })),
        ("searchFiles", json!({ "query": "remote work allowance" })),
        ("openFile", json!({ "path": first["path"], "pointer": first["pointer"] })),
        ("indexFolder", json!({ "root": documents })),
        (
            "summarizeResults",
            json!({ "query": "allowance", "results": [{ "path": first["path"], "snippet": first["snippet"] }] }),
        ),
        ("rewriteQuery", json!({ "query": "what is the remote work allowance in pdf or docx?" })),
        ("query_table", json!({ "filters": { "level": ["error"] }, "pageSize": 10 })),
        ("aggregate_table", json!({ "group_by": ["level"], "measures": ["count"] })),
        ("chart_table", json!({ "title": "Requests", "group_by": ["level"] })),
        ("describe_schema", json!({})),
        ("search_filters", json!({ "category": "uat", "query": "Cluj", "limit": 5 })),
        (
            "search_filters_batch",
            json!({ "queries": [{ "category": "uat", "query": "Cluj", "limit": 1 }, { "category": "uat", "query": "Sibiu", "limit": 1 }] }),
        ),
        ("generate_chart_data", chart),
        ("list_knowledge_bases", json!({})),
        (
            "search_documents",
            json!({ "query": "when is a sensor calibrated again?", "threshold": 0.0, "max_results": 5 }),
        ),
        ("get_knowledge_base_summary", json!({})),
        ("normalize_ocr_text", json!({ "text": "マネ-ジャ-のデ-タ" })),
    ];
    let mut typical = Vec::new();
    for tool in mcp.list_tools() {
        let name = tool["name"].as_str().context("a tool has a name")?.to_owned();
        let known = calls.iter().find(|(known, _)| *known == name);
        if whose == Whose::Earlier && known.is_none() {
            continue;
        }
        let (_, arguments) = known.with_context(|| {
            format!("`{name}` has no typical call in `xtask/src/agent_tasks/answers.rs`")
        })?;
        let result = mcp.call(&name, arguments);
        if whose == Whose::Earlier && result.is_error {
            eprintln!("{name}: refused its typical call: {}", result.text);
            continue;
        }
        anyhow::ensure!(!result.is_error, "`{name}` refused its typical call: {}", result.text);
        let shown =
            arguments.to_string().replace('|', "\\|").replace(&*world.to_string_lossy(), "…");
        let arguments: String = shown.chars().take(SHOWN_CHARS).collect();
        let cut = if arguments.len() < shown.len() { "…" } else { "" };
        typical.push(Typical {
            tool: name,
            arguments: format!("{arguments}{cut}"),
            tokens: count(&result.text),
        });
    }
    Ok(typical)
}

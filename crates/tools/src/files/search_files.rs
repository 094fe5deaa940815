//! `searchFiles`: the right place in the right file.

use std::sync::Arc;

use files::{MAX_RESULTS, SearchRequest, Service};
use model::Caller;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{error_of, version_schema, versioned, visible};
use super::resources::link;
use crate::{Answer, Call, Spec, Tool, ToolError};

/// The longest query, in characters.
const MAX_QUERY_CHARS: usize = 2_000;

/// The tool.
pub struct SearchFiles {
    service: Service,
    spec: Arc<Spec>,
}

#[derive(Deserialize)]
struct Arguments {
    query: String,
    #[serde(default = "default_k")]
    k: usize,
    #[serde(default)]
    offset: usize,
    exts: Option<Vec<String>>,
    years: Option<Vec<String>>,
    roots: Option<Vec<String>>,
    #[serde(default)]
    explain: bool,
}

fn default_k() -> usize {
    10
}

impl SearchFiles {
    /// Searches the files of a service.
    pub fn new(service: Service) -> Self {
        SearchFiles { service, spec: Arc::new(spec()) }
    }
}

fn spec() -> Spec {
    let texts = |description: &str| json!({ "type": "array", "items": { "type": "string" }, "maxItems": 100, "description": description });
    Spec::read_only(
        "searchFiles",
        "Search files",
        "Search files by words and meaning, in any language. Filters are also read from the \
         query (`contracts from 2021 in ppt or docx`). Each item has a pointer (page, slide, \
         sheet, line) that openFile takes.",
    )
    .with_input(json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "minLength": 1, "maxLength": MAX_QUERY_CHARS },
            "k": { "type": "integer", "minimum": 1, "maximum": MAX_RESULTS, "default": 10 },
            "offset": { "type": "integer", "minimum": 0, "maximum": 10_000, "default": 0 },
            "exts": texts("extensions, such as .pptx"),
            "years": texts("years in file name or content"),
            "roots": texts("roots to search, from listRoots"),
            "explain": { "type": "boolean", "default": false, "description": "say why each was found" },
        },
        "required": ["query"],
    }))
    .with_output(json!({
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "path": { "type": "string" },
                        "pointer": { "type": "string" },
                        "snippet": { "type": "string" },
                        "score": { "type": "number" },
                        "ext": { "type": "string" },
                        "modified": { "type": "string" },
                    },
                    "required": ["path", "pointer", "snippet", "score", "ext", "modified"],
                },
            },
            "pagination": {
                "type": "object",
                "properties": {
                    "offset": { "type": "integer" },
                    "returned": { "type": "integer" },
                    "total_estimate": { "type": "integer" },
                    "total_is_exact": { "type": "boolean" },
                },
                "required": ["offset", "returned", "total_estimate"],
            },
            "filters": { "type": "object" },
            "warnings": { "type": "array", "items": { "type": "string" } },
            "mcp_version": version_schema(),
        },
        "required": ["items", "pagination", "mcp_version"],
    }))
    .with_source_text(&["/items/*/snippet"])
    .with_list("/items")
}

impl Tool for SearchFiles {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        visible(&self.service, caller, &self.spec)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments { query, k, offset, exts, years, roots, explain } = call.parse()?;
        let request = SearchRequest { query, k, offset, exts, years, roots };
        let found =
            self.service.search(call.caller, &request, call.deadline).map_err(error_of("roots"))?;
        let items: Vec<Value> = found
            .items
            .iter()
            .map(|item| {
                let mut value = json!(item);
                if explain {
                    value["explanation"] = json!(item.explanation);
                }
                value
            })
            .collect();
        let mut value = json!({ "items": items, "pagination": found.pagination });
        if !found.exts.is_empty() || !found.years.is_empty() {
            value["filters"] = json!({ "exts": found.exts, "years": found.years });
        }
        let answer =
            versioned(value).with_warnings(&found.warnings).with_n_results(found.items.len());
        Ok(match found.items.first() {
            Some(first) => answer.with_link(link(&first.path, &first.pointer)),
            None => answer,
        })
    }
}

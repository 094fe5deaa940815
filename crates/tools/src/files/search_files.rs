//! `searchFiles`: the right place in the right file.

use std::sync::Arc;

use files::{MAX_RESULTS, SearchRequest, Service};
use model::Caller;
use schemars::JsonSchema;
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

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    #[schemars(length(min = 1, max = MAX_QUERY_CHARS))]
    query: String,
    #[serde(default = "default_k")]
    #[schemars(range(min = 1, max = MAX_RESULTS))]
    k: usize,
    #[serde(default)]
    #[schemars(range(min = 0, max = 10_000))]
    offset: usize,
    /// extensions, such as .pptx
    #[schemars(length(max = 100))]
    exts: Option<Vec<String>>,
    /// years in file name or content
    #[schemars(length(max = 100), inner(regex(pattern = "^[0-9]{4}$")))]
    years: Option<Vec<String>>,
    /// roots to search, from listRoots
    #[schemars(length(max = 100))]
    roots: Option<Vec<String>>,
    /// say why each was found
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
    Spec::read_only(
        "searchFiles",
        "Search files",
        "Search files by words and meaning, in any language. Filters are also read from the \
         query (`contracts from 2021 in ppt or docx`). Each item has a pointer (page, slide, \
         sheet, line) that openFile takes.",
    )
    .with_arguments::<Arguments>()
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

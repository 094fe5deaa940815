//! `searchFiles`: the right place in the right file.

use std::sync::Arc;

use across::Given;
use files::{MAX_RESULTS, MAX_WALKED, SearchRequest, Service};
use model::{Caller, Warning};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{error_of, version_schema, versioned, visible};
use super::resources::link;
use crate::paging::{Filled, fill, fixed_order, named};
use crate::walk::OTHER_LIST;
use crate::{Answer, Call, Spec, Tool, ToolError, Walk};

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
    /// how many to pass over, or `next` of the page before
    #[serde(default)]
    #[schemars(with = "usize", extend("type" = ["integer", "string"]))]
    offset: Offset,
    /// extensions, such as .pptx; -.pptx leaves one out
    #[schemars(length(max = 100))]
    exts: Option<Vec<String>>,
    /// years in file name or content, or ranges such as 2019-2021
    #[schemars(length(max = 100), inner(regex(pattern = "^[0-9]{4}(-[0-9]{4})?$")))]
    years: Option<Vec<String>>,
    /// roots to search, or folders inside them
    #[schemars(length(max = 100))]
    roots: Option<Vec<String>>,
    /// say why each was found
    #[serde(default)]
    explain: bool,
}

/// Is before a number in a cursor.
const POSITION: char = 'n';

/// A number, or the cursor that the page before gave.
#[derive(Deserialize)]
#[serde(untagged)]
enum Offset {
    Number(usize),
    Next(String),
}

impl Default for Offset {
    fn default() -> Self {
        Offset::Number(0)
    }
}

impl Offset {
    fn read(self, walk: &Walk) -> Result<(usize, Option<Given>), ToolError> {
        let text = match self {
            Offset::Number(number) => return within_walk(number),
            Offset::Next(text) => text,
        };
        let whole = text.trim().trim_end_matches('0').strip_suffix('.').unwrap_or(text.trim());
        if let Ok(number) = text.trim().parse().or_else(|_| whole.parse()) {
            return within_walk(number);
        }
        // A walk that began with a number goes on with numbers.
        let position = walk.read(&text).ok().and_then(|place| place.strip_prefix(POSITION));
        if let Some(number) = position.and_then(|position| position.parse().ok()) {
            return within_walk(number);
        }
        walk.read_given(Some(&text)).map(|given| (0, Some(given))).map_err(|refused| {
            let shown: String = text.chars().take(100).collect();
            let is_of_other = refused.message.contains(OTHER_LIST);
            let message = match is_of_other {
                true => format!("`offset` {OTHER_LIST}: `{shown}`"),
                false => {
                    format!("`offset` must be a number or `next` of the page before, received `{shown}`")
                }
            };
            let hint = match is_of_other {
                true => "pass `next` with the same query and filters, or leave `offset` out to begin again",
                false => "leave `offset` out to begin again",
            };
            ToolError::bad_request(message).with_detail("argument", "offset").with_hint(hint)
        })
    }
}

/// Takes a number of files to pass over; from far on, the cursor of each page goes further.
fn within_walk(number: usize) -> Result<(usize, Option<Given>), ToolError> {
    if number <= MAX_WALKED {
        return Ok((number, None));
    }
    let allowed = format!("from 0 to {MAX_WALKED}");
    Err(ToolError::bad_request(format!("`offset` must be {allowed}, received `{number}`"))
        .with_detail("argument", "offset")
        .with_detail("received", number)
        .with_detail("allowed", allowed)
        .with_hint(
            "begin without `offset` and give `next` of each page as the `offset` of the one after \
             it, or narrow the query by `exts`, `years` or `roots`",
        ))
}

/// Takes lists that were written as one text: `.md, .txt`.
fn each_of(given: Vec<String>) -> Vec<String> {
    let parts = given.iter().flat_map(|text| text.split([',', ';']).map(str::trim));
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).map(str::to_owned).collect();
    // What says nothing is refused as it was written.
    if parts.is_empty() { given } else { parts }
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
        "Full-text and semantic search of files, in any language. Filters are also read from the \
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
                        "duplicates": { "type": "array", "items": { "type": "string" } },
                        "no_text": { "type": "string" },
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
                    "next": { "type": "string" },
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
}

impl Tool for SearchFiles {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        let spec = visible(&self.service, caller, &self.spec)?;
        let roots = self.service.roots(caller);
        if roots.len() < 2 {
            return Some(spec);
        }
        Some(Arc::new(spec.with_names_of("roots", "folders to search, inside", &roots)))
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments { query, k, offset, exts, years, roots, explain } = call.parse()?;
        let (exts, years) = (exts.map(each_of), years.map(each_of));
        let walk = Walk::of("searchFiles", &json!([query, exts, years, roots]));
        let (offset, after) = offset.read(&walk)?;
        let given = after.clone().unwrap_or_default();
        let request = SearchRequest { query, k, offset, after, exts, years, roots };
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
        let mut value = json!({ "items": [], "pagination": found.pagination });
        if !found.exts.is_empty() || !found.years.is_empty() {
            value["filters"] = json!({ "exts": found.exts, "years": found.years });
        }
        let n_items = items.len();
        let answer = versioned(value).with_warnings(&found.warnings);
        let shown = |n_items: usize| {
            // A search passes over copies of what it gave: the cursor need not name them.
            found.items.iter().take(n_items).map(|item| item.path.as_str())
        };
        // A cursor that names files takes room beside them.
        let is_by_name = offset == 0 && !given.is_closed();
        let is_by_number = offset > 0 && !given.is_closed();
        let longest = match is_by_name {
            true => walk.written_given(&given.clone().with(shown(n_items))),
            false => walk.written_given(&given),
        };
        let budget = call.budget.without(&longest);
        let Filled { mut value, n_kept } = fill(answer.value, "items", items, &budget);
        value["pagination"]["returned"] = json!(n_kept);
        let mut ended = Vec::new();
        if found.pagination.is_in_fixed_order && n_items > 0 {
            ended.push(fixed_order());
        }
        if n_kept < n_items || found.pagination.has_more {
            // What follows a page that was cut begins with its first file that is not shown.
            let n_taken = found.items.get(n_kept).map_or(found.pagination.taken, |next| next.rank);
            let last = found.items.iter().take(n_kept).next_back().map(|item| item.path.as_str());
            let next = match last {
                Some(last) if given.is_closed() => walk.written_given(&given.behind(last)),
                _ if is_by_name => walk.written_given(&named(given, shown(n_kept), &call.budget)),
                _ => walk.written(&format!("{POSITION}{}", offset + n_taken)),
            };
            if is_by_number && offset + n_taken > MAX_WALKED {
                ended.push(Warning::new(
                    "walk_too_long",
                    format!(
                        "the first {MAX_WALKED} files were given and more match: narrow the query, \
                         or add `exts`, `years` or `roots`, to see the others"
                    ),
                ));
            } else {
                value["pagination"]["next"] = json!(next);
            }
        }
        let mut answer = Answer::new(value).with_n_results(n_kept).with_warnings(&ended);
        for (idx, item) in found.items.iter().take(n_kept).enumerate() {
            answer = answer.with_around(item.around.at(format!("/items/{idx}/snippet")));
        }
        Ok(match found.items.first() {
            Some(first) => answer.with_link(link(&first.path, &first.pointer)),
            None => answer,
        })
    }
}

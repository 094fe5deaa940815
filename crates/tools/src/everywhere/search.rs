//! `search`: one question over everything that the caller may see.

use std::sync::Arc;

use across::{MAX_RESULTS, Service, StageTiming};
use model::{Caller, Warning};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::paging::{Filled, RankedPage, fill_ranked, in_fixed_order};
use crate::timings::timing;
use crate::{Answer, Call, Link, Spec, Tool, ToolError, Walk};

/// The longest query, in characters.
const MAX_QUERY_CHARS: usize = 2_000;

/// How many results are given unless the caller says otherwise.
const DEFAULT_RESULTS: usize = 10;

/// The tool.
pub struct Search {
    service: Service,
    link_base: String,
    spec: Arc<Spec>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    #[schemars(length(min = 1, max = MAX_QUERY_CHARS))]
    query: String,
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = MAX_RESULTS))]
    limit: usize,
    #[serde(default)]
    explain: bool,
    /// `next` of the page before
    cursor: Option<String>,
}

fn default_limit() -> usize {
    DEFAULT_RESULTS
}

impl Search {
    /// Searches a service; links in answers begin with `link_base`.
    pub fn new(service: Service, link_base: String) -> Self {
        Search { service, link_base, spec: Arc::new(spec()) }
    }
}

fn spec() -> Spec {
    Spec::read_only(
        "search",
        "Search everything",
        "Full-text and semantic search of all sources at once, in any language. Pass an id to fetch \
         for the whole text.",
    )
    .with_arguments::<Arguments>()
    .with_output(json!({
        "type": "object",
        "properties": {
            "results": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": { "type": "string" },
                        "title": { "type": "string" },
                        "url": { "type": "string" },
                        "text": { "type": "string" },
                        "score": { "type": "number" },
                        "source": { "type": "string" },
                        "pointer": { "type": "string" },
                        "duplicates": { "type": "array", "items": { "type": "object" } },
                        "no_text": { "type": "string" },
                        "explanation": { "type": "object" },
                    },
                    "required": ["id", "title", "url"],
                },
            },
            "next": { "type": "string" },
            "timings": { "type": "array", "items": { "type": "object" } },
            "warnings": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["results"],
    }))
    .with_source_text(&[
        "/results/*/text",
        "/results/*/title",
        "/results/*/duplicates/*/title",
        "/results/*/explanation/details/matched/**",
    ])
}

impl Tool for Search {
    fn spec(&self, _caller: &Caller) -> Option<Arc<Spec>> {
        Some(Arc::clone(&self.spec))
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments { query, limit, explain, cursor } = call.parse()?;
        let walk = Walk::of("search", &json!(query));
        let given = walk.read_given(cursor.as_deref())?;
        let found = self.service.search_after(call.caller, &query, &given, limit, call.deadline);
        let merged = &found.results;
        let results: Vec<Value> = merged
            .iter()
            .map(|merged| {
                let mut result = json!({
                    "id": merged.id,
                    "title": merged.hit.title,
                    "url": url(&self.link_base, &merged.id),
                    "text": merged.hit.snippet,
                    "score": merged.hit.score,
                    "source": merged.source,
                });
                if let Some(pointer) = &merged.hit.pointer {
                    result["pointer"] = json!(pointer);
                }
                if let Some(why) = &merged.hit.no_text {
                    result["no_text"] = json!(why);
                }
                if !merged.duplicates.is_empty() {
                    let duplicates = merged.duplicates.iter().map(|duplicate| {
                        json!({
                            "id": duplicate.id,
                            "title": duplicate.title,
                            "source": duplicate.source,
                        })
                    });
                    result["duplicates"] = duplicates.collect();
                }
                if explain {
                    result["explanation"] = json!({
                        "source_rank": merged.rank,
                        "details": merged.hit.explanation,
                    });
                }
                result
            })
            .collect();
        let mut value = json!({ "results": [] });
        if explain {
            value["timings"] = found.timings.iter().map(timing_of).collect();
        }
        let answer = Answer::new(value).with_warnings(&found.warnings);
        let names = merged.iter().map(|one| {
            let others = one.duplicates.iter().map(|duplicate| duplicate.name.as_str());
            std::iter::once(one.name.as_str()).chain(others).collect()
        });
        let page = RankedPage {
            walk: &walk,
            given: given.clone(),
            names: names.collect(),
            rest: found.rest,
            looked_to: None,
        };
        let Filled { value, n_kept } =
            fill_ranked(answer.value, "results", results, page, &call.budget);
        let is_end = value.get("next").is_none();
        let others = (is_end && !found.others.is_empty()).then(|| others(&found.others));
        let ended: Vec<Warning> = in_fixed_order(&given).into_iter().chain(others).collect();
        let mut answer = Answer::new(value).with_n_results(n_kept).with_warnings(&ended);
        for (idx, merged) in merged.iter().take(n_kept).enumerate() {
            answer = answer.with_around(merged.hit.around.at(format!("/results/{idx}/text")));
        }
        Ok(match merged.first() {
            Some(first) => answer.with_link(Link {
                uri: url(&self.link_base, &first.id),
                name: first.hit.title.clone(),
                mime_type: Some("text/html".to_owned()),
            }),
            None => answer,
        })
    }
}

/// Names the tools that give more of one kind.
fn others(tools: &[&str]) -> Warning {
    let message =
        format!("only the best of each kind are here: all are given by {}", tools.join(", "));
    Warning::new("more_elsewhere", message)
}

/// What a stage of a family took, with the family.
fn timing_of((source, stage): &(&str, StageTiming)) -> Value {
    let source = ("source".to_owned(), json!(source));
    Value::Object(std::iter::once(source).chain(timing(stage)).collect())
}

/// Gives the page of this server that shows a thing.
pub(super) fn url(base: &str, id: &str) -> String {
    format!("{base}/open/{id}")
}

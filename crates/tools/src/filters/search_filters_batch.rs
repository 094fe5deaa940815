//! `search_filters_batch`: the exact values behind many names, in one call.
//!
//! Every query is answered before any has all of its results: answers become shorter together,
//! and `next` goes on with what was left out of them. Only where one result each is too much are
//! details left out, with a notice.

use std::sync::Arc;

use filters::{MAX_BATCH, MAX_RANKED, SearchRequest, SearchResult, Service};
use model::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use text::Budget;

use super::batch_place::{BatchPlace, Progress};
use super::search_filters::{Arguments, refused, result_schema, with_categories};
use crate::paging::{Filled, fill};
use crate::per_caller::PerCaller;
use crate::{Answer, Call, ErrorShape, InputSchema, Spec, Tool, ToolError};

/// Many lookups in one call.
pub struct SearchFiltersBatch {
    service: Service,
    specs: PerCaller,
}

impl SearchFiltersBatch {
    /// Looks names up in the dimensions of a service.
    pub fn new(service: Service) -> Self {
        SearchFiltersBatch { service, specs: PerCaller::default() }
    }
}

impl Tool for SearchFiltersBatch {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        self.specs.get(self.service.categories(caller), batch_spec)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Batch { queries, cursor } = call.parse()?;
        let mut place = match &cursor {
            Some(cursor) => BatchPlace::read(cursor, &queries)?,
            None => BatchPlace::begin(&queries),
        };
        let is_begin = place.is_begin();
        let open = place.open();
        let is_answered = open.first().is_some_and(|at| place.of(*at) != Progress::Nothing);
        let mut lookups = open
            .into_iter()
            .map(|query_idx| {
                let query = queries.get(query_idx).ok_or_else(|| {
                    ToolError::internal(format!("no query at `{query_idx}` of a batch"))
                })?;
                Lookup::new(&self.service, call.caller, query, (query_idx, place.of(query_idx)))
            })
            .collect::<Result<Vec<Lookup>, ToolError>>()?;
        let mut answer = json!({ "ok": true, "responses": [] });
        if !is_begin {
            for lookup in &mut lookups {
                lookup.head.insert("index".to_owned(), json!(lookup.query_idx));
            }
        }
        let budget = call.budget.without(&place.longest());
        let left = budget.without_sentences(NOTICE_CHARS);
        if is_answered {
            give_in_turn(&mut lookups, &left);
        } else {
            let notices = give_to_all(&mut lookups, &left);
            if !notices.is_empty() {
                answer["truncated"] = json!(true);
                answer["warnings"] = json!(notices);
            }
        }
        let responses = lookups.iter().map(Lookup::response).collect();
        let Filled { mut value, n_kept } = fill(answer, "responses", responses, &budget);
        lookups.iter().take(n_kept).for_each(|lookup| {
            place.set(lookup.query_idx, lookup.progress());
        });
        if let Some(next) = place.written() {
            value["next"] = json!(next);
        }
        Ok(Answer::new(value).with_n_results(n_kept))
    }
}

/// One query of a batch, and what of its answer is given.
struct Lookup {
    query_idx: usize,
    /// The answer without its results.
    head: Map<String, Value>,
    /// The results that this page may give.
    found: Vec<SearchResult>,
    /// The same as they are written.
    results: Vec<Value>,
    /// How many of them are given.
    n_given: usize,
    /// How many were given before.
    n_before: usize,
}

impl Lookup {
    /// Answers one query, from where its answer ended before.
    fn new(
        service: &Service,
        caller: &Caller,
        query: &SearchRequest,
        (query_idx, progress): (usize, Progress),
    ) -> Result<Lookup, ToolError> {
        let limit = query.limit_or_default();
        let is_further = progress != Progress::Nothing;
        // Names that came or went since the answer before may have moved its end.
        let n_ranked = if is_further { MAX_RANKED } else { limit };
        let mut response = match service.search_to(caller, query, n_ranked) {
            Ok(response) => response,
            Err(error) => {
                let head = refused(&error).to_json(ErrorShape::OkFalse);
                return Ok(Lookup::without_results(query_idx, head));
            }
        };
        let mut found = std::mem::take(&mut response.results);
        found.drain(..progress.find(&found));
        let n_before = progress.n_given();
        found.truncate(limit.saturating_sub(n_before));
        // What is said of the whole answer was said with its first results.
        let head = match is_further {
            true => json!({ "ok": true, "results": [] }),
            false => Answer::of(&response)?.value,
        };
        let results = found
            .iter()
            .map(|result| Ok(Answer::of(result)?.value))
            .collect::<Result<Vec<Value>, ToolError>>()?;
        let n_given = results.len();
        let lookup = Lookup::without_results(query_idx, head);
        Ok(Lookup { found, results, n_given, n_before, ..lookup })
    }

    fn without_results(query_idx: usize, head: Value) -> Self {
        let head = if let Value::Object(head) = head { head } else { Map::new() };
        let (found, results) = (Vec::new(), Vec::new());
        Lookup { query_idx, head, found, results, n_given: 0, n_before: 0 }
    }

    /// Writes the answer with the results that are given.
    fn response(&self) -> Value {
        let mut response = self.head.clone();
        if let Some(results) = response.get_mut("results") {
            *results = self.results.iter().take(self.n_given).cloned().collect();
        }
        Value::Object(response)
    }

    fn progress(&self) -> Progress {
        match self.found.get(self.n_given.wrapping_sub(1)) {
            Some(last) if self.n_given < self.found.len() => {
                Progress::behind(last, self.n_before + self.n_given)
            }
            _ => Progress::All,
        }
    }

    fn results_text(&self, of: std::ops::Range<usize>) -> String {
        let results = self.results.iter().skip(of.start).take(of.len());
        results.map(Value::to_string).collect::<Vec<_>>().join(",")
    }
}

/// Gives every answer as many of its results as all can have, the same number to each, and says
/// what was left out. Details go only where one result each is too much.
fn give_to_all(lookups: &mut [Lookup], budget: &Budget) -> Vec<String> {
    let most = lookups.iter().map(|lookup| lookup.results.len()).max().unwrap_or(0);
    let (best, details) = SHRINKINGS.split_at(N_WITHOUT_LOSS);
    let mut n_each = n_fitting_each(lookups, most, budget);
    if n_each < most {
        best.iter().for_each(|(_, shrink)| lookups.iter_mut().for_each(shrink));
        n_each = n_fitting_each(lookups, most, budget);
    }
    let mut left_out = Vec::new();
    for (what, shrink) in details {
        if n_each > 0 {
            break;
        }
        lookups.iter_mut().for_each(shrink);
        left_out.push(*what);
        n_each = n_fitting_each(lookups, most, budget);
    }
    let n_each = n_each.max(1);
    lookups.iter_mut().for_each(|lookup| lookup.n_given = lookup.results.len().min(n_each));
    let mut notices = Vec::new();
    if n_each < most {
        notices.push(format!(
            "to fit all answers, each has its first {n_each} results: call again with `next` for \
             the others"
        ));
    }
    if !left_out.is_empty() {
        notices.push(format!(
            "to fit all answers, each was given without {}: call `search_filters` for one of them \
             in full",
            left_out.join(", ")
        ));
    }
    notices
}

/// Counts how many results each answer can have, the same number for all; none where not even the
/// first of each fit.
fn n_fitting_each(lookups: &[Lookup], most: usize, budget: &Budget) -> usize {
    let heads: Vec<Value> = lookups.iter().map(|lookup| Value::from(lookup.head.clone())).collect();
    let beside = json!({ "ok": true, "responses": heads }).to_string();
    let of_all = |position: usize| {
        let texts = lookups.iter().map(|lookup| lookup.results_text(position..position + 1));
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(",")
    };
    let texts: Vec<String> = (0..most).map(of_all).collect();
    let first = texts.first().map_or("", String::as_str);
    match budget.fits(&format!("{beside}{first}")) {
        true => budget.n_fitting(&beside, texts.iter().map(String::as_str)).max(1),
        false => 0,
    }
}

/// Gives the answers one after the other, each as far as it goes.
fn give_in_turn(lookups: &mut Vec<Lookup>, budget: &Budget) {
    let mut left = budget.without(r#"{"ok":true,"responses":[]}"#);
    let mut n_whole = 0;
    for lookup in lookups.iter_mut() {
        let head = Value::Object(lookup.head.clone()).to_string();
        let texts: Vec<String> =
            (0..lookup.results.len()).map(|at| lookup.results_text(at..at + 1)).collect();
        let is_first = n_whole == 0;
        let fits_one = texts.first().is_none_or(|first| left.fits(&format!("{head}{first},")));
        if !is_first && !fits_one {
            break;
        }
        n_whole += 1;
        lookup.n_given =
            left.n_fitting(&head, texts.iter().map(String::as_str)).min(lookup.results.len());
        if lookup.n_given < lookup.results.len() {
            break;
        }
        left = left.without(&format!("{},", lookup.response()));
    }
    lookups.truncate(n_whole);
}

/// What is left out of an answer, and how.
type Shrinking = (&'static str, fn(&mut Lookup));

/// How far answers of a batch are shrunk, one after the other, before any of them is dropped.
const SHRINKINGS: [Shrinking; 6] = [
    // The best match is one of the results: its value says which.
    ("the fields of `bestMatch`", |lookup| {
        if let Some(best) = lookup.head.get_mut("bestMatch") {
            *best = json!({ "filterKey": best["filterKey"], "filterValue": best["filterValue"] });
        }
    }),
    ("`metadata`", |lookup| each_result(lookup, |result| drop(result.shift_remove("metadata")))),
    ("`explanation`", |lookup| {
        each_result(lookup, |result| drop(result.shift_remove("explanation")));
    }),
    ("`context`", |lookup| each_result(lookup, |result| drop(result.shift_remove("context")))),
    ("warnings of its own", |lookup| drop(lookup.head.shift_remove("warnings"))),
    ("the rest of long names", |lookup| {
        each_result(lookup, |result| {
            if let Some(Value::String(name)) = result.get_mut("name")
                && let Some((cut, _)) = name.char_indices().nth(SHRUNK_NAME_CHARS)
            {
                name.truncate(cut);
                name.push('…');
            }
        });
    }),
];

/// The first of them take nothing that is not elsewhere in the answer.
const N_WITHOUT_LOSS: usize = 1;

/// What is left of a long name, where a hundred of them would not fit otherwise.
const SHRUNK_NAME_CHARS: usize = 60;

/// Room for the notices of an answer of a batch.
const NOTICE_CHARS: usize = 1_000;

fn each_result(lookup: &mut Lookup, change: impl Fn(&mut Map<String, Value>)) {
    lookup.results.iter_mut().filter_map(Value::as_object_mut).for_each(change);
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "read as requests of the service")]
struct BatchArguments {
    #[schemars(length(min = 1, max = MAX_BATCH))]
    queries: Vec<Arguments>,
    /// `next` of the answer before, with the same queries
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct Batch {
    queries: Vec<SearchRequest>,
    cursor: Option<String>,
}

fn batch_spec(categories: &[String]) -> Spec {
    let mut spec = Spec::read_only(
        "search_filters_batch",
        "Search filters, many at once",
        "The same lookups as search_filters, up to 100 in one call; answers come in order. After \
         `next`, `index` is the position in `queries`.",
    )
    .with_input(with_categories(
        InputSchema::of::<BatchArguments>(),
        "/properties/queries/items/properties/category",
        categories,
    ))
    .with_output(json!({
        "type": "object",
        "properties": {
            "ok": { "type": "boolean" },
            "responses": { "type": "array", "items": response_schema() },
            "next": { "type": "string" },
            "warnings": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["ok", "responses"],
    }))
    .with_source_text(&[
        "/responses/*/results/*/name",
        "/responses/*/results/*/context",
        "/responses/*/bestMatch/name",
        "/responses/*/bestMatch/context",
        "/responses/*/results/*/explanation/matched",
        "/responses/*/bestMatch/explanation/matched",
        "/responses/*/results/*/metadata/**",
        "/responses/*/bestMatch/metadata/**",
    ]);
    spec.errors = ErrorShape::OkFalse;
    spec
}

/// One answer of a batch: as `search_filters` gives it, or smaller. A best match may be given by
/// its value alone, which says which of the results it is.
fn response_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "index": { "type": "integer" },
            "ok": { "type": "boolean" },
            "results": { "type": "array", "items": result_schema() },
            "bestMatch": {
                "type": "object",
                "properties": {
                    "filterKey": { "type": "string" },
                    "filterValue": { "type": "string" },
                },
                "required": ["filterKey", "filterValue"],
            },
            "totalMatches": { "type": "integer" },
            "error": { "type": "string" },
            "warnings": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["ok"],
    })
}

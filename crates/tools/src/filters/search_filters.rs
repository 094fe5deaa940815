//! `search_filters` and `search_filters_batch`: the exact value behind a name.

use std::sync::Arc;

use across::Given;
use filters::{
    DEFAULT_LIMIT, MAX_BATCH, MAX_LIMIT, MAX_QUERY_CHARS, MAX_WALKED, SearchRequest, SearchResult,
    Service,
};
use model::{Caller, Warning};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::paging::{Filled, bad_cursor, fill, position};
use crate::per_caller::PerCaller;
use crate::{Answer, Call, Code, ErrorShape, InputSchema, Spec, Tool, ToolError};

/// One lookup.
pub struct SearchFilters {
    service: Service,
    specs: PerCaller,
}

/// Many lookups in one call.
pub struct SearchFiltersBatch {
    service: Service,
    specs: PerCaller,
}

impl SearchFilters {
    /// Looks names up in the dimensions of a service.
    pub fn new(service: Service) -> Self {
        SearchFilters { service, specs: PerCaller::default() }
    }
}

impl SearchFiltersBatch {
    /// Looks names up in the dimensions of a service.
    pub fn new(service: Service) -> Self {
        SearchFiltersBatch { service, specs: PerCaller::default() }
    }
}

impl Tool for SearchFilters {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        self.specs.get(self.service.categories(caller), single_spec)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let (cursor, arguments) = without_cursor(call);
        let place = cursor.as_deref().map(Place::read).transpose()?;
        let request: SearchRequest = Call { arguments: &arguments, ..*call }.parse()?;
        let limit = request.limit_or_default();
        // One more than is wanted tells whether there is more. Names that came or went since the
        // answer before may have moved the place, not beyond what is ranked.
        let n_ranked = if place.is_some() { MAX_WALKED } else { limit + 1 };
        let found = self.service.search_to(call.caller, &request, n_ranked);
        let mut response = found.map_err(|e| refused(&e))?;
        let n_results = response.results.len();
        let begin = place.map_or(0, |place| place.find(&response.results));
        let places: Vec<Place> =
            (0..n_results).map(|at| Place::of(at, &response.results)).collect();
        response.results.drain(..begin.min(n_results));
        response.results.truncate(limit);
        let total = response.total_matches.unwrap_or(0);
        let mut value = Answer::of(&response)?.value;
        let results = value["results"].as_array_mut().map(std::mem::take).unwrap_or_default();
        let Filled { mut value, n_kept } = fill(value, "results", results, &call.budget);
        let end = begin + n_kept;
        let mut ended = Vec::new();
        match places.get(end.wrapping_sub(1)) {
            Some(last) if end < n_results => value["next"] = json!(last.written()),
            _ if end < total => {
                let message = format!(
                    "only {end} of {total} names are ranked: say more of the name, or add `hint`"
                );
                ended.push(Warning::new("walk_too_long", message));
            }
            _ => {}
        }
        Ok(Answer::new(value).with_n_results(n_kept).with_warnings(&ended))
    }
}

/// Where a walk through names is: how many were given, and which was the last. Names are ranked
/// by themselves, so that what is behind the last one was not given, whatever came meanwhile.
struct Place {
    n_given: usize,
    last: Given,
}

impl Place {
    fn of(at: usize, results: &[SearchResult]) -> Self {
        let last = results.get(at).map(name_of).unwrap_or_default();
        Place { n_given: at + 1, last: Given::default().with([last.as_str()]) }
    }

    fn written(&self) -> String {
        format!("{}{}", self.n_given, self.last.encode())
    }

    fn read(cursor: &str) -> Result<Self, ToolError> {
        let read = || {
            let (n_given, _) = cursor.split_once(|char: char| !char.is_ascii_digit())?;
            let last = Given::decode(cursor.get(n_given.len()..)?)?;
            Some(Place { n_given: n_given.parse().ok()?, last })
        };
        read().ok_or_else(|| bad_cursor(cursor))
    }

    /// Gives the position behind the last name that was given.
    fn find(&self, results: &[SearchResult]) -> usize {
        let with_mark =
            results.iter().enumerate().filter(|(_, one)| self.last.holds(&name_of(one)));
        let nearest = with_mark.min_by_key(|(at, _)| (at + 1).abs_diff(self.n_given));
        nearest.map_or(self.n_given, |(at, _)| at + 1).min(results.len())
    }
}

fn name_of(result: &SearchResult) -> String {
    format!("{}={}", result.filter_key, result.filter_value)
}

impl Tool for SearchFiltersBatch {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        self.specs.get(self.service.categories(caller), batch_spec)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Batch { queries, cursor } = call.parse()?;
        let begin = position(cursor.as_deref())?.min(queries.len() - 1);
        let rest = &queries[begin..];
        let responses = self.service.search_many(call.caller, rest).map_err(|e| refused(&e))?;
        let responses = responses
            .into_iter()
            .map(|response| match response {
                Ok(response) => Ok(Answer::of(&response)?.value),
                Err(error) => Ok(refused(&error).to_json(ErrorShape::OkFalse)),
            })
            .collect::<Result<Vec<Value>, ToolError>>()?;
        let n_responses = responses.len();
        let mut answer = json!({ "ok": true, "responses": [] });
        let (responses, left_out) = shrunk(responses, &call.budget);
        if !left_out.is_empty() {
            let notice = format!(
                "to fit all answers, each was given without {}: call `search_filters` for one of \
                 them in full",
                left_out.join(", ")
            );
            answer["warnings"] = json!([notice]);
        }
        let Filled { mut value, n_kept } = fill(answer, "responses", responses, &call.budget);
        if n_kept < n_responses {
            value["next"] = json!((begin + n_kept).to_string());
        }
        Ok(Answer::new(value).with_n_results(n_kept))
    }
}

/// How far answers of a batch are shrunk, one after the other, before any of them is dropped.
const SHRINKINGS: [Shrinking; 8] = [
    // The best match is one of the results: its value says which.
    ("the fields of `bestMatch`", |response| {
        if let Some(best) = response.get_mut("bestMatch") {
            *best = json!({ "filterKey": best["filterKey"], "filterValue": best["filterValue"] });
        }
    }),
    ("`metadata`", |response| {
        each_result(response, |result| drop(result.shift_remove("metadata")));
    }),
    ("results after the third", |response| keep_results(response, 3)),
    ("results after the second", |response| keep_results(response, 2)),
    ("results after the first", |response| keep_results(response, 1)),
    ("`context`", |response| {
        each_result(response, |result| drop(result.shift_remove("context")));
    }),
    ("warnings of its own", |response| {
        if let Some(response) = response.as_object_mut() {
            response.shift_remove("warnings");
        }
    }),
    ("the rest of long names", |response| {
        each_result(response, |result| {
            if let Some(Value::String(name)) = result.get_mut("name")
                && let Some((cut, _)) = name.char_indices().nth(SHRUNK_NAME_CHARS)
            {
                name.truncate(cut);
                name.push('…');
            }
        });
    }),
];

/// What is left of a long name, where a hundred of them would not fit otherwise.
const SHRUNK_NAME_CHARS: usize = 60;

/// What is left out, and how.
type Shrinking = (&'static str, fn(&mut Value));

/// Room for the notices of an answer of a batch.
const NOTICE_CHARS: usize = 1_000;

/// Shrinks all answers of a batch until they fit one answer, as far as that goes, and says what
/// was left out.
fn shrunk(mut responses: Vec<Value>, budget: &text::Budget) -> (Vec<Value>, Vec<&'static str>) {
    let budget = budget.without_sentences(NOTICE_CHARS);
    let mut left_out = Vec::new();
    for (what, shrink) in SHRINKINGS {
        let whole = json!({ "ok": true, "responses": responses }).to_string();
        if budget.fits(&whole) {
            break;
        }
        responses.iter_mut().for_each(shrink);
        left_out.push(what);
    }
    (responses, left_out)
}

/// Takes the cursor out of the arguments, which the service's request does not know.
fn without_cursor(call: &Call<'_>) -> (Option<String>, Map<String, Value>) {
    let mut arguments = call.arguments.clone();
    let cursor = arguments.shift_remove("cursor");
    (cursor.and_then(|cursor| cursor.as_str().map(str::to_owned)), arguments)
}

fn each_result(response: &mut Value, change: impl Fn(&mut serde_json::Map<String, Value>)) {
    let results = response.get_mut("results").and_then(Value::as_array_mut);
    results.into_iter().flatten().filter_map(Value::as_object_mut).for_each(change);
}

fn keep_results(response: &mut Value, n_results: usize) {
    if let Some(results) = response.get_mut("results").and_then(Value::as_array_mut) {
        results.truncate(n_results);
    }
}

/// Writes an error of the family with the codes of the server.
pub fn refused(error: &filters::Error) -> ToolError {
    if error.is_timed_out() {
        let message = "the database of these names did not answer in time; give more of the name, \
                       or call again in a moment";
        return ToolError::new(Code::DeadlineExceeded, message);
    }
    let is_told = matches!(error, filters::Error::Away { .. } | filters::Error::FactsAway { .. })
        || matches!(error, filters::Error::Store(cause) if cause.is_catalogue_away());
    if !is_told && error.is_away() {
        let message = "these names cannot be searched now, since their source cannot be reached; \
                       call again in a moment";
        return ToolError::new(Code::Unavailable, message);
    }
    let code = if is_told {
        Code::Unavailable
    } else if error.is_callers() {
        Code::BadRequest
    } else {
        Code::InternalError
    };
    ToolError::new(code, error.to_string())
}

/// The schema of [`SearchRequest`], which the arguments are read into.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "read as the request of the service")]
struct Arguments {
    category: String,
    /// name, alias or code
    #[schemars(length(max = MAX_QUERY_CHARS))]
    query: String,
    #[schemars(range(min = 1, max = MAX_LIMIT), extend("default" = DEFAULT_LIMIT))]
    limit: Option<usize>,
    /// kind to prefer, such as county or city
    hint: Option<String>,
    #[schemars(extend("default" = true))]
    include_metadata: Option<bool>,
    /// language of names, such as ro or en
    locale: Option<String>,
    #[schemars(extend("default" = false))]
    explain: Option<bool>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "read as the request of the service")]
struct SingleArguments {
    #[serde(flatten)]
    request: Arguments,
    /// `next` of the answer before
    cursor: Option<String>,
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

/// Names the categories that the caller may use, at the place of `category`.
fn with_categories(mut schema: Value, category: &str, categories: &[String]) -> Value {
    if let Some(category) = schema.pointer_mut(category) {
        category["enum"] = json!(categories);
    }
    schema
}

fn single_spec(categories: &[String]) -> Spec {
    let mut spec = Spec::read_only(
        "search_filters",
        "Search filters",
        "Find the exact machine value for a name or code (an institution, a place, a \
         classification) to filter by. Take `bestMatch` when present; without it the query is \
         ambiguous: ask, or choose from `results`.",
    )
    .with_input(with_categories(
        InputSchema::of::<SingleArguments>(),
        "/properties/category",
        categories,
    ))
    .with_output(json!({
        "type": "object",
        "properties": {
            "ok": { "type": "boolean" },
            "results": { "type": "array", "items": result_schema() },
            "bestMatch": result_schema(),
            "totalMatches": { "type": "integer" },
            "next": { "type": "string" },
            "error": { "type": "string" },
            "warnings": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["ok", "results"],
    }))
    .with_source_text(&[
        "/results/*/name",
        "/results/*/context",
        "/bestMatch/name",
        "/bestMatch/context",
        "/results/*/explanation/matched",
        "/bestMatch/explanation/matched",
        "/results/*/metadata/**",
        "/bestMatch/metadata/**",
    ]);
    spec.errors = ErrorShape::OkFalse;
    spec.sentences = vec![
        ("category.required", "category is required"),
        ("query.required", "query is required"),
    ];
    spec
}

fn batch_spec(categories: &[String]) -> Spec {
    let mut spec = Spec::read_only(
        "search_filters_batch",
        "Search filters, many at once",
        "The same lookups as search_filters, up to 100 in one call; answers come in order.",
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

fn result_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string" },
            "category": { "type": "string" },
            "context": { "type": "string" },
            "score": { "type": "number" },
            "filterKey": { "type": "string" },
            "filterValue": { "type": "string" },
            "metadata": { "type": "object" },
        },
        "required": ["name", "category", "score", "filterKey", "filterValue"],
    })
}

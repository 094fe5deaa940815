//! `search_filters`: the exact value behind a name.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use across::Given;
use filters::{
    DEFAULT_LIMIT, MAX_LIMIT, MAX_QUERY_CHARS, MAX_RANKED, MAX_WALKED, SearchRequest,
    SearchResponse, SearchResult, Service,
};
use model::{Caller, Warning};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use crate::paging::{Filled, bad_cursor, fill, fixed_order};
use crate::per_caller::PerCaller;
use crate::{Answer, Call, Code, ErrorShape, InputSchema, Spec, Tool, ToolError, Walk};

/// One lookup.
pub struct SearchFilters {
    service: Service,
    specs: PerCaller,
}

impl SearchFilters {
    /// Looks names up in the dimensions of a service.
    pub fn new(service: Service) -> Self {
        SearchFilters { service, specs: PerCaller::default() }
    }
}

impl Tool for SearchFilters {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        self.specs.get(self.service.categories(caller), single_spec)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let (cursor, arguments) = without_cursor(call);
        let request: SearchRequest = Call { arguments: &arguments, ..*call }.parse()?;
        let SearchRequest { category, query, hint, locale, .. } = &request;
        let walk = Walk::of("search_filters", &json!([category, query, hint, locale]));
        let place = cursor.as_deref().map(|cursor| GivenSoFar::read(&walk, cursor)).transpose()?;
        let Page { mut response, places, rest } = match &place {
            Some(place) if place.last.is_closed() => self.in_order(call, &request, place)?,
            place => self.by_rank(call, &request, place.as_ref())?,
        };
        let is_in_order = place.as_ref().is_some_and(|place| place.last.is_closed());
        let mut value = Answer::of(&response)?.value;
        let results = value["results"].as_array_mut().map(std::mem::take).unwrap_or_default();
        let n_results = std::mem::take(&mut response.results).len();
        let longest = places.last().map(|place| walk.written(&place.written())).unwrap_or_default();
        let budget = call.budget.without(&longest);
        let Filled { mut value, n_kept } = fill(value, "results", results, &budget);
        let next = if n_kept < n_results {
            n_kept.checked_sub(1).and_then(|last| places.get(last))
        } else {
            rest.as_ref()
        };
        if let Some(next) = next {
            value["next"] = json!(walk.written(&next.written()));
        }
        let said: Vec<Warning> = is_in_order.then(fixed_order).into_iter().collect();
        Ok(Answer::new(value).with_n_results(n_kept).with_warnings(&said))
    }
}

/// A page of names.
struct Page {
    response: SearchResponse,
    /// The place behind each of its results.
    places: Vec<GivenSoFar>,
    /// The place of the page behind it, where there is one.
    rest: Option<GivenSoFar>,
}

impl SearchFilters {
    /// Gives the best names, or those that come behind what was given.
    fn by_rank(
        &self,
        call: &Call<'_>,
        request: &SearchRequest,
        place: Option<&GivenSoFar>,
    ) -> Result<Page, ToolError> {
        let limit = request.limit_or_default();
        // One more than is wanted tells whether there is more. Names that came or went since the
        // answer before may have moved the place, not beyond what is ranked.
        let n_ranked = if place.is_some() { MAX_RANKED } else { limit + 1 };
        let found = self.service.search_to(call.caller, request, n_ranked);
        let mut response = found.map_err(|e| refused(&e))?;
        let n_found = response.results.len();
        let begin = place.map_or(0, |place| place.find(&response.results)).min(n_found);
        let end = n_found.min(begin + limit);
        let places: Vec<GivenSoFar> =
            (begin..end).map(|at| GivenSoFar::of(at, &response.results)).collect();
        let has_unranked = response.total_matches.is_some_and(|total| total > n_found);
        let rest = match places.last() {
            Some(last) if end < n_found => Some(last.clone()),
            _ if has_unranked => Some(GivenSoFar { n_given: end, last: Given::default().closed() }),
            _ => None,
        };
        response.results.truncate(end);
        response.results.drain(..begin);
        Ok(Page { response, places, rest })
    }

    /// Gives the names behind those that are ranked, in an order that never moves.
    fn in_order(
        &self,
        call: &Call<'_>,
        request: &SearchRequest,
        place: &GivenSoFar,
    ) -> Result<Page, ToolError> {
        let search_to = |n_results: usize| {
            let found = self.service.search_to(call.caller, request, n_results);
            found.map_err(|e| refused(&e))
        };
        let ranked: HashSet<String> = search_to(MAX_RANKED)?.results.iter().map(name_of).collect();
        let mut response = search_to(MAX_WALKED)?;
        let mut others: BTreeMap<u64, SearchResult> = BTreeMap::new();
        for result in std::mem::take(&mut response.results) {
            let name = name_of(&result);
            if let Some(at) = place.last.place_behind(&name).filter(|_| !ranked.contains(&name)) {
                others.entry(at).or_insert(result);
            }
        }
        let n_others = others.len();
        let limit = request.limit_or_default();
        let results: Vec<SearchResult> = others.into_values().take(limit).collect();
        let places: Vec<GivenSoFar> = (1..)
            .zip(&results)
            .map(|(n, result)| GivenSoFar {
                n_given: place.n_given + n,
                last: Given::default().behind(&name_of(result)),
            })
            .collect();
        let rest = places.last().filter(|_| n_others > limit).cloned();
        (response.results, response.best_match) = (results, None);
        Ok(Page { response, places, rest })
    }
}

/// Where a walk through names is: how many were given, and which was the last. Names are ranked
/// by themselves, so that what is behind the last one was not given, whatever came meanwhile.
/// Behind those that are ranked, the place of the last one in an order that never moves is enough.
#[derive(Clone)]
struct GivenSoFar {
    n_given: usize,
    last: Given,
}

impl GivenSoFar {
    fn of(at: usize, results: &[SearchResult]) -> Self {
        let last = results.get(at).map(name_of).unwrap_or_default();
        GivenSoFar { n_given: at + 1, last: Given::default().with([last.as_str()]) }
    }

    fn written(&self) -> String {
        format!("{}{}", self.n_given, self.last.encode())
    }

    fn read(walk: &Walk, cursor: &str) -> Result<Self, ToolError> {
        let place = walk.read(cursor)?;
        let read = || {
            let (n_given, _) = place.split_once(|char: char| !char.is_ascii_digit())?;
            let last = Given::decode(place.get(n_given.len()..)?)?;
            Some(GivenSoFar { n_given: n_given.parse().ok()?, last })
        };
        read().ok_or_else(|| bad_cursor(cursor))
    }

    /// Gives the position behind the last name that was given.
    fn find(&self, results: &[SearchResult]) -> usize {
        behind(results, self.n_given, |name| self.last.holds(name))
    }
}

/// Gives the position behind the last name that was given: where one is now that is it by its
/// mark, and where so many names end when none is.
pub(super) fn behind(
    results: &[SearchResult],
    n_given: usize,
    is_last: impl Fn(&str) -> bool,
) -> usize {
    let with_mark = results.iter().enumerate().filter(|(_, one)| is_last(&name_of(one)));
    let nearest = with_mark.min_by_key(|(at, _)| (at + 1).abs_diff(n_given));
    nearest.map_or(n_given, |(at, _)| at + 1).min(results.len())
}

pub(super) fn name_of(result: &SearchResult) -> String {
    format!("{}={}", result.filter_key, result.filter_value)
}

/// Takes the cursor out of the arguments, which the service's request does not know.
fn without_cursor(call: &Call<'_>) -> (Option<String>, Map<String, Value>) {
    let mut arguments = call.arguments.clone();
    let cursor = arguments.shift_remove("cursor");
    (cursor.and_then(|cursor| cursor.as_str().map(str::to_owned)), arguments)
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
pub(super) struct Arguments {
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

/// Names the categories that the caller may use, at the place of `category`.
pub(super) fn with_categories(mut schema: Value, category: &str, categories: &[String]) -> Value {
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

pub(super) fn result_schema() -> Value {
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

//! `/`: the start page and the search over everything, with the agent's exact answer beside it.

use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};
use tools::ToolError;

use super::cost::{self, Answer};
use super::hits::{Hit, hits_of, list};
use super::json_view::json_box;
use super::layout::{Section, page, part, problem};
use super::missing;
use super::params::Params;
use super::stages::{Way, picture, stages_of, waterfall};
use super::start;
use super::time::{counted, thousands};
use super::viewer::{ToolReply, Viewer};
use super::walk::{SEARCH, walk};

/// Results that are asked for, so that facets have something to count.
const ASKED: usize = 50;

/// Results that are shown unless the address says otherwise.
const SHOWN: usize = 10;

/// A search whose best result is below this says so. Measured on the demo: questions that nothing
/// answers have up to 0.21, the worst right answer 0.39.
const WEAK: f64 = 0.3;

/// The parts of an address that say where its answer begins, and how many results are before it.
const AFTER: &str = "after";
const BEFORE: &str = "before";

/// No answer begins behind this many results.
const MAX_BEFORE: usize = 1_000_000;

/// The start page, or results.
pub(super) async fn show(viewer: Viewer, params: Params) -> Response {
    let typed = params.text("q");
    let query = typed.trim().to_owned();
    // What was typed and is blank is refused by the tool, in its own words.
    let results = match typed.is_empty() {
        true => html! {},
        false => results(&viewer, &params, &query).await,
    };
    if params.get("part") == Some("results") {
        return part(&results);
    }
    let title = if query.is_empty() { "Search".to_owned() } else { query.clone() };
    let body = html! {
        h1 .visually-hidden { "Search" }
        (form(&viewer, &params, &query))
        div #results { (results) }
        @if query.is_empty() { (start::sections(&viewer).await) }
    };
    page(&viewer, Section::Search, &title, &body)
}

fn form(viewer: &Viewer, params: &Params, query: &str) -> Markup {
    html! {
        form .search role="search" method="get" action=(viewer.href("/")) data-live="#results" data-titled {
            label .visually-hidden for="q" { "Search everything" }
            input #q type="search" name="q" value=(query) placeholder="Search everything"
                autocomplete="off" autofocus[query.is_empty()] maxlength="2000" enterkeyhint="search";
            @for name in ["source", "type"] {
                @for value in params.all(name) { input type="hidden" name=(name) value=(value); }
            }
            @if let Some(view) = params.get("view") { input type="hidden" name="view" value=(view); }
            button .primary type="submit" { "Search" }
        }
    }
}

async fn results(viewer: &Viewer, params: &Params, query: &str) -> Markup {
    let n_shown = params.number("limit", SHOWN, ASKED).max(1);
    let view = params.get("view").unwrap_or("results");
    // Beside the simulator is the answer that it simulates.
    let n_shown = if view == "cost" { params.number("k", n_shown, ASKED).max(1) } else { n_shown };
    let mut people = json!({ "query": query, "limit": ASKED, "explain": true });
    let mut agent = json!({ "query": query, "limit": n_shown });
    let start = Start::of(params);
    if let Some(after) = &start.after {
        people["cursor"] = json!(after);
        agent["cursor"] = json!(after);
    }
    let (people, reply) =
        tokio::join!(viewer.tool("search", people), viewer.tool("search", agent.clone()));
    let people = match people {
        Ok(people) => people,
        Err(error) => return problem(&error),
    };
    let cursor =
        reply.as_ref().ok().and_then(|reply| reply.value["next"].as_str()).map(str::to_owned);
    let next = people.value["next"].as_str();
    let hits = hits_of(&people.value, start.n_before);
    let chosen: Vec<&Hit<'_>> = hits.iter().filter(|hit| is_chosen(hit, params)).collect();
    let shown = &chosen[..chosen.len().min(n_shown)];
    html! {
        (tabs(viewer, params, view))
        div class=(if view == "results" { "beside" } else { "beside single" }) {
            div .found {
                (summary(viewer, params, &hits, &Counts { n_chosen: chosen.len(), n_shown: shown.len(), start: &start, has_more: next.is_some() }, &people))
                (warnings(&people.value))
                @match view {
                    "explain" => (explanation(shown, &people.value)),
                    "missing" => (missing::panel(viewer, params, query).await),
                    "cost" => (cost::simulator(viewer, params, query, &Answer { value: without_explanations(&people.value), cursor })),
                    _ => { (list(viewer, params, query, shown).await) @if start.after.is_none() { (hidden_from(viewer, query).await) } }
                }
                @if view == "results" { (pager(viewer, params, &start, &Rest { n_shown, n_hits: hits.len(), is_shown: chosen.len() == shown.len(), next })) }
            }
            aside .agent aria-labelledby="agent-title" { (agent_side(viewer, &agent, reply)) }
        }
    }
}

/// Where the answer of an address begins: an answer has at most [`ASKED`] results, and names where
/// the next one goes on.
struct Start {
    after: Option<String>,
    /// Results of the answers before.
    n_before: usize,
}

impl Start {
    fn of(params: &Params) -> Self {
        let after = params.get(AFTER).map(str::to_owned);
        let n_before = if after.is_some() { params.number(BEFORE, 0, MAX_BEFORE) } else { 0 };
        Start { after, n_before }
    }
}

/// What of an answer is not on the page.
struct Rest<'a> {
    n_shown: usize,
    n_hits: usize,
    /// Whether all of the answer is.
    is_shown: bool,
    /// Where the next answer begins.
    next: Option<&'a str>,
}

/// The ways to what is not on the page: more of this answer, the next answer, the first one.
fn pager(viewer: &Viewer, params: &Params, start: &Start, rest: &Rest<'_>) -> Markup {
    let params = params.without("part");
    html! {
        @if !rest.is_shown || rest.next.is_some() || start.after.is_some() {
            div .pager {
                @if start.after.is_some() {
                    a .button rel="first" href=(viewer.link("/", &params.without(AFTER).without(BEFORE))) { "First results" }
                }
                @if !rest.is_shown {
                    a .button href=(viewer.link("/", &params.with("limit", &(rest.n_shown * 2).to_string()))) { "Show more" }
                } @else if let Some(next) = rest.next {
                    @let n_before = start.n_before + rest.n_hits;
                    a .button rel="next" href=(viewer.link("/", &params.with(AFTER, next).with(BEFORE, &n_before.to_string()))) { "Next results" }
                }
            }
        }
    }
}

fn tabs(viewer: &Viewer, params: &Params, view: &str) -> Markup {
    let tabs = [
        ("results", "Results"),
        ("explain", "Why this order"),
        ("missing", "Why was it not found?"),
        ("cost", "What it costs"),
    ];
    html! {
        nav .tabs aria-label="Views of this search" {
            @for (name, label) in tabs {
                a href=(viewer.link("/", &params.without("part").with("view", name)))
                    aria-current=[(name == view).then_some("page")] { (label) }
            }
        }
    }
}

fn is_chosen(hit: &Hit<'_>, params: &Params) -> bool {
    let fits = |name: &str, value: &str| params.get(name).is_none() || params.has(name, value);
    fits("source", hit.source) && fits("type", &hit.kind)
}

/// How many results there are, as far as they are known.
struct Counts<'a> {
    /// That pass the filters of the page.
    n_chosen: usize,
    n_shown: usize,
    start: &'a Start,
    /// Whether the answer goes on.
    has_more: bool,
}

fn summary(
    viewer: &Viewer,
    params: &Params,
    hits: &[Hit<'_>],
    counts: &Counts<'_>,
    people: &ToolReply,
) -> Markup {
    let Counts { n_chosen, n_shown, start, has_more } = counts;
    html! {
        p .summary {
            @if *n_chosen == 0 { "No result" } @else { (n_shown) " of " (counted(*n_chosen as u64, "result")) }
            @if start.n_before > 0 { " behind the first " (thousands(start.n_before)) }
            @if *has_more { ", and more follow" }
            " in " (millis(people.took)) " ms"
        }
        @if let Some(best) = best_of_weak(hits, &people.value) {
            p .warnings { "The best result has " strong { (format!("{best:.2}")) } " of 1: nothing here may answer this. "
                a href=(viewer.link("/", &params.without("part").with("view", "missing"))) { "Ask why something was not found" } }
        }
        div .facets {
            (facet(viewer, params, "source", "Source", hits.iter().map(|hit| hit.source)))
            (facet(viewer, params, "type", "Type", hits.iter().map(|hit| hit.kind.as_str())))
        }
    }
}

/// The score of the best result, where even that is low. An answer with a warning was not looked
/// for by vector everywhere: without vectors a right result has few words in common, and scores low.
fn best_of_weak(hits: &[Hit<'_>], answer: &Value) -> Option<f64> {
    let is_whole = answer["warnings"].as_array().is_none_or(Vec::is_empty);
    let scores = hits.iter().filter_map(|hit| hit.value["score"].as_f64());
    scores.reduce(f64::max).filter(|best| is_whole && *best < WEAK)
}

fn facet<'a>(
    viewer: &Viewer,
    params: &Params,
    name: &str,
    label: &str,
    values: impl Iterator<Item = &'a str>,
) -> Markup {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for value in values {
        match counts.iter_mut().find(|(known, _)| *known == value) {
            Some((_, count)) => *count += 1,
            None => counts.push((value, 1)),
        }
    }
    counts.sort_by_key(|(value, count)| (std::cmp::Reverse(*count), *value));
    let params = params.without("part").without("limit");
    html! {
        @if counts.len() > 1 || params.get(name).is_some() {
            ul .chips aria-label=(label) {
                @for (value, count) in counts {
                    li { a .chip href=(viewer.link("/", &params.toggled(name, value)))
                        aria-current=[params.has(name, value).then_some("true")] {
                        (value) span .count { (count) } } }
                }
                @if params.get(name).is_some() {
                    li { a .chip.clear href=(viewer.link("/", &params.without(name))) { "All" } }
                }
            }
        }
    }
}

fn warnings(answer: &Value) -> Markup {
    let warnings = answer["warnings"].as_array().map(Vec::as_slice).unwrap_or_default();
    html! {
        @if !warnings.is_empty() {
            ul .warnings {
                @for warning in warnings { li { (warning.as_str().unwrap_or_default()) } }
            }
        }
    }
}

/// When an administrator looks as somebody else: what they find themselves and this caller does
/// not.
async fn hidden_from(viewer: &Viewer, query: &str) -> Markup {
    if !viewer.is_viewing_as() {
        return html! {};
    }
    let first = json!({ "query": query, "limit": ASKED });
    let own_eyes = viewer.as_signed_in();
    // An answer may end at its budget: as many results of both are compared.
    let (own, seen) = tokio::join!(
        walk(&own_eyes, &SEARCH, first.clone(), ASKED, |_| false),
        walk(viewer, &SEARCH, first.clone(), ASKED, |_| false)
    );
    let (own, seen) = match (own, seen) {
        (Ok(own), Ok(seen)) => (json!({ "results": own.results }), seen.results),
        (Err(error), _) | (_, Err(error)) => return problem(&error),
    };
    let seen: Vec<&str> = seen.iter().filter_map(|result| result["id"].as_str()).collect();
    let hits = hits_of(&own, 0);
    let is_seen = |id: &str| seen.iter().any(|known| across::is_same_thing(known, id));
    let hidden: Vec<&Hit<'_>> =
        hits.iter().filter(|hit| !is_seen(hit.value["id"].as_str().unwrap_or_default())).collect();
    let name = &viewer.caller.subject;
    html! {
        section .card aria-labelledby="hidden" {
            h2 #hidden { (counted(hidden.len() as u64, "result")) " that you see and " (name) " does not" }
            @if hidden.is_empty() {
                p .note { "Both of you get the same answer to this question." }
            } @else {
                ul .plain { @for hit in hidden {
                    li { span .source class=(format!("of-{}", hit.source)) { (hit.source) } " "
                        (hit.value["title"].as_str().unwrap_or_default()) }
                } }
            }
        }
    }
}

fn explanation(hits: &[&Hit<'_>], answer: &Value) -> Markup {
    let mut families: Vec<&str> = Vec::new();
    for hit in hits {
        if !families.contains(&hit.source) {
            families.push(hit.source);
        }
    }
    html! {
        @for family in families {
            @let ways: Vec<Way<'_>> = hits
                .iter()
                .filter(|hit| hit.source == family)
                .map(|hit| Way {
                    title: hit.value["title"].as_str().unwrap_or_default(),
                    place: hit.place,
                    score: hit.value["score"].as_f64().unwrap_or_default(),
                    stages: stages_of(&hit.value["explanation"]),
                })
                .collect();
            section .card {
                h2 { (family) }
                (picture(family, &ways))
            }
        }
        @if hits.is_empty() { p .note { "There are no results to explain." } }
        section .card aria-labelledby="stages" {
            h2 #stages { "What each stage took" }
            (waterfall(&answer["timings"]))
        }
    }
}

fn agent_side(viewer: &Viewer, arguments: &Value, reply: Result<ToolReply, ToolError>) -> Markup {
    html! {
        h2 #agent-title { "What the agent gets" }
        p .note { "The tool " a href=(viewer.href("/tools/search")) { code { "search" } } " with "
            code { (arguments.to_string()) } }
        @match reply {
            Err(error) => (problem(&error)),
            Ok(reply) => {
                p .cost { strong { (cost::tokens(&reply.text)) } " tokens, "
                    (reply.text.chars().count()) " characters, " (millis(reply.took)) " ms" }
                (json_box("agent-json", &reply.value))
            }
        }
    }
}

/// The answer as it is without `explain`.
fn without_explanations(answer: &Value) -> Value {
    let mut answer = answer.clone();
    if let Some(answer) = answer.as_object_mut() {
        answer.remove("timings");
    }
    for result in answer["results"].as_array_mut().into_iter().flatten() {
        if let Some(result) = result.as_object_mut() {
            result.remove("explanation");
        }
    }
    answer
}

/// Milliseconds with one digit where it matters.
pub(super) fn millis(took: std::time::Duration) -> String {
    let millis = took.as_secs_f64() * 1000.0;
    if millis < 10.0 { format!("{millis:.1}") } else { format!("{millis:.0}") }
}

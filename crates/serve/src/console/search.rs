//! `/`: the start page and the search over everything, with the agent's exact answer beside it.

use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};
use tools::ToolError;

use super::cost;
use super::json_view::json_box;
use super::layout::{Section, form_token, page, part, problem};
use super::marked::{marked, window};
use super::missing;
use super::params::Params;
use super::stages::{Way, figure, picture, score_bar, stage_name, stages_of};
use super::start;
use super::viewer::{ToolReply, Viewer};

/// Results that are asked for, so that facets have something to count.
const ASKED: usize = 50;

/// Results that are shown unless the address says otherwise.
const SHOWN: usize = 10;

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
        div #results aria-live="polite" { (results) }
        @if query.is_empty() { (start::sections(&viewer)) }
    };
    page(&viewer, Section::Search, &title, &body)
}

fn form(viewer: &Viewer, params: &Params, query: &str) -> Markup {
    html! {
        form .search role="search" method="get" action=(viewer.href("/")) data-live="#results" {
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

/// A result as the page sorts and filters it.
struct Hit<'a> {
    value: &'a Value,
    source: &'a str,
    kind: String,
    place: usize,
}

async fn results(viewer: &Viewer, params: &Params, query: &str) -> Markup {
    let n_shown = params.number("limit", SHOWN, ASKED).max(1);
    let view = params.get("view").unwrap_or("results");
    let people = json!({ "query": query, "limit": ASKED, "explain": true });
    let agent = json!({ "query": query, "limit": n_shown });
    let (people, reply) =
        tokio::join!(viewer.tool("search", people), viewer.tool("search", agent.clone()));
    let people = match people {
        Ok(people) => people,
        Err(error) => return problem(&error),
    };
    let hits = hits_of(&people.value);
    let chosen: Vec<&Hit<'_>> = hits.iter().filter(|hit| is_chosen(hit, params)).collect();
    let shown = &chosen[..chosen.len().min(n_shown)];
    html! {
        (tabs(viewer, params, view))
        div class=(if view == "results" { "beside" } else { "beside single" }) {
            div .found {
                (summary(viewer, params, &hits, chosen.len(), shown.len(), &people))
                (warnings(&people.value))
                @match view {
                    "explain" => (explanation(shown)),
                    "missing" => (missing::panel(viewer, params, query).await),
                    _ => (list(viewer, params, query, shown)),
                }
                @if chosen.len() > shown.len() && view == "results" {
                    p { a .button href=(viewer.link("/", &params.with("limit", &(n_shown * 2).to_string()))) {
                        "Show more" } }
                }
            }
            aside .agent aria-labelledby="agent-title" { (agent_side(viewer, &agent, reply, &people)) }
        }
    }
}

fn tabs(viewer: &Viewer, params: &Params, view: &str) -> Markup {
    let tabs = [
        ("results", "Results"),
        ("explain", "Why this order"),
        ("missing", "Why was it not found?"),
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

fn hits_of(answer: &Value) -> Vec<Hit<'_>> {
    let results = answer["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    (1..)
        .zip(results)
        .map(|(place, value)| {
            let source = value["source"].as_str().unwrap_or_default();
            Hit { value, source, kind: kind_of(source, value), place }
        })
        .collect()
}

fn is_chosen(hit: &Hit<'_>, params: &Params) -> bool {
    let fits = |name: &str, value: &str| params.get(name).is_none() || params.has(name, value);
    fits("source", hit.source) && fits("type", &hit.kind)
}

/// What kind of thing a result is, for the facet.
fn kind_of(source: &str, hit: &Value) -> String {
    match source {
        "files" => {
            let title = hit["title"].as_str().unwrap_or_default();
            let extension = title.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
            extension.filter(|kind| (1..=8).contains(&kind.len())).unwrap_or("file".to_owned())
        }
        "knowledge" => "document".to_owned(),
        "tables" => "table".to_owned(),
        "filters" => "name".to_owned(),
        "contexts" => "JSON".to_owned(),
        other => other.to_owned(),
    }
}

fn summary(
    viewer: &Viewer,
    params: &Params,
    hits: &[Hit<'_>],
    n_chosen: usize,
    n_shown: usize,
    people: &ToolReply,
) -> Markup {
    let more = if hits.len() >= ASKED { " or more" } else { "" };
    html! {
        p .summary {
            (n_shown) " of " (n_chosen) (more) " results in " (millis(people.took)) " ms"
        }
        div .facets {
            (facet(viewer, params, "source", "Source", hits.iter().map(|hit| hit.source)))
            (facet(viewer, params, "type", "Type", hits.iter().map(|hit| hit.kind.as_str())))
        }
    }
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

fn list(viewer: &Viewer, params: &Params, query: &str, hits: &[&Hit<'_>]) -> Markup {
    if hits.is_empty() {
        let missing = params.without("part").with("view", "missing");
        return html! {
            div .empty {
                p .what { "Nothing was found." }
                div .next {
                    @if params.get("source").is_some() || params.get("type").is_some() {
                        p { a href=(viewer.link("/", &params.without("source").without("type"))) {
                            "Search without the filters" } }
                    }
                    p { "You know that it is there? "
                        a href=(viewer.link("/", &missing)) { "Ask why it was not found" } "." }
                }
            }
        };
    }
    html! {
        ol .hits {
            @for hit in hits { li .hit { (entry(viewer, query, hit)) } }
        }
    }
}

fn entry(viewer: &Viewer, query: &str, hit: &Hit<'_>) -> Markup {
    let text = |name: &str| hit.value[name].as_str().unwrap_or_default();
    let pointer = text("pointer");
    let open = Params::default().with("q", query).with("at", pointer);
    let address = viewer.link(&format!("/open/{}", text("id")), &open);
    let duplicates = hit.value["duplicates"].as_array().map(Vec::as_slice).unwrap_or_default();
    html! {
        div .line {
            span .place { (hit.place) }
            h2 { a .title href=(address) { (text("title")) } }
            (score_bar(hit.value["score"].as_f64().unwrap_or_default()))
        }
        p .where {
            span .source class=(format!("of-{}", hit.source)) { (hit.source) }
            @if !pointer.is_empty() { span .pointer { (pointer) } }
        }
        p .snippet { (marked(&window(text("text"), query), query)) }
        @if !duplicates.is_empty() {
            p .note { "The same is said in "
                @for (position, duplicate) in duplicates.iter().enumerate() {
                    @if position > 0 { ", " }
                    a href=(viewer.href(&format!("/open/{}", duplicate["id"].as_str().unwrap_or_default()))) {
                        (duplicate["title"].as_str().unwrap_or_default()) }
                }
            }
        }
        div .actions {
            details {
                summary { "Explain" }
                (details(&hit.value["explanation"]))
            }
            (judge(viewer, query, hit))
        }
    }
}

/// The stages of one result as a table, and the words that were found.
fn details(explanation: &Value) -> Markup {
    let stages = stages_of(explanation);
    let words = |name: &str| -> Vec<&str> {
        let words = explanation["details"][name].as_array();
        words.into_iter().flatten().filter_map(Value::as_str).collect()
    };
    let (exact, folded) = (words("exact"), words("folded"));
    html! {
        @if stages.is_empty() {
            @match &explanation["details"] {
                Value::Object(details) => dl .facts {
                    @for (name, value) in details { dt { (name) } dd { (super::layout::shown(value)) } }
                },
                _ => p .note { "This family gives no explanation." },
            }
        } @else {
            table .figures {
                thead { tr { th scope="col" { "Stage" } th scope="col" { "Rank" } th scope="col" { "Figure" } th scope="col" { "What it is" } } }
                tbody {
                    @for (stage, rank, score) in &stages {
                        @let (name, meaning) = stage_name(stage);
                        tr { td { (name) } td { (rank) } td { (figure(*score)) } td .note { (meaning) } }
                    }
                }
            }
        }
        @if !exact.is_empty() { p .note { "Found as written: " (exact.join(", ")) } }
        @if !folded.is_empty() { p .note { "Found in another form: " (folded.join(", ")) } }
    }
}

/// Judging a result, which becomes a case for `dowse eval`.
fn judge(viewer: &Viewer, query: &str, hit: &Hit<'_>) -> Markup {
    let title = hit.value["title"].as_str().unwrap_or_default();
    html! {
        form .judge method="post" action=(viewer.href("/activity/judge")) data-quiet {
            (form_token(viewer))
            input type="hidden" name="query" value=(query);
            input type="hidden" name="id" value=(hit.value["id"].as_str().unwrap_or_default());
            input type="hidden" name="title" value=(title);
            input type="hidden" name="next" value=(viewer.here);
            button name="verdict" value="right" aria-label=(format!("{title} is right")) { "Right" }
            button name="verdict" value="wrong" aria-label=(format!("{title} is wrong")) { "Wrong" }
        }
    }
}

fn explanation(hits: &[&Hit<'_>]) -> Markup {
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
    }
}

fn agent_side(
    viewer: &Viewer,
    arguments: &Value,
    reply: Result<ToolReply, ToolError>,
    people: &ToolReply,
) -> Markup {
    let limits = &viewer.app.limits;
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
                details { summary { "Cost with another number of results" }
                    (cost::by_number_of_results(&without_explanations(&people.value),
                        limits.result_tokens, limits.result_chars)) }
            }
        }
    }
}

/// The answer as it is without `explain`.
fn without_explanations(answer: &Value) -> Value {
    let mut answer = answer.clone();
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

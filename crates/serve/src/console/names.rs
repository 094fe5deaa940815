//! `/names`: a name or code becomes filter values, with the reasons; and whole lists at once.

use std::ops::Range;

use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};
use tools::{Code, ToolError};

use super::address::notes;
use super::go_to;
use super::json_view::json_box;
use super::layout::{Section, empty, form_token, no_tool, page, part, problem, shown};
use super::marked::marked;
use super::params::{Params, encoded};
use super::stages::score_bar;
use super::viewer::{Posted, Viewer};

/// Names of one pasted list.
const MAX_LINES: usize = 1_000;

/// Names of one call.
const BATCH: usize = 100;

/// Bytes of an address: proxies refuse those of more than 8 KiB.
const MAX_ADDRESS_BYTES: usize = 6_000;

/// One name, as one types, or a list of them, one on each line.
pub(super) async fn show(viewer: Viewer, params: Params) -> Response {
    let categories = categories(&viewer);
    let found = lookup(&viewer, &params, &categories).await;
    if params.get("part") == Some("results") {
        return part(&found);
    }
    let answers = look_up_lines(&viewer, &params, &categories).await;
    page(&viewer, Section::Names, "Names", &body(&viewer, &params, &categories, &found, &answers))
}

/// A list that was pasted. What it leads to is an address, like every other view; a list that is
/// too long for one has an address for each part.
pub(super) async fn batch(posted: Posted) -> Response {
    let Posted { viewer, params } = posted;
    let categories = categories(&viewer);
    let parts = addresses(&chosen(&params, &categories), &lines(&params));
    if let [(_, only)] = parts.as_slice() {
        return go_to(&viewer, &format!("{only}#list"));
    }
    let answers = look_up_lines(&viewer, &params, &categories).await;
    let answers = html! {
        @if !parts.is_empty() {
            p .note { "The list is too long for one address. Its parts have one each: "
                @for (position, (names, address)) in parts.iter().enumerate() {
                    @if position > 0 { ", " }
                    a href={ (viewer.href(address)) "#list" } { "names " (names.start + 1) " to " (names.end) }
                } }
        }
        (answers)
    };
    page(
        &viewer,
        Section::Names,
        "Names",
        &body(&viewer, &params, &categories, &html! {}, &answers),
    )
}

/// Gives the names of a list.
fn lines(params: &Params) -> Vec<&str> {
    params.text("lines").lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// Gives the addresses of as few parts of a list as there can be, with the names in each; none of a
/// list that is not looked up.
fn addresses(category: &str, lines: &[&str]) -> Vec<(Range<usize>, String)> {
    if lines.len() > MAX_LINES {
        return Vec::new();
    }
    let of = |names: &Range<usize>| {
        let part = lines[names.clone()].join("\n");
        let params = Params::default().with("category", category).with("lines", &part);
        format!("/names{}", params.to_query())
    };
    let mut parts = Vec::new();
    let mut start = 0;
    while start < lines.len() {
        let (mut n_bytes, mut end) = (of(&(start..start)).len(), start);
        while let Some(line) = lines.get(end) {
            n_bytes += encoded(line).len() + encoded("\n").len();
            if n_bytes > MAX_ADDRESS_BYTES && end > start {
                break;
            }
            end += 1;
        }
        parts.push((start..end, of(&(start..end))));
        start = end;
    }
    parts
}

/// The dimensions that the caller may use, out of the tool's own schema.
pub(super) fn categories(viewer: &Viewer) -> Vec<String> {
    let tool = viewer.app.tools.get("search_filters", &viewer.caller);
    let names = tool.as_ref().and_then(|tool| {
        tool.spec.input.get("properties")?.get("category")?.get("enum")?.as_array()
    });
    names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn body(
    viewer: &Viewer,
    params: &Params,
    categories: &[String],
    found: &Markup,
    answers: &Markup,
) -> Markup {
    if categories.is_empty() && !viewer.has_tool("search_filters") {
        return html! { h1 { "Names" } (no_tool("search_filters")) };
    }
    if categories.is_empty() {
        let next = html! { p { "Add a list of names to " code { "dowse.toml" } " with " code { "[[dimensions]]" } "." } };
        return html! { h1 { "Names" } (empty("No dimension is configured.", &next)) };
    }
    let category = chosen(params, categories);
    html! {
        h1 { "Names" }
        @if params.get("category").is_some_and(|given| given != category) {
            (notes(&["`category` is left out: no dimension that you may use has this name.".to_owned()]))
        }
        p { "What a name or a code means as a filter value, as " a href=(viewer.href("/tools/search_filters")) { code { "search_filters" } } " answers it." }
        form .toolbar role="search" method="get" action=(viewer.href("/names")) data-live="#results" {
            div .field { label for="category" { "Dimension" } (select("category", categories, &category)) }
            div .field.grow { label for="q" { "Name or code" }
                input #q type="search" name="q" value=(params.text("q")) autocomplete="off" maxlength="500"; }
            div .field { label for="hint" { "Kind to prefer" } input #hint type="text" name="hint" value=(params.text("hint")) placeholder="county"; }
            div .field { label for="locale" { "Language" } input #locale type="text" name="locale" value=(params.text("locale")) size="4" placeholder="ro"; }
            button .primary type="submit" { "Look up" }
        }
        div #results { (found) }
        h2 #list { "A whole list" }
        form method="post" action=(viewer.href("/names")) {
            (form_token(viewer))
            div .field { label for="list-category" { "Dimension" } (select("list-category", categories, &category)) }
            div .field { label for="lines" { "Names, one on each line" }
                textarea #lines name="lines" placeholder="Cluj\nTg. Ocna\n20.30" { (params.text("lines")) } }
            button type="submit" { "Look up all" }
            span .note { " At most " (MAX_LINES) " lines. Programs such as OpenRefine do the same at "
                code { (viewer.app.server.link_base()) "/reconcile" } "." }
        }
        (answers)
    }
}

fn select(id: &str, categories: &[String], chosen: &str) -> Markup {
    html! { select id=(id) name="category" {
        @for category in categories { option value=(category) selected[category == chosen] { (category) } }
    } }
}

fn chosen(params: &Params, categories: &[String]) -> String {
    let given =
        params.get("category").filter(|given| categories.iter().any(|known| known == given));
    given.map(str::to_owned).or_else(|| categories.first().cloned()).unwrap_or_default()
}

async fn lookup(viewer: &Viewer, params: &Params, categories: &[String]) -> Markup {
    let typed = params.text("q");
    let query = typed.trim();
    if typed.is_empty() || categories.is_empty() {
        return html! {};
    }
    let mut arguments =
        json!({ "category": chosen(params, categories), "query": query, "explain": true });
    for name in ["hint", "locale"] {
        if let Some(value) = params.get(name) {
            arguments[name] = json!(value);
        }
    }
    match viewer.tool("search_filters", arguments).await {
        Err(error) => problem(&error),
        Ok(reply) => html! {
            (best(viewer, &reply.value))
            (candidates(&reply.value, query))
            details { summary { "What the agent gets" } (json_box("names-json", &reply.value)) }
        },
    }
}

/// The best match, or why there is none.
fn best(viewer: &Viewer, answer: &Value) -> Markup {
    let setting = |name: &str| {
        let value =
            &viewer.app.console.configuration[format!("filters.best_match_{name}").as_str()];
        value.as_str().and_then(|text| text.parse::<f64>().ok())
    };
    let (threshold, margin) =
        (setting("threshold").unwrap_or(0.85), setting("margin").unwrap_or(0.05));
    let results = answer["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    let score = |position: usize| results.get(position).and_then(|result| result["score"].as_f64());
    html! {
        @if let Some(best) = answer.get("bestMatch").filter(|best| !best.is_null()) {
            div .good { strong { (shown(&best["name"])) } " is sure enough to take: "
                code { (shown(&best["filterKey"])) " = " (shown(&best["filterValue"])) } }
        } @else {
            @match (score(0), score(1)) {
                (None, _) => div .empty { p .what { "Nothing has this name." } div .next { p { "No name is near enough to be proposed. Try fewer letters, another language, or another dimension." } } },
                (Some(first), _) if first < threshold => p .warnings { "There is no best match: the first has "
                    strong { (format!("{first:.2}")) } ", below the threshold " strong { (threshold) } " (" code { "filters.best_match_threshold" } ")." },
                (Some(first), Some(second)) if first - second >= margin => p .warnings { "There is no best match: the query is misspelt, and the first two have "
                    strong { (format!("{first:.2}")) } " and " strong { (format!("{second:.2}")) }
                    ", closer than twice the margin " strong { (margin) } " (" code { "filters.best_match_margin" } "). A kind to prefer may help." },
                (Some(first), second) => p .warnings { "There is no best match: the first two have "
                    strong { (format!("{first:.2}")) } " and " strong { (format!("{:.2}", second.unwrap_or_default())) }
                    ", closer than the margin " strong { (margin) } " (" code { "filters.best_match_margin" } "). A kind to prefer may help." },
            }
        }
        @for warning in answer["warnings"].as_array().into_iter().flatten() { p .warnings { (shown(warning)) } }
    }
}

fn candidates(answer: &Value, query: &str) -> Markup {
    let results = answer["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    html! {
        @if !results.is_empty() {
            div .scroll tabindex="0" { table .stack {
                thead { tr { th scope="col" { "Name" } th scope="col" { "Score" } th scope="col" { "Filter" } th scope="col" { "Why" } th scope="col" { "About it" } } }
                tbody { @for result in results {
                    @let why = &result["explanation"];
                    tr {
                        td { (marked(result["name"].as_str().unwrap_or_default(), query)) }
                        td { (score_bar(result["score"].as_f64().unwrap_or_default())) }
                        td { code { (shown(&result["filterKey"])) " = " (shown(&result["filterValue"])) } }
                        td .note { (reasons(why)) }
                        td .note { (result["context"].as_str().unwrap_or_default()) }
                    }
                } }
            } }
        }
    }
}

/// How a name was found, in words.
fn how_said(how: &str) -> &str {
    match how {
        "value" => "the value itself",
        "code" => "the code, or one under it",
        "exact" => "the whole name",
        "folded" => "the whole name but for accents or punctuation",
        "words" => "words of the name",
        "meaning" => "near by vector",
        other => other,
    }
}

/// Why a name is a candidate, in words.
fn reasons(why: &Value) -> Markup {
    html! {
        @for (name, value) in why.as_object().into_iter().flatten() {
            @match (name.as_str(), value) {
                ("matched", Value::String(matched)) => { "compared with " (matched) br; },
                ("how", Value::String(how)) => { (how_said(how)) br; },
                ("trigramSimilarity", Value::Number(similarity)) => { "letters in common " (format!("{:.2}", similarity.as_f64().unwrap_or_default())) br; },
                _ => { (name) " " (shown(value)) br; },
            }
        }
    }
}

/// Asks for all answers to some queries, of which one reply may hold a part; answers that it goes
/// on with name the position of their query.
async fn answers_of(viewer: &Viewer, queries: &[Value]) -> Result<Vec<Value>, ToolError> {
    let mut answers: Vec<Value> = vec![Value::Null; queries.len()];
    let mut arguments = json!({ "queries": queries });
    loop {
        let mut reply = viewer.tool("search_filters_batch", arguments.clone()).await?.value;
        let Value::Array(some) = reply["responses"].take() else { break };
        for (at, mut answer) in some.into_iter().enumerate() {
            let at = answer["index"].as_u64().map_or(at, |index| index as usize);
            let Some(known) = answers.get_mut(at) else { continue };
            match (known["results"].as_array_mut(), answer["results"].as_array_mut()) {
                (Some(known), Some(more)) => known.append(more),
                _ => *known = answer,
            }
        }
        match reply["next"].as_str() {
            Some(next) => arguments["cursor"] = json!(next),
            None => break,
        }
    }
    if answers.iter().all(Value::is_object) {
        return Ok(answers);
    }
    Err(ToolError::internal("some of the names were not answered"))
}

async fn look_up_lines(viewer: &Viewer, params: &Params, categories: &[String]) -> Markup {
    let category = chosen(params, categories);
    let lines = lines(params);
    if lines.is_empty() || categories.is_empty() {
        return html! {};
    }
    if lines.len() > MAX_LINES {
        let message =
            format!("the list has {} lines: at most {MAX_LINES} are allowed", lines.len());
        return problem(&ToolError::new(Code::TooLarge, message).with_hint("paste it in parts"));
    }
    let mut rows = Vec::new();
    for some in lines.chunks(BATCH) {
        let queries: Vec<Value> = some
            .iter()
            .map(|line| json!({ "category": category, "query": line, "limit": 3 }))
            .collect();
        match answers_of(viewer, &queries).await {
            Ok(answers) => rows.extend(some.iter().map(|line| (*line).to_owned()).zip(answers)),
            Err(error) => return problem(&error),
        }
    }
    let n_sure = rows
        .iter()
        .filter(|(_, answer)| answer.get("bestMatch").is_some_and(|best| !best.is_null()))
        .count();
    html! {
        @if !rows.is_empty() {
            p .summary { (n_sure) " of " (rows.len()) " names have a best match." }
            div .scroll tabindex="0" { table {
                thead { tr { th scope="col" { "Given" } th scope="col" { "Best match" } th scope="col" { "Value" } th scope="col" { "Score" } th scope="col" { "Otherwise" } } }
                tbody { @for (line, answer) in &rows {
                    @let best = &answer["bestMatch"];
                    @let results = answer["results"].as_array().map(Vec::as_slice).unwrap_or_default();
                    tr {
                        td { (line) }
                        @if best.is_null() { td { span .badge.warning { (if results.is_empty() { "nothing" } else { "not sure" }) } } td {} td {} }
                        @else { td { (shown(&best["name"])) } td { code { (shown(&best["filterValue"])) } } td { (score_bar(best["score"].as_f64().unwrap_or_default())) } }
                        td .note { @for (position, result) in results.iter().skip(usize::from(!best.is_null())).enumerate() { @if position > 0 { ", " } (shown(&result["name"])) } }
                    }
                } }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], expected: &[Range<usize>]) {
        let parts = addresses("uat", lines);
        let names: Vec<Range<usize>> = parts.iter().map(|(names, _)| names.clone()).collect();
        assert_eq!(names, expected);
        assert!(parts.iter().all(|(_, address)| address.len() <= MAX_ADDRESS_BYTES));
    }

    #[test]
    fn a_list_has_as_few_addresses_as_it_needs() {
        check(&[], &[]);
        check(&["Cluj", "Tg. Ocna"], std::slice::from_ref(&(0..2)));
        let long = "ț".repeat(300);
        check(&[long.as_str(); 7], &[0..3, 3..6, 6..7]);
        check(&["x"; MAX_LINES + 1], &[]);
        let (_, address) = &addresses("uat", &["Cluj", "Tg. Ocna"])[0];
        assert_eq!(address, "/names?category=uat&lines=Cluj%0ATg.%20Ocna");
    }
}

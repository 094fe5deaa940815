//! Results as a person reads them: title, place, score, a marked snippet, why it is there, and two
//! buttons that judge it.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::Value;

use super::judged::{self, Verdict};
use super::layout::form_token;
use super::marked::{as_prose, marked, window};
use super::params::Params;
use super::stages::{figure, score_bar, stage_name, stages_of};
use super::viewer::Viewer;

/// A result as the page sorts and filters it.
pub(super) struct Hit<'a> {
    pub(super) value: &'a Value,
    pub(super) source: &'a str,
    pub(super) kind: String,
    pub(super) place: usize,
}

/// Files whose lines may begin with `#` and be no heading: comments, and what was typed so.
const PLAIN_KINDS: [&str; 12] =
    ["txt", "csv", "tsv", "log", "py", "sh", "rb", "toml", "yaml", "yml", "c", "h"];

impl Hit<'_> {
    /// Its text for a snippet: of documents, without the marks of headings.
    fn prose(&self) -> String {
        let text = self.value["text"].as_str().unwrap_or_default();
        let has_headings = match self.source {
            "knowledge" => true,
            "files" => !PLAIN_KINDS.contains(&self.kind.as_str()),
            _ => false,
        };
        if has_headings { as_prose(text) } else { text.to_owned() }
    }
}

/// Reads the results of an answer of `search` that begins behind some results.
pub(super) fn hits_of(answer: &Value, n_before: usize) -> Vec<Hit<'_>> {
    let results = answer["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    (n_before + 1..)
        .zip(results)
        .map(|(place, value)| {
            let source = value["source"].as_str().unwrap_or_default();
            Hit { value, source, kind: kind_of(source, value), place }
        })
        .collect()
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

/// The results that are shown, or what to do next where there are none.
pub(super) async fn list(
    viewer: &Viewer,
    params: &Params,
    query: &str,
    hits: &[&Hit<'_>],
) -> Markup {
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
    let verdicts = judged::verdicts(viewer, query).await;
    html! {
        ol .hits {
            @for hit in hits { li .hit { (entry(viewer, query, hit, &verdicts)) } }
        }
    }
}

fn entry(
    viewer: &Viewer,
    query: &str,
    hit: &Hit<'_>,
    verdicts: &BTreeMap<String, Verdict>,
) -> Markup {
    let text = |name: &str| hit.value[name].as_str().unwrap_or_default();
    let pointer = text("pointer");
    let open = Params::default().with("q", query).with("at", pointer);
    let address = format!("{}#hit", viewer.link(&format!("/open/{}", text("id")), &open));
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
        @if text("no_text").is_empty() {
            p .snippet { (marked(&window(&hit.prose(), query), query)) }
        } @else {
            p .note { "Found by its name alone: " (text("no_text")) }
        }
        @if !duplicates.is_empty() {
            p .note { "The same text is in "
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
            @if judged::may_judge(viewer) { (judge(viewer, query, hit, verdicts.get(text("id")))) }
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
            div .scroll tabindex="0" { table .figures {
                thead { tr { th scope="col" { "Stage" } th scope="col" { "Rank" } th scope="col" { "Figure" } th scope="col" { "What it is" } } }
                tbody {
                    @for (stage, rank, score) in &stages {
                        @let (name, meaning) = stage_name(stage);
                        tr { td { (name) } td { (rank) } td { (figure(*score)) } td .note { (meaning) } }
                    }
                }
            } }
        }
        @if !exact.is_empty() { p .note { "Found as written: " (exact.join(", ")) } }
        @if !folded.is_empty() { p .note { "Found in another form: " (folded.join(", ")) } }
    }
}

/// Judging a result, which becomes a case for `dowse eval`.
fn judge(viewer: &Viewer, query: &str, hit: &Hit<'_>, verdict: Option<&Verdict>) -> Markup {
    let is_pressed = |grade| (verdict.is_some_and(|verdict| verdict.grade == grade)).to_string();
    let title = hit.value["title"].as_str().unwrap_or_default();
    html! {
        form .judge method="post" action=(viewer.href("/activity/judge")) data-quiet {
            (form_token(viewer))
            input type="hidden" name="query" value=(query);
            input type="hidden" name="id" value=(hit.value["id"].as_str().unwrap_or_default());
            input type="hidden" name="title" value=(title);
            input type="hidden" name="next" value=(viewer.here);
            button name="verdict" value="right" aria-pressed=(is_pressed(1)) aria-label=(format!("{title} is right")) { "Right" }
            button name="verdict" value="wrong" aria-pressed=(is_pressed(0)) aria-label=(format!("{title} is wrong")) { "Wrong" }
        }
    }
}

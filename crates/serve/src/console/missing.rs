//! "Why was it not found?": names the stage that lost a document for a query.
//!
//! The stages are gone through in the order in which a document can be lost: it was not read, the
//! caller may not see it, it is no candidate, its score is below a threshold, it is beyond the
//! number of results, or the budget of the answer ended before it.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::judged;
use super::layout::{form_token, problem};
use super::locate::{Located, locate};
use super::marked::marked;
use super::params::{Params, encoded};
use super::stages::figure;
use super::viewer::Viewer;

/// As many results as `search` gives at once.
const DEEP: usize = 50;

/// As many results as a family gives at once.
const DEEPEST: usize = 100;

/// Results that an agent asks for unless it says otherwise.
const USUAL: usize = 10;

const NAMES: [&str; 6] =
    ["Read and indexed", "Visible", "Candidate", "Threshold", "Number of results", "Budget"];

/// The form, and the answer where a document was named.
pub(super) async fn panel(viewer: &Viewer, params: &Params, query: &str) -> Markup {
    let document = params.text("document").trim().to_owned();
    let limit = params.number("asked", USUAL, DEEP).max(1);
    let threshold = params.get("threshold").and_then(|text| text.trim().parse::<f64>().ok());
    html! {
        form .inline method="get" action=(viewer.href("/")) {
            input type="hidden" name="q" value=(query);
            input type="hidden" name="view" value="missing";
            div .toolbar {
                div .field.grow { label for="document" { "Which document should have been found?" }
                    input #document name="document" value=(document) required
                        placeholder="A path, a file's name, a title or an id"; }
                div .field { label for="asked" { "Results asked for" }
                    input #asked type="number" name="asked" min="1" max=(DEEP) value=(limit); }
                div .field { label for="threshold" { "Threshold" }
                    input #threshold type="number" name="threshold" min="0" max="1" step="0.05" placeholder="none"
                        value=[threshold]; }
                button .primary type="submit" { "Find out" }
            }
        }
        @if !document.is_empty() { (verdict(viewer, query, &document, limit, threshold).await) }
    }
}

/// One stage and whether the document passed it.
struct Step {
    outcome: Outcome,
    /// What was seen there.
    seen: Markup,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Lost,
}

fn passed(seen: Markup) -> Step {
    Step { outcome: Outcome::Passed, seen }
}

fn lost(seen: Markup) -> Step {
    Step { outcome: Outcome::Lost, seen }
}

async fn verdict(
    viewer: &Viewer,
    query: &str,
    document: &str,
    limit: usize,
    threshold: Option<f64>,
) -> Markup {
    let located = locate(viewer, document).await;
    let steps = match &located {
        Some(located) => steps(viewer, query, located, limit, threshold).await,
        None => not_there(viewer, document).await,
    };
    let is_lost = steps.last().is_some_and(|step| step.outcome == Outcome::Lost);
    html! {
        section .card aria-labelledby="verdict" {
            h2 #verdict {
                @if is_lost { "Lost at: " (NAMES[steps.len() - 1]) } @else { "It was found" }
            }
            ol .steps {
                @for (position, name) in NAMES.iter().enumerate() {
                    @match steps.get(position) {
                        Some(step) => li class=(if step.outcome == Outcome::Passed { "passed" } else { "lost" }) {
                            strong { (name) } div { (step.seen) } },
                        None => li .not-reached { strong { (name) } div { "Not reached." } },
                    }
                }
            }
            @if let Some(located) = &located { (should_have(viewer, query, located)) }
        }
    }
}

/// Makes the expectation a case for `dowse eval`.
fn should_have(viewer: &Viewer, query: &str, located: &Located) -> Markup {
    html! {
        @if judged::may_judge(viewer) && !located.id.is_empty() {
            form .actions method="post" action=(viewer.href("/activity/judge")) data-quiet {
                (form_token(viewer))
                input type="hidden" name="query" value=(query);
                input type="hidden" name="id" value=(located.id);
                input type="hidden" name="next" value=(viewer.here);
                button name="verdict" value="right" { "It should have been found" }
                span .note { "Keeps it as a right answer to this question, for " code { "dowse eval" } "." }
            }
        }
    }
}

/// Nothing that the viewer may see has this name; an administrator who looks as somebody else can
/// tell invisible from missing.
async fn not_there(viewer: &Viewer, document: &str) -> Vec<Step> {
    if viewer.is_viewing_as() && locate(&viewer.as_signed_in(), document).await.is_some() {
        return vec![
            passed(html! { "It is in the index." }),
            lost(html! { strong { (viewer.caller.subject) }
            " may not see it: its access list, department or clearance leaves them out." }),
        ];
    }
    let look = viewer.link("/sources", &Params::default().with("q", document));
    vec![lost(html! { "No document that you may see is called " code { (document) } ". "
    a href=(format!("{look}#files")) { "Look for it in Sources" } "." })]
}

async fn steps(
    viewer: &Viewer,
    query: &str,
    located: &Located,
    limit: usize,
    threshold: Option<f64>,
) -> Vec<Step> {
    let deep = json!({ "query": query, "limit": DEEP, "explain": true });
    let deep = viewer.tool("search", deep).await.map(|reply| reply.value);
    let results: &[Value] = match &deep {
        Ok(deep) => deep["results"].as_array().map(Vec::as_slice).unwrap_or_default(),
        Err(_) => &[],
    };
    let hit = (1..).zip(results).find(|(_, result)| located.is(result));
    let mut steps = Vec::new();
    match &located.unread {
        // A file without text can still be found by its name.
        Some((outcome, reason)) if hit.is_none() => {
            let file = located.path.as_deref().unwrap_or_default();
            steps.push(lost(html! {
                "Its text is not in the index: " strong { (outcome.code().replace('_', " ")) }
                @if !reason.is_empty() { " (" (reason) ")" } ". Only its name can be found. "
                a href=(viewer.href(&format!("/files?path={}", encoded(file)))) { "See the file" } "."
            }));
            return steps;
        }
        Some(_) => steps.push(passed(html! { "Its name is in the index; its text could not be read." })),
        None => steps.push(passed(html! { strong { (located.title) } ", "
            (located.text.chars().count()) " characters of text were looked at, from " (located.source) "." })),
    }
    steps.push(passed(html! { strong { (viewer.caller.subject) } " may see it." }));
    if let Err(error) = &deep {
        steps.push(lost(problem(error)));
        return steps;
    }
    let Some((place, hit)) = hit else {
        steps.push(beyond(viewer, query, located, results.len()).await);
        return steps;
    };
    let score = hit["score"].as_f64().unwrap_or_default();
    let best = results.first().and_then(|first| first["score"].as_f64()).unwrap_or_default();
    steps.push(passed(html! { "It is among the candidates, at place " (place) "." }));
    let scores =
        html! { "Its score is " (figure(score)) "; the best result has " (figure(best)) "." };
    match threshold {
        Some(least) if score < least => {
            steps.push(lost(html! { (scores) " The threshold " (least) " leaves it out." }));
            return steps;
        }
        Some(least) => steps.push(passed(html! { (scores) " The threshold is " (least) "." })),
        None => steps.push(passed(html! { (scores) " No threshold was given." })),
    }
    if place > limit {
        steps.push(lost(
            html! { "It is at place " (place) ", and " (limit) " results were asked for. "
            "With " code { "limit: " (place) } " it is in the answer." },
        ));
        return steps;
    }
    steps.push(passed(
        html! { "It is at place " (place) " of the " (limit) " that were asked for." },
    ));
    steps.push(within_budget(viewer, query, located, limit).await);
    steps
}

/// Whether the answer that an agent gets ends before the document.
async fn within_budget(viewer: &Viewer, query: &str, located: &Located, limit: usize) -> Step {
    let limits = &viewer.app.limits;
    match viewer.tool("search", json!({ "query": query, "limit": limit })).await {
        Err(error) => lost(problem(&error)),
        Ok(reply) => {
            let results = reply.value["results"].as_array().map(Vec::as_slice).unwrap_or_default();
            if results.iter().any(|result| located.is(result)) {
                return passed(html! { "The agent's answer holds it." });
            }
            lost(html! { "The answer was cut after " (results.len()) " results: at most "
            (limits.result_chars) " characters and " (limits.result_tokens) " tokens. "
            "The next page, with the answer's cursor, has it." })
        }
    }
}

/// Not among the results of `search`: how far down its own family has it.
async fn beyond(viewer: &Viewer, query: &str, located: &Located, n_results: usize) -> Step {
    let asked = match (&located.path, &located.of_base) {
        (Some(_), _) => Some(("searchFiles", json!({ "query": query, "k": DEEPEST }), "items")),
        (_, Some((base, _))) => {
            let arguments = json!({
                "query": query, "knowledge_base_id": base, "threshold": 0, "max_results": DEEP,
            });
            Some(("search_documents", arguments, "results"))
        }
        _ => None,
    };
    if let Some((tool, arguments, list)) = asked
        && let Ok(reply) = viewer.tool(tool, arguments).await
    {
        let items = reply.value[list].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_it = |item: &Value| match &located.of_base {
            Some((_, document)) => item["metadata"]["document_id"] == json!(document),
            None => item["path"].as_str() == located.path.as_deref(),
        };
        if let Some((place, item)) = (1..).zip(items).find(|(_, item)| is_it(item)) {
            let score = item["score"].as_f64().unwrap_or_default();
            return lost(html! { "It is at place " (place) " of its family, with a score of "
            (figure(score)) "; " code { "search" } " takes the best of each family. "
            code { (tool) } " reaches it." });
        }
    }
    lost(not_a_candidate(located, query, n_results))
}

/// What the text has of the query's words.
fn not_a_candidate(found: &Located, query: &str, n_results: usize) -> Markup {
    let folded = text::fold(&found.text);
    let words: Vec<&str> = query.split_whitespace().collect();
    let (present, absent): (Vec<&str>, Vec<&str>) =
        words.into_iter().partition(|word| folded.contains(&text::fold(word)));
    html! {
        @if present.is_empty() {
            "None of the words of the query is in its text"
        } @else {
            "Its text has " strong { (present.join(", ")) }
            @if !absent.is_empty() { " and not " strong { (absent.join(", ")) } }
        }
        ", and " (n_results) " others are nearer by words or by vector. "
        @if let Some(line) = best_line(&found.text, query) {
            "The nearest line: " q { (marked(&line, query)) }
        }
    }
}

/// The line that has most of the query's words.
fn best_line(text: &str, query: &str) -> Option<String> {
    let words: Vec<String> = query.split_whitespace().map(text::fold).collect();
    let count = |line: &str| {
        let line = text::fold(line);
        words.iter().filter(|word| line.contains(word.as_str())).count()
    };
    let best = text.lines().max_by_key(|line| count(line)).filter(|line| count(line) > 0)?;
    Some(best.chars().take(300).collect())
}

//! "Why was it not found?": names the stage that lost a document for a query.
//!
//! The stages are gone through in the order in which a document can be lost: it was not read, the
//! caller may not see it, it is no candidate, its score is below a threshold, it is beyond the
//! number of results, or the budget of the answer ended before it.

use std::collections::HashSet;

use maud::{Markup, html};
use serde_json::{Value, json};

use super::judged;
use super::layout::{form_token, problem};
use super::locate::{JsonDocument, Located, alike, locate};
use super::marked::marked;
use super::params::{Params, encoded};
use super::stages::figure;
use super::viewer::Viewer;
use super::walk::{SEARCH, SEARCH_DOCUMENTS, SEARCH_FILES, walk};

/// As many results as `search` gives at once.
const DEEP: usize = 50;

/// How far down a document is looked for.
const DEEPEST: usize = 500;

/// As many files as `searchFiles` gives at once.
const MOST_FILES: usize = 100;

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
        @if !document.is_empty() { (verdict(viewer, params, query, &document, limit, threshold).await) }
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
    /// Another result says the same, and stands for it.
    Folded,
}

fn passed(seen: Markup) -> Step {
    Step { outcome: Outcome::Passed, seen }
}

fn lost(seen: Markup) -> Step {
    Step { outcome: Outcome::Lost, seen }
}

async fn verdict(
    viewer: &Viewer,
    params: &Params,
    query: &str,
    document: &str,
    limit: usize,
    threshold: Option<f64>,
) -> Markup {
    let located = locate(viewer, document).await;
    let steps = match &located {
        Some(located) => steps(viewer, query, located, limit, threshold).await,
        None => not_there(viewer, params, document).await,
    };
    let last = steps.last().map_or(Outcome::Passed, |step| step.outcome);
    html! {
        section .card aria-labelledby="verdict" {
            h2 #verdict {
                @match last {
                    Outcome::Lost => { "Lost at: " (NAMES[steps.len() - 1]) },
                    Outcome::Folded => "It is a copy of another result",
                    Outcome::Passed => "It was found",
                }
            }
            ol .steps {
                @for (position, name) in NAMES.iter().enumerate() {
                    @match steps.get(position) {
                        Some(step) => li class=(match step.outcome { Outcome::Passed => "passed", Outcome::Folded | Outcome::Lost => "lost" }) {
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
async fn not_there(viewer: &Viewer, params: &Params, document: &str) -> Vec<Step> {
    if viewer.is_viewing_as() && locate(&viewer.as_signed_in(), document).await.is_some() {
        return vec![
            passed(html! { "It is in the index." }),
            lost(html! { strong { (viewer.caller.subject) }
            " may not see it: its access list, department or clearance leaves them out." }),
        ];
    }
    let look = viewer.link("/sources", &Params::default().with("q", document));
    let alike = alike(viewer, document).await;
    vec![lost(html! { "No document that you may see is called " code { (document) } ". "
    @if !alike.is_empty() { "Did you mean "
        @for (position, path) in alike.iter().enumerate() { @if position > 0 { ", " }
            a href=(viewer.link("/", &params.with("document", path))) { (path) } } "? " }
    a href=(format!("{look}#files")) { "Look for it in Sources" } "." })]
}

async fn steps(
    viewer: &Viewer,
    query: &str,
    located: &Located,
    limit: usize,
    threshold: Option<f64>,
) -> Vec<Step> {
    let deep = json!({ "query": query, "limit": DEEP });
    let deep = walk(viewer, &SEARCH, deep, DEEPEST, |result| located.is(result)).await;
    let (results, is_whole): (&[Value], bool) = match &deep {
        Ok(deep) => (&deep.results, deep.is_whole),
        Err(_) => (&[], true),
    };
    let hit = (1..).zip(results).find(|(_, result)| located.is(result));
    let mut steps = Vec::new();
    if let Some(json) = &located.json {
        if json.tools.is_empty() {
            return vec![lost(
                html! { strong { (located.title) } " is a JSON document, and no search tool is made over it: none of its text is in the index. "
                a href=(viewer.href(&format!("/contexts/{}", encoded(json.project_id.as_str())))) { "Make one in its project" } "." },
            )];
        }
        steps.push(passed(html! { strong { (located.title) } " is a JSON document, searched by " (tool_links(viewer, json)) "." }));
    }
    match &located.unread {
        _ if located.json.is_some() => {}
        // A file without text can still be found by its name.
        Some((outcome, reason)) if hit.is_none() => {
            let file = located.path.as_deref().unwrap_or_default();
            steps.push(lost(html! {
                "Its text is not in the index: " strong { (outcome.code().replace('_', " ")) }
                @if !reason.is_empty() { " (" (reason) ")" } ". It is found by the words of its name alone. "
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
        steps.push(match (1..).zip(results).find(|(_, result)| says_the_same(located, result)) {
            Some((place, other)) => folded(place, other),
            None => {
                beyond(viewer, query, located, Among { n_results: results.len(), is_whole }).await
            }
        });
        return steps;
    };
    let score = hit["score"].as_f64().unwrap_or_default();
    let best = results.first().and_then(|first| first["score"].as_f64()).unwrap_or_default();
    let title = hit["title"].as_str().unwrap_or_default();
    steps.push(passed(match located.is_itself(hit) {
        true => html! { "It is among the candidates, at place " (place) "." },
        false => html! { "It is listed as a copy of " strong { (title) } ", the result at place " (place) "." },
    }));
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
        steps.push(lost(html! { "It is at place " (place) ", and " (limit) " results were asked for. "
        @if place <= DEEP { "With " code { "limit: " (place) } " it is in the answer." }
        @else { "An answer has at most " (DEEP) ": its " code { "next" } " leads on to the others." } }));
        return steps;
    }
    steps.push(passed(
        html! { "It is at place " (place) " of the " (limit) " that were asked for." },
    ));
    steps.push(within_budget(viewer, query, located, limit).await);
    steps
}

/// Letters of the runs that two texts are compared by, and the part of them that is shared by texts
/// that say the same. A run is longer than most words: a whole document has nearly all the words of
/// a passage that is of the same kind, such as another invoice, and not their order.
const RUN_CHARS: usize = 16;
const SHARED_PART: f64 = 0.85;

/// Tells whether a result says what the document says, so that `search` shows one of them. A result
/// names a few of the places that say the same, and not all.
fn says_the_same(located: &Located, result: &Value) -> bool {
    let letters = |text: &str| -> Vec<char> {
        text::fold(text).chars().filter(|char| char.is_alphanumeric()).collect()
    };
    let runs = |letters: &[char]| -> HashSet<Vec<char>> {
        letters.windows(RUN_CHARS).map(<[char]>::to_vec).collect()
    };
    let of_result = runs(&letters(result["text"].as_str().unwrap_or_default()));
    let own = runs(&letters(&located.text));
    let n_shared = of_result.intersection(&own).count();
    !of_result.is_empty() && n_shared as f64 >= SHARED_PART * of_result.len() as f64
}

fn folded(place: usize, other: &Value) -> Step {
    let title = other["title"].as_str().unwrap_or_default();
    let n_named = other["duplicates"].as_array().map_or(0, Vec::len);
    Step {
        outcome: Outcome::Folded,
        seen: html! { "It says the same as " strong { (title) } ", the result at place " (place)
        ", and is shown once with it. " @if n_named > 0 { "That result names " (n_named) " of its copies, and not this one." } },
    }
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

/// The results among which a document is not.
#[derive(Clone, Copy)]
struct Among {
    n_results: usize,
    /// Whether there are no others.
    is_whole: bool,
}

/// Not among the results of `search`: how far down its own family has it.
async fn beyond(viewer: &Viewer, query: &str, located: &Located, among: Among) -> Step {
    let asked = match (&located.path, &located.of_base) {
        (Some(_), _) => Some((SEARCH_FILES, json!({ "query": query, "k": MOST_FILES }))),
        (_, Some((base, _))) => {
            let arguments = json!({
                "query": query, "knowledge_base_id": base, "threshold": 0, "max_results": DEEP,
            });
            Some((SEARCH_DOCUMENTS, arguments))
        }
        _ => None,
    };
    let is_it = |item: &Value| match &located.of_base {
        Some((_, document)) => item["metadata"]["document_id"] == json!(document),
        None => item["path"].as_str() == located.path.as_deref(),
    };
    if let Some((family, arguments)) = asked
        && let Ok(walked) = walk(viewer, &family, arguments, DEEPEST, is_it).await
        && let Some((place, item)) = (1..).zip(&walked.results).find(|(_, item)| is_it(item))
    {
        let score = item["score"].as_f64().unwrap_or_default();
        return lost(html! { "It is at place " (place) " of its family, with a score of "
        (figure(score)) "; " code { "search" } " takes the best of each family. "
        code { (family.tool) } " reaches it." });
    }
    if let Some(json) = &located.json {
        return lost(html! { "None of its texts is among the " (among.n_results) " results. "
        (tool_links(viewer, json)) " looks at it alone." });
    }
    lost(not_a_candidate(located, query, among))
}

fn tool_links(viewer: &Viewer, json: &JsonDocument) -> Markup {
    html! { @for (position, (id, name)) in json.tools.iter().enumerate() {
        @if position > 0 { ", " }
        a href=(viewer.href(&format!("/tools/{}?made={}", encoded(name), encoded(id.as_str())))) { code { (name) } }
    } }
}

/// What the text has of the query's words.
fn not_a_candidate(found: &Located, query: &str, among: Among) -> Markup {
    let Among { n_results, is_whole } = among;
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
        @if found.source == "tables" {
            ". Of a table, " code { "search" } " looks at the values of its text fields, by words alone: none of them is among the "
            (n_results) " results. " code { "query_table" } " looks at all of its rows. "
        } @else if !is_whole {
            ", and " (n_results) " others or more are nearer by words or by vector. "
        } @else {
            ", and neither words nor vectors bring it among the " (n_results) " results. "
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn located(source: &str, text: &str) -> Located {
        Located {
            id: "f1".to_owned(),
            source: source.to_owned(),
            title: "notes.md".to_owned(),
            text: text.to_owned(),
            path: None,
            of_base: None,
            unread: None,
            json: None,
        }
    }

    const TEXT: &str = "Remote work is allowed on three days a week, the manager agrees.";

    #[test]
    fn a_copy_is_told_from_what_is_not_found() {
        let result = json!({ "title": "remote-work.md", "text": TEXT.to_uppercase(),
            "duplicates": [{ "id": "x", "title": "other.md" }] });
        let longer = format!("A preface of some length before it. {TEXT} And what follows.");
        assert!(says_the_same(&located("files", &longer), &result));
        assert!(!says_the_same(&located("files", "Visitors sign the book at the gate."), &result));
        assert!(!says_the_same(&located("files", TEXT), &json!({ "text": "" })));
        let step = folded(3, &result);
        assert!(step.outcome == Outcome::Folded);
        let seen = step.seen.into_string();
        assert!(seen.contains("remote-work.md") && seen.contains("place 3"), "{seen}");
    }

    /// Records of one kind have the same words, in another order.
    #[test]
    fn another_record_of_the_same_kind_is_no_copy() {
        let words = ["invoice", "harbour", "valve", "contract", "pump", "copper", "signal"];
        let mut draw = 7_u64;
        let mut record = |n_words: usize| -> String {
            let drawn = (0..n_words).map(|_| {
                draw = draw
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                words[(draw >> 33) as usize % words.len()]
            });
            drawn.collect::<Vec<_>>().join(" ")
        };
        let result = json!({ "title": "a.md", "text": record(60) });
        assert!(!says_the_same(&located("files", &record(600)), &result));
    }

    #[test]
    fn others_are_nearer_only_where_there_are_others() {
        let among = |n_results, is_whole| Among { n_results, is_whole };
        let few =
            not_a_candidate(&located("files", TEXT), "remote walrus", among(5, true)).into_string();
        assert!(few.contains("among the 5 results") && !few.contains("nearer by words"), "{few}");
        let many = not_a_candidate(&located("files", TEXT), "remote walrus", among(500, false))
            .into_string();
        assert!(many.contains("500 others or more are nearer"), "{many}");
        let table =
            not_a_candidate(&located("tables", "people"), "walrus", among(0, true)).into_string();
        assert!(table.contains("values of its text fields"), "{table}");
    }
}

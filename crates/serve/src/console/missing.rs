//! "Why was it not found?": names the stage that lost a document for a query.
//!
//! The stages are gone through in the order in which a document can be lost: it does not exist
//! or was not read, the caller may not see it, its text has none of the words and no near vector,
//! its score is low, or it is there but below the number of results that were asked for.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::layout::problem;
use super::marked::marked;
use super::params::Params;
use super::stages::figure;
use super::viewer::Viewer;

/// As many results as a family gives at once.
const DEEP: usize = 50;

/// Results that an agent asks for unless it says otherwise.
const USUAL: usize = 10;

/// Scores below this are far from any threshold that people use.
const LOW_SCORE: f64 = 0.2;

/// The form, and the answer where a document was named.
pub(super) async fn panel(viewer: &Viewer, params: &Params, query: &str) -> Markup {
    let document = params.text("document").trim().to_owned();
    html! {
        form .inline method="get" action=(viewer.href("/")) {
            input type="hidden" name="q" value=(query);
            input type="hidden" name="view" value="missing";
            label for="document" { "Which document should have been found?" }
            div .row {
                input #document name="document" value=(document) required
                    placeholder="A file's path or name, a document's title or id";
                button type="submit" { "Find out" }
            }
        }
        @if !document.is_empty() { (verdict(viewer, query, &document).await) }
    }
}

/// One stage and whether the document passed it.
struct Step {
    name: &'static str,
    outcome: Outcome,
    /// What was seen there.
    seen: Markup,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Lost,
    NotReached,
}

async fn verdict(viewer: &Viewer, query: &str, document: &str) -> Markup {
    let steps = steps(viewer, query, document).await;
    let lost = steps.iter().find(|step| step.outcome == Outcome::Lost);
    html! {
        section .card aria-labelledby="verdict" {
            h2 #verdict {
                @match lost {
                    Some(step) => { "Lost at: " (step.name) },
                    None => "It was found",
                }
            }
            ol .steps {
                @for step in &steps {
                    li class=(match step.outcome {
                        Outcome::Passed => "passed",
                        Outcome::Lost => "lost",
                        Outcome::NotReached => "not-reached",
                    }) {
                        strong { (step.name) }
                        div { (step.seen) }
                    }
                }
            }
        }
    }
}

async fn steps(viewer: &Viewer, query: &str, document: &str) -> Vec<Step> {
    let names = ["Read and indexed", "Visible", "Candidate", "Score", "Number of results"];
    let mut steps: Vec<Step> = Vec::new();
    let Some(found) = locate(viewer, document).await else {
        // An administrator who looks as somebody else can tell invisible from missing.
        let as_admin = viewer.as_signed_in();
        let is_hidden = viewer.is_viewing_as() && locate(&as_admin, document).await.is_some();
        let seen = if is_hidden {
            html! { "The document exists, and " strong { (viewer.caller.subject) }
            " may not see it: its access list, department or clearance leaves them out." }
        } else {
            html! { "No document that you may see is called " code { (document) } ". "
            "It is not there, was skipped, or failed: "
            a href=(viewer.link("/sources", &Params::default().with("q", document))) {
                "look for it in Sources" } "." }
        };
        if is_hidden {
            steps.push(Step {
                name: names[0],
                outcome: Outcome::Passed,
                seen: html! { "It is in the index." },
            });
        }
        steps.push(Step { name: names[steps.len()], outcome: Outcome::Lost, seen });
        return fill(steps, &names);
    };
    steps.push(Step {
        name: names[0],
        outcome: Outcome::Passed,
        seen: html! {
        (found.title) ", " (found.n_chars) " characters of text from " (found.source) "." },
    });
    steps.push(Step {
        name: names[1],
        outcome: Outcome::Passed,
        seen: html! {
        strong { (viewer.caller.subject) } " may see it." },
    });
    let deep =
        viewer.tool("search", json!({ "query": query, "limit": DEEP, "explain": true })).await;
    let deep = match deep {
        Ok(reply) => reply.value,
        Err(error) => {
            steps.push(Step { name: names[2], outcome: Outcome::Lost, seen: problem(&error) });
            return fill(steps, &names);
        }
    };
    let results = deep["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    let hit = (1..).zip(results).find(|(_, result)| found.is(result));
    let Some((place, hit)) = hit else {
        steps.push(Step {
            name: names[2],
            outcome: Outcome::Lost,
            seen: not_a_candidate(&found, query, results.len()),
        });
        return fill(steps, &names);
    };
    let score = hit["score"].as_f64().unwrap_or_default();
    steps.push(Step {
        name: names[2],
        outcome: Outcome::Passed,
        seen: html! {
        "It is among the candidates, at place " (place) "." },
    });
    let first = results.first().and_then(|first| first["score"].as_f64()).unwrap_or_default();
    let is_low = score < LOW_SCORE && place > 1;
    steps.push(Step {
        name: names[3],
        outcome: if is_low && place > USUAL { Outcome::Lost } else { Outcome::Passed },
        seen: html! { "Its score is " (figure(score)) "; the best result has " (figure(first)) "."
        @if is_low { " A threshold above " (figure(score)) " leaves it out." } },
    });
    if steps.last().is_some_and(|step| step.outcome == Outcome::Lost) {
        return fill(steps, &names);
    }
    let is_cut = place > USUAL;
    steps.push(Step {
        name: names[4],
        outcome: if is_cut { Outcome::Lost } else { Outcome::Passed },
        seen: if is_cut {
            html! { "It is at place " (place) ", and an agent gets " (USUAL) " results unless it asks for more. "
                "With " code { "limit: " (place) } " it is in the answer." }
        } else {
            html! { "It is at place " (place) " of the answer." }
        },
    });
    steps
}

fn fill(mut steps: Vec<Step>, names: &[&'static str]) -> Vec<Step> {
    let n_reached = steps.len();
    steps.extend(names[n_reached..].iter().map(|name| Step {
        name,
        outcome: Outcome::NotReached,
        seen: html! { "Not reached." },
    }));
    steps
}

/// A document that exists for the viewer.
struct Located {
    source: &'static str,
    title: String,
    text: String,
    n_chars: usize,
    /// What its results have in common: a title, or an id.
    title_key: String,
}

impl Located {
    fn is(&self, result: &Value) -> bool {
        let title = result["title"].as_str().unwrap_or_default();
        title == self.title_key
            || result["duplicates"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|duplicate| duplicate["title"] == json!(self.title_key))
    }
}

/// Finds a document by what a person calls it.
async fn locate(viewer: &Viewer, document: &str) -> Option<Located> {
    if let Ok(reply) = viewer.tool("fetch", json!({ "id": document })).await {
        return Some(located("search", &reply.value));
    }
    let by_path = viewer.tool("openFile", json!({ "path": document })).await;
    if let Ok(reply) = by_path {
        let name = document.rsplit(['/', '\\']).next().unwrap_or(document).to_owned();
        let text = super::layout::shown(&reply.value["preview"]);
        let text = if text == "—" { reply.text } else { text };
        return Some(Located {
            source: "files",
            n_chars: text.chars().count(),
            title: document.to_owned(),
            title_key: name,
            text,
        });
    }
    // By its name: whatever carries the name itself is found by it.
    let by_name = viewer.tool("search", json!({ "query": document, "limit": DEEP })).await.ok()?;
    let results = by_name.value["results"].as_array()?;
    let same = results.iter().find(|result| {
        let title = result["title"].as_str().unwrap_or_default();
        text::fold(title) == text::fold(document)
    })?;
    let fetched = viewer.tool("fetch", json!({ "id": same["id"] })).await.ok()?;
    Some(located("search", &fetched.value))
}

fn located(source: &'static str, fetched: &Value) -> Located {
    let title = fetched["title"].as_str().unwrap_or_default().to_owned();
    let text = fetched["text"].as_str().unwrap_or_default().to_owned();
    let n_chars = text.chars().count();
    Located { source, title_key: title.clone(), title, text, n_chars }
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
        ", and " (n_results) " other passages are nearer by words or by vector. "
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

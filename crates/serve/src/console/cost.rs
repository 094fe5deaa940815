//! What an answer costs an agent: tokens as a language model counts them.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::params::Params;
use super::time::thousands;
use super::viewer::Viewer;

/// A cursor as long as those of answers are.
const SOME_CURSOR: &str = "w91RH8ydAnuwnDqkMurEiw-gSRuhBl1LOj6tZhmJHBbGwkF46BN";

/// How many results the table tries.
const TRIED: [usize; 6] = [1, 3, 5, 10, 20, 50];

/// The most results that the simulator takes.
const MAX_RESULTS: usize = 50;

/// The largest cap that the simulator takes.
const MAX_CAP: usize = 10_000_000;

/// Makes counting ready behind the first page that somebody looks at, so that their first search
/// does not wait for its tables.
pub(super) fn get_ready() {
    static BEGUN: std::sync::Once = std::sync::Once::new();
    BEGUN.call_once(|| {
        tokio::task::spawn_blocking(|| tokens("ready"));
    });
}

/// Writes a count of tokens.
pub(crate) fn tokens(text: &str) -> usize {
    text::count_tokens(text)
}

/// An answer with some of its results.
struct Cost {
    n_results: usize,
    n_tokens: usize,
    n_chars: usize,
}

/// An answer of which the cost is told.
pub(super) struct Answer {
    /// With as many results as may be asked for.
    pub(super) value: Value,
    /// Where an answer with fewer goes on, as one of them said it.
    pub(super) cursor: Option<String>,
}

fn cost_of(answer: &Answer, n_results: usize) -> Cost {
    let Answer { value: answer, cursor } = answer;
    let results = answer["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    let has_more = n_results < results.len() || answer["next"].is_string();
    let n_results = n_results.min(results.len());
    let mut shortened = json!({ "results": &results[..n_results] });
    // Whatever else an answer says, such as warnings and what was redacted, it says as well.
    for (name, value) in answer.as_object().into_iter().flatten() {
        if name != "results" && name != "next" {
            shortened[name] = value.clone();
        }
    }
    if has_more {
        // An answer that is not the whole names the place where it goes on.
        shortened["next"] = json!(cursor.as_deref().unwrap_or(SOME_CURSOR));
    }
    let text = shortened.to_string();
    Cost { n_results, n_tokens: tokens(&text), n_chars: text.chars().count() }
}

/// The most results, up to `k`, whose answer is within both caps.
fn fitting(answer: &Answer, k: usize, cap_tokens: usize, cap_chars: usize) -> Cost {
    let mut cost = cost_of(answer, k);
    while cost.n_results > 0 && (cost.n_tokens > cap_tokens || cost.n_chars > cap_chars) {
        cost = cost_of(answer, cost.n_results - 1);
    }
    cost
}

/// What the same answer would cost with another number of results and other caps.
pub(super) fn simulator(viewer: &Viewer, params: &Params, query: &str, answer: &Answer) -> Markup {
    let limits = &viewer.app.limits;
    let k = params.number("k", 10, MAX_RESULTS).max(1);
    let cap_tokens = params.number("cap_tokens", limits.result_tokens, MAX_CAP);
    let cap_chars = params.number("cap_chars", limits.result_chars, MAX_CAP);
    let wanted = cost_of(answer, k);
    let given = fitting(answer, k, cap_tokens, cap_chars);
    let n_left = wanted.n_results - given.n_results;
    html! {
        section .card aria-labelledby="simulator" {
            h2 #simulator { "Simulator" }
            form .toolbar method="get" action=(viewer.href("/")) {
                input type="hidden" name="q" value=(query);
                input type="hidden" name="view" value="cost";
                (number("k", "Results (k)", k, 1, MAX_RESULTS))
                (number("cap_tokens", "Cap in tokens", cap_tokens, 0, MAX_CAP))
                (number("cap_chars", "Cap in characters", cap_chars, 0, MAX_CAP))
                button type="submit" { "Simulate" }
            }
            dl .tiles {
                div { dt { "Results given" } dd #given-results { (given.n_results) " of " (wanted.n_results) } }
                div { dt { "Tokens" } dd { (thousands(given.n_tokens)) } }
                div { dt { "Characters" } dd { (thousands(given.n_chars)) } }
                div { dt { "A result, on average" } dd { (thousands(given.n_tokens / given.n_results.max(1))) " tokens" } }
            }
            @if n_left > 0 {
                p .warnings { (n_left) " results do not fit: the answer says so and gives a cursor for the rest." }
            }
        }
        section .card aria-labelledby="by-number" {
            h2 #by-number { "By number of results" }
            (by_number_of_results(answer, limits.result_tokens, limits.result_chars))
        }
    }
}

fn number(name: &str, label: &str, value: usize, least: usize, most: usize) -> Markup {
    html! {
        div .field { label for=(name) { (label) }
            input id=(name) type="number" name=(name) value=(value) min=(least) max=(most); }
    }
}

/// The cost of the same answer with another number of results, and the caps that hold.
fn by_number_of_results(answer: &Answer, cap_tokens: usize, cap_chars: usize) -> Markup {
    let mut rows: Vec<Cost> = Vec::new();
    for n_results in TRIED {
        let cost = cost_of(answer, n_results);
        if rows.last().is_some_and(|before| before.n_results == cost.n_results) {
            break;
        }
        rows.push(cost);
    }
    let share = |cost: &Cost| cost.n_tokens as f64 / cap_tokens.max(1) as f64;
    html! {
        div .scroll tabindex="0" { table {
            thead { tr {
                th scope="col" .num { "Results" } th scope="col" .num { "Tokens" }
                th scope="col" .num { "Characters" } th scope="col" { "Share of the cap" }
            } }
            tbody {
                @for cost in &rows {
                    tr {
                        td .num { (cost.n_results) } td .num { (thousands(cost.n_tokens)) } td .num { (thousands(cost.n_chars)) }
                        td .nowrap { (bar(share(cost))) (format!(" {:.1} %", 100.0 * share(cost))) }
                    }
                }
            }
        } }
        p .note { "The caps in force are " (thousands(cap_tokens)) " tokens and " (thousands(cap_chars)) " characters "
            "(" code { "limits.result_tokens" } ", " code { "limits.result_chars" } "). "
            "Tokens are estimated as common language models count them." }
    }
}

/// A share from 0 to 1 as a bar.
pub(crate) fn bar(share: f64) -> Markup {
    let width = (share.clamp(0.0, 1.0) * 80.0).max(1.0);
    html! {
        svg .bar viewBox="0 0 80 8" width="80" height="8" aria-hidden="true" {
            rect .rail width="80" height="8" rx="2" {}
            rect .fill width=(width) height="8" rx="2" {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_not_the_whole_pays_for_its_cursor() {
        let results = json!([{ "id": "a" }, { "id": "b" }]);
        let cursor = Some("cursor".to_owned());
        let answer = Answer { value: json!({ "results": results }), cursor };
        let chars = |value: Value| value.to_string().chars().count();
        let first = json!({ "results": [{ "id": "a" }], "next": "cursor" });
        assert_eq!(cost_of(&answer, 1).n_chars, chars(first));
        assert_eq!(cost_of(&answer, 2).n_chars, chars(json!({ "results": results })));
        let warned = json!({ "results": results, "warnings": ["w"], "redacted": 2 });
        let answer = Answer { value: warned.clone(), cursor: None };
        assert_eq!(cost_of(&answer, 9).n_chars, chars(warned));
    }

    #[test]
    fn results_are_given_as_far_as_both_caps_reach() {
        let results: Vec<Value> =
            (0..20).map(|n| json!({ "id": n, "text": "word ".repeat(50) })).collect();
        let answer = Answer { value: json!({ "results": results }), cursor: None };
        let all = fitting(&answer, 10, 100_000, 100_000);
        assert_eq!(all.n_results, 10);
        for (cap_tokens, cap_chars) in [(all.n_tokens / 2, 100_000), (100_000, all.n_chars / 2)] {
            let some = fitting(&answer, 10, cap_tokens, cap_chars);
            assert!((4..=5).contains(&some.n_results), "{}", some.n_results);
            assert!(some.n_tokens <= cap_tokens && some.n_chars <= cap_chars);
            let more = cost_of(&answer, some.n_results + 1);
            assert!(more.n_tokens > cap_tokens || more.n_chars > cap_chars);
        }
        assert_eq!(fitting(&answer, 10, 0, 0).n_results, 0);
        let none = Answer { value: json!({}), cursor: None };
        assert_eq!(fitting(&none, 10, 100, 100).n_results, 0);
    }
}

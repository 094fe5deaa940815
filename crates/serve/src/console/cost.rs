//! What an answer costs an agent: tokens as a language model counts them.

use maud::{Markup, html};
use serde_json::{Value, json};

/// How many results the simulator tries.
const TRIED: [usize; 6] = [1, 3, 5, 10, 20, 50];

/// Writes a count of tokens.
pub(crate) fn tokens(text: &str) -> usize {
    text::count_tokens(text)
}

/// The cost of the same answer with another number of results, and the caps that hold.
pub(crate) fn by_number_of_results(answer: &Value, cap_tokens: usize, cap_chars: usize) -> Markup {
    let results = answer["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut rows: Vec<(usize, usize, usize)> = Vec::new();
    for n_results in TRIED {
        let n_results = n_results.min(results.len());
        if rows.last().is_some_and(|(before, ..)| *before == n_results) {
            break;
        }
        let mut shortened = json!({ "results": &results[..n_results] });
        if let Some(warnings) = answer.get("warnings") {
            shortened["warnings"] = warnings.clone();
        }
        let text = shortened.to_string();
        rows.push((n_results, tokens(&text), text.chars().count()));
    }
    let most = rows.iter().map(|(_, n_tokens, _)| *n_tokens).max().unwrap_or(1).max(1);
    html! {
        table .figures {
            caption { "Cost by number of results" }
            thead { tr {
                th scope="col" { "Results" } th scope="col" { "Tokens" }
                th scope="col" { "Characters" } th scope="col" { "Share of the cap" }
            } }
            tbody {
                @for (n_results, n_tokens, n_chars) in &rows {
                    tr {
                        td { (n_results) } td { (n_tokens) } td { (n_chars) }
                        td { (bar(*n_tokens as f64 / most as f64))
                            (format!(" {:.0} %", 100.0 * *n_tokens as f64 / cap_tokens.max(1) as f64)) }
                    }
                }
            }
        }
        p .note { "The caps are " (cap_tokens) " tokens and " (cap_chars) " characters "
            "(" code { "limits.result_tokens" } ", " code { "limits.result_chars" } "); "
            "a larger answer is cut with a notice." }
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

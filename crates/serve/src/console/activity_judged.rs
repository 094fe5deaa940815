//! What people judged: the cases that `dowse eval` reads.

use std::collections::BTreeMap;

use maud::{Markup, html};
use tools::{Code, ToolError};

use super::confirm::asks;
use super::judged::{self, Resolved, Verdict};
use super::layout::{empty, form_token, problem};
use super::params::Params;
use super::time::{counted, thousands};
use super::viewer::Viewer;

/// Queries of one page: each of their documents is asked for.
const SHOWN: usize = 50;

/// The judged queries of the viewer's tenant, with the titles that the viewer may see.
pub(super) async fn cases(viewer: &Viewer, params: &Params) -> Markup {
    if !judged::may_judge(viewer) {
        return problem(&ToolError::new(
            Code::Forbidden,
            "only administrators see what was judged",
        ));
    }
    let judged = match judged::read(viewer).await {
        Ok(judged) => judged,
        Err(error) => return problem(&error),
    };
    if judged.queries.is_empty() {
        return empty(
            "No result was judged yet.",
            &html! { p { "Press Right or Wrong beside a result of a search, or name what should have been found under “Why was it not found?”. The cases measure the order: download them here, and run " code { "dowse eval judged.jsonl" } "." } },
        );
    }
    let after = params.get("after");
    let mut rest =
        judged.queries.iter().filter(|(query, _)| after.is_none_or(|after| query.as_str() > after));
    let shown: Vec<(&String, &BTreeMap<String, Verdict>)> = rest.by_ref().take(SHOWN).collect();
    let next = rest.next().and(shown.last()).map(|(query, _)| query.as_str());
    let mut known: BTreeMap<&str, Option<Resolved>> = BTreeMap::new();
    for id in shown.iter().flat_map(|(_, verdicts)| verdicts.keys()) {
        if !known.contains_key(id.as_str()) {
            known.insert(id.as_str(), judged::resolve(viewer, id).await);
        }
    }
    let n_hidden = known.values().filter(|document| document.is_none()).count();
    let n_queries = thousands(judged.queries.len());
    html! {
        p { strong { (n_queries) (if judged.queries.len() == 1 { " judged query" } else { " judged queries" }) } " over " strong { (counted(judged.documents.len() as u64, "document")) } ". Download them, and measure them with "
            code { "dowse eval judged.jsonl" } "; with " code { "--baseline" } " a change that breaks them is refused." }
        p { a .button.small href=(viewer.href("/activity/judged.jsonl")) download { "Download the cases" } " "
            span .note { "The texts are read now, with your rights." } }
        @if n_hidden > 0 { p .note { (counted(n_hidden as u64, "document")) " judged here you may not see, or " (if n_hidden == 1 { "it is gone: it is" } else { "they are gone: they are" }) " left out, here and in the download." } }
        div .scroll tabindex="0" { table {
            thead { tr { th scope="col" { "Query" } th scope="col" { "Right" } th scope="col" { "Wrong" } th scope="col" { "Judged by" } th scope="col" { span .visually-hidden { "Actions" } } } }
            tbody { @for (query, verdicts) in &shown {
                tr { td { a href=(viewer.link("/", &Params::default().with("q", query))) { (query) } }
                    td { (titles(verdicts, 1, &known)) } td { (titles(verdicts, 0, &known)) } td { (judges(verdicts)) }
                    td { form method="post" action=(viewer.href("/activity/forget")) data-confirm { (asks(&format!("Take back what was judged for “{query}”?")))
                        (form_token(viewer)) input type="hidden" name="query" value=(query); button .small.danger type="submit" { "Take back" } } } }
            } }
        } }
        div .pager {
            @if after.is_some() { a .button rel="first" href=(viewer.link("/activity", &params.without("after"))) { "First page" } }
            @if let Some(next) = next { a .button rel="next" href=(viewer.link("/activity", &params.with("after", next))) { "Next page" } }
        }
    }
}

fn titles(
    verdicts: &BTreeMap<String, Verdict>,
    grade: u32,
    known: &BTreeMap<&str, Option<Resolved>>,
) -> String {
    let given = verdicts.iter().filter(|(_, verdict)| verdict.grade == grade);
    let titles: Vec<&str> = given
        .filter_map(|(id, _)| Some(known.get(id.as_str())?.as_ref()?.title.as_str()))
        .collect();
    titles.join(", ")
}

fn judges(verdicts: &BTreeMap<String, Verdict>) -> String {
    let mut judges: Vec<&str> =
        verdicts.values().filter_map(|verdict| verdict.by.as_deref()).collect();
    judges.sort_unstable();
    judges.dedup();
    judges.join(", ")
}

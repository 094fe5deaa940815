//! What people judged: the cases that `dowse eval` reads.

use maud::{Markup, html};
use tools::{Code, ToolError};

use super::judged::{self, Judged};
use super::layout::{empty, form_token, problem};
use super::params::Params;
use super::viewer::Viewer;

/// The judged queries of the viewer's tenant.
pub(super) fn cases(viewer: &Viewer) -> Markup {
    if !judged::may_judge(viewer) {
        return problem(&ToolError::new(
            Code::Forbidden,
            "only administrators see what was judged",
        ));
    }
    let path = judged::file(viewer);
    let judged = match Judged::read(&path) {
        Ok(judged) => judged,
        Err(error) => return problem(&ToolError::new(Code::Unavailable, error.to_string())),
    };
    if judged.queries.is_empty() {
        return empty(
            "No result was judged yet.",
            &html! { p { "Press Right or Wrong beside a result of a search, or name what should have been found under “Why was it not found?”. The cases measure the order: " code { "dowse eval " (path.display()) } } },
        );
    }
    html! {
        p { strong { (judged.queries.len()) } " judged queries over " strong { (judged.documents.len()) } " documents. Measure them with " code { "dowse eval " (path.display()) }
            "; with " code { "--baseline" } " a change that breaks them is refused." }
        p { a .button.small href=(viewer.href("/activity/judged.jsonl")) download { "Download the cases" } }
        div .scroll tabindex="0" { table {
            thead { tr { th scope="col" { "Query" } th scope="col" { "Right" } th scope="col" { "Wrong" } th scope="col" { span .visually-hidden { "Actions" } } } }
            tbody { @for (query, grades) in &judged.queries {
                @let titles = |grade: u32| grades.iter().filter(|(_, given)| **given == grade).filter_map(|(id, _)| judged.documents.get(id).map(|(title, _)| title.as_str())).collect::<Vec<_>>().join(", ");
                tr { td { a href=(viewer.link("/", &Params::default().with("q", query))) { (query) } } td { (titles(1)) } td { (titles(0)) }
                    td { form method="post" action=(viewer.href("/activity/forget")) data-confirm=(format!("Take back what was judged for “{query}”?")) {
                        (form_token(viewer)) input type="hidden" name="query" value=(query); button .small.danger type="submit" { "Take back" } } } }
            } }
        } }
    }
}

//! `/sources`: the folders, what is indexed of them, what failed and why, and how far jobs are.

use std::collections::BTreeMap;

use axum::response::Response;
use files::RootOutcomes;
use http::Method;
use maud::{Markup, html};
use model::{ReadOutcome, Timestamp};
use serde_json::{Value, json};
use tools::{Code, ToolError};

use super::address::notes;
use super::go_to;
use super::jobs;
use super::layout::{Section, empty, error_page, form_token, no_tool, page, problem};
use super::params::{Params, encoded};
use super::progress::{FILES, FOLDERS, JOBS, PROBLEMS};
use super::runs::{self, Run};
use super::time::{ago, bytes, counted, thousands};
use super::viewer::{Posted, Viewer};

/// Where the page is.
pub(super) const HERE: &str = "/sources";

/// Files of one page.
const SHOWN: usize = 100;

/// Problems that the first page names.
const SHOWN_PROBLEMS: usize = 50;

/// The folders and their state; a folder's files where one is named.
pub(super) async fn show(viewer: Viewer, params: Params) -> Response {
    let roots = viewer.tool("listRoots", json!({})).await;
    let roots: Vec<String> = match &roots {
        Ok(reply) => names(&reply.value["roots"]),
        Err(error) if error.code == Code::NotFound => Vec::new(),
        Err(error) => return error_page(&viewer, error),
    };
    let jobs = jobs::list(&viewer).await;
    let outcomes = outcomes(&viewer).await;
    let watched = viewer.link("/events/folders", &params);
    let body = html! {
        div .head { h1 { "Sources" }
            span .note { "The same as JSON: " a href=(viewer.href("/sources.json")) { code { "/v1/roots" } } } }
        @if roots.is_empty() && !viewer.has_tool("listRoots") { (no_tool("listRoots")) }
        @else if roots.is_empty() {
            (empty("No folder is configured.", &html! {
                p { "Start with folders: " code { "dowse serve FOLDER" } }
                p { "Or name them in " code { "dowse.toml" } ": " code { "[files] roots = [\"./documents\"]" } }
            }))
        } @else {
            div data-events=(watched) data-part=(FOLDERS) { (folders(&viewer, &params, &roots, &outcomes, &jobs)) }
            div data-events=(watched) data-part=(PROBLEMS) { (problems(&viewer, &params, &outcomes).await) }
            (file_search(&viewer, &params, &roots))
            div data-events=(watched) data-part=(FILES) { (files(&viewer, &params, &roots).await) }
        }
        h2 { "Jobs" }
        div data-events=(watched) data-part=(JOBS) { (jobs::some(&viewer, &jobs, HERE)) }
    };
    page(&viewer, Section::Sources, "Sources", &body)
}

/// The folders with what is in the index and how far it is, also sent as that goes on.
pub(super) fn folders(
    viewer: &Viewer,
    params: &Params,
    roots: &[String],
    outcomes: &[RootOutcomes],
    jobs: &Result<Vec<Value>, ToolError>,
) -> Markup {
    let jobs = jobs.as_deref().ok();
    let runs_of = |root: &str| runs::of_root(jobs.unwrap_or_default(), root, roots);
    html! {
        (counts(viewer, outcomes))
        (runs::of_all(outcomes, jobs))
        ul .grid {
            @for root in roots { li .card { (root_card(viewer, params, root, outcomes, &runs_of(root))) } }
        }
    }
}

fn names(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What is in the index, and what still waits for its vector.
fn counts(viewer: &Viewer, outcomes: &[RootOutcomes]) -> Markup {
    let Some(files) = &viewer.app.files else { return html! {} };
    let n_files: usize = outcomes.iter().flat_map(|root| root.counts.values()).sum();
    let Ok(Some(counts)) = files.counts(&viewer.caller) else {
        return html! { dl .tiles { div { dt { "Files" } dd { (thousands(n_files)) } } } };
    };
    let debt = counts.n_passages.saturating_sub(counts.n_vectors);
    html! {
        dl .tiles {
            div { dt { "Files" } dd { (thousands(n_files)) } }
            div { dt { "Passages, found by words" } dd { (thousands(counts.n_passages)) } }
            @if files.makes_vectors() {
                div { dt { "Found by vector too" } dd { (thousands(counts.n_vectors)) } }
                div { dt { "Waiting for a vector" } dd { (thousands(debt))
                    @if debt > 0 { " " progress max="1" value=(counts.vector_coverage()) aria-label="Passages with vectors" {} } } }
            } @else {
                div { dt { "Found by vector" } dd .none { "no model is configured" } }
            }
        }
    }
}

/// Each root with how many of its files came to which outcome.
pub(super) async fn outcomes(viewer: &Viewer) -> Vec<RootOutcomes> {
    let Some(service) = viewer.app.files.clone() else { return Vec::new() };
    let caller = viewer.caller.clone();
    let counted = tokio::task::spawn_blocking(move || service.outcomes(&caller)).await;
    counted.ok().and_then(Result::ok).unwrap_or_default()
}

/// Files whose text is not in the index, with the reasons; those of one outcome where the address
/// names it.
pub(super) async fn problems(
    viewer: &Viewer,
    params: &Params,
    outcomes: &[RootOutcomes],
) -> Markup {
    let Some(service) = viewer.app.files.clone() else { return html! {} };
    let mut totals: BTreeMap<ReadOutcome, usize> = BTreeMap::new();
    for (outcome, count) in outcomes.iter().flat_map(|root| &root.counts) {
        *totals.entry(*outcome).or_default() += count;
    }
    totals.remove(&ReadOutcome::Indexed);
    if totals.is_empty() {
        return html! {};
    }
    let chosen =
        ReadOutcome::ALL.into_iter().find(|outcome| params.get("outcome") == Some(outcome.code()));
    let after = params.get("problem").map(str::to_owned);
    let caller = viewer.caller.clone();
    let wanted: Vec<ReadOutcome> = match chosen {
        Some(outcome) => vec![outcome],
        // What went wrong comes before what simply holds no text.
        None => worst_first(totals.keys().copied()),
    };
    let listed = tokio::task::spawn_blocking(move || {
        let mut files = Vec::new();
        for outcome in wanted {
            // One more than is shown tells whether there is a next page.
            let room = (SHOWN_PROBLEMS + 1).saturating_sub(files.len());
            if room == 0 {
                break;
            }
            files.extend(service.files_with(&caller, outcome, after.as_deref(), room)?);
        }
        Ok::<_, files::Error>(files)
    });
    let mut files = match listed.await {
        Ok(Ok(files)) => files,
        Ok(Err(error)) => return problem(&super::document::not_shown(&error)),
        Err(_) => {
            return problem(&ToolError::new(Code::InternalError, "the files could not be listed"));
        }
    };
    let has_more = files.len() > SHOWN_PROBLEMS;
    files.truncate(SHOWN_PROBLEMS);
    let clean = params.without("problem");
    html! {
        section .card aria-labelledby="failed" {
            h2 #failed { (counted(totals.values().sum::<usize>() as u64, "file")) " without text in the index" }
            p .note { "Found by name alone." }
            ul .chips aria-label="Reasons" { @for outcome in worst_first(totals.keys().copied()) {
                @let count = totals.get(&outcome).copied().unwrap_or_default();
                li { a .chip href=(viewer.link("/sources", &clean.toggled("outcome", outcome.code())))
                    aria-current=[(chosen == Some(outcome)).then_some("true")] {
                    (outcome.code().replace('_', " ")) span .count { (thousands(count)) } } }
            } }
            @if files.is_empty() { p { "No file with this reason comes after this place of the list." } } @else {
            div .scroll tabindex="0" { table .stack {
                thead { tr { th scope="col" { "File" } th scope="col" { "State" } th scope="col" { "Reason" } th scope="col" { span .visually-hidden { "Actions" } } } }
                tbody { @for file in &files { tr {
                    td .path { a href=(viewer.href(&format!("/files?path={}", encoded(&file.path)))) { (file.path) } }
                    td { (state(file.outcome)) } td .cell { (file.reason.as_deref().unwrap_or_default()) }
                    td { (again(viewer, file.outcome, Some(&file.path))) }
                } } }
            } }
            }
            div .actions {
                @if params.get("problem").is_some() { a .button.small rel="first" href=(viewer.link("/sources", &clean)) { "First page" } }
                @if let (Some(_), Some(last)) = (chosen, files.last().filter(|_| has_more)) {
                    a .button.small rel="next" href=(viewer.link("/sources", &params.with("problem", &last.path))) { "Next" }
                }
                @if let Some(outcome) = chosen { (again(viewer, outcome, None)) }
                @else if may_read_again(viewer) { span .note { "Choose a reason to read all of its files again." } }
            }
        }
    }
}

/// Outcomes by how much they ask of a person: what failed, then what somebody can mend, then kinds
/// of files that hold no text by their nature.
fn worst_first(outcomes: impl Iterator<Item = ReadOutcome>) -> Vec<ReadOutcome> {
    let rank = |outcome: &ReadOutcome| match outcome {
        ReadOutcome::Failed => 0,
        ReadOutcome::Unreadable => 1,
        ReadOutcome::Broken => 2,
        ReadOutcome::Encrypted => 3,
        ReadOutcome::TooLarge => 4,
        ReadOutcome::Noise => 5,
        ReadOutcome::Scan => 6,
        ReadOutcome::Unsupported => 7,
        ReadOutcome::NoText => 8,
        ReadOutcome::Image => 9,
        ReadOutcome::Empty => 10,
        ReadOutcome::Indexed => 11,
    };
    let mut sorted: Vec<ReadOutcome> = outcomes.collect();
    sorted.sort_by_key(rank);
    sorted
}

/// Tells whether the person may have files read again that did not change: that is work for
/// everybody's index, and needs the role `admin`.
fn may_read_again(viewer: &Viewer) -> bool {
    viewer.may_change().is_ok() && viewer.caller.is_admin()
}

/// A button that reads one file again, or all that came to an outcome.
fn again(viewer: &Viewer, outcome: ReadOutcome, path: Option<&str>) -> Markup {
    if !may_read_again(viewer) {
        return html! {};
    }
    html! {
        form .bare method="post" action=(viewer.href("/sources/retry")) {
            (form_token(viewer))
            input type="hidden" name="next" value=(HERE);
            input type="hidden" name="outcome" value=(outcome.code());
            @if let Some(path) = path { input type="hidden" name="path" value=(path); }
            button .small type="submit" { @if path.is_some() { "Try again" } @else { "Try all of these again" } }
        }
    }
}

/// Reads files again.
pub(super) async fn retry(posted: Posted) -> Response {
    let Posted { viewer, params } = posted;
    if let Err(error) = viewer.may_change() {
        return error_page(&viewer, &error);
    }
    let one = params.get("path").map(|path| format!("?path={}", encoded(path))).unwrap_or_default();
    let path = format!("/v1/roots/files/{}/retry{one}", encoded(params.text("outcome")));
    match viewer.rest(Method::POST, &path, None).await {
        Ok(_) => go_to(&viewer, "/sources#jobs"),
        Err(error) => error_page(&viewer, &error),
    }
}

/// The state of a file as a badge.
fn state(outcome: ReadOutcome) -> Markup {
    let class = match outcome {
        ReadOutcome::Indexed => "badge indexed",
        ReadOutcome::Failed | ReadOutcome::Broken | ReadOutcome::Unreadable => "badge failed",
        ReadOutcome::NoText
        | ReadOutcome::Scan
        | ReadOutcome::Image
        | ReadOutcome::Empty
        | ReadOutcome::Noise
        | ReadOutcome::Encrypted
        | ReadOutcome::TooLarge
        | ReadOutcome::Unsupported => "badge skipped",
    };
    html! { span class=(class) { (outcome.code().replace('_', " ")) } }
}

fn root_card(
    viewer: &Viewer,
    params: &Params,
    root: &str,
    outcomes: &[RootOutcomes],
    runs: &[Run<'_>],
) -> Markup {
    let counts = outcomes.iter().find(|known| known.root == root).map(|known| &known.counts);
    let n_files: usize = counts.map(|counts| counts.values().sum()).unwrap_or_default();
    let n_indexed =
        counts.and_then(|counts| counts.get(&ReadOutcome::Indexed)).copied().unwrap_or_default();
    let open = Params::default().with("root", root);
    html! {
        h2 { a href=(format!("{}#files", viewer.link("/sources", &open)))
            aria-current=[params.has("root", root).then_some("true")] { (root) } }
        p { strong { (thousands(n_indexed)) } " of " strong { (thousands(n_files)) } " files have text in the index"
            @if runs::is_reading(runs) { " so far" } }
        @if n_files > 0 { progress .whole max=(n_files) value=(n_indexed) aria-label=(format!("Files of {root} with text")) {} }
        (runs::shown(runs))
        @if viewer.may_change().is_ok() && viewer.app.tools.get("indexFolder", &viewer.caller).is_some() { div .actions {
            form .bare method="post" action=(viewer.href("/sources/index")) {
                (form_token(viewer))
                input type="hidden" name="next" value=(HERE);
                input type="hidden" name="root" value=(root);
                button .small name="full" value="false" { "Look for changes" }
                " "
                @if may_read_again(viewer) { button .small name="full" value="true" { "Index anew" } }
            }
        } }
    }
}

/// The folder whose files are shown, and what is wrong with the one that the address names.
fn chosen_root(params: &Params, roots: &[String]) -> (Option<String>, Vec<String>) {
    match params.get("root") {
        Some(root) if roots.iter().any(|known| known == root) => (Some(root.to_owned()), vec![]),
        Some(_) => (
            roots.first().cloned(),
            vec!["`root` is left out: no folder that you may see has this path.".to_owned()],
        ),
        None => (roots.first().cloned(), vec![]),
    }
}

/// The form by which one looks for files of one folder.
fn file_search(viewer: &Viewer, params: &Params, roots: &[String]) -> Markup {
    let (Some(root), said) = chosen_root(params, roots) else { return html! {} };
    html! {
        h2 #files { "Files in " code { (root) } }
        (notes(&said))
        form .toolbar method="get" action=(viewer.href("/sources")) role="search" {
            input type="hidden" name="root" value=(root);
            div .field { label for="file-q" { "Path contains" }
                input #file-q type="search" name="q" value=(params.text("q")); }
            button type="submit" { "Show" }
        }
    }
}

/// The files of one folder, by path, also sent as they are read.
pub(super) async fn files(viewer: &Viewer, params: &Params, roots: &[String]) -> Markup {
    let Some(service) = viewer.app.files.clone() else { return html! {} };
    let (Some(root), _) = chosen_root(params, roots) else { return html! {} };
    let (word, after) =
        (params.get("q").map(str::to_owned), params.get("after").map(str::to_owned));
    let caller = viewer.caller.clone();
    let listed = {
        let (root, word) = (root.clone(), word.clone());
        tokio::task::spawn_blocking(move || {
            // One more than is shown tells whether there is a next page.
            service.list_files(&caller, &root, word.as_deref(), after.as_deref(), SHOWN + 1)
        })
        .await
    };
    let mut listed = match listed {
        Ok(Ok(listed)) => listed,
        Ok(Err(error)) => return problem(&super::document::not_shown(&error)),
        Err(_) => {
            return problem(&ToolError::new(Code::InternalError, "the files could not be listed"));
        }
    };
    if listed.files.len() > SHOWN {
        listed.files.truncate(SHOWN);
        listed.next = listed.files.last().map(|last| last.path.clone());
    }
    let now = viewer.app.clock.now();
    html! {
        @if listed.files.is_empty() {
            @match (params.get("q").is_some(), params.get("after").is_some()) {
                (_, true) => (empty("No file comes after this place of the list.", &html! { p { "The first page has the files from the beginning." } })),
                (true, _) => (empty("No path has these letters.", &html! { p { a href=(viewer.link("/sources", &params.without("q"))) { "Show all files" } } })),
                _ => (empty("No file is here yet.", &html! { p { "Files appear as they are read; a folder without files stays empty." } })),
            }
            (pager(viewer, params, None))
        } @else {
            div .scroll tabindex="0" { table .stack {
                thead { tr { th scope="col" { "File" } th scope="col" { "State" } th scope="col" .num { "Passages" }
                    th scope="col" .num { "Size" } th scope="col" { "Indexed" } } }
                tbody { @for file in &listed.files {
                    @let shown = file.path.strip_prefix(&root).unwrap_or(&file.path).trim_start_matches('/');
                    tr {
                        td .path { a href=(viewer.href(&format!("/files?path={}", encoded(&file.path)))) { (shown) } }
                        td { (state(file.outcome)) @if let Some(reason) = &file.reason { br; span .note { (reason) } } }
                        td .num data-name="Passages" { (thousands(file.n_passages)) }
                        td .num data-name="Size" { (file.bytes.map(bytes).unwrap_or_default()) }
                        td .nowrap data-name="Indexed" { (ago(Timestamp(file.indexed_at), now)) }
                    }
                } }
            } }
            (pager(viewer, params, listed.next.as_deref()))
        }
    }
}

fn pager(viewer: &Viewer, params: &Params, next: Option<&str>) -> Markup {
    html! {
        div .pager {
            @if params.get("after").is_some() {
                a .button href=(viewer.link("/sources", &params.without("after"))) { "First page" }
            }
            @if let Some(next) = next {
                a .button rel="next" href=(format!("{}#files", viewer.link("/sources", &params.with("after", next)))) { "Next page" }
            }
        }
    }
}

/// What REST says of the folders at `/v1/roots`, for whoever has a session and no key at hand.
pub(super) async fn as_json(viewer: Viewer, params: Params) -> Response {
    match format!("/v1/roots{}", params.to_query()).parse::<http::Uri>() {
        Ok(uri) => {
            let mut request = axum::extract::Request::default();
            *request.uri_mut() = uri;
            viewer.forward(request).await
        }
        Err(_) => error_page(&viewer, &ToolError::bad_request("the address is not right")),
    }
}

/// Starts to index a folder.
pub(super) async fn index(posted: Posted) -> Response {
    let Posted { viewer, params } = posted;
    if let Err(error) = viewer.may_change() {
        return error_page(&viewer, &error);
    }
    let (root, full) = (params.text("root").to_owned(), params.text("full") == "true");
    let arguments = json!({ "root": root, "full": full, "priority": "high" });
    // It may take long; the page shows how far it is.
    let call = {
        let viewer = viewer.clone();
        tokio::spawn(async move { viewer.tool("indexFolder", arguments).await.map(|_| ()) })
    };
    match tokio::time::timeout(std::time::Duration::from_millis(700), call).await {
        Ok(Ok(Err(error))) => error_page(&viewer, &error),
        _ => go_to(&viewer, "/sources#jobs"),
    }
}

/// Cancels a job.
pub(super) async fn cancel(posted: Posted) -> Response {
    let Posted { viewer, params } = posted;
    if let Err(error) = viewer.may_change() {
        return error_page(&viewer, &error);
    }
    let path = format!("/v1/jobs/{}", encoded(params.text("job")));
    match viewer.rest(Method::DELETE, &path, None).await {
        Ok(_) => go_to(&viewer, params.get("next").unwrap_or(HERE)),
        Err(error) => error_page(&viewer, &error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_a_place_and_failures_come_first() {
        let sorted = worst_first(ReadOutcome::ALL.into_iter());
        assert_eq!(sorted.len(), ReadOutcome::ALL.len());
        assert_eq!(&sorted[..2], [ReadOutcome::Failed, ReadOutcome::Unreadable]);
        let place = |wanted| sorted.iter().position(|outcome| *outcome == wanted);
        assert!(place(ReadOutcome::Broken) < place(ReadOutcome::Unsupported));
    }
}

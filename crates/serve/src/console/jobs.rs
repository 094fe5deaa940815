//! `/jobs`, and jobs on other pages: what is done, how far, with which errors.

use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;
use tools::ToolError;

use super::knowledge::array;
use super::layout::{Section, form_token, page, problem, shown};
use super::lists;
use super::params::Params;
use super::progress::JOBS;
use super::time::{counted, span, thousands};
use super::viewer::Viewer;

/// Jobs that a page shows beside other things.
const SHOWN: usize = 12;

/// The jobs that the person may see: those that run, those that wait, then the newest.
pub(super) async fn list(viewer: &Viewer) -> Result<Vec<Value>, ToolError> {
    let answer = viewer.get("/v1/jobs").await?;
    let mut jobs = array(&answer["jobs"]).to_vec();
    // What runs for long is older than what waits behind it, and may be on a later page.
    let (n_waiting, n_running) = viewer.app.queue.as_ref().map_or((0, 0), |queue| queue.counts());
    let n_open = jobs.iter().filter(|job| is_open(job)).count();
    if answer["next"].is_string() && n_open < n_waiting + n_running {
        let all = lists::whole(viewer, "/v1/jobs", "jobs").await?;
        jobs = array(&all["jobs"]).to_vec();
    }
    mark(viewer, open_first(jobs)).await
}

/// Puts the jobs that run before those that wait, and both before those that are over.
fn open_first(mut jobs: Vec<Value>) -> Vec<Value> {
    jobs.sort_by_key(|job| match job["status"].as_str() {
        Some("running") => 0,
        Some("queued") => 1,
        _ => 2,
    });
    jobs
}

/// Marks the jobs that the person may stop.
async fn mark(viewer: &Viewer, mut jobs: Vec<Value>) -> Result<Vec<Value>, ToolError> {
    if viewer.may_change().is_err() || !jobs.iter().any(is_open) {
        return Ok(jobs);
    }
    let (app, caller) = (viewer.app.clone(), viewer.caller.clone());
    let marked = tokio::task::spawn_blocking(move || {
        // The pages that show jobs show no more of them than one page of REST holds.
        for job in jobs.iter_mut().filter(|job| is_open(job)).take(MAX_MARKED) {
            let id = job["id"].as_str().unwrap_or_default();
            job[MAY_CANCEL] =
                crate::api::may_cancel_job(&app, &caller, &ingest::JobId::new(id)).into();
        }
        jobs
    });
    marked.await.map_err(|_| ToolError::internal("the jobs could not be listed"))
}

/// Jobs of which it is looked at whether the person may stop them.
const MAX_MARKED: usize = 100;

/// Where every job is listed.
pub(super) const ALL: &str = "/jobs";

/// `/jobs`: every job that is remembered, a page at a time, the newest first, as they go on.
pub(super) async fn show(viewer: Viewer, params: Params) -> Response {
    let watched = viewer.link("/events/jobs", &params.clone().with("next", ALL));
    let body = html! {
        h1 { "Jobs" }
        div data-events=(watched) data-part=(JOBS) { (every(&viewer, &params).await) }
    };
    page(&viewer, Section::Sources, "Jobs", &body)
}

/// The page of all jobs that an address names, and the ways to the others.
pub(super) async fn every(viewer: &Viewer, params: &Params) -> Markup {
    let answer = lists::page_of(viewer, "/v1/jobs", params).await;
    let rows = match &answer {
        Ok(answer) => mark(viewer, array(&answer["jobs"]).to_vec()).await,
        Err(error) => Err(error.clone()),
    };
    html! {
        @if let Ok(answer) = &answer { (lists::begins_anew(answer)) }
        @match &rows {
            Ok(jobs) => (job_rows(viewer, jobs, ALL)),
            Err(error) => (problem(error)),
        }
        @if let Ok(answer) = &answer { (lists::pager(viewer, ALL, params, answer)) }
    }
}

/// The first jobs of a list, and the way to all of them; `here` is the page that shows them.
pub(super) fn some(viewer: &Viewer, jobs: &Result<Vec<Value>, ToolError>, here: &str) -> Markup {
    let jobs = match jobs {
        Ok(jobs) => jobs,
        Err(error) => return problem(error),
    };
    html! {
        div #jobs {
            (job_rows(viewer, &jobs[..jobs.len().min(SHOWN)], here))
            @if jobs.len() > SHOWN { p { a href=(viewer.href(ALL)) { "All jobs" } } }
        }
    }
}

/// The member of a job that says that the person may stop it.
const MAY_CANCEL: &str = "may_cancel";

/// Tells whether a job waits or runs.
pub(super) fn is_open(job: &Value) -> bool {
    matches!(job["status"].as_str(), Some("queued" | "running"))
}

/// Jobs as a table; stopping one leads back to `here`.
fn job_rows(viewer: &Viewer, jobs: &[Value], here: &str) -> Markup {
    if jobs.is_empty() {
        return html! { p .note { "No job has run yet. Indexing, uploads and re-indexing appear here while they go on." } };
    }
    html! {
        div .scroll tabindex="0" { table .stack {
            thead { tr { th scope="col" { "Job" } th scope="col" { "State" } th scope="col" { "Progress" }
                th scope="col" { "Begun" } th scope="col" { "Result" } th scope="col" { span .visually-hidden { "Actions" } } } }
            tbody { @for job in jobs { (row(viewer, job, here)) } }
        } }
    }
}

/// The state of a job as a person calls it: somebody's wish is no failure.
pub(super) fn status(job: &Value) -> &str {
    if is_cancelled(job) { "cancelled" } else { job["status"].as_str().unwrap_or_default() }
}

fn is_cancelled(job: &Value) -> bool {
    job["error"].as_str() == Some("cancelled")
}

fn row(viewer: &Viewer, job: &Value, here: &str) -> Markup {
    let text = |name: &str| job[name].as_str().unwrap_or_default();
    let (done, total) = (&job["progress"]["done"], &job["progress"]["total"]);
    let n_warnings = job["n_warnings"].as_u64().unwrap_or_default();
    let (is_cancelled, status) = (is_cancelled(job), status(job));
    html! {
        tr {
            td .path { (said_kind(text("kind"))) @if !text("subject").is_empty() { br; span .note { (text("subject")) } } }
            td { span class=(format!("badge {status}")) { (status) } }
            td .nowrap data-name="Progress" {
                @if is_open(job) { (job["progress"]["stage"].as_str().unwrap_or_default()) " " }
                @match (done.as_u64(), total.as_u64()) {
                    (Some(done), Some(total)) => {
                        (thousands(done as usize)) " of " (thousands(total as usize)) " "
                        progress max=(total.max(1)) value=(done) aria-label="Progress of the job" {}
                    },
                    (Some(done), None) if done > 0 => (thousands(done as usize)),
                    _ => {},
                }
            }
            td .nowrap data-name="Begun" { (short_time(text("created_at"))) }
            td .cell {
                @if let Some(error) = job.get("error").filter(|_| !is_cancelled) { span .badge.failed { "error" } " " (shown(error)) }
                @else { (result(text("kind"), &job["result"])) }
                @if n_warnings > 0 {
                    @let kept = job["warnings"].as_array().map(Vec::as_slice).unwrap_or_default();
                    details { summary { (counted(n_warnings, "warning")) }
                        ul { @for warning in kept { li { (shown(warning)) } } }
                        @if (kept.len() as u64) < n_warnings { p .note { "The first " (kept.len()) " are kept with the job." } } }
                }
            }
            td { @if job[MAY_CANCEL] == true {
                form method="post" action=(viewer.href("/jobs/cancel")) {
                    (form_token(viewer))
                    input type="hidden" name="job" value=(text("id"));
                    input type="hidden" name="next" value=(here);
                    button .small type="submit" { "Cancel" }
                }
            } }
        }
    }
}

/// What a job does, as a person says it.
fn said_kind(kind: &str) -> &str {
    match kind {
        files::INDEX_JOB => "Index a folder",
        files::VECTORS_JOB => "Make vectors of files",
        knowledge::ADD_JOB => "Add documents",
        knowledge::MOVE_JOB => "Apply clearance and department",
        knowledge::PURGE_JOB => "Erase deleted documents",
        knowledge::SUMMARY_JOB => "Summarise",
        knowledge::VECTORS_JOB => "Make vectors of documents",
        contexts::INDEX_JOB => "Index a JSON document",
        contexts::VECTORS_JOB => "Make vectors of a JSON document",
        contexts::PURGE_JOB => "Erase a deleted JSON document",
        other => other,
    }
}

/// What came of a job: its figures by name. Warnings are counted beside them.
fn result(kind: &str, value: &Value) -> Markup {
    match value {
        Value::Null => html! {},
        Value::Object(members) => html! {
            // That nothing was left out is no news.
            @let is_said = |name: &str, value: &Value| match name {
                "n_warnings" => false,
                "left_out" => value.as_u64() != Some(0),
                _ => true,
            };
            @let figures = members.iter().filter(|(name, value)| value.is_number() && is_said(name, value));
            @for (position, (name, value)) in figures.enumerate() {
                @if position > 0 { ", " }
                @match (name.as_str(), value.as_u64()) {
                    ("duration_ms", Some(millis)) if millis < 1_000 => { span .note { "took " } (millis) " ms" },
                    ("duration_ms", Some(millis)) => { span .note { "took " } (span(millis as i64)) },
                    // Those without text are named beside it.
                    ("indexed", Some(count)) if kind == files::INDEX_JOB => {
                        @let n_with_text = count.saturating_sub(members.get("without_text").and_then(Value::as_u64).unwrap_or_default());
                        span .note { "indexed " } (thousands(n_with_text as usize))
                    },
                    ("skipped", Some(count)) if kind == files::INDEX_JOB => { span .note { "unchanged " } (thousands(count as usize)) },
                    (_, Some(count)) => { span .note { (name.replace('_', " ")) " " } (thousands(count as usize)) },
                    (_, None) => { span .note { (name.replace('_', " ")) " " } (shown(value)) },
                }
            }
        },
        other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            html! { (shown(other)) }
        }
    }
}

/// A moment without its fractions of a second.
pub(super) fn short_time(iso: &str) -> String {
    let whole = iso.split('.').next().unwrap_or(iso);
    whole.replace('T', " ").trim_end_matches('Z').to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A job that ran for long was pushed off the page by those that came after it.
    #[test]
    fn what_runs_is_shown_first() {
        let job = |id: u32, status: &str| json!({ "id": id, "status": status });
        let jobs = vec![job(4, "done"), job(3, "queued"), job(2, "failed"), job(1, "running")];
        let ids: Vec<u64> = open_first(jobs).iter().filter_map(|job| job["id"].as_u64()).collect();
        assert_eq!(ids, [1, 3, 4, 2]);
    }

    #[test]
    fn figures_have_the_names_that_people_use() {
        let value =
            json!({ "indexed": 2, "skipped": 1_100, "n_warnings": 3, "duration_ms": 61_000 });
        let shown = result(files::INDEX_JOB, &value).0;
        assert!(shown.contains("unchanged") && !shown.contains("skipped"), "{shown}");
        assert!(shown.contains("took </span>1 min") && !shown.contains('_'), "{shown}");
        let value = json!({ "indexed": 303, "without_text": 1 });
        let shown = result(files::INDEX_JOB, &value).0;
        assert!(shown.contains("indexed </span>302") && shown.contains("text </span>1"), "{shown}");
        let shown = result(knowledge::ADD_JOB, &json!({ "left_out": 1 })).0;
        assert!(shown.contains("left out </span>1"), "{shown}");
        let shown = result(contexts::INDEX_JOB, &json!({ "kept": 9, "left_out": 0 })).0;
        assert!(shown.contains("kept </span>9") && !shown.contains("left out"), "{shown}");
    }
}

//! Jobs as rows: what is done, how far, with which errors.

use maud::{Markup, html};
use serde_json::Value;
use tools::ToolError;

use super::layout::{form_token, shown};
use super::viewer::Viewer;

/// The jobs that the person may see, newest first.
pub(super) async fn list(viewer: &Viewer) -> Result<Vec<Value>, ToolError> {
    let answer = viewer.get("/v1/jobs").await?;
    let mut jobs = answer["jobs"].as_array().cloned().unwrap_or_default();
    if viewer.may_change().is_err() || !jobs.iter().any(is_open) {
        return Ok(jobs);
    }
    let (app, caller) = (viewer.app.clone(), viewer.caller.clone());
    let marked = tokio::task::spawn_blocking(move || {
        for job in jobs.iter_mut().filter(|job| is_open(job)) {
            let id = job["id"].as_str().unwrap_or_default();
            job[MAY_CANCEL] = crate::api::may_cancel_job(&app, &caller, id).into();
        }
        jobs
    });
    marked.await.map_err(|_| ToolError::internal("the jobs could not be looked at"))
}

/// The member of a job that says that the person may stop it.
const MAY_CANCEL: &str = "may_cancel";

fn is_open(job: &Value) -> bool {
    matches!(job["status"].as_str(), Some("queued" | "running"))
}

/// Jobs as a table, those that run first.
pub(super) fn job_rows(viewer: &Viewer, jobs: &[Value]) -> Markup {
    if jobs.is_empty() {
        return html! { p .note { "No job has run yet. Indexing, uploads and re-indexing appear here while they go on." } };
    }
    html! {
        div .scroll tabindex="0" { table {
            thead { tr { th scope="col" { "Job" } th scope="col" { "State" } th scope="col" { "Progress" }
                th scope="col" { "Begun" } th scope="col" { "Result" } th scope="col" { span .visually-hidden { "Actions" } } } }
            tbody { @for job in jobs { (row(viewer, job)) } }
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

fn row(viewer: &Viewer, job: &Value) -> Markup {
    let text = |name: &str| job[name].as_str().unwrap_or_default();
    let (done, total) = (&job["progress"]["done"], &job["progress"]["total"]);
    let n_warnings = job["n_warnings"].as_u64().unwrap_or_default();
    let (is_cancelled, status) = (is_cancelled(job), status(job));
    html! {
        tr {
            td .path { (text("kind")) @if !text("subject").is_empty() { br; span .note { (text("subject")) } } }
            td { span class=(format!("badge {status}")) { (status) } }
            td .nowrap {
                (job["progress"]["stage"].as_str().unwrap_or_default()) " " (shown(done))
                @if let (Some(done), Some(total)) = (done.as_u64(), total.as_u64()) {
                    " of " (total) " "
                    progress max=(total.max(1)) value=(done) aria-label="Progress of the job" {}
                }
            }
            td .nowrap { (short_time(text("created_at"))) }
            td .cell {
                @if let Some(error) = job.get("error").filter(|_| !is_cancelled) { span .badge.failed { "error" } " " (shown(error)) }
                @else { (result(&job["result"])) }
                @if n_warnings > 0 {
                    details { summary { (n_warnings) " warnings" }
                        ul { @for warning in job["warnings"].as_array().into_iter().flatten() { li { (shown(warning)) } } } }
                }
            }
            td { @if job[MAY_CANCEL] == true {
                form method="post" action=(viewer.href("/jobs/cancel")) {
                    (form_token(viewer))
                    input type="hidden" name="job" value=(text("id"));
                    button .small type="submit" { "Cancel" }
                }
            } }
        }
    }
}

fn result(value: &Value) -> Markup {
    match value {
        Value::Null => html! {},
        Value::Object(members) => html! {
            @for (name, value) in members.iter().filter(|(_, value)| value.is_number()) {
                span .note { (name) " " } (shown(value)) " "
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

//! `/v1/jobs`: how far long work is.

use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::get;
use ingest::{Job, JobId};
use model::Caller;
use model::iso;
use serde_json::{Value, json};
use tools::{Code, ToolError};

use super::paging::{Page, PageOf, newest_first};
use super::rest::{Reply, Rest};
use crate::App;
use crate::http::HttpState;

pub(super) fn routes() -> Router<HttpState> {
    Router::new().route("/v1/jobs", get(list)).route("/v1/jobs/{id}", get(one).delete(cancel))
}

async fn list(rest: Rest, page: PageOf) -> Response {
    let app = rest.app.clone();
    rest.answer("GET /v1/jobs", move |caller, _| {
        let page = Page::read(page, app.caps())?;
        let queue = app.queue.as_ref().ok_or_else(unknown)?;
        let jobs = queue.list().map_err(failed)?;
        let jobs = jobs.iter().filter(|job| may_see(&app, caller, job));
        let jobs =
            jobs.map(|job| (newest_first(job.created_at, &job.id.to_string()), job_json(job)));
        Ok(page.reply("jobs", jobs.collect()))
    })
    .await
}

async fn one(rest: Rest, Path(id): Path<String>) -> Response {
    let app = rest.app.clone();
    rest.answer("GET /v1/jobs/{id}", move |caller, _| {
        Ok(Reply::ok(job_json(&find(&app, caller, &id)?)))
    })
    .await
}

async fn cancel(rest: Rest, Path(id): Path<String>) -> Response {
    let app = rest.app.clone();
    rest.answer("DELETE /v1/jobs/{id}", move |caller, _| {
        let job = find(&app, caller, &id)?;
        let cancelled = match (&app.knowledge, &app.contexts) {
            (Some(service), _) if is_of_knowledge(&job) => {
                service.cancel_job(caller, &id).map_err(tools::knowledge::error)?
            }
            (_, Some(service)) if is_of_contexts(&job) => {
                service.cancel_job(caller, &id).map_err(tools::contexts::error)?
            }
            _ => {
                let queue = app.queue.as_ref().ok_or_else(unknown)?;
                queue.cancel(&job.id).map_err(failed)?
            }
        };
        Ok(Reply::ok(job_json(&cancelled)))
    })
    .await
}

/// Writes a job as the contract shows it.
pub(super) fn job_json(job: &Job) -> Value {
    let progress = &job.progress;
    let mut value = json!({
        "id": job.id,
        "status": job.state.as_str(),
        "kind": job.kind,
        "progress": {
            "stage": progress.stage,
            "done": progress.n_done,
            "total": progress.n_total,
        },
        "created_at": iso(job.created_at),
        "finished_at": job.finished_at.map(iso),
    });
    if let Some(error) = &job.error {
        value["error"] = json!(error);
    }
    if !job.result.is_null() {
        value["result"] = job.result.clone();
    }
    if progress.n_warnings > 0 {
        let warnings: Vec<&str> =
            progress.warnings.iter().map(|warning| warning.message.as_str()).collect();
        value["warnings"] = json!(warnings);
        value["n_warnings"] = json!(progress.n_warnings);
    }
    value
}

fn find(app: &App, caller: &Caller, id: &str) -> Result<Job, ToolError> {
    let queue = app.queue.as_ref().ok_or_else(unknown)?;
    let job = match queue.get(&JobId::new(id)) {
        Err(ingest::Error::UnknownJob { .. }) => return Err(unknown()),
        job => job.map_err(failed)?,
    };
    if is_of_knowledge(&job)
        && let Some(service) = &app.knowledge
    {
        service.check_job(caller, &job).map_err(tools::knowledge::error)?;
    }
    if is_of_contexts(&job)
        && let Some(service) = &app.contexts
    {
        service.check_job(caller, &job).map_err(tools::contexts::error)?;
    }
    if may_see(app, caller, &job) { Ok(job) } else { Err(unknown()) }
}

/// A job belongs to a tenant; what it works on may have rules of its own.
fn may_see(app: &App, caller: &Caller, job: &Job) -> bool {
    let is_known = match (&app.knowledge, &app.contexts) {
        (Some(service), _) if is_of_knowledge(job) => service.check_job(caller, job).is_ok(),
        (_, Some(service)) if is_of_contexts(job) => service.check_job(caller, job).is_ok(),
        _ => true,
    };
    job.tenant == caller.tenant && is_known
}

fn is_of_knowledge(job: &Job) -> bool {
    knowledge::JOBS.contains(&job.kind.as_str())
}

fn is_of_contexts(job: &Job) -> bool {
    contexts::JOBS.contains(&job.kind.as_str())
}

fn unknown() -> ToolError {
    ToolError::new(Code::NotFound, "Job not found")
}

fn failed(error: ingest::Error) -> ToolError {
    tools::knowledge::error(error.into())
}

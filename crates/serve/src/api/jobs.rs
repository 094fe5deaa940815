//! `/v1/jobs`: how far long work is.

use axum::extract::Path;
use axum::response::Response;
use ingest::{Job, JobId, JobService as _};
use model::{Caller, TenantId};
use serde_json::json;
use tools::ToolError;

use super::operation::{Api, Doc};
use super::paging::{Page, PageOf, newest_first};
use super::rest::{Reply, Rest};
use super::views::JobView;
use crate::App;

pub(super) fn routes() -> Api {
    const TAG: &str = "jobs";
    let listed = Doc::page::<JobView>(TAG, "List your jobs, the latest first", "jobs");
    let listed = listed.with_total();
    Api::default()
        .get("/v1/jobs", list, listed)
        .get("/v1/jobs/{id}", one, Doc::new::<JobView>(TAG, "Give a job with its progress"))
        .delete("/v1/jobs/{id}", cancel, Doc::new::<JobView>(TAG, "Stop a job"))
}

async fn list(rest: Rest, page: PageOf) -> Response {
    let app = rest.app.clone();
    rest.answer("GET /v1/jobs", move |caller, _| {
        let page = Page::read(page, app.caps())?;
        let jobs = match &app.queue {
            Some(queue) => queue.list().map_err(failed)?,
            None => Vec::new(),
        };
        let jobs = jobs.iter().filter(|job| may_see(&app, caller, job));
        let jobs = jobs.map(|job| {
            let view = JobView::of(job).about(subject(&app, caller, job));
            (newest_first(job.created_at, &job.id.to_string()), json!(view))
        });
        let jobs: Vec<_> = jobs.collect();
        let n_jobs = jobs.len();
        Ok(page.reply("jobs", jobs).with_total(n_jobs))
    })
    .await
}

async fn one(rest: Rest, Path(id): Path<String>) -> Response {
    let app = rest.app.clone();
    rest.answer("GET /v1/jobs/{id}", move |caller, _| {
        let job = find(&app, caller, &id)?;
        Ok(Reply::ok(json!(JobView::of(&job).about(subject(&app, caller, &job)))))
    })
    .await
}

async fn cancel(rest: Rest, Path(id): Path<String>) -> Response {
    let app = rest.app.clone();
    rest.answer("DELETE /v1/jobs/{id}", move |caller, _| {
        let job = find(&app, caller, &id)?;
        // The server's own jobs are seen by others, and stopped by administrators.
        if job.tenant != caller.tenant && !caller.is_admin() {
            return Err(unknown(&id));
        }
        let cancelled = match (&app.knowledge, &app.contexts) {
            (Some(service), _) if is_of_knowledge(&job) => {
                service.cancel_job(caller, &id).map_err(tools::knowledge::error)?
            }
            (_, Some(service)) if is_of_contexts(&job) => {
                service.cancel_job(caller, &id).map_err(tools::contexts::error)?
            }
            _ => {
                let queue = app.queue.as_ref().ok_or_else(|| unknown(&id))?;
                queue.cancel(&job.id).map_err(failed)?
            }
        };
        Ok(Reply::ok(json!(JobView::of(&cancelled))))
    })
    .await
}

/// Tells whether the caller may stop a job.
pub(crate) fn may_cancel(app: &App, caller: &Caller, id: &str) -> bool {
    let Ok(job) = find(app, caller, id) else { return false };
    match (&app.knowledge, &app.contexts) {
        (Some(service), _) if is_of_knowledge(&job) => service.may_cancel_job(caller, &job),
        (_, Some(service)) if is_of_contexts(&job) => service.may_cancel_job(caller, &job),
        _ => job.tenant == caller.tenant || caller.is_admin(),
    }
}

fn find(app: &App, caller: &Caller, id: &str) -> Result<Job, ToolError> {
    let queue = app.queue.as_ref().ok_or_else(|| unknown(id))?;
    let job = match queue.get(&JobId::new(id)) {
        Err(ingest::Error::UnknownJob { .. }) => return Err(unknown(id)),
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
    if may_see(app, caller, &job) { Ok(job) } else { Err(unknown(id)) }
}

/// A job belongs to a tenant; what it works on may have rules of its own. The server's own jobs on
/// folders are seen by those who may use the folder.
fn may_see(app: &App, caller: &Caller, job: &Job) -> bool {
    if is_of_folders(job) {
        let is_own = job.tenant == caller.tenant || job.tenant == TenantId::local();
        return is_own && (caller.is_admin() || has_root(app, caller, job));
    }
    let is_known = match (&app.knowledge, &app.contexts) {
        (Some(service), _) if is_of_knowledge(job) => service.check_job(caller, job).is_ok(),
        (_, Some(service)) if is_of_contexts(job) => service.check_job(caller, job).is_ok(),
        _ => true,
    };
    job.tenant == caller.tenant && is_known
}

/// The folder of a job, where it lies in a root that the caller may use.
fn subject(app: &App, caller: &Caller, job: &Job) -> Option<String> {
    let files = app.files.as_ref().filter(|_| job.kind == files::INDEX_JOB)?;
    let is_visible = files.roots(caller).iter().any(|root| is_on(job, root));
    is_visible.then(|| job.subject.clone())
}

fn has_root(app: &App, caller: &Caller, job: &Job) -> bool {
    app.files.as_ref().is_some_and(|files| files.roots(caller).iter().any(|root| is_on(job, root)))
}

fn is_on(job: &Job, root: &str) -> bool {
    job.arguments["root"].as_str() == Some(root)
}

fn is_of_folders(job: &Job) -> bool {
    [files::INDEX_JOB, files::VECTORS_JOB].contains(&job.kind.as_str())
}

fn is_of_knowledge(job: &Job) -> bool {
    knowledge::JOBS.contains(&job.kind.as_str())
}

fn is_of_contexts(job: &Job) -> bool {
    contexts::JOBS.contains(&job.kind.as_str())
}

fn unknown(id: &str) -> ToolError {
    let missing = ingest::ObjectError::missing("Job", id);
    tools::knowledge::error(missing.into())
}

fn failed(error: ingest::Error) -> ToolError {
    tools::knowledge::error(error.into())
}

//! `/v1/jobs`: how far long work is.

use axum::extract::Path;
use axum::response::Response;
use ingest::{Job, JobId, JobService as _};
use model::Caller;
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
        let page = Page::read("jobs", page, app.caps())?;
        let jobs = match &app.queue {
            Some(queue) => queue.list().map_err(failed)?,
            None => Vec::new(),
        };
        let jobs = jobs.iter().filter(|job| check(&app, caller, job).is_ok());
        let jobs = jobs.map(|job| {
            let view = JobView::of(job).about(subject(&app, caller, job));
            (newest_first(job.created_at, &job.id.to_string()), json!(view))
        });
        let jobs: Vec<_> = jobs.collect();
        let n_jobs = jobs.len();
        Ok(page.reply(jobs).with_total(n_jobs))
    })
    .await
}

async fn one(rest: Rest, Path(id): Path<JobId>) -> Response {
    let app = rest.app.clone();
    rest.answer("GET /v1/jobs/{id}", move |caller, _| {
        let job = find(&app, caller, &id)?;
        Ok(Reply::ok(json!(JobView::of(&job).about(subject(&app, caller, &job)))))
    })
    .await
}

async fn cancel(rest: Rest, Path(id): Path<JobId>) -> Response {
    let app = rest.app.clone();
    rest.answer("DELETE /v1/jobs/{id}", move |caller, _| {
        let job = find(&app, caller, &id)?;
        let cancelled = match Family::of(&app, &job) {
            Some(Family::Files(service)) => service.cancel_job(caller, &id).map_err(of_files)?,
            Some(Family::Knowledge(service)) => {
                service.cancel_job(caller, &id).map_err(tools::knowledge::error)?
            }
            Some(Family::Contexts(service)) => {
                service.cancel_job(caller, &id).map_err(tools::contexts::error)?
            }
            None => {
                let queue = app.queue.as_ref().ok_or_else(|| unknown(&id))?;
                queue.cancel(&job.id).map_err(failed)?
            }
        };
        Ok(Reply::ok(json!(JobView::of(&cancelled))))
    })
    .await
}

/// Tells whether the caller may stop a job.
pub(crate) fn may_cancel(app: &App, caller: &Caller, id: &JobId) -> bool {
    let Ok(job) = find(app, caller, id) else { return false };
    match Family::of(app, &job) {
        Some(Family::Files(service)) => service.may_cancel_job(caller, &job),
        Some(Family::Knowledge(service)) => service.may_cancel_job(caller, &job),
        Some(Family::Contexts(service)) => service.may_cancel_job(caller, &job),
        None => true,
    }
}

fn find(app: &App, caller: &Caller, id: &JobId) -> Result<Job, ToolError> {
    let queue = app.queue.as_ref().ok_or_else(|| unknown(id))?;
    let job = match queue.get(id) {
        Err(ingest::Error::UnknownJob { .. }) => return Err(unknown(id)),
        job => job.map_err(failed)?,
    };
    check(app, caller, &job)?;
    Ok(job)
}

/// The family of a job decides who sees it. Of one that is not served, what the job is about cannot
/// be looked at: its administrators alone see it.
fn check(app: &App, caller: &Caller, job: &Job) -> Result<(), ToolError> {
    match Family::of(app, job) {
        Some(Family::Files(service)) => service.check_job(caller, job).map_err(of_files),
        Some(Family::Knowledge(service)) => {
            service.check_job(caller, job).map_err(tools::knowledge::error)
        }
        Some(Family::Contexts(service)) => {
            service.check_job(caller, job).map_err(tools::contexts::error)
        }
        None if job.tenant == caller.tenant && caller.is_admin() => Ok(()),
        None => Err(unknown(&job.id)),
    }
}

/// The folder of a job, where it lies in a root that the caller may use.
fn subject(app: &App, caller: &Caller, job: &Job) -> Option<String> {
    app.files.as_ref()?.folder_of(caller, job)
}

/// The service of the family that a job belongs to.
enum Family<'a> {
    Files(&'a files::Service),
    Knowledge(&'a knowledge::Service),
    Contexts(&'a contexts::Service),
}

impl<'a> Family<'a> {
    /// Gives nothing where the family is not served.
    fn of(app: &'a App, job: &Job) -> Option<Self> {
        let kind = job.kind.as_str();
        let files = app.files.as_ref().filter(|_| files::JOBS.contains(&kind));
        let knowledge = app.knowledge.as_ref().filter(|_| knowledge::JOBS.contains(&kind));
        let contexts = app.contexts.as_ref().filter(|_| contexts::JOBS.contains(&kind));
        let others = knowledge.map(Family::Knowledge).or(contexts.map(Family::Contexts));
        files.map(Family::Files).or(others)
    }
}

fn of_files(error: files::Error) -> ToolError {
    tools::files::error_of("id")(error)
}

fn unknown(id: &JobId) -> ToolError {
    let missing = ingest::ObjectError::missing("Job", id);
    tools::knowledge::error(missing.into())
}

fn failed(error: ingest::Error) -> ToolError {
    tools::knowledge::error(error.into())
}

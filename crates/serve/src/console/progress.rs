//! Pages that stay open while jobs run: the parts of them that are sent anew.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::response::Response;

use super::events::{self, Parts};
use super::params::Params;
use super::viewer::Viewer;
use super::{jobs, sources};

/// The parts of pages, as their elements name them.
pub(super) const JOBS: &str = "jobs";
pub(super) const FOLDERS: &str = "folders";

/// Sends the jobs as they go on.
pub(super) async fn jobs(viewer: Viewer, params: Params) -> Response {
    while_busy(viewer, move |viewer| {
        let here = params.get("next").unwrap_or(sources::HERE).to_owned();
        async move {
            let jobs = jobs::list(&viewer).await;
            vec![(JOBS, jobs::some(&viewer, &jobs, &here))]
        }
    })
}

/// Sends the folders and the jobs as they go on.
pub(super) async fn folders(viewer: Viewer, params: Params) -> Response {
    while_busy(viewer, move |viewer| {
        let params = params.clone();
        async move {
            let jobs = jobs::list(&viewer).await;
            let mut parts = vec![(JOBS, jobs::some(&viewer, &jobs, sources::HERE))];
            if let Some(service) = viewer.app.files.clone() {
                let roots = service.roots(&viewer.caller);
                let outcomes = sources::outcomes(&viewer).await;
                parts.push((FOLDERS, sources::folders(&viewer, &params, &roots, &outcomes, &jobs)));
            }
            parts
        }
    })
}

/// Sends parts of a page while jobs wait or run. While none does, nothing is asked: an open page
/// costs nothing, and leaves no calls in the record.
fn while_busy<F, Fut>(viewer: Viewer, parts: F) -> Response
where
    F: Fn(Viewer) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Parts> + Send,
{
    let was_busy = Arc::new(AtomicBool::new(true));
    events::stream(move || {
        let (viewer, was_busy, parts) = (viewer.clone(), Arc::clone(&was_busy), parts.clone());
        async move {
            let counts = viewer.app.queue.as_ref().map_or((0, 0), |queue| queue.counts());
            let is_busy = counts != (0, 0);
            // What ended since the last look is shown once more.
            if !was_busy.swap(is_busy, Ordering::Relaxed) && !is_busy {
                return None;
            }
            if !viewer.is_still_signed_in().await {
                return None;
            }
            Some(parts(viewer).await)
        }
    })
}

//! Pages that stay open while jobs run: the parts of them that are sent anew.

use std::future::Future;
use std::sync::Arc;

use axum::response::Response;
use parking_lot::Mutex;

use super::events::{self, Parts};
use super::params::Params;
use super::viewer::Viewer;
use super::{jobs, sources};

/// The parts of pages, as their elements name them.
pub(super) const JOBS: &str = "jobs";
pub(super) const FOLDERS: &str = "folders";
pub(super) const PROBLEMS: &str = "problems";
pub(super) const FILES: &str = "files";

/// Sends the jobs as they go on.
pub(super) async fn jobs(viewer: Viewer, params: Params) -> Response {
    while_busy(viewer, move |viewer| {
        let params = params.clone();
        async move {
            let here = params.get("next").unwrap_or(sources::HERE);
            if here == jobs::ALL {
                return vec![(JOBS, jobs::every(&viewer, &params.without("next")).await)];
            }
            let jobs = jobs::list(&viewer).await;
            vec![(JOBS, jobs::some(&viewer, &jobs, here))]
        }
    })
}

/// Sends the folders with their files, and the jobs, as they go on.
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
                parts.push((PROBLEMS, sources::problems(&viewer, &params, &outcomes).await));
                parts.push((FILES, sources::files(&viewer, &params, &roots).await));
            }
            parts
        }
    })
}

/// What the last look at the server saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LastLook {
    was_busy: bool,
    /// How far the index is, where that is known.
    generation: Option<u64>,
}

impl LastLook {
    /// Takes the look of now, and tells whether there may be something new since the one before:
    /// what ended since then is shown once more.
    fn is_over(&mut self, now: LastLook) -> bool {
        // Nobody knows it while the catalogue is asked.
        let generation = now.generation.or(self.generation);
        let now = LastLook { generation, ..now };
        let before = std::mem::replace(self, now);
        before.was_busy || before != now
    }
}

/// Sends parts of a page while jobs wait or run, and after the index changed: a job over one file
/// ends between two looks. Otherwise nothing is asked: an open page costs nothing, and leaves no
/// calls in the record.
fn while_busy<F, Fut>(viewer: Viewer, parts: F) -> Response
where
    F: Fn(Viewer) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Parts> + Send,
{
    let last = Arc::new(Mutex::new(LastLook { was_busy: true, generation: None }));
    events::stream(move || {
        let (viewer, last, parts) = (viewer.clone(), Arc::clone(&last), parts.clone());
        async move {
            let counts = viewer.app.queue.as_ref().map_or((0, 0), |queue| queue.counts());
            let generation = Arc::clone(&viewer.app.console.generation);
            let generation = tokio::task::spawn_blocking(move || generation()).await;
            let now =
                LastLook { was_busy: counts != (0, 0), generation: generation.ok().flatten() };
            if !last.lock().is_over(now) {
                return None;
            }
            if !viewer.is_still_signed_in().await {
                return None;
            }
            Some(parts(viewer).await)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that was read between two looks appeared when the page was loaded again.
    #[test]
    fn what_ended_between_two_looks_is_shown() {
        let look =
            |was_busy: bool, generation: u64| LastLook { was_busy, generation: Some(generation) };
        let mut last = look(true, 1);
        let mut is_over = |was_busy, generation| last.is_over(look(was_busy, generation));
        assert!(is_over(false, 1), "the first look shows what ended before it");
        assert!(!is_over(false, 1));
        assert!(is_over(false, 2), "a short job changed the index");
        assert!(!is_over(false, 2));
        assert!(is_over(true, 2) && is_over(true, 2) && is_over(false, 2));
        assert!(!is_over(false, 2));
        let unknown = LastLook { was_busy: false, generation: None };
        assert!(!last.is_over(unknown) && !last.is_over(look(false, 2)));
    }
}

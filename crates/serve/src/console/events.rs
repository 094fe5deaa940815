//! Parts of a page that are sent anew while it is open, as server-sent events.
//!
//! A page has one stream, whatever number of parts it has: browsers hold six connections to a
//! server, and a page that kept two would stop the others after three of its kind.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use http::header::{HeaderName, HeaderValue};
use maud::Markup;

use super::bidi;

/// How often the parts are looked at.
const EVERY: Duration = Duration::from_secs(1);

/// How long one page is told; afterwards the browser asks again.
const MOST: usize = 600;

/// Tells a proxy such as nginx to hand events on as they come: it would keep them until its buffer
/// is full, and a page would show no progress.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The parts of a page, each with its name, which is that of its events.
pub(super) type Parts = Vec<(&'static str, Markup)>;

/// What a stream has sent.
#[derive(Default)]
struct Sent {
    n_looked: usize,
    last: BTreeMap<&'static str, String>,
}

impl Sent {
    /// Keeps what differs from what was sent last, and remembers it.
    fn changed(&mut self, parts: Parts) -> VecDeque<(&'static str, String)> {
        let mut changed = VecDeque::new();
        for (name, part) in parts {
            let now = bidi::contained(&part.0).into_owned();
            if self.last.get(name) != Some(&now) {
                self.last.insert(name, now.clone());
                changed.push_back((name, now));
            }
        }
        changed
    }
}

/// Sends each part whenever it differs from what was sent last. Where nothing can have changed,
/// the parts are nothing.
pub(super) fn stream<F, Fut>(parts: F) -> Response
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Option<Parts>> + Send,
{
    let looks = stream::unfold((parts, Sent::default()), |(parts, mut sent)| async move {
        if sent.n_looked == MOST {
            return None;
        }
        if sent.n_looked > 0 {
            tokio::time::sleep(EVERY).await;
        }
        sent.n_looked += 1;
        let changed = parts().await.map(|parts| sent.changed(parts)).unwrap_or_default();
        Some((stream::iter(changed), (parts, sent)))
    });
    let events = looks
        .flatten()
        .map(|(name, part)| Ok::<Event, Infallible>(Event::default().event(name).data(part)));
    let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
    response.headers_mut().insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

#[cfg(test)]
mod tests {
    use maud::html;

    use super::*;

    #[test]
    fn a_part_is_sent_when_it_changes() {
        let mut sent = Sent::default();
        let parts = |folders: &str, jobs: &str| {
            vec![("folders", html! { (folders) }), ("jobs", html! { (jobs) })]
        };
        let mut names = |folders: &str, jobs: &str| -> Vec<&'static str> {
            sent.changed(parts(folders, jobs)).into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names("a", "a"), ["folders", "jobs"]);
        assert!(names("a", "a").is_empty());
        assert_eq!(names("a", "b"), ["jobs"]);
        assert_eq!(names("b", "b"), ["folders"]);
        assert_eq!(names("a", "b"), ["folders"], "what was before the last is a change");
    }
}

//! Parts of a page that are sent anew while it is open, as server-sent events.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream;
use http::header::{HeaderName, HeaderValue};
use maud::Markup;

use super::bidi;

/// How often a part is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// How long one page is told; afterwards the browser asks again.
const MOST: usize = 600;

/// Tells a proxy such as nginx to hand events on as they come: it would keep them until its buffer
/// is full, and a page would show no progress.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Sends a part whenever it differs from what was sent last. Where nothing can have changed, the
/// part is nothing.
pub(super) fn stream<F, Fut>(part: F) -> Response
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Option<Markup>> + Send,
{
    let state = (part, String::new(), 0_usize);
    let events = stream::unfold(state, |(part, mut last, mut n_looked)| async move {
        loop {
            if n_looked == MOST {
                return None;
            }
            if n_looked > 0 {
                tokio::time::sleep(EVERY).await;
            }
            n_looked += 1;
            let Some(now) = part().await.map(|part| bidi::contained(&part.0).into_owned()) else {
                continue;
            };
            if now != last {
                let event = Event::default().event("part").data(&now);
                last.clone_from(&now);
                return Some((Ok::<Event, Infallible>(event), (part, last, n_looked)));
            }
        }
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
    response.headers_mut().insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

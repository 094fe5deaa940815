//! What is left of a body that is answered before its end: whoever is refused by their rights is
//! answered at once, and most clients look for the answer when they have sent all. A connection that
//! is closed under them shows them no answer at all.
//!
//! The rest is read and thrown away, at the pace that bodies must have, for callers who are known.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

/// How much of one body is thrown away; what is larger is cut off.
const MAX_LEFTOVER_BYTES: usize = 512 << 20;

/// The answer goes first.
const ANSWER_FIRST: Duration = Duration::from_millis(20);

/// A body whose rest is read when nobody wants it any more.
pub(crate) struct ReadToEnd(Option<Body>);

impl ReadToEnd {
    pub(crate) fn of(body: Body) -> Body {
        Body::new(ReadToEnd(Some(body)))
    }
}

impl HttpBody for ReadToEnd {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = &mut self.0 else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(context);
        if let Poll::Ready(None | Some(Err(_))) = &polled {
            self.0 = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for ReadToEnd {
    fn drop(&mut self) {
        let Some(body) = self.0.take().filter(|body| !body.is_end_stream()) else { return };
        // Without a runtime the server has ended.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(throw_away(body));
        }
    }
}

async fn throw_away(mut body: Body) {
    tokio::time::sleep(ANSWER_FIRST).await;
    let mut n_bytes = 0;
    while let Some(Ok(frame)) = body.frame().await {
        n_bytes += frame.data_ref().map_or(0, Bytes::len);
        if n_bytes > MAX_LEFTOVER_BYTES {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Gives a body of ten pieces, and how many of them were read.
    fn pieces() -> (Body, Arc<AtomicUsize>) {
        let n_read = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&n_read);
        let pieces = futures::stream::iter((0..10).map(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok::<_, std::io::Error>(Bytes::from_static(b"piece"))
        }));
        (Body::from_stream(pieces), n_read)
    }

    /// Whoever was refused while they were still sending saw a broken connection, and no answer.
    #[tokio::test(start_paused = true)]
    async fn a_body_that_nobody_wants_is_read_to_its_end() {
        let (body, n_read) = pieces();
        let mut body = ReadToEnd::of(body);
        assert!(body.frame().await.is_some());
        drop(body);
        while n_read.load(Ordering::SeqCst) < 10 {
            tokio::time::sleep(ANSWER_FIRST).await;
        }
        let (body, n_read) = pieces();
        assert_eq!(ReadToEnd::of(body).collect().await.unwrap().to_bytes().len(), 50);
        assert_eq!(n_read.load(Ordering::SeqCst), 10);
    }
}

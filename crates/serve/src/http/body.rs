//! Bodies of requests: how slowly they may arrive, how large they may be, how many values their
//! JSON may hold, and how much memory all of them may take. One place for all addresses.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, Sleep};

use super::form::FormError;

/// A body may keep the server waiting this long in all, whatever its size.
const BODY_GRACE: Duration = Duration::from_secs(30);

/// Beyond the grace a body must arrive at least this fast, in bytes for each second of waiting.
const MIN_BYTES_PER_SECOND: u64 = 8 * 1024;

/// A body of which nothing arrives for so long is given up.
const PIECE_TIMEOUT: Duration = Duration::from_secs(30);

/// How much is read beyond a limit and thrown away, so that a client that is still sending gets
/// to see why it was refused.
const DRAINED_BYTES: usize = 16 * 1024 * 1024;

/// Values that the JSON of one request may hold. A value costs far more memory than the two
/// bytes it may be written in.
pub(crate) const MAX_JSON_VALUES: usize = 20_000;

/// Memory that the bodies of all requests may take together, in bytes. Documents are not among
/// them: those go to disk as they arrive.
const MAX_HELD_BYTES: usize = 256 << 20;

/// A body up to this size does not count: connections are limited, and most bodies are small.
const FREE_BYTES: usize = 64 * 1024;

/// How long a large body waits until others have been read.
const SPACE_WAIT: Duration = Duration::from_secs(10);

/// The memory that is left for bodies.
static SPACE: Semaphore = Semaphore::const_new(MAX_HELD_BYTES);

/// JSON larger than this is looked at on a thread that may take its time.
const INLINE_JSON_BYTES: usize = 64 * 1024;

/// A body arrives too slowly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the body arrives too slowly: nothing came for {PIECE_TIMEOUT:?}, or less than {MIN_BYTES_PER_SECOND} bytes each second"
)]
pub(crate) struct TooSlow;

/// Why a body cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BodyError {
    /// It takes too long.
    #[error(transparent)]
    TooSlow(TooSlow),
    /// The connection ended before the body did.
    #[error("the body broke off")]
    BrokeOff,
    #[error("the body is larger than {limit} bytes")]
    TooLarge {
        /// What is allowed.
        limit: usize,
    },
    /// Its JSON holds too many values.
    #[error("the body holds more than {MAX_JSON_VALUES} JSON values")]
    TooManyValues,
    /// It is a form that cannot be taken.
    #[error(transparent)]
    Form(FormError),
    /// Others take all the memory there is for bodies.
    #[error("too many large requests are being read: try again in a moment")]
    NoSpace,
}

impl BodyError {
    /// Finds out why reading a body failed.
    pub(crate) fn of(error: &(dyn std::error::Error + 'static)) -> Self {
        for error in model::causes(error) {
            if error.is::<TooSlow>() {
                return BodyError::TooSlow(TooSlow);
            }
            if let Some(form) = error.downcast_ref::<FormError>() {
                return BodyError::Form(*form);
            }
        }
        BodyError::BrokeOff
    }
}

/// Gives a body that fails with [`TooSlow`] when it keeps the server waiting for too long. Time
/// that the server itself takes between two pieces does not count.
pub(crate) fn timed(body: Body) -> Body {
    if body.is_end_stream() {
        return body;
    }
    at_pace(body, PIECE_TIMEOUT)
}

fn at_pace(body: Body, piece_timeout: Duration) -> Body {
    Body::new(Timed { body, piece_timeout, n_bytes: 0, waited: Duration::ZERO, waiting: None })
}

struct Timed {
    body: Body,
    piece_timeout: Duration,
    n_bytes: u64,
    waited: Duration,
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl HttpBody for Timed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        match Pin::new(&mut this.body).poll_frame(context) {
            Poll::Ready(frame) => {
                if let Some((since, _)) = this.waiting.take() {
                    this.waited += since.elapsed();
                }
                if let Some(Ok(frame)) = &frame
                    && let Some(data) = frame.data_ref()
                {
                    this.n_bytes += data.len() as u64;
                }
                Poll::Ready(frame)
            }
            Poll::Pending => {
                let allowed = allowed_wait(this.n_bytes, this.waited).min(this.piece_timeout);
                let (_, sleep) = this
                    .waiting
                    .get_or_insert_with(|| (Instant::now(), Box::pin(tokio::time::sleep(allowed))));
                match sleep.as_mut().poll(context) {
                    Poll::Ready(()) => Poll::Ready(Some(Err(axum::Error::new(TooSlow)))),
                    Poll::Pending => Poll::Pending,
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Gives how long the next piece may take after so many bytes for which was waited so long.
fn allowed_wait(n_bytes: u64, waited: Duration) -> Duration {
    let earned = BODY_GRACE + Duration::from_secs(n_bytes / MIN_BYTES_PER_SECOND);
    earned.saturating_sub(waited).min(PIECE_TIMEOUT)
}

/// Bytes of a body, with the space they take until the last of them is dropped.
struct Held {
    bytes: Bytes,
    _space: SemaphorePermit<'static>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads a body of at most `limit` bytes. A large one waits until there is space for it.
pub(crate) async fn read(body: Body, limit: usize) -> Result<Bytes, BodyError> {
    read_within(body, limit, &SPACE, SPACE_WAIT).await
}

async fn read_within(
    mut body: Body,
    limit: usize,
    space: &'static Semaphore,
    wait: Duration,
) -> Result<Bytes, BodyError> {
    let announced = body.size_hint().exact().and_then(|n_bytes| usize::try_from(n_bytes).ok());
    let mut held = None;
    let mut first: Option<Bytes> = None;
    let mut rest = BytesMut::new();
    let mut n_bytes = 0_usize;
    while let Some(frame) = body.frame().await {
        let data = match frame {
            Ok(frame) => frame.into_data().unwrap_or_default(),
            Err(error) => return Err(BodyError::of(&error)),
        };
        n_bytes += data.len();
        if n_bytes > FREE_BYTES && n_bytes <= limit && held.is_none() {
            // All that it may need is taken at once, so that no two bodies wait for each other.
            let n_wanted = announced.unwrap_or(limit).clamp(n_bytes, limit).min(MAX_HELD_BYTES);
            let n_wanted = u32::try_from(n_wanted).unwrap_or(u32::MAX);
            let taken = tokio::time::timeout(wait, space.acquire_many(n_wanted)).await;
            held = Some(taken.ok().and_then(Result::ok).ok_or(BodyError::NoSpace)?);
        }
        if n_bytes > limit {
            // What was read is given up at once: nothing of it will be used.
            first = None;
            rest = BytesMut::new();
            if n_bytes > limit.saturating_add(DRAINED_BYTES) {
                break;
            }
        } else if let Some(head) = &first {
            if rest.is_empty() {
                rest.extend_from_slice(head);
            }
            rest.extend_from_slice(&data);
        } else {
            // Most bodies are one piece, which is not copied.
            first = Some(data);
        }
    }
    if n_bytes > limit {
        return Err(BodyError::TooLarge { limit });
    }
    let bytes = if rest.is_empty() { first.unwrap_or_default() } else { rest.freeze() };
    Ok(match held {
        Some(space) => Bytes::from_owner(Held { bytes, _space: space }),
        None => bytes,
    })
}

/// Does work with a body's JSON after its shape was checked: here when it is small, otherwise on
/// a thread that may take its time.
pub(crate) async fn with_json<T: Send + 'static>(
    body: Bytes,
    work: impl FnOnce(Bytes) -> T + Send + 'static,
) -> Result<T, BodyError> {
    let is_small = body.len() <= INLINE_JSON_BYTES;
    let checked = move || {
        if count_values(&body) > MAX_JSON_VALUES {
            return Err(BodyError::TooManyValues);
        }
        Ok(work(body))
    };
    if is_small {
        return checked();
    }
    tokio::task::spawn_blocking(checked).await.unwrap_or(Err(BodyError::BrokeOff))
}

/// Counts the values of JSON without building any; of text that is no JSON, whatever comes of it.
pub(crate) fn count_values(json: &[u8]) -> usize {
    let mut n_values = 0;
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => {
                n_values += 1;
                at = end_of_string(json, at + 1);
                continue;
            }
            b'[' | b'{' => n_values += 1,
            b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' | b']' | b'}' => {}
            _ => {
                n_values += 1;
                let rest = json.get(at..).unwrap_or_default();
                let is_end = |byte: &u8| {
                    matches!(
                        byte,
                        b',' | b':'
                            | b']'
                            | b'}'
                            | b'['
                            | b'{'
                            | b'"'
                            | b' '
                            | b'\n'
                            | b'\r'
                            | b'\t'
                    )
                };
                at += rest.iter().position(is_end).unwrap_or(rest.len());
                continue;
            }
        }
        at += 1;
    }
    n_values
}

fn end_of_string(json: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = json.get(at..).unwrap_or_default();
        match rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
            None => return json.len(),
            Some(offset) if rest.get(offset) == Some(&b'"') => return at + offset + 1,
            Some(offset) => at += offset + 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn naive(value: &Value) -> usize {
        1 + match value {
            Value::Array(elements) => elements.iter().map(naive).sum(),
            Value::Object(members) => members.values().map(|member| 1 + naive(member)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[\\PC\"\\\\ \n]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                proptest::collection::hash_map("[a-z\"]{0,4}", inner, 0..8)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn counting_agrees_with_a_parser(value in json()) {
            prop_assert_eq!(count_values(value.to_string().as_bytes()), naive(&value));
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(count_values(pretty.as_bytes()), naive(&value));
        }

        #[test]
        fn counting_ends_on_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(count_values(&bytes) <= bytes.len());
        }
    }

    #[test]
    fn small_values_are_counted_not_their_bytes() {
        assert_eq!(count_values("[0,0,0]".as_bytes()), 4);
        assert!(count_values("0,".repeat(1 << 20).as_bytes()) > MAX_JSON_VALUES);
        assert_eq!(count_values(format!("\"{}\"", "0,".repeat(1 << 20)).as_bytes()), 1);
    }

    #[test]
    fn a_body_must_keep_coming() {
        assert_eq!(allowed_wait(0, Duration::ZERO), PIECE_TIMEOUT);
        assert_eq!(allowed_wait(1_000, BODY_GRACE), Duration::ZERO);
        assert_eq!(allowed_wait(10 * MIN_BYTES_PER_SECOND, BODY_GRACE), Duration::from_secs(10));
        assert_eq!(allowed_wait(1 << 30, BODY_GRACE), PIECE_TIMEOUT);
    }

    #[tokio::test]
    async fn a_body_that_stops_is_given_up() {
        let first = Ok::<_, std::io::Error>(Bytes::from_static(b"x"));
        let pieces =
            futures::StreamExt::chain(futures::stream::iter([first]), futures::stream::pending());
        let slow = at_pace(Body::from_stream(pieces), Duration::from_millis(1));
        assert_eq!(read(slow, 1_000).await, Err(BodyError::TooSlow(TooSlow)));
    }

    #[tokio::test]
    async fn bodies_together_take_no_more_than_there_is() {
        static SPACE: Semaphore = Semaphore::const_new(300 << 10);
        let soon = Duration::from_millis(1);
        let body = |n_bytes: usize| Body::from(vec![b'x'; n_bytes]);
        let limit = 200 << 10;
        let first = read_within(body(limit), limit, &SPACE, soon).await.unwrap();
        assert_eq!(SPACE.available_permits(), 100 << 10);
        // Another large one waits in vain, a small one passes.
        let second = read_within(body(150 << 10), limit, &SPACE, soon).await;
        assert_eq!(second, Err(BodyError::NoSpace));
        assert!(read_within(body(FREE_BYTES), limit, &SPACE, soon).await.is_ok());
        // What a body takes is there again when its last part is dropped.
        let part = first.slice(10..20);
        drop(first);
        assert_eq!(SPACE.available_permits(), 100 << 10);
        drop(part);
        assert_eq!(
            read_within(body(150 << 10), limit, &SPACE, soon).await.unwrap().len(),
            150 << 10
        );
        assert_eq!(SPACE.available_permits(), 300 << 10);
    }

    #[tokio::test]
    async fn a_body_is_read_within_its_limit() {
        let body = || {
            let pieces = ["ab", "cd", "e"].map(|piece| Ok::<_, std::io::Error>(Bytes::from(piece)));
            timed(Body::from_stream(futures::stream::iter(pieces)))
        };
        assert_eq!(read(body(), 5).await.unwrap(), "abcde");
        assert_eq!(read(body(), 4).await, Err(BodyError::TooLarge { limit: 4 }));
        assert_eq!(read(Body::empty(), 4).await.unwrap(), "");
    }
}

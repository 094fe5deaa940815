//! Forms with files: what is around their parts is bounded before the reader of forms sees it.
//!
//! That reader holds whatever is before the first boundary, and the header lines of a part, until
//! their end has come, however far that is. A form whose header lines do not end would be held in
//! memory whole, and several times over.
//!
//! Invariant: [`Watch`] and the reader agree where a part begins and where its header lines end.
//! So the boundary is read here, and handed on in the one form in which it can be written.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::extract::Request;
use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

/// Bytes that a form may hold before its first boundary, and in the header lines of one part.
const MAX_AROUND_BYTES: usize = 16 * 1024;

/// Parts that a form may have: as many documents as an upload may hold, and what is said of them.
const MAX_PARTS: usize = 1_100;

/// The longest boundary, by RFC 2046.
const MAX_BOUNDARY_BYTES: usize = 70;

/// A form cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FormError {
    /// There is no boundary, more than one, or one that RFC 2046 does not allow.
    #[error(
        "`Content-Type` must name one `boundary` of 1 to {MAX_BOUNDARY_BYTES} letters, digits and punctuation marks"
    )]
    Boundary,
    /// Too much is before the first boundary, or in the header lines of a part.
    #[error("more than {MAX_AROUND_BYTES} bytes before the content of a part of the form")]
    Around,
    /// There are too many parts.
    #[error("the form has more than {MAX_PARTS} parts")]
    Parts,
}

/// Gives a request whose form fails with [`FormError`] where too much is around its parts.
pub(crate) fn watched(request: Request) -> Result<Request, FormError> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let boundary = kind.and_then(boundary_of).ok_or(FormError::Boundary)?;
    let kind = HeaderValue::from_str(&format!("multipart/form-data; boundary=\"{boundary}\""))
        .map_err(|_| FormError::Boundary)?;
    let watch = Watch::new(&boundary);
    let mut request = request.map(|body| Body::new(Watched { body, watch }));
    request.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(request)
}

/// Finds the one boundary that a content type names.
fn boundary_of(kind: &str) -> Option<String> {
    let mut found = None;
    for parameter in kind.split(';').skip(1) {
        let Some((name, value)) = parameter.split_once('=') else { continue };
        if !name.trim().eq_ignore_ascii_case("boundary") {
            continue;
        }
        let value = value.trim();
        let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        if found.replace(inner.unwrap_or(value)).is_some() {
            return None;
        }
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&byte);
    found
        .filter(|boundary| (1..=MAX_BOUNDARY_BYTES).contains(&boundary.len()))
        .filter(|boundary| boundary.bytes().all(is_allowed) && !boundary.ends_with(' '))
        .map(str::to_owned)
}

struct Watched {
    body: Body,
    watch: Watch,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        if this.watch.place == FormState::After {
            return Poll::Ready(None);
        }
        let polled = Pin::new(&mut this.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
            && let Err(error) = this.watch.pass(data)
        {
            return Poll::Ready(Some(Err(axum::Error::new(error))));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.watch.place == FormState::After || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        // What comes after the last boundary is not read, so the length of the rest is not known.
        SizeHint::default()
    }
}

/// Where in a form the next byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormState {
    /// Before the first boundary.
    Before,
    /// Directly after a boundary: two hyphens end the form.
    Boundary,
    /// After one hyphen behind a boundary.
    Hyphen,
    /// In blanks behind a boundary.
    Padding,
    /// After the first half of the line break behind a boundary.
    LineBreak,
    /// In the header lines of a part.
    Header,
    /// In the content of a part.
    Content,
    /// After the end, or where nothing can be made of the form any more.
    After,
}

/// Follows a form through the pieces in which it arrives.
#[derive(Debug)]
struct Watch {
    place: FormState,
    first: Pattern,
    header_end: Pattern,
    next: Pattern,
    /// Bytes since the last part's content, or since the begin.
    n_around: usize,
    n_parts: usize,
}

impl Watch {
    fn new(boundary: &str) -> Self {
        Watch {
            place: FormState::Before,
            first: Pattern::new(format!("--{boundary}")),
            header_end: Pattern::new("\r\n\r\n".to_owned()),
            next: Pattern::new(format!("\r\n--{boundary}")),
            n_around: 0,
            n_parts: 0,
        }
    }

    fn pass(&mut self, piece: &[u8]) -> Result<(), FormError> {
        let mut rest = piece;
        while let Some((byte, behind)) = rest.split_first() {
            if self.place == FormState::Content {
                let Some(n_read) = self.next.find_end(rest) else { return Ok(()) };
                rest = rest.get(n_read..).unwrap_or_default();
                self.place = FormState::Boundary;
                self.n_around = 0;
                continue;
            }
            self.n_around += 1;
            if self.n_around > MAX_AROUND_BYTES {
                return Err(FormError::Around);
            }
            self.place = match (self.place, byte) {
                (FormState::After, _) => return Ok(()),
                (FormState::Before, byte) if self.first.is_ended_by(*byte) => FormState::Boundary,
                (FormState::Before, _) => FormState::Before,
                (FormState::Boundary, b'-') => FormState::Hyphen,
                (FormState::Boundary | FormState::Padding, b' ' | b'\t') => FormState::Padding,
                (FormState::Boundary | FormState::Padding, b'\r') => FormState::LineBreak,
                (FormState::LineBreak, b'\n') => {
                    self.n_parts += 1;
                    if self.n_parts > MAX_PARTS {
                        return Err(FormError::Parts);
                    }
                    FormState::Header
                }
                (FormState::Header, byte) if self.header_end.is_ended_by(*byte) => {
                    FormState::Content
                }
                (FormState::Header, _) => FormState::Header,
                // Two hyphens end the form; anything else is no form, as the reader will say.
                (
                    FormState::Boundary
                    | FormState::Hyphen
                    | FormState::Padding
                    | FormState::LineBreak
                    | FormState::Content,
                    _,
                ) => FormState::After,
            };
            rest = behind;
        }
        Ok(())
    }
}

/// Text that is looked for in pieces: how much of it the last bytes were (Knuth, Morris, Pratt).
#[derive(Debug)]
struct Pattern {
    bytes: Vec<u8>,
    /// For each length of a matched beginning, how much of it is matched when the next byte differs.
    fallbacks: Vec<usize>,
    n_matched: usize,
}

impl Pattern {
    fn new(text: String) -> Self {
        let bytes = text.into_bytes();
        let mut pattern = Pattern { fallbacks: vec![0; bytes.len() + 1], bytes, n_matched: 0 };
        for at in 1..pattern.bytes.len() {
            let byte = pattern.bytes.get(at).copied().unwrap_or_default();
            pattern.step(byte);
            if let Some(fallback) = pattern.fallbacks.get_mut(at + 1) {
                *fallback = pattern.n_matched;
            }
        }
        pattern.n_matched = 0;
        pattern
    }

    fn step(&mut self, byte: u8) {
        while self.n_matched > 0 && self.bytes.get(self.n_matched) != Some(&byte) {
            self.n_matched = self.fallbacks.get(self.n_matched).copied().unwrap_or_default();
        }
        if self.bytes.get(self.n_matched) == Some(&byte) {
            self.n_matched += 1;
        }
    }

    fn is_ended_by(&mut self, byte: u8) -> bool {
        self.step(byte);
        let is_found = self.n_matched == self.bytes.len();
        if is_found {
            self.n_matched = 0;
        }
        is_found
    }

    /// Gives how many bytes of a piece it takes until the text ends in it.
    fn find_end(&mut self, piece: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(byte) = piece.get(at) {
            if self.n_matched == 0 && Some(byte) != self.bytes.first() {
                let rest = piece.get(at..).unwrap_or_default();
                at += rest.iter().position(|byte| Some(byte) == self.bytes.first())?;
                continue;
            }
            at += 1;
            if self.is_ended_by(*byte) {
                return Some(at);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use axum::extract::{FromRequest, Multipart};
    use proptest::prelude::*;

    use super::*;

    /// A form in pieces of a size.
    fn request(kind: &str, body: &[u8], size: usize) -> Request {
        let pieces: Vec<_> = body
            .chunks(size)
            .map(|piece| Ok::<_, std::io::Error>(Bytes::copy_from_slice(piece)))
            .collect();
        Request::builder()
            .header(CONTENT_TYPE, kind)
            .body(Body::from_stream(futures::stream::iter(pieces)))
            .unwrap()
    }

    /// What the reader of forms makes of one: names and contents, or an error.
    async fn read(request: Request) -> Result<Vec<(String, Bytes)>, String> {
        let mut parts =
            Multipart::from_request(request, &()).await.map_err(|wrong| wrong.body_text())?;
        let mut read = vec![];
        while let Some(part) = parts.next_field().await.map_err(|wrong| wrong.body_text())? {
            let name = part.name().unwrap_or_default().to_owned();
            read.push((name, part.bytes().await.map_err(|wrong| wrong.body_text())?));
        }
        Ok(read)
    }

    /// How many bytes of an endless form are taken until it is refused.
    fn n_taken(head: &str, repeated: &str) -> (usize, FormError) {
        let mut watch = Watch::new("B");
        watch.pass(head.as_bytes()).unwrap();
        let mut n_bytes = head.len();
        loop {
            if let Err(error) = watch.pass(repeated.as_bytes()) {
                return (n_bytes, error);
            }
            n_bytes += repeated.len();
            assert!(n_bytes < 1 << 20, "nothing is refused after {n_bytes} bytes");
        }
    }

    #[test]
    fn what_never_ends_is_refused_soon() {
        let name = "--B\r\nContent-Disposition: form-data; name=\"";
        for (head, repeated) in [
            ("", "x"),
            ("", "--A\r\n\r\n"),
            ("--B", " \t"),
            (name, "x"),
            // The reader takes the first line break as the end of the boundary's line.
            ("--B\r\n\r\n", "x"),
            ("--B\r\nA: b\r\n\r\nx\r\n--B\r\nX: ", "y\r\nZ: "),
        ] {
            let (n_bytes, error) = n_taken(head, repeated);
            assert_eq!(error, FormError::Around, "{head:?}");
            assert!(n_bytes <= 2 * MAX_AROUND_BYTES, "{head:?}: {n_bytes}");
        }
        assert_eq!(n_taken("", "--B\r\nA: b\r\n\r\nx\r\n").1, FormError::Parts);
    }

    #[tokio::test]
    async fn what_comes_after_the_end_is_not_read() {
        let mut body =
            b"--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--B--".to_vec();
        body.extend(vec![b'y'; 1 << 20]);
        let request = watched(request("multipart/form-data; boundary=B", &body, 7)).unwrap();
        assert_eq!(read(request).await.unwrap(), [("a".to_owned(), Bytes::from("x"))]);
    }

    #[test]
    fn a_boundary_is_one_and_plain() {
        for (kind, boundary) in [
            ("multipart/form-data; boundary=B", Some("B")),
            ("multipart/form-data; charset=utf-8; Boundary=\"a b\"", Some("a b")),
            ("multipart/form-data; boundary=B;", Some("B")),
            ("multipart/form-data", None),
            ("multipart/form-data; boundary=", None),
            ("multipart/form-data; boundary=a; boundary=b", None),
            ("multipart/form-data; boundary=\"a\\\"b\"", None),
            ("multipart/form-data; boundary=ä", None),
        ] {
            assert_eq!(boundary_of(kind).as_deref(), boundary, "{kind}");
        }
        assert_eq!(boundary_of(&format!("x; boundary={}", "a".repeat(71))), None);
    }

    proptest! {
        /// Watching a form changes nothing of it, in pieces of any size.
        #[test]
        fn a_watched_form_is_read_as_it_is(
            pieces in proptest::collection::vec(
                prop_oneof![
                    Just("--B"), Just("\r\n"), Just("\r\n\r\n"), Just("--"), Just("\r"), Just(" "),
                    Just("Content-Disposition: form-data; name=\"a\"\r\n\r\n"), Just("x"),
                    Just("\r\n--B\r\n"), Just("--B--"),
                ],
                0..24,
            ),
            size in 1_usize..9,
        ) {
            let body = pieces.concat();
            let kind = "multipart/form-data; boundary=B";
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let plain = read(request(kind, body.as_bytes(), size)).await;
                let seen = read(watched(request(kind, body.as_bytes(), size)).unwrap()).await;
                prop_assert_eq!(plain.ok(), seen.ok());
                Ok(())
            })?;
        }
    }
}

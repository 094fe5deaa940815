//! `GET /v1/documents/{id}/original`: the file that a document was made from, for those who may
//! see the document and hold one of the roles of `[knowledge] originals`. Files of folders never
//! leave as they are.

use std::io::Read;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use futures::Stream;
use http::HeaderValue;
use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    X_CONTENT_TYPE_OPTIONS,
};
use knowledge::KnowledgeDocumentId;
use model::Caller;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tools::{Code, ToolError};

use super::rest::{REST_RATE, Rest};
use crate::guarded::{self, Counts, RunningCall};
use crate::http::coded;

/// The size of a piece, in bytes.
const PIECE_BYTES: usize = 256 * 1024;

/// A file that is open.
struct Original {
    file: std::fs::File,
    n_bytes: u64,
    name: String,
}

/// Sends the file of a document of a knowledge base.
pub(super) async fn of_document(rest: Rest, Path(id): Path<KnowledgeDocumentId>) -> Response {
    let service = rest.app.knowledge.clone();
    let named = id.clone();
    download(rest, "GET /v1/documents/{id}/original", named.as_str(), move |caller| {
        let service = service.ok_or_else(|| {
            ToolError::new(Code::Unavailable, "knowledge bases are not served here")
        })?;
        let original = service.original(caller, &id).map_err(tools::knowledge::error)?;
        let (file, n_bytes) = (original.file, original.n_bytes);
        Ok(Original { file, n_bytes, name: original.name })
    })
    .await
}

/// Sends a file as a download: nothing in it is ever shown as a page of this server. The record
/// says which file was given away.
async fn download(
    rest: Rest,
    call: &'static str,
    named: &str,
    open: impl FnOnce(&Caller) -> Result<Original, ToolError> + Send + 'static,
) -> Response {
    let running = RunningCall::enter(&rest.app);
    let (mut call_context, _gone) = rest.call_context(REST_RATE);
    let opened = match guarded::admit(&rest.app, &call_context) {
        Err(refused) => Err(refused),
        Ok(()) => {
            let caller = Arc::clone(&rest.caller);
            guarded::run(&rest.app, &call_context, move |_| open(&caller)).await
        }
    };
    call.clone_into(&mut call_context.name);
    let counts = Counts { n_results: 1, ..Counts::default() };
    let ended = opened.as_ref().map(|_| counts);
    running.leave(&rest.app, call_context, Some(guarded::audited_query(named)), ended);
    let original = match opened {
        Ok(original) => original,
        Err(error) => return coded(&guarded::hide_internals(error, call, &rest.id)),
    };
    // A file that grows meanwhile is sent as long as it was when it was opened.
    let file = original.file.take(original.n_bytes);
    let mut response = Body::from_stream(pieces(file)).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(CONTENT_LENGTH, original.n_bytes.into());
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_DISPOSITION, disposition(&original.name));
    response
}

/// Names the download: in plain letters, and in its own for whoever understands RFC 6266.
fn disposition(name: &str) -> HeaderValue {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || " ._-()".contains(*c);
    let plain: String = name.chars().map(|c| if is_plain(&c) { c } else { '_' }).collect();
    let encoded = utf8_percent_encode(name, NON_ALPHANUMERIC);
    let value = format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}");
    HeaderValue::from_str(&value).unwrap_or(HeaderValue::from_static("attachment"))
}

/// Gives a file in pieces, each read when the client has taken the one before: no thread waits for
/// a slow one.
fn pieces<R: Read + Send + 'static>(
    file: R,
) -> impl Stream<Item = std::io::Result<Bytes>> + Send + 'static {
    futures::stream::try_unfold(file, |mut file| async move {
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = Vec::with_capacity(PIECE_BYTES);
            file.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut piece)?;
            Ok((!piece.is_empty()).then(|| (Bytes::from(piece), file)))
        });
        read.await.unwrap_or_else(|error| Err(std::io::Error::other(error)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readers that took nothing held every thread of the server.
    #[test]
    fn a_slow_reader_holds_no_thread() {
        use futures::TryStreamExt;
        let one_thread =
            tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        let content: Vec<u8> = (0..3 * PIECE_BYTES + 5).map(|n| n as u8).collect();
        let open = || Box::pin(pieces(std::io::Cursor::new(content.clone())));
        one_thread.block_on(async {
            let mut readers = [open(), open(), open()];
            for reader in &mut readers {
                assert_eq!(reader.try_next().await.unwrap().unwrap(), content[..PIECE_BYTES]);
            }
            for reader in readers {
                let rest: Vec<Bytes> = reader.try_collect().await.unwrap();
                assert_eq!(rest.concat(), content[PIECE_BYTES..]);
            }
        });
    }

    #[test]
    fn a_name_cannot_leave_its_header() {
        let check = |name: &str, expected: &str| {
            assert_eq!(disposition(name).to_str().unwrap(), expected);
        };
        check("a b.pdf", "attachment; filename=\"a b.pdf\"; filename*=UTF-8''a%20b%2Epdf");
        check(
            "x\"; filename=\"y\r\nSet-Cookie: z",
            "attachment; filename=\"x__ filename__y__Set-Cookie_ z\"; \
             filename*=UTF-8''x%22%3B%20filename%3D%22y%0D%0ASet%2DCookie%3A%20z",
        );
        check(
            "規則.txt",
            "attachment; filename=\"__.txt\"; filename*=UTF-8''%E8%A6%8F%E5%89%87%2Etxt",
        );
    }
}

//! Reading a resource: the same guard as around a tool.

use std::sync::Arc;

use model::{Around, Caller};
use text::Budget;
use tokio_util::sync::CancellationToken;
use tools::{Code, ResourceBody, ToolError};

use crate::App;
use crate::guarded::{self, CallContext, Counts, RunningCall, Via};

/// The name under which reads are limited, counted and audited.
const NAME: &str = "resources/read";

/// Bytes that are no text are given up to this size.
const MAX_BLOB_BYTES: usize = 4 * 1024 * 1024;

/// A resource to be read.
pub struct Request {
    /// Who reads.
    pub caller: Arc<Caller>,
    /// Its address.
    pub uri: String,
    /// The request's id, for log and audit.
    pub id: String,
    /// Cancelled when the client goes away.
    pub cancelled: CancellationToken,
}

/// What may leave of a resource.
#[derive(Debug)]
pub struct Read {
    /// As the header `Content-Type` has it.
    pub mime_type: String,
    /// The content.
    pub body: ReadBody,
    /// Pieces of source text that were taken out.
    pub n_redacted: usize,
    /// The address of what follows, where the text does not end here; its last line says so.
    pub next: Option<String>,
}

/// The content of a resource.
#[derive(Debug)]
pub enum ReadBody {
    /// Cut where `next` goes on.
    Text(String),
    /// What is no text, such as a picture.
    Bytes(Vec<u8>),
}

/// Reads a resource, and writes down how it ended.
pub async fn read(app: &Arc<App>, request: Request) -> Result<Read, ToolError> {
    let running = RunningCall::enter(app);
    let Request { caller, uri, id, cancelled } = request;
    let call_context = CallContext { caller, name: NAME.to_owned(), id, cancelled, via: Via::Api };
    let result = guarded_read(app, &call_context, uri.clone()).await;
    let ended = match &result {
        Ok(read) => Ok(Counts { n_results: 1, n_redacted: read.n_redacted, ..Counts::default() }),
        Err(error) => Err(error),
    };
    let id = call_context.id.clone();
    running.leave(app, call_context, Some(guarded::audited_query(&uri)), ended);
    result.map_err(|error| guarded::hide_internals(error, NAME, &id))
}

async fn guarded_read(
    app: &Arc<App>,
    call_context: &CallContext,
    uri: String,
) -> Result<Read, ToolError> {
    guarded::admit(app, call_context)?;
    let caps = app.caps();
    let caller = Arc::clone(&call_context.caller);
    let resources = app.resources.clone();
    guarded::run(app, call_context, move |deadline| {
        let (address, offset) = without_offset(&uri);
        let Some(content) = resources.read(&caller, address, deadline)? else {
            return Err(unknown(&uri));
        };
        let mime_type = content.mime_type;
        match content.body {
            ResourceBody::SourceText { text, around, next } => {
                let last_line = next.as_deref().map(goes_on).unwrap_or_default();
                let caps = caps.without(&last_line);
                let part = part_of(&text, offset, address, &caps, Source::Redacted(&around));
                let (text, next) = match part.next {
                    // The rest of this part comes before what follows it.
                    Some(rest) => (part.text, Some(rest)),
                    None => (format!("{}{last_line}", part.text), next),
                };
                let n_redacted = part.n_redacted;
                Ok(Read { mime_type, body: ReadBody::Text(text), n_redacted, next })
            }
            ResourceBody::OwnText(text) => {
                let part = part_of(&text, offset, address, &caps, Source::Own);
                Ok(Read {
                    mime_type,
                    body: ReadBody::Text(part.text),
                    n_redacted: 0,
                    next: part.next,
                })
            }
            ResourceBody::Bytes(bytes) if bytes.len() > MAX_BLOB_BYTES => {
                let message = format!("`{uri}` is larger than {MAX_BLOB_BYTES} bytes");
                Err(ToolError::new(Code::TooLarge, message))
            }
            ResourceBody::Bytes(bytes) => {
                Ok(Read { mime_type, body: ReadBody::Bytes(bytes), n_redacted: 0, next: None })
            }
        }
    })
    .await
}

/// Whether a text is redacted before it leaves, and what the source says around it.
#[derive(Clone, Copy)]
enum Source<'a> {
    Redacted(&'a Around),
    Own,
}

/// A part of a text that fits one answer.
struct TextPart {
    text: String,
    n_redacted: usize,
    next: Option<String>,
}

/// Splits `offset=N` from the end of an address.
fn without_offset(uri: &str) -> (&str, usize) {
    let split = uri.rsplit_once("?offset=").or_else(|| uri.rsplit_once("&offset="));
    match split.and_then(|(address, offset)| Some((address, offset.parse().ok()?))) {
        Some((address, offset)) => (address, offset),
        None => (uri, 0),
    }
}

/// Takes as much of a text as a budget holds, from a character on. A last line names the address
/// of the rest.
fn part_of(
    whole: &str,
    offset: usize,
    address: &str,
    caps: &Budget,
    source: Source<'_>,
) -> TextPart {
    let start = whole.char_indices().nth(offset).map_or(whole.len(), |(at, _)| at);
    let mut n_chars = caps.chars;
    loop {
        let end =
            whole[start..].char_indices().nth(n_chars).map_or(whole.len(), |(at, _)| start + at);
        let (text, n_redacted) = match source {
            Source::Own => (whole[start..end].to_owned(), 0),
            Source::Redacted(around) => {
                let around = Around {
                    before: [&around.before, &whole[..start]].concat(),
                    after: [&whole[end..], &around.after].concat(),
                    ..around.clone()
                };
                guard::redacted_piece(&whole[start..end], &around)
            }
        };
        if end == whole.len() && caps.fits(&text) {
            return TextPart { text, n_redacted, next: None };
        }
        let n_given = whole[start..end].chars().count();
        let joint = if address.contains('?') { '&' } else { '?' };
        let next = format!("{address}{joint}offset={}", offset + n_given);
        let text = format!("{text}{}", goes_on(&next));
        if (end < whole.len() && caps.fits(&text)) || n_given <= 1 {
            return TextPart { text, n_redacted, next: Some(next) };
        }
        let allowed = caps.allowed_chars(&text).unwrap_or(n_given);
        n_chars = allowed.saturating_sub(next.chars().count() + 16).min(n_given * 7 / 8).max(1);
    }
}

/// Names the address of what follows, in a last line of a text.
fn goes_on(next: &str) -> String {
    format!("\n[goes on at {next}]")
}

fn unknown(uri: &str) -> ToolError {
    let shown: String = uri.chars().take(200).collect();
    ToolError::new(Code::NotFound, format!("resource `{shown}` does not exist"))
        .with_hint("`resources/list` and the links in answers name those that do")
}

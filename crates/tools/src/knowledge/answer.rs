//! Errors of the family with the codes of the one table.

use std::sync::Arc;

use knowledge::{Error, KnowledgeBase, KnowledgeBaseId, Service};
use model::{Caller, with_causes};
use serde_json::json;

use crate::object_error::{object_error, store_failed};
use crate::{Code, Spec, ToolError};

/// Writes an error of the family with the codes of the one table. Where the contract gives a
/// sentence, it is the message, word for word.
pub fn error(error: Error) -> ToolError {
    if let Some(full) = crate::disk_full(&error) {
        return full;
    }
    let message = error.to_string();
    match error {
        Error::BaseNotFound { id } => {
            let hint = format!(
                "no knowledge base that you may read has the id `{id}`; \
                 `GET /v1/knowledge-bases` lists them"
            );
            ToolError::new(Code::NotFound, message).with_detail("received", id).with_hint(hint)
        }
        Error::Object(error) => object_error(error, hint_of),
        Error::Denied => ToolError::new(Code::Forbidden, message)
            .with_hint("ask its owner or an administrator of your tenant"),
        Error::OriginalDenied { roles } => {
            ToolError::new(Code::Forbidden, message).with_detail("roles", roles).with_hint(
                "its text can be read with `fetch`; `[knowledge] originals` names the roles",
            )
        }
        Error::OriginalDamaged { .. } => ToolError::new(Code::Unavailable, message)
            .with_hint("put a new content in its place, or let an administrator restore a backup"),
        Error::FollowsFile { .. } => ToolError::new(Code::Conflict, message).with_hint(
            "change or delete the file, and the document follows; `PATCH` changes its title, tags \
             and metadata",
        ),
        Error::TextTooLong => ToolError::bad_request(message).with_detail("argument", "text"),
        Error::Unavailable(_) | Error::Search(_) => store_failed(&error),
        Error::LlmUnavailable(_) => {
            // A provider's error may quote its own address; it belongs to the log.
            tracing::warn!(cause = with_causes(&error), "the language model failed");
            ToolError::new(Code::LlmUpstream, message)
                .with_hint("try again later; without `[llm]` the answer is made by rules")
        }
        Error::Upload(_) => ToolError::internal(with_causes(&error)),
    }
}

/// Says where an object that was not found would be listed.
fn hint_of(what: &str) -> &'static str {
    match what {
        "Collection" => "`GET /v1/knowledge-bases/{id}/collections` lists those you may read",
        "Document" => "`GET /v1/collections/{id}/documents` lists those you may read",
        "Chunk" => "it was deleted or indexed again; `search_documents` gives new ids",
        "Original" => "the document was added before files were kept; add it again",
        "Job" => "`GET /v1/jobs` lists yours; a job is forgotten some time after its end",
        _ => "it was deleted, or was never there for you",
    }
}

/// Writes an error of a tool that was given the id of a knowledge base. The caller is told the
/// ids that would have been right: over MCP nothing else lists them.
pub(super) fn error_of(
    error: Error,
    service: &Service,
    caller: &Caller,
    base: &KnowledgeBaseId,
) -> ToolError {
    let is_about_the_base = matches!(error, Error::BaseNotFound { .. } | Error::Denied);
    let coded = self::error(error);
    if !is_about_the_base {
        return coded;
    }
    about_base(coded, service, caller, base.as_str())
}

/// Adds the bases that would have been right to an error.
fn about_base(error: ToolError, service: &Service, caller: &Caller, base: &str) -> ToolError {
    let bases = service.list_bases(caller).unwrap_or_default();
    one_of(error, &bases.iter().collect::<Vec<_>>(), base)
}

/// Adds bases of which one would have been right to an error.
fn one_of(error: ToolError, bases: &[&KnowledgeBase], base: &str) -> ToolError {
    let n_bases = bases.len();
    let names: Vec<serde_json::Value> = bases
        .iter()
        .take(MAX_SHOWN_BASES)
        .map(|base| json!({ "id": base.id, "name": name_of(base) }))
        .collect();
    let hint = match (names.len(), n_bases) {
        (0, _) => "there is no knowledge base that you may read; ask its owner".to_owned(),
        (n_names, n_bases) if n_names < n_bases => format!(
            "pass the id or name of one of `allowed`, the first {n_names} of {n_bases}; \
             `list_knowledge_bases` lists all"
        ),
        _ => "pass the id or name of one of `allowed`".to_owned(),
    };
    error
        .with_detail("argument", "knowledge_base_id")
        .with_detail("received", base)
        .with_detail("allowed", names)
        .with_hint(hint)
}

/// Tells whether a caller may read a base. Nobody is told that there are none because the store
/// is away: then the tools stay in the list, and say so when they are called.
pub(super) fn has_bases(service: &Service, caller: &Caller) -> bool {
    service.list_bases(caller).map_or(true, |bases| !bases.is_empty())
}

/// Names the bases that a caller may read where one of them is asked for, while they are few: an
/// agent then needs no call to learn them.
pub(super) fn with_bases(spec: &Arc<Spec>, service: &Service, caller: &Caller) -> Arc<Spec> {
    let bases = service.list_bases(caller).unwrap_or_default();
    if bases.len() < 2 {
        return Arc::clone(spec);
    }
    let mut names: Vec<String> = bases.iter().map(name_of).collect();
    names.sort();
    Arc::new(spec.with_names_of("knowledge_base_id", "name or id", &names))
}

/// The name of a base as an agent may read it: one line, at most 80 characters.
pub(super) fn name_of(base: &KnowledgeBase) -> String {
    let plain: String = base.name.chars().filter(|char| !char.is_control()).take(80).collect();
    plain.trim().to_owned()
}

/// Finds the base that an id or a unique name means; without either, the only one there is.
///
/// Fails when there is none, or more than one.
pub fn resolved(
    service: &Service,
    caller: &Caller,
    given: Option<&str>,
    tool: &str,
) -> Result<KnowledgeBaseId, ToolError> {
    if let Some(id) = given.map(str::trim).filter(|given| is_uuid(given)) {
        return Ok(KnowledgeBaseId::new(id.to_lowercase()));
    }
    let bases = service.list_bases(caller).map_err(error)?;
    let Some(given) = given else {
        return match bases.as_slice() {
            [only] => Ok(only.id.clone()),
            [] => Err(no_bases(tool)),
            _ => {
                let message = "knowledge_base_id is required: expected an id or a name";
                Err(about_base(ToolError::bad_request(message), service, caller, ""))
            }
        };
    };
    let wanted = text::fold(given.trim());
    let exact: Vec<_> = bases.iter().filter(|base| base.name == given).collect();
    let folded: Vec<_> = bases.iter().filter(|base| text::fold(&base.name) == wanted).collect();
    match (exact.as_slice(), folded.as_slice()) {
        ([one], _) | ([], [one]) => Ok(one.id.clone()),
        ([], []) => {
            let error = error(Error::BaseNotFound { id: given.chars().take(80).collect() });
            Err(about_base(error, service, caller, given))
        }
        (many, others) => {
            let meant = if many.is_empty() { others } else { many };
            let message =
                format!("{} knowledge bases are named `{given}`: pass an id", meant.len());
            Err(one_of(ToolError::bad_request(message), meant, given))
        }
    }
}

/// Says that there is nothing that a tool could work on.
pub(super) fn no_bases(tool: &str) -> ToolError {
    let message = crate::unknown::without_work(tool).unwrap_or_default();
    ToolError::new(Code::NotFound, message)
        .with_hint("make one with `POST /v1/knowledge-bases` or `dowse kb create`")
}

fn is_uuid(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// How many ids an error lists.
const MAX_SHOWN_BASES: usize = 20;

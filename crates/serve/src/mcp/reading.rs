//! Resources in the protocol's words.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ErrorCode, ListResourceTemplatesResult, ListResourcesResult, MetaObject,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use tools::{Code, ErrorShape, ToolError};

use super::handler::Visit;
use crate::read::{Read, ReadBody};

/// Resources on one page of a list.
const PAGE: usize = 200;

/// How long a client may keep a list or a resource, in milliseconds: not at all. What is at
/// an address changes with its source, and who may see it with the configuration.
const TTL_MS: u64 = 0;

/// Lists one page. The cursor is the address of the last entry before it.
pub(super) fn list(visit: &Visit, cursor: Option<&str>) -> ListResourcesResult {
    let (entries, has_more) = visit.app.resources.page(&visit.caller, cursor, PAGE);
    let next = entries.last().filter(|_| has_more).map(|entry| entry.uri.clone());
    let resources = entries
        .into_iter()
        .map(|entry| {
            let resource = Resource::new(entry.uri, entry.name);
            match entry.mime_type {
                Some(mime_type) => resource.with_mime_type(mime_type),
                None => resource,
            }
        })
        .collect();
    let mut listed = ListResourcesResult::with_all_items(resources)
        .with_ttl_ms(TTL_MS)
        .with_cache_scope(CacheScope::Private);
    listed.next_cursor = next;
    listed
}

/// Lists the patterns of addresses.
pub(super) fn templates(visit: &Visit) -> ListResourceTemplatesResult {
    let templates = visit
        .app
        .resources
        .patterns(&visit.caller)
        .into_iter()
        .map(|pattern| {
            let template = ResourceTemplate::new(pattern.pattern, pattern.name)
                .with_description(pattern.description);
            match pattern.mime_type {
                Some(mime_type) => template.with_mime_type(mime_type),
                None => template,
            }
        })
        .collect();
    ListResourceTemplatesResult::with_all_items(templates)
        .with_ttl_ms(TTL_MS)
        .with_cache_scope(CacheScope::Private)
}

/// Writes what was read, with what the guard did to it.
pub(super) fn contents(uri: String, read: Read) -> ReadResourceResult {
    let mime_type = Some(read.mime_type);
    let contents = match read.body {
        ReadBody::Text(text) => {
            let meta = (read.n_redacted > 0 || read.next.is_some()).then(|| {
                let mut meta = MetaObject::default();
                meta.insert("dowse/redacted".to_owned(), read.n_redacted.into());
                meta.insert("dowse/truncated".to_owned(), read.next.is_some().into());
                if let Some(next) = read.next {
                    meta.insert("dowse/next".to_owned(), next.into());
                }
                meta
            });
            ResourceContents::TextResourceContents { uri, mime_type, text, meta }
        }
        ReadBody::Bytes(bytes) => {
            let blob = STANDARD.encode(bytes);
            ResourceContents::BlobResourceContents { uri, mime_type, blob, meta: None }
        }
    };
    ReadResourceResult::new(vec![contents])
        .with_ttl_ms(TTL_MS)
        .with_cache_scope(CacheScope::Private)
}

/// Writes why a resource could not be read. There is no tool result to put it in.
pub(super) fn refusal(uri: &str, error: &ToolError) -> ErrorData {
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other code is a failure of ours")]
    let code = match error.code {
        Code::NotFound => ErrorCode::RESOURCE_NOT_FOUND,
        Code::BadRequest | Code::Forbidden | Code::TooLarge | Code::RateLimited => {
            ErrorCode::INVALID_PARAMS
        }
        _ => ErrorCode::INTERNAL_ERROR,
    };
    let mut data = error.to_json(ErrorShape::Coded)["error"].take();
    data["uri"] = tools::bounded(uri).into();
    ErrorData::new(code, tools::bounded(&error.message), Some(data))
}

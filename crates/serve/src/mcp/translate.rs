//! Between the tools' types and those of the protocol.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, Resource, Tool, ToolAnnotations};
use tools::{Effect, Spec};

use crate::call::{Done, Failed};

/// Writes a tool as `tools/list` shows it.
pub(crate) fn tool(spec: &Spec) -> Tool {
    let annotations = ToolAnnotations::new().open_world(false);
    let annotations = match spec.effect {
        Effect::ReadOnly => annotations.read_only(true),
        Effect::Additive => annotations.read_only(false).destructive(false).idempotent(true),
        Effect::Creates => annotations.read_only(false).destructive(false).idempotent(false),
    };
    let input = spec.shown_input.clone().unwrap_or_else(|| spec.input.shared());
    Tool::new(spec.name.clone(), spec.description.clone(), input)
        .with_title(spec.title.clone())
        .with_raw_output_schema(Arc::clone(&spec.output))
        .with_annotations(annotations)
}

/// Writes an answer: the structured content, the same JSON as text, pictures and links.
pub(crate) fn answer(done: Done) -> CallToolResult {
    let mut content = vec![ContentBlock::text(done.outgoing.text)];
    let images = done.images.iter();
    content.extend(
        images.map(|image| ContentBlock::image(STANDARD.encode(&image.bytes), image.mime_type)),
    );
    for link in done.links {
        let mut resource = Resource::new(link.uri, link.name);
        if let Some(mime_type) = link.mime_type {
            resource = resource.with_mime_type(mime_type);
        }
        content.push(ContentBlock::resource_link(resource));
    }
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(done.outgoing.value);
    result
}

/// Writes an error. It has no structured content: clients would hold it against the schema of
/// a successful answer.
pub(crate) fn error(failed: &Failed) -> CallToolResult {
    let text = failed.error.to_json(failed.shape).to_string();
    CallToolResult::error(vec![ContentBlock::text(text)])
}

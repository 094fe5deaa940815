//! Tools that give each kind of content.

use rmcp::model::{AudioContent, CallToolResult, ContentBlock, JsonObject, ResourceContents};

/// A PNG of one red pixel, in base64.
pub(super) const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/// A WAV without a single sample, in base64.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// Answers, if this is one of these tools.
pub(super) fn answer(name: &str, arguments: &JsonObject) -> Option<CallToolResult> {
    let text = |name: &str| arguments.get(name).and_then(|value| value.as_str());
    let content = match name {
        "test_simple_text" => {
            vec![ContentBlock::text("This is a simple text response for testing.")]
        }
        "test_image_content" => vec![ContentBlock::image(PIXEL, "image/png")],
        "test_audio_content" => {
            vec![ContentBlock::Audio(AudioContent::new(SILENCE, "audio/wav"))]
        }
        "test_embedded_resource" => vec![resource("test://embedded-resource", "text/plain")],
        "test_multiple_content_types" => vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(PIXEL, "image/png"),
            resource("test://mixed-content-resource", "application/json"),
        ],
        "json_schema_2020_12_tool" => {
            vec![ContentBlock::text(text("name").unwrap_or("no name"))]
        }
        "test_custom_header" => vec![ContentBlock::text(text("value").unwrap_or_default())],
        "test_error_handling" => {
            return Some(CallToolResult::error(vec![ContentBlock::text(
                "This tool intentionally returns an error for testing",
            )]));
        }
        _ => return None,
    };
    Some(CallToolResult::success(content))
}

fn resource(uri: &str, mime_type: &str) -> ContentBlock {
    let text = match mime_type {
        "application/json" => r#"{"test":"data","value":123}"#,
        _ => "This is an embedded resource content.",
    };
    ContentBlock::resource(ResourceContents::TextResourceContents {
        uri: uri.to_owned(),
        mime_type: Some(mime_type.to_owned()),
        text: text.to_owned(),
        meta: None,
    })
}

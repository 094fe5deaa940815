//! The fixture resources.

use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

use super::content::PIXEL;

const TEMPLATE: &str = "test://template/{id}/data";

/// Gives every resource with an address of its own.
pub(super) fn list() -> Vec<Resource> {
    let resource = |uri: &str, name: &str, mime_type: &str| {
        Resource::new(uri, name).with_description("for testing").with_mime_type(mime_type)
    };
    vec![
        resource("test://static-text", "A text", "text/plain"),
        resource("test://static-binary", "A pixel", "image/png"),
        resource("test://watched-resource", "A text to watch", "text/plain"),
    ]
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = ResourceTemplate::new(TEMPLATE, "Data of an id");
    vec![template.with_description("for testing").with_mime_type("application/json")]
}

/// Reads one; nothing when it does not exist.
pub(super) fn read(uri: &str) -> Option<ReadResourceResult> {
    let text = |mime_type: &str, text: String| ResourceContents::TextResourceContents {
        uri: uri.to_owned(),
        mime_type: Some(mime_type.to_owned()),
        text,
        meta: None,
    };
    let contents = match uri {
        "test://static-text" => {
            text("text/plain", "This is the content of the static text resource.".to_owned())
        }
        "test://watched-resource" => text("text/plain", "Nothing happened yet.".to_owned()),
        "test://static-binary" => ResourceContents::BlobResourceContents {
            uri: uri.to_owned(),
            mime_type: Some("image/png".to_owned()),
            blob: PIXEL.to_owned(),
            meta: None,
        },
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let data = serde_json::json!({
                "id": id, "templateTest": true, "data": format!("Data for ID: {id}"),
            });
            text("application/json", data.to_string())
        }
    };
    Some(ReadResourceResult::new(vec![contents]))
}

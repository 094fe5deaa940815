//! `openFile`: a safe preview of a file at a place.

use std::sync::Arc;

use files::Service;
use model::Caller;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{error_of, version_schema, versioned, visible};
use crate::{Answer, Call, Spec, Tool, ToolError};

/// The most characters that may be asked for around a place. Far more than a preview holds: the
/// server cuts what is given, and only nonsense is refused.
const MAX_AROUND: usize = 1_000_000;

/// The tool.
pub struct OpenFile {
    service: Service,
    spec: Arc<Spec>,
}

#[derive(Deserialize)]
struct Arguments {
    path: String,
    pointer: Option<String>,
    #[serde(default)]
    before: usize,
    #[serde(default)]
    after: usize,
}

impl OpenFile {
    /// Opens files of a service.
    pub fn new(service: Service) -> Self {
        let spec = Spec::read_only(
            "openFile",
            "Open file",
            "Preview the text of a file at a pointer from searchFiles, or at its start. Text \
             only, redacted, at most 2,000 characters; `before` and `after` widen it.",
        )
        .with_input(json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "absolute path inside an allowed root" },
                "pointer": { "type": "string", "description": "page 3, slide 7, sheet 'Q2', line 120" },
                "before": { "type": "integer", "minimum": 0, "maximum": MAX_AROUND, "default": 0 },
                "after": { "type": "integer", "minimum": 0, "maximum": MAX_AROUND, "default": 0 },
            },
            "required": ["path"],
        }))
        .with_output(json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "pointer": { "type": "string" },
                "preview": { "type": "string" },
                "truncated": { "type": "boolean" },
                "warnings": { "type": "array", "items": { "type": "string" } },
                "mcp_version": version_schema(),
            },
            "required": ["path", "pointer", "preview", "truncated", "mcp_version"],
        }))
        .with_source_text(&["/preview"]);
        OpenFile { service, spec: Arc::new(spec) }
    }
}

impl Tool for OpenFile {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        visible(&self.service, caller, &self.spec)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments { path, pointer, before, after } = call.parse()?;
        let preview = self
            .service
            .preview(call.caller, &path, pointer.as_deref(), (before, after))
            .map_err(error_of("path"))?;
        let mut value = json!(preview);
        if let Value::Object(members) = &mut value {
            members.remove("warnings");
        }
        Ok(versioned(value).with_warnings(&preview.warnings).with_around(preview.around))
    }
}

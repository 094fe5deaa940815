//! `fetch`: the whole text of something that `search` found.

use std::sync::Arc;

use across::{Error, Service};
use model::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::search::url;
use crate::{Answer, Call, Code, Spec, Tool, ToolError};

/// The tool.
pub struct Fetch {
    service: Service,
    link_base: String,
    spec: Arc<Spec>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    #[schemars(length(min = 1, max = 8_192))]
    id: String,
}

impl Fetch {
    /// Fetches from a service; links in answers begin with `link_base`.
    pub fn new(service: Service, link_base: String) -> Self {
        let spec = Spec::read_only(
            "fetch",
            "Fetch",
            "Get the whole text of a result of search, by its id.",
        )
        .with_arguments::<Arguments>()
        .with_output(json!({
            "type": "object",
            "properties": {
                "id": { "type": "string" },
                "title": { "type": "string" },
                "text": { "type": "string" },
                "url": { "type": "string" },
                "metadata": { "type": "object" },
            },
            "required": ["id", "title", "text", "url"],
        }))
        .with_source_text(&["/text", "/title"]);
        Fetch { service, link_base, spec: Arc::new(spec) }
    }
}

/// Writes an error of the family with the codes of the house.
pub fn error(error: Error) -> ToolError {
    let message = error.to_string();
    match error {
        Error::NotFound { id } => ToolError::new(Code::NotFound, message)
            .with_detail("argument", "id")
            .with_detail("received", id)
            .with_hint("call `search` and pass one of its ids"),
        Error::Failed { cause, .. } => {
            // The sentence of the family itself, where it has one for a store that is away.
            let sentence = cause.to_string();
            tracing::error!(cause = model::with_causes(&*cause), "a source failed");
            ToolError::new(Code::Unavailable, sentence).with_hint("try again later")
        }
    }
}

impl Tool for Fetch {
    fn spec(&self, _caller: &Caller) -> Option<Arc<Spec>> {
        Some(Arc::clone(&self.spec))
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments { id } = call.parse()?;
        let (source, fetched) = self.service.fetch(call.caller, &id).map_err(error)?;
        let mut metadata = fetched.metadata.as_object().cloned().unwrap_or_default();
        metadata.insert("source".to_owned(), json!(source));
        Ok(Answer::new(json!({
            "id": id,
            "title": fetched.title,
            "text": fetched.text,
            "url": url(&self.link_base, &id),
            "metadata": metadata,
        })))
    }
}

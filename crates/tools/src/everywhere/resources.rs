//! `dowse://open/{id}`: the text of anything that `search` found, read as a resource.

use across::{Part, Service};
use model::{Caller, Deadline};

use crate::{ResourceBody, ResourceContent, ResourcePattern, Resources, ToolError};

const PREFIX: &str = "dowse://open/";

/// The whole text: whoever reads takes as much of it as fits one answer.
const PART: Part = Part { offset: Some(0), max_chars: usize::MAX };

/// What `fetch` gives, by address.
pub struct Things {
    service: Service,
}

impl Things {
    /// Reads from a service.
    pub fn new(service: Service) -> Self {
        Things { service }
    }
}

impl Resources for Things {
    fn family(&self) -> &str {
        "open"
    }

    fn tool(&self) -> Option<&str> {
        Some("fetch")
    }

    fn patterns(&self, _caller: &Caller) -> Vec<ResourcePattern> {
        vec![ResourcePattern {
            pattern: format!("{PREFIX}{{id}}{{?offset}}"),
            name: "A result of search".to_owned(),
            description:
                "The whole text of a result; `id` is one that search gave, `offset` a character to \
                          begin at."
                    .to_owned(),
            mime_type: Some("text/plain".to_owned()),
        }]
    }

    fn read(
        &self,
        caller: &Caller,
        uri: &str,
        _deadline: &Deadline,
    ) -> Result<Option<ResourceContent>, ToolError> {
        let Some(id) = uri.strip_prefix(PREFIX) else { return Ok(None) };
        // Whatever cannot be fetched does not exist for this caller.
        let Ok((_, fetched)) = self.service.fetch(caller, id, &PART) else { return Ok(None) };
        Ok(Some(ResourceContent {
            mime_type: "text/plain".to_owned(),
            body: ResourceBody::SourceText(fetched.text),
        }))
    }
}

//! `dowse://open/{id}`: the text of anything that `search` found, read as a resource.

use across::{Part, Service, Stretch};
use model::{Caller, Deadline};

use crate::{ResourceBody, ResourceContent, ResourcePattern, Resources, ToolError};

const PREFIX: &str = "dowse://open/";

/// Is between an id and the row of a table to begin at.
const ROW: &str = "?row=";

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
            pattern: format!("{PREFIX}{{id}}{{?row,offset}}"),
            name: "A result of search".to_owned(),
            description:
                "The whole text of a result; `id` is one that search gave, `offset` a character to \
                          begin at, `row` a row of a table. A last line names the address of the rest."
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
        let Some((id, row)) = uri.strip_prefix(PREFIX).and_then(decode) else { return Ok(None) };
        // The whole text: whoever reads takes as much of it as fits one answer.
        let part = Part { offset: Some(row), max_chars: usize::MAX };
        // Whatever cannot be fetched does not exist for this caller.
        let Ok((_, fetched)) = self.service.fetch(caller, id, &part) else { return Ok(None) };
        // Only the rows of a table come in pages; texts are whole.
        let next = match fetched.span {
            Some(Stretch { start, end, total }) if start < end && end < total => {
                Some(format!("{PREFIX}{id}{ROW}{end}"))
            }
            _ => None,
        };
        let body = ResourceBody::SourceText { text: fetched.text, around: fetched.around, next };
        Ok(Some(ResourceContent { mime_type: "text/plain".to_owned(), body }))
    }
}

/// Reads an id, and the row to begin at.
fn decode(address: &str) -> Option<(&str, usize)> {
    match address.split_once(ROW) {
        None => Some((address, 0)),
        Some((id, row)) => Some((id, row.parse().ok()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gives_back_the_id_and_the_row() {
        assert_eq!(decode("tAbc"), Some(("tAbc", 0)));
        assert_eq!(decode("tAbc?row=50"), Some(("tAbc", 50)));
        assert_eq!(decode("tAbc?row=x"), None);
    }
}

//! `dowse://files/{path}{?pointer}`: a place in a file, read as a resource.
//!
//! The same preview as `openFile` gives: raw files never leave.

use files::{Error, PreviewRequest, Service};
use model::{Caller, Deadline};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::answer::error_of;
use crate::{Link, ResourceBody, ResourceContent, ResourcePattern, Resources, ToolError};

const PREFIX: &str = "dowse://files";

/// Is before a character to begin at, which is a place as well.
const CHAR: &str = "char ";

/// What stays readable in the path of an address.
const PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Previews by address.
pub struct FilePlaces {
    service: Service,
}

impl FilePlaces {
    /// Reads files of a service.
    pub fn new(service: Service) -> Self {
        FilePlaces { service }
    }
}

impl Resources for FilePlaces {
    fn family(&self) -> &str {
        "files"
    }

    fn tool(&self) -> Option<&str> {
        Some("openFile")
    }

    fn patterns(&self, caller: &Caller) -> Vec<ResourcePattern> {
        if self.service.roots(caller).is_empty() {
            return Vec::new();
        }
        vec![ResourcePattern {
            pattern: format!("{PREFIX}{{+path}}{{?pointer}}"),
            name: "A place in a file".to_owned(),
            description: "A preview of a file at a pointer, both from searchFiles; a last line \
                          names the address of what follows."
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
        let Some((path, pointer)) = decode(uri) else { return Ok(None) };
        let offset = pointer.as_deref().and_then(|text| text.strip_prefix(CHAR)?.parse().ok());
        let request = PreviewRequest { path, pointer, offset, ..PreviewRequest::default() };
        match self.service.preview(caller, &request) {
            Ok(preview) => {
                let text = preview.preview;
                // A file of which there is nothing to see says why, as `openFile` does.
                let why = || preview.warnings.iter().map(|warning| warning.message.as_str());
                let next = preview.window.next().filter(|_| !text.is_empty());
                let body = if next.is_none() && text.is_empty() && !preview.warnings.is_empty() {
                    ResourceBody::OwnText(why().collect::<Vec<_>>().join("\n"))
                } else {
                    let next = next.map(|end| encode(&preview.path, &format!("{CHAR}{end}")));
                    ResourceBody::SourceText { text, around: preview.around.clone(), next }
                };
                Ok(Some(ResourceContent { mime_type: "text/plain".to_owned(), body }))
            }
            Err(Error::NotFound { .. } | Error::Forbidden { .. }) => Ok(None),
            Err(other) => Err(error_of("uri")(other)),
        }
    }
}

pub(super) fn link(path: &str, pointer: &str) -> Link {
    Link {
        uri: encode(path, pointer),
        name: path.rsplit('/').next().unwrap_or(path).to_owned(),
        mime_type: Some("text/plain".to_owned()),
    }
}

fn encode(path: &str, pointer: &str) -> String {
    let path = utf8_percent_encode(path, PATH);
    let pointer = utf8_percent_encode(pointer, NON_ALPHANUMERIC);
    format!("{PREFIX}{path}?pointer={pointer}")
}

fn decode(uri: &str) -> Option<(String, Option<String>)> {
    let text = |part: &str| percent_decode_str(part).decode_utf8().ok().map(Into::into);
    let rest = uri.strip_prefix(PREFIX)?;
    match rest.split_once('?') {
        None => Some((text(rest)?, None)),
        Some((path, query)) => Some((text(path)?, Some(text(query.strip_prefix("pointer=")?)?))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gives_back_path_and_pointer() {
        for (path, pointer) in [
            ("/srv/docs/a b?.docx", "page 3"),
            ("/srv/資料/表.xlsx", "sheet 'Q2', cells A1:C4"),
            ("/srv/100%.txt", "line 1"),
        ] {
            let uri = encode(path, pointer);
            assert_eq!(decode(&uri), Some((path.to_owned(), Some(pointer.to_owned()))), "{uri}");
        }
        assert_eq!(decode("dowse://files/a.txt"), Some(("/a.txt".to_owned(), None)));
        assert_eq!(decode("dowse://files/%ff"), None);
        assert_eq!(decode("dowse://other/a"), None);
    }
}

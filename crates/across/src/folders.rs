//! Files as a source.

use std::path::Path;

use files::{SearchRequest, Service};
use model::{Caller, Deadline, Score, Warning};
use serde_json::json;

use crate::{Error, Fetched, FoundIn, Hit, Part, Result, Source, Stretch};

/// Splits a file's path from the pointer in a key.
const BETWEEN: char = '\u{1f}';

/// The folders of a server.
pub struct Folders(Service);

impl Folders {
    /// Searches the files of a service.
    pub fn new(service: Service) -> Self {
        Folders(service)
    }
}

impl Source for Folders {
    fn name(&self) -> &'static str {
        "files"
    }

    fn search(&self, caller: &Caller, query: &str, limit: usize, deadline: &Deadline) -> FoundIn {
        if self.0.roots(caller).is_empty() {
            return FoundIn::default();
        }
        let request = SearchRequest {
            query: query.to_owned(),
            k: limit,
            offset: 0,
            after: None,
            exts: None,
            years: None,
            roots: None,
        };
        match self.0.search(caller, &request, deadline) {
            Ok(found) => FoundIn {
                hits: found
                    .items
                    .into_iter()
                    .map(|item| Hit {
                        title: name_of(&item.path),
                        key: format!(
                            "{}{BETWEEN}{}{BETWEEN}{}",
                            item.path, item.pointer, item.char_start
                        ),
                        snippet: item.snippet,
                        pointer: Some(item.pointer),
                        score: Score::new(item.score),
                        explanation: json!(item.explanation),
                    })
                    .collect(),
                warnings: found.warnings,
            },
            Err(error) => FoundIn {
                hits: Vec::new(),
                warnings: vec![Warning::new("files_failed", format!("files: {error}"))],
            },
        }
    }

    fn fetch(&self, caller: &Caller, key: &str, part: &Part) -> Result<Option<Fetched>> {
        let mut parts = key.split(BETWEEN);
        let (Some(path), Some(pointer)) = (parts.next(), parts.next()) else { return Ok(None) };
        // Ids of the version before have no position.
        let at = parts.next().and_then(|at| at.parse().ok()).unwrap_or(0);
        match self.0.text(caller, path, part.offset, at, part.max_chars) {
            Ok((text, window)) => Ok(Some(Fetched {
                title: name_of(path),
                text,
                span: Some(Stretch { start: window.start, end: window.end, total: window.total }),
                metadata: json!({ "path": path, "pointer": pointer }),
            })),
            Err(files::Error::Store(cause)) => {
                Err(Error::Failed { source_name: "files", cause: Box::new(cause) })
            }
            Err(_) => Ok(None),
        }
    }
}

fn name_of(path: &str) -> String {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path).to_owned()
}

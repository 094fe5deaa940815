//! Files as a source.

use std::path::Path;

use files::{SearchRequest, Service};
use model::{Caller, Deadline, Score, Warning};
use serde_json::json;

use crate::{Fetched, FoundIn, Hit, Source};

/// The longest text that is given of a file, in characters.
const MAX_TEXT_CHARS: usize = 60_000;

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
                        key: format!("{}{BETWEEN}{}", item.path, item.pointer),
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

    fn fetch(&self, caller: &Caller, key: &str) -> Option<Fetched> {
        let (path, pointer) = key.split_once(BETWEEN)?;
        let (text, is_cut) = self.0.text(caller, path, MAX_TEXT_CHARS).ok()?;
        Some(Fetched {
            title: name_of(path),
            text,
            metadata: json!({ "path": path, "pointer": pointer, "truncated": is_cut }),
        })
    }
}

fn name_of(path: &str) -> String {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path).to_owned()
}

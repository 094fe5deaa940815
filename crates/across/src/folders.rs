//! Files as a source.

use std::path::Path;

use files::{FileText, SearchRequest, Service};
use model::{Caller, Deadline, Score, Warning};
use retrieve::Given;
use serde_json::json;

use crate::{Error, Explanation, Fetched, Hit, Part, Result, Same, Source, SourceHits, Stretch};

/// Splits a file's path from the pointer in a key.
const BETWEEN: char = '\u{1f}';

/// The folders of a server.
pub struct Folders(Service);

impl Folders {
    /// Searches the files of a service.
    pub fn new(service: Service) -> Self {
        Folders(service)
    }

    /// Finds files, best first, or behind those that were given.
    fn find_files(
        &self,
        caller: &Caller,
        query: &str,
        after: Option<&Given>,
        limit: usize,
        deadline: &Deadline,
    ) -> SourceHits {
        if self.0.roots(caller).is_empty() {
            return SourceHits::default();
        }
        let request = SearchRequest {
            query: query.to_owned(),
            k: limit,
            offset: 0,
            after: after.cloned(),
            exts: None,
            years: None,
            roots: None,
        };
        match self.0.search(caller, &request, deadline) {
            Ok(found) => SourceHits {
                hits: found
                    .items
                    .into_iter()
                    .map(|item| Hit {
                        title: name_of(&item.path),
                        thing: item.path.clone(),
                        position: u32::try_from(item.char_start).unwrap_or(u32::MAX),
                        snippet: item.snippet,
                        around: item.around,
                        pointer: Some(item.pointer),
                        score: Score::new(item.score),
                        chance: item.explanation.chance,
                        no_text: item.no_text,
                        explanation: Some(Explanation::Passage(item.explanation)),
                        same: item
                            .duplicates
                            .into_iter()
                            .map(|path| Same { title: name_of(&path), thing: path })
                            .collect(),
                    })
                    .collect(),
                warnings: filters_said(&found.exts, &found.years)
                    .into_iter()
                    .chain(found.warnings)
                    .collect(),
                timings: found.timings,
                n_passages: found.coverage.n_passages,
                ..SourceHits::default()
            },
            Err(error) => SourceHits {
                warnings: vec![Warning::new("files_failed", format!("files: {error}"))],
                ..SourceHits::default()
            },
        }
    }
}

impl Source for Folders {
    fn name(&self) -> &'static str {
        "files"
    }

    fn search(
        &self,
        caller: &Caller,
        query: &str,
        limit: usize,
        deadline: &Deadline,
    ) -> SourceHits {
        self.find_files(caller, query, None, limit, deadline)
    }

    fn search_in_order(
        &self,
        caller: &Caller,
        query: &str,
        given: &Given,
        limit: usize,
        deadline: &Deadline,
    ) -> SourceHits {
        self.find_files(caller, query, Some(given), limit, deadline)
    }

    /// The service walks by paths.
    fn walk_name(&self, thing: &str, _position: u32) -> String {
        thing.to_owned()
    }

    fn letter(&self) -> char {
        'f'
    }

    fn key(&self, thing: &str, position: u32) -> String {
        format!("{thing}{BETWEEN}{BETWEEN}{position}")
    }

    fn find(&self, caller: &Caller, is_it: &dyn Fn(&str) -> bool) -> Result<Option<String>> {
        self.0
            .find_path(caller, is_it)
            .map_err(|cause| Error::Failed { source_name: "files", cause: Box::new(cause) })
    }

    fn fetch(&self, caller: &Caller, key: &str, part: &Part) -> Result<Option<Fetched>> {
        let mut parts = key.split(BETWEEN);
        let (Some(path), Some(pointer)) = (parts.next(), parts.next()) else { return Ok(None) };
        // Ids of the version before have no position.
        let at = parts.next().and_then(|at| at.parse().ok()).unwrap_or(0);
        match self.0.text(caller, path, part.offset, at, part.max_chars) {
            Ok(FileText { text, window, pointer: at_position, around, without_text }) => {
                Ok(Some(Fetched {
                    title: name_of(path),
                    text,
                    around,
                    span: Some(Stretch {
                        start: window.start,
                        end: window.end,
                        total: window.total,
                    }),
                    metadata: match without_text {
                        None => json!({
                            "path": path,
                            "pointer": if pointer.is_empty() { at_position.as_str() } else { pointer },
                        }),
                        Some(why) => json!({ "path": path, "no_text": why.message() }),
                    },
                }))
            }
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

/// Says which words of the query chose among the files, where some did.
fn filters_said(exts: &[String], years: &[String]) -> Option<Warning> {
    if exts.is_empty() && years.is_empty() {
        return None;
    }
    let said: Vec<&str> = exts.iter().chain(years).map(String::as_str).collect();
    let message = format!(
        "files: filtered by {}, as the query says; `searchFiles` takes `exts` and `years`",
        said.join(", ")
    );
    Some(Warning::new("filters_from_words", message))
}

//! JSON documents as a source.

use contexts::{NodeRequest, Service};
use model::{Caller, Deadline, Warning};
use serde_json::json;

use crate::{Error, Explanation, Fetched, Hit, Part, Result, Source, SourceHits, Stretch};

/// The longest text that is given of a node, in characters.
const MAX_TEXT_CHARS: usize = 50_000;

/// How long reading a node may take.
const FETCH_WAIT: std::time::Duration = std::time::Duration::from_secs(20);

/// Splits a table's id from the pointer in a key.
const BETWEEN: char = '\u{1f}';

/// The projects of a server.
pub struct Contexts(Service);

impl Contexts {
    /// Searches what the search tools of a service cover.
    pub fn new(service: Service) -> Self {
        Contexts(service)
    }
}

impl Source for Contexts {
    fn name(&self) -> &'static str {
        "contexts"
    }

    fn search(
        &self,
        caller: &Caller,
        query: &str,
        limit: usize,
        deadline: &Deadline,
    ) -> SourceHits {
        match self.0.search_all(caller, query, limit, deadline) {
            Ok(found) => SourceHits {
                hits: found
                    .results
                    .into_iter()
                    .map(|(table, result)| Hit {
                        title: format!("{} {}", table, result.chunk.json_pointer),
                        thing: format!(
                            "{}{BETWEEN}{}",
                            result.chunk.table_id, result.chunk.json_pointer
                        ),
                        position: u32::try_from(result.chunk.char_start).unwrap_or(u32::MAX),
                        snippet: result.chunk.chunk_text,
                        around: result.around,
                        pointer: Some(result.chunk.json_pointer),
                        score: result.score,
                        chance: result.explanation.chance,
                        explanation: Some(Explanation::Passage(result.explanation)),
                        same: vec![],
                        no_text: None,
                    })
                    .collect(),
                warnings: found.warnings,
                timings: found.timings,
                n_passages: found.n_passages,
                ..SourceHits::default()
            },
            Err(error) => SourceHits {
                warnings: vec![Warning::new("contexts_failed", format!("contexts: {error}"))],
                ..SourceHits::default()
            },
        }
    }

    fn letter(&self) -> char {
        'c'
    }

    fn key(&self, thing: &str, position: u32) -> String {
        format!("{thing}{BETWEEN}{position}")
    }

    fn find(&self, caller: &Caller, is_it: &dyn Fn(&str) -> bool) -> Result<Option<String>> {
        let failed = |cause: contexts::Error| Error::Failed {
            source_name: "contexts",
            cause: Box::new(cause),
        };
        for project in self.0.list_projects(caller).map_err(failed)? {
            for table in self.0.list_tables(caller, &project.id).map_err(failed)? {
                let is_node = |pointer: &str| is_it(&format!("{}{BETWEEN}{pointer}", table.id));
                let found = self.0.find_pointer(caller, &table.id, &is_node).map_err(failed)?;
                if let Some(pointer) = found {
                    return Ok(Some(format!("{}{BETWEEN}{pointer}", table.id)));
                }
            }
        }
        Ok(None)
    }

    fn fetch(&self, caller: &Caller, key: &str, part: &Part) -> Result<Option<Fetched>> {
        let mut parts = key.split(BETWEEN);
        let (Some(table), Some(pointer)) = (parts.next(), parts.next()) else { return Ok(None) };
        let at: usize = parts.next().and_then(|at| at.parse().ok()).unwrap_or(0);
        let deadline = Deadline::after(FETCH_WAIT);
        let max_chars = part.max_chars.min(MAX_TEXT_CHARS);
        let read = |offset: usize| {
            let request = NodeRequest { json_path: pointer.to_owned(), offset, max_chars };
            self.0.get_node(caller, &contexts::TableId::new(table), &request, &deadline).ok()
        };
        // A string that is too long for one answer is shown around the hit.
        let Some(mut node) = read(part.offset.unwrap_or(0)) else { return Ok(None) };
        let is_long = node.total_chars.is_some_and(|total| total > max_chars);
        if part.offset.is_none() && is_long && at > max_chars / 2 {
            let Some(around) = read(at - max_chars / 2) else { return Ok(None) };
            node = around;
        }
        let Ok(table) = self.0.get_table(caller, &contexts::TableId::new(table)) else {
            return Ok(None);
        };
        let span = node.total_chars.map(|total| Stretch {
            start: node.char_start,
            end: node.char_end,
            total,
        });
        Ok(Some(Fetched {
            title: format!("{} {pointer}", table.name),
            around: node.around(""),
            text: node.text,
            span,
            metadata: json!({ "table_id": table.id, "json_pointer": pointer }),
        }))
    }
}

//! JSON documents as a source.

use contexts::{NodeRequest, Service};
use model::{Caller, Deadline, Warning};
use serde_json::{Value, json};

use crate::{Fetched, FoundIn, Hit, Source};

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

    fn search(&self, caller: &Caller, query: &str, limit: usize, deadline: &Deadline) -> FoundIn {
        match self.0.search_all(caller, query, limit, deadline) {
            Ok(found) => FoundIn {
                hits: found
                    .results
                    .into_iter()
                    .map(|(table, result)| Hit {
                        title: format!("{} {}", table, result.chunk.json_pointer),
                        key: format!(
                            "{}{BETWEEN}{}",
                            result.chunk.table_id, result.chunk.json_pointer
                        ),
                        snippet: result.chunk.chunk_text,
                        pointer: Some(result.chunk.json_pointer),
                        score: result.score,
                        explanation: Value::Null,
                    })
                    .collect(),
                warnings: found.warnings,
            },
            Err(error) => FoundIn {
                hits: Vec::new(),
                warnings: vec![Warning::new("contexts_failed", format!("contexts: {error}"))],
            },
        }
    }

    fn fetch(&self, caller: &Caller, key: &str) -> Option<Fetched> {
        let (table, pointer) = key.split_once(BETWEEN)?;
        let request =
            NodeRequest { json_path: pointer.to_owned(), offset: 0, max_chars: MAX_TEXT_CHARS };
        let deadline = Deadline::after(FETCH_WAIT);
        let node = self.0.get_node(caller, table, &request, &deadline).ok()?;
        let table = self.0.get_table(caller, table).ok()?;
        Some(Fetched {
            title: format!("{} {pointer}", table.name),
            text: node.text,
            metadata: json!({
                "table_id": table.id,
                "json_pointer": pointer,
                "truncated": node.truncated,
            }),
        })
    }
}

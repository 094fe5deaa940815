//! Names and codes as a source.

use filters::{SearchRequest, Service};
use model::{Caller, Deadline};
use serde_json::json;

use crate::{Fetched, Folding, FoundIn, Hit, Part, Result, Source};

/// What each dimension is asked for.
const ASKED_OF_EACH: usize = 5;

/// Splits the parts of a key.
const BETWEEN: char = '\u{1f}';

/// The dimensions of a server.
pub struct Dimensions(Service);

impl Dimensions {
    /// Searches the dimensions of a service.
    pub fn new(service: Service) -> Self {
        Dimensions(service)
    }

    fn entry(&self, caller: &Caller, key: &str) -> Option<Fetched> {
        let mut parts = key.split(BETWEEN);
        let (category, value, name) = (parts.next()?, parts.next()?, parts.next()?);
        let result = self
            .look_up(caller, category, name)
            .into_iter()
            .find(|result| result.filter_value == value)?;
        Some(Fetched {
            title: result.name.clone(),
            span: None,
            text: match &result.context {
                Some(context) => format!("{}\n{context}", result.name),
                None => result.name.clone(),
            },
            metadata: json!({
                "category": result.category,
                "filterKey": result.filter_key,
                "filterValue": result.filter_value,
                "details": result.metadata,
            }),
        })
    }

    fn look_up(&self, caller: &Caller, category: &str, query: &str) -> Vec<filters::SearchResult> {
        let mut request = SearchRequest::new(category, query);
        request.limit = Some(ASKED_OF_EACH);
        request.explain = Some(true);
        match self.0.search(caller, &request) {
            Ok(response) => response.results,
            // A query that is too long for a name is no name.
            Err(_) => Vec::new(),
        }
    }
}

impl Source for Dimensions {
    fn name(&self) -> &'static str {
        "filters"
    }

    fn search(&self, caller: &Caller, query: &str, limit: usize, _deadline: &Deadline) -> FoundIn {
        let mut hits: Vec<Hit> = self
            .0
            .categories(caller)
            .iter()
            .flat_map(|category| self.look_up(caller, category, query))
            .map(|result| Hit {
                key: [&result.category, &result.filter_value, &result.name]
                    .map(String::as_str)
                    .join(&BETWEEN.to_string()),
                snippet: match &result.context {
                    Some(context) => format!("{} ({context})", result.name),
                    None => result.name.clone(),
                },
                title: result.name,
                pointer: Some(format!("{}={}", result.filter_key, result.filter_value)),
                score: result.score,
                explanation: json!(result.explanation),
            })
            .collect();
        hits.sort_by_key(|hit| std::cmp::Reverse(hit.score));
        hits.truncate(limit);
        FoundIn { hits, warnings: Vec::new() }
    }

    fn fetch(&self, caller: &Caller, key: &str, part: &Part) -> Result<Option<Fetched>> {
        Ok(self.entry(caller, key).map(|fetched| fetched.cut_to(part, 0)))
    }

    fn folding(&self) -> Folding {
        Folding::Never
    }
}

//! Names and codes as a source.

use filters::{SearchRequest, Service};
use model::{Around, Caller, Deadline};
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
        let (category, value) = (parts.next()?, parts.next()?);
        let reconciliation = filters::Reconciliation::new(self.0.clone());
        let result = reconciliation.entity(caller, &format!("{category}/{value}")).ok()?;
        Some(Fetched {
            title: result.name.clone(),
            around: Around::default(),
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

    /// Gives the best entries of a category, and whether there are others.
    fn look_up(
        &self,
        caller: &Caller,
        category: &str,
        query: &str,
    ) -> (Vec<filters::SearchResult>, bool) {
        let mut request = SearchRequest::new(category, query);
        request.limit = Some(ASKED_OF_EACH);
        request.explain = Some(true);
        match self.0.search(caller, &request) {
            Ok(response) => {
                let n_given = response.results.len();
                let has_others = response.total_matches.is_some_and(|total| total > n_given);
                (response.results, has_others)
            }
            // A query that is too long for a name is no name.
            Err(_) => (Vec::new(), false),
        }
    }
}

impl Source for Dimensions {
    fn name(&self) -> &'static str {
        "filters"
    }

    fn search(&self, caller: &Caller, query: &str, limit: usize, _deadline: &Deadline) -> FoundIn {
        let mut others_by = None;
        let mut results = Vec::new();
        for category in self.0.categories(caller).iter() {
            let (found, has_others) = self.look_up(caller, category, query);
            results.extend(found);
            others_by = others_by.or(has_others.then_some("search_filters"));
        }
        let mut hits: Vec<Hit> = results
            .into_iter()
            .map(|result| Hit {
                thing: format!("{}{BETWEEN}{}", result.category, result.filter_value),
                position: 0,
                snippet: match &result.context {
                    Some(context) => format!("{} ({context})", result.name),
                    None => result.name.clone(),
                },
                title: result.name,
                around: Around::default(),
                pointer: Some(format!("{}={}", result.filter_key, result.filter_value)),
                score: result.score,
                explanation: json!(result.explanation),
            })
            .collect();
        hits.sort_by_key(|hit| std::cmp::Reverse(hit.score));
        hits.truncate(limit);
        FoundIn { hits, others_by, ..FoundIn::default() }
    }

    fn letter(&self) -> char {
        'n'
    }

    fn key(&self, thing: &str, _position: u32) -> String {
        thing.to_owned()
    }

    fn find(&self, caller: &Caller, is_it: &dyn Fn(&str) -> bool) -> Result<Option<String>> {
        let is_value = |category: &str, value: &str| is_it(&format!("{category}{BETWEEN}{value}"));
        let found = self.0.find_value(caller, &is_value);
        Ok(found.map(|(category, value)| format!("{category}{BETWEEN}{value}")))
    }

    fn fetch(&self, caller: &Caller, key: &str, part: &Part) -> Result<Option<Fetched>> {
        Ok(self.entry(caller, key).map(|fetched| fetched.cut_to(part, 0)))
    }

    fn folding(&self) -> Folding {
        Folding::Never
    }
}

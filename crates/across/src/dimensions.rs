//! Names and codes as a source.

use std::time::Instant;

use filters::{MAX_WALKED, SearchRequest, SearchResult, Service};
use model::{Around, Caller, Deadline};
use retrieve::{Given, StageTiming};
use serde_json::json;

use crate::source::in_order;
use crate::{Explanation, Fetched, Folding, Hit, Part, Result, Source, SourceHits};

/// What each dimension gives among the best; a walk gives the others behind them.
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

    /// Gives the best entries of each category, so many of each, and whether there are others.
    fn look_up(&self, caller: &Caller, query: &str, n_of_each: usize) -> (Vec<Hit>, bool) {
        let (mut hits, mut has_others) = (Vec::new(), false);
        for category in self.0.categories(caller).iter() {
            let mut request = SearchRequest::new(category, query);
            request.explain = Some(true);
            // A query that is too long for a name is no name.
            let Ok(found) = self.0.search_to(caller, &request, n_of_each) else { continue };
            let n_given = found.results.len();
            has_others |= found.total_matches.is_some_and(|total| total > n_given);
            hits.extend(found.results.into_iter().map(hit_of));
        }
        (hits, has_others)
    }
}

impl Source for Dimensions {
    fn name(&self) -> &'static str {
        "filters"
    }

    fn search(
        &self,
        caller: &Caller,
        query: &str,
        limit: usize,
        _deadline: &Deadline,
    ) -> SourceHits {
        let begun = Instant::now();
        let (mut hits, has_others) = self.look_up(caller, query, ASKED_OF_EACH);
        hits.sort_by_key(|hit| std::cmp::Reverse(hit.score));
        let has_others = has_others || hits.len() > limit;
        hits.truncate(limit);
        let has_names = !self.0.categories(caller).is_empty();
        let timings = has_names.then(|| StageTiming::since("names", begun)).into_iter().collect();
        SourceHits { hits, has_others, timings, ..SourceHits::default() }
    }

    fn search_in_order(
        &self,
        caller: &Caller,
        query: &str,
        given: &Given,
        limit: usize,
        _deadline: &Deadline,
    ) -> SourceHits {
        let (hits, has_others) = self.look_up(caller, query, MAX_WALKED);
        let name = |hit: &Hit| self.walk_name(&hit.thing, hit.position);
        let others_by = has_others.then_some("search_filters");
        SourceHits { hits: in_order(hits, name, given, limit), others_by, ..SourceHits::default() }
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

fn hit_of(result: SearchResult) -> Hit {
    Hit {
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
        explanation: result.explanation.map(Explanation::Name),
        chance: None,
        same: vec![],
        no_text: None,
    }
}

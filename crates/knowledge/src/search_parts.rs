//! One search over the collections of `search_documents`, in parts where there are many.

use std::collections::BTreeMap;

use model::{Caller, Deadline, DocumentId, NamespaceId, Score, Warning};
use retrieve::{Coverage, FixedOrder, Grouping, Pipeline, Ranked, Request, Response, Scope};
use store::limits::MAX_CANDIDATES;
use store::{Bm25, Filter};

use crate::access::filter;
use crate::metadata::Matching;
use crate::objects::Collection;
use crate::{Result, Service, limits};

/// Hits asked for beyond those wanted, since a document may be deleted meanwhile.
const SPARE_HITS: usize = 10;

/// The figures of the stages.
pub(crate) fn pipeline() -> Pipeline {
    Pipeline {
        bm25: Bm25::KNOWLEDGE,
        n_by_words: 500,
        n_by_vector: 500,
        rrf_k: 60.0,
        rrf_weights: [0.5, 0.5],
        n_lexical: 100,
        model_rerank: true,
        ..Pipeline::default()
    }
}

/// Candidates by vector of a page in a fixed order: the same for all pages of a walk.
const N_BY_VECTOR_IN_ORDER: usize = 2_000;

/// What is asked, wherever it is asked.
#[derive(Clone, Copy)]
pub(crate) struct SearchCall<'a> {
    pub(crate) query: &'a str,
    pub(crate) threshold: f64,
    pub(crate) max_results: usize,
    pub(crate) grouping: Grouping,
    /// The documents to look in; all of them without.
    pub(crate) among: Option<&'a Matching>,
    /// The order of the results; best first without.
    pub(crate) order: Option<&'a FixedOrder<'a>>,
}

impl SearchCall<'_> {
    fn sort(&self, hits: &mut [Ranked]) {
        match self.order {
            Some(order) => {
                hits.sort_by_cached_key(|ranked| order(&ranked.hit.document, &ranked.hit.passage));
            }
            None => hits.sort_by_key(|ranked| std::cmp::Reverse(ranked.hit.score)),
        }
    }

    /// Leaves out what is behind the place up to which all parts were looked at.
    fn cut(&self, response: &mut Response) {
        let (Some(order), Some(looked_to)) = (self.order, response.looked_to) else { return };
        response.hits.retain(|ranked| {
            order(&ranked.hit.document, &ranked.hit.passage).is_some_and(|place| place <= looked_to)
        });
    }
}

/// Documents that one search names; more are searched in parts.
const MAX_NAMED_DOCUMENTS: usize = 1_000;

impl Service {
    /// Searches collections part by part, the nearest first. A score does not depend on what else
    /// was searched, so the parts are merged by it.
    pub(crate) fn search_in_parts(
        &self,
        caller: &Caller,
        collections: &[&Collection],
        asked: SearchCall<'_>,
        deadline: &Deadline,
        warnings: &mut Vec<Warning>,
    ) -> Result<Response> {
        let size = limits::MAX_SEARCHED_COLLECTIONS;
        let (first, rest) = collections.split_at(collections.len().min(size));
        let mut response = self.search_in(caller, first, asked, deadline)?;
        let mut n_left_out = rest.len();
        for part in rest.chunks(size) {
            if deadline.is_over() {
                break;
            }
            let more = self.search_in(caller, part, asked, deadline)?;
            n_left_out -= part.len();
            add(&mut response, more);
        }
        asked.sort(&mut response.hits);
        asked.cut(&mut response);
        if n_left_out > 0 {
            let message = format!(
                "{n_left_out} of {} collections were not searched: the time was over; ask for \
                 fewer results or name the knowledge base",
                collections.len()
            );
            warnings.push(Warning::new("collections_left_out", message));
        }
        Ok(response)
    }

    fn search_in(
        &self,
        caller: &Caller,
        collections: &[&Collection],
        asked: SearchCall<'_>,
        deadline: &Deadline,
    ) -> Result<Response> {
        let mut by_namespace: BTreeMap<NamespaceId, Vec<&Collection>> = BTreeMap::new();
        for collection in collections {
            by_namespace.entry(collection.namespace()).or_default().push(collection);
        }
        // A collection that is being moved may have no passages in its new place yet.
        let states = self.0.store.states(&by_namespace.keys().collect::<Vec<_>>())?;
        let scopes: Vec<(NamespaceId, Vec<&Collection>)> = by_namespace
            .into_iter()
            .zip(states)
            .filter_map(|(scope, state)| state.map(|_| scope))
            .collect();
        let mut pipeline = pipeline();
        if asked.order.is_some() {
            // Everything is put in order, and only the documents of the page are judged.
            pipeline.n_by_words = MAX_CANDIDATES;
            pipeline.n_by_vector = N_BY_VECTOR_IN_ORDER;
        }
        let retrieve = |scopes: &[Scope]| {
            let request = Request {
                query: asked.query,
                scopes,
                limit: asked.max_results + SPARE_HITS,
                offset: 0,
                threshold: Some(Score::new(asked.threshold)),
                grouping: asked.grouping,
                pipeline: &pipeline,
                deadline,
            };
            match asked.order {
                Some(order) => self.0.retriever.search_in_order(&request, order),
                None => self.0.retriever.search(&request),
            }
        };
        let Some(among) = asked.among else {
            let scopes: Vec<Scope> = scopes
                .into_iter()
                .map(|(namespace, collections)| Scope {
                    namespace,
                    filter: filter(caller, &collections),
                })
                .collect();
            return Ok(retrieve(&scopes)?);
        };
        let mut whole: Option<Response> = None;
        for (namespace, collections) in scopes {
            let ids: Vec<DocumentId> = collections
                .iter()
                .filter_map(|collection| among.by_collection.get(&collection.id))
                .flatten()
                .cloned()
                .collect();
            for part in ids.chunks(MAX_NAMED_DOCUMENTS) {
                let rights = filter(caller, &collections);
                let filter = Filter::And(vec![rights, Filter::Documents(part.to_vec())]);
                let scope = Scope { namespace: namespace.clone(), filter };
                let response = retrieve(&[scope])?;
                match &mut whole {
                    Some(whole) => add(whole, response),
                    None => whole = Some(response),
                }
            }
        }
        let mut whole = match whole {
            Some(whole) => whole,
            None => retrieve(&[])?,
        };
        asked.sort(&mut whole.hits);
        asked.cut(&mut whole);
        Ok(whole)
    }
}

/// Adds the answer of another part: scores do not depend on what else was searched.
fn add(response: &mut Response, more: Response) {
    response.hits.extend(more.hits);
    response.total.n += more.total.n;
    response.total.is_exact &= more.total.is_exact;
    response.has_unjudged |= more.has_unjudged;
    response.looked_to = response.looked_to.into_iter().chain(more.looked_to).min();
    // Several parts may be of one namespace.
    response.covered.extend(more.covered);
    response.coverage = Coverage::sum(response.covered.values());
    for warning in more.warnings {
        if !response.warnings.contains(&warning) {
            response.warnings.push(warning);
        }
    }
    for timing in more.timings {
        match response.timings.iter_mut().find(|known| known.stage == timing.stage) {
            // A stage that ran in one part has run.
            Some(known) => {
                known.took += timing.took;
                known.skipped = known.skipped.take().and(timing.skipped);
            }
            None => response.timings.push(timing),
        }
    }
    let best = |below: &retrieve::BestBelow| below.score;
    response.corrected = response.corrected.take().or(more.corrected);
    response.best_below =
        response.best_below.take().into_iter().chain(more.best_below).max_by_key(best);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use retrieve::{StageTiming, Total};

    use super::*;

    fn part(namespace: &str, millis: u64, skipped: Option<&str>) -> Response {
        let covered = Coverage { n_passages: 300, n_vectors: 20 };
        Response {
            hits: vec![],
            total: Total { n: 0, is_exact: true },
            warnings: vec![],
            timings: vec![StageTiming {
                stage: "dense",
                took: Duration::from_millis(millis),
                skipped: skipped.map(str::to_owned),
            }],
            took: Duration::from_millis(millis),
            coverage: covered,
            covered: [(NamespaceId::new(namespace), covered)].into(),
            looked_to: None,
            has_unjudged: false,
            best_below: None,
            corrected: None,
        }
    }

    /// Three hundred collections are searched in two parts: of 300 passages the answer said 600, and
    /// its timings were those of the first part.
    #[test]
    fn what_is_searched_in_parts_counts_once_and_takes_the_time_of_all() {
        let mut whole = part("one", 3, Some("no vectors yet"));
        add(&mut whole, part("one", 4, None));
        assert_eq!(whole.coverage, Coverage { n_passages: 300, n_vectors: 20 });
        assert_eq!((whole.timings.len(), &whole.timings[0].skipped), (1, &None));
        assert_eq!(whole.timings[0].took, Duration::from_millis(7));
        add(&mut whole, part("another", 1, None));
        assert_eq!(whole.coverage, Coverage { n_passages: 600, n_vectors: 40 });
        let mut skipped = part("one", 3, Some("no model"));
        add(&mut skipped, part("one", 4, Some("no model")));
        assert_eq!(skipped.timings[0].skipped.as_deref(), Some("no model"));
    }
}

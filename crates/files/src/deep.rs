//! Pages far down a search, and how many files it finds in all.
//!
//! Behind the first files an order by rank says little and costs much, since every page would judge
//! all files before it. There the order is fixed by the files' names alone ([`Given::place_of`]),
//! and only the files of the page are read.

use std::cell::RefCell;
use std::collections::HashSet;

use model::DocumentId;
use retrieve::{Given, Grouping, Matching, Pipeline, Request, Response, Total};
use store::limits::MAX_CANDIDATES;

use crate::Result;
use crate::search::{PageSearch, SPARE_FOR_DUPLICATES, SearchRequest, Searched, ask, scope_of};

/// Files that are given best first by number; those behind them come in a fixed order.
pub const MAX_BY_RANK: usize = 300;

/// Candidates by vector of every page in the fixed order: as many as the pages before looked at
/// when they were largest, so that the walk is over the same files from its first page to its last.
const N_BY_VECTOR: usize = 2_000;

/// Tells whether a page is in the fixed order.
pub(crate) fn is_deep(request: &SearchRequest) -> bool {
    match &request.after {
        Some(given) => given.is_closed(),
        None => request.offset >= MAX_BY_RANK,
    }
}

/// What the pages before one in the fixed order gave.
pub(crate) struct Before {
    /// How many files.
    pub(crate) n: usize,
    after: Option<Given>,
    by_rank: HashSet<DocumentId>,
    /// The place of the page's first file in the fixed order.
    first_place: Option<u64>,
}

impl Before {
    /// Tells whether a file was given.
    pub(crate) fn holds(&self, path: &str) -> bool {
        match &self.after {
            Some(given) => given.holds(path),
            None => {
                let place = Given::place_of(path);
                self.by_rank.contains(&DocumentId::new(path))
                    || self.first_place.is_some_and(|first| place < first)
            }
        }
    }
}

/// Gives the files of a page in the fixed order, so many more than it needs, and what is before it.
pub(crate) fn page(
    searched: &Searched<'_>,
    page: &PageSearch<'_>,
    spare: usize,
) -> Result<(Response, Before)> {
    let PageSearch { request, query, roots, filters, deadline } = *page;
    let pipeline =
        Pipeline { n_by_words: MAX_CANDIDATES, n_by_vector: N_BY_VECTOR, ..Pipeline::default() };
    let scopes = [scope_of(searched, roots, filters)];
    let mut asked = Request {
        query,
        scopes: &scopes,
        limit: request.k + 1 + spare,
        offset: 0,
        threshold: None,
        grouping: Grouping::Documents,
        pipeline: &pipeline,
        deadline,
    };
    let (mut response, mut before) = if let Some(given) = &request.after {
        let given_before = RefCell::new(HashSet::new());
        let order = |document: &DocumentId| {
            let is_given = given.holds(document.as_str());
            if is_given {
                given_before.borrow_mut().insert(document.clone());
            }
            (!is_given).then(|| Given::place_of(document.as_str()))
        };
        let response = searched.retriever.search_in_order(&asked, &order)?;
        let n = given_before.borrow().len();
        let after = Some(given.clone());
        (response, Before { n, after, by_rank: HashSet::new(), first_place: None })
    } else {
        let k = MAX_BY_RANK - 1 - SPARE_FOR_DUPLICATES;
        let by_rank = SearchRequest { k, offset: 0, ..request.clone() };
        let by_rank = ask(searched, &by_rank, query, roots, filters, deadline)?;
        let by_rank: HashSet<DocumentId> =
            by_rank.hits.into_iter().map(|ranked| ranked.hit.document).collect();
        let order = |document: &DocumentId| {
            (!by_rank.contains(document)).then(|| Given::place_of(document.as_str()))
        };
        asked.offset = request.offset.saturating_sub(by_rank.len());
        let response = searched.retriever.search_in_order(&asked, &order)?;
        (response, Before { n: request.offset, after: None, by_rank, first_place: None })
    };
    let first = response.hits.first();
    before.first_place = first.map(|ranked| Given::place_of(ranked.hit.document.as_str()));
    let is_all = filters.is_empty() && roots.len() == searched.indexer.roots().all().len();
    response.total = total_of(searched, &asked, &response, is_all)?;
    Ok((response, before))
}

/// Counts the files of a search that found more than it looked at: by the index, and where more
/// passages match than one search gives, by what they are of those it gave.
pub(crate) fn total_of(
    searched: &Searched<'_>,
    asked: &Request<'_>,
    response: &Response,
    has_all_files: bool,
) -> Result<Total> {
    let known = response.total;
    // An engine far away would send all of them over the network.
    if known.is_exact || searched.indexer.config().store.is_far() {
        return Ok(known);
    }
    let Matching { documents, n_passages } = searched.retriever.count_by_words(asked)?;
    let mut n_files = documents.n;
    if !documents.is_exact && has_all_files {
        let n_matching = searched.retriever.estimate_by_words(asked)?;
        let per_passage = documents.n as f64 / n_passages.max(1) as f64;
        let counts = searched.indexer.config().store.counts(searched.indexer.namespace())?;
        let estimate = (n_matching as f64 * per_passage).round() as usize;
        n_files = n_files.max(estimate.min(counts.n_documents));
    }
    // Files that are only near by vector may be among those with the words or not.
    let is_exact = documents.is_exact && response.coverage.n_vectors == 0;
    Ok(Total { n: known.n.max(n_files), is_exact })
}

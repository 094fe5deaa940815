//! Pages far down a search, and how many files it finds in all.
//!
//! Behind the first files an order by rank says little and costs much, since every page would judge
//! all files before it. There the order is fixed by the files' names alone ([`Given::place_of`]),
//! and only the files of the page are read.

use std::cell::RefCell;
use std::collections::HashSet;

use model::{DocumentId, PassageId};
use retrieve::{FixedOrder, Given, Grouping, Pipeline, Ranked, Request, Response, Total};
use store::limits::MAX_CANDIDATES;

use crate::Result;
use crate::by_name;
use crate::same::Folding;
use crate::search::{
    PageQuery, SPARE_FOR_DUPLICATES, SearchRequest, Searched, ask, reach, scope_of,
};

/// Files that are given best first by number; those behind them come in a fixed order.
pub const MAX_BY_RANK: usize = 300;

/// Candidates by vector of every page in the fixed order: as many as the pages before looked at
/// when they were largest, so that the walk is over the same files from its first page to its last.
const N_BY_VECTOR: usize = 2_000;

/// Tells whether a page is in the fixed order, as far as its request alone says.
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
    page: &PageQuery<'_>,
    spare: usize,
) -> Result<(Response, Before)> {
    let PageQuery { request, query, roots, filters, deadline } = *page;
    let pipeline =
        Pipeline { n_by_words: MAX_CANDIDATES, n_by_vector: N_BY_VECTOR, ..Pipeline::default() };
    let scopes = [scope_of(searched, roots, filters)];
    let mut ordered = Request {
        query,
        scopes: &scopes,
        limit: request.k + 1 + spare,
        offset: 0,
        threshold: None,
        grouping: Grouping::Documents,
        pipeline: &pipeline,
        deadline,
    };
    let (response, mut before) = if let Some(given) = &request.after {
        let given_before = RefCell::new(HashSet::new());
        let order = |document: &DocumentId, _: &PassageId| {
            let is_given = given.holds(document.as_str());
            if is_given {
                given_before.borrow_mut().insert(document.clone());
            }
            (!is_given).then(|| Given::place_of(document.as_str()))
        };
        let mut response = in_order(searched, &ordered, &order)?;
        by_name::add_in_order(searched, page, ordered.limit, &order, &mut response)?;
        let n = given_before.borrow().len();
        let after = Some(given.clone());
        (response, Before { n, after, by_rank: HashSet::new(), first_place: None })
    } else {
        let k = MAX_BY_RANK - 1 - SPARE_FOR_DUPLICATES;
        let by_rank = SearchRequest { k, offset: 0, ..request.clone() };
        let mut first = ask(searched, &by_rank, query, roots, filters, deadline)?;
        by_name::add_by_rank(searched, page, reach(&by_rank, SPARE_FOR_DUPLICATES), &mut first)?;
        // Numbers count contents as long as files are ranked, and files behind them.
        let ranked: Vec<&Ranked> = first.hits.iter().collect();
        let (indexer, filter) = (searched.indexer, &scopes[0].filter);
        let (is_given, contents) = (&|_: &str| false, RefCell::default());
        let folding = Folding { indexer, filter, deadline, is_given, contents };
        let n_contents = folding.page(&ranked, MAX_BY_RANK)?.places.len();
        let by_rank: HashSet<DocumentId> =
            first.hits.into_iter().map(|ranked| ranked.hit.document).collect();
        let order = |document: &DocumentId, _: &PassageId| {
            (!by_rank.contains(document)).then(|| Given::place_of(document.as_str()))
        };
        let n_over = request.offset.saturating_sub(n_contents);
        let response = match by_name::has_any(searched, page)? {
            // Names are put between the texts, so both begin at the start of the order.
            true => {
                ordered.limit += n_over;
                let mut response = in_order(searched, &ordered, &order)?;
                by_name::add_in_order(searched, page, ordered.limit, &order, &mut response)?;
                response.hits.drain(..n_over.min(response.hits.len()));
                response
            }
            false => {
                ordered.offset = n_over;
                in_order(searched, &ordered, &order)?
            }
        };
        (response, Before { n: request.offset, after: None, by_rank, first_place: None })
    };
    let first = response.hits.first();
    before.first_place = first.map(|ranked| Given::place_of(ranked.hit.document.as_str()));
    Ok((response, before))
}

fn in_order(
    searched: &Searched<'_>,
    request: &Request<'_>,
    order: &FixedOrder<'_>,
) -> Result<Response> {
    let mut response = searched.retriever.search_in_order(request, order)?;
    response.total = total_of(searched, request, &mut response)?;
    Ok(response)
}

/// Counts the files of a search that found more than it looked at, by the index.
pub(crate) fn total_of(
    searched: &Searched<'_>,
    request: &Request<'_>,
    response: &mut Response,
) -> Result<Total> {
    let known = response.total;
    if known.is_exact {
        return Ok(known);
    }
    let Some(counted) = searched.retriever.count_by_words(request)? else { return Ok(known) };
    // Files that are only near by vector may be among those with the words or not.
    let is_exact = counted.is_exact && response.coverage.n_vectors == 0;
    // The page says it as well: a walk goes no further than its candidates.
    response.warnings.extend(retrieve::bounded(Some(counted)));
    Ok(Total { n: known.n.max(counted.n_documents), is_exact })
}

//! One page of what was found: without what the pages before gave, each content once.

use std::cell::RefCell;

use retrieve::{Ranked, Response, Total};

use crate::Result;
use crate::by_name;
use crate::deep::{self, is_deep};
use crate::same::{Folded, Folding};
use crate::search::{
    MAX_WALKED, PageQuery, SPARE_FOR_DUPLICATES, SearchRequest, Searched, rank, reach, scope_of,
};

/// Files that are looked at to tell how many contents there are.
const MAX_COUNTED: usize = 200;

/// What a page takes of the files that were found.
pub(crate) struct Taken {
    pub(crate) folded: Folded,
    pub(crate) offset: usize,
    /// How many contents there are, as far as files were looked at.
    pub(crate) total: Total,
    /// Whether the page is in the fixed order.
    pub(crate) is_deep: bool,
}

/// Finds as many files as a page of different contents needs, and takes the page; `known` is what
/// was found already, when it is of this page.
pub(crate) fn take(
    searched: &Searched<'_>,
    page: &PageQuery<'_>,
    mut known: Option<Response>,
) -> Result<(Response, Taken)> {
    let mut spare = SPARE_FOR_DUPLICATES;
    let mut is_deep = is_deep(page.request);
    loop {
        let (response, mut taken, limit) = match known.take() {
            None if is_deep => {
                let (response, before) = deep::page(searched, page, spare)?;
                let is_given = |path: &str| before.holds(path);
                let fresh: Vec<&Ranked> = response.hits.iter().collect();
                let taken = Taken::of(searched, page, &response, &fresh, &is_given, before.n)?;
                (response, taken, page.request.k + 1 + spare)
            }
            known => {
                let mut response = match known {
                    Some(response) => response,
                    None => rank(searched, page, spare)?,
                };
                let limit = reach(page.request, spare);
                by_name::add_by_rank(searched, page, limit, &mut response)?;
                let taken = Taken::by_rank(searched, page, &response)?;
                (response, taken, limit)
            }
        };
        // All that was found may be the same few contents: then more is looked for.
        let is_full = response.hits.len() >= limit;
        let is_last = spare >= MAX_WALKED || page.deadline.is_over();
        let is_wider = !is_deep && reach(page.request, spare * 4) > limit;
        if taken.folded.has_more || !is_full || is_last || !(is_wider || is_deep) {
            let is_behind_rank = page.request.after.is_none() && taken.folded.places.is_empty();
            if is_behind_rank && is_full && !is_deep && !page.deadline.is_over() {
                // Files of few contents are all that is ranked: the page is behind them.
                (is_deep, spare) = (true, SPARE_FOR_DUPLICATES);
                continue;
            }
            // What is beyond was not looked at.
            taken.folded.has_more |= is_full;
            taken.is_deep = is_deep;
            return Ok((response, taken));
        }
        spare = spare.saturating_mul(4);
    }
}

impl Taken {
    /// Takes a page of files that were ranked from the first on. A number counts contents: those
    /// before it are folded as they were on their own pages.
    fn by_rank(searched: &Searched<'_>, page: &PageQuery<'_>, response: &Response) -> Result<Self> {
        let PageQuery { request, .. } = *page;
        let Some(after) = &request.after else {
            let all: Vec<&Ranked> = response.hits.iter().collect();
            let limit = request.offset.saturating_add(request.k);
            let whole =
                PageQuery { request: &SearchRequest { k: limit, ..request.clone() }, ..*page };
            let mut taken =
                Taken::of(searched, &whole, response, &all, &|_| false, request.offset)?;
            let places = &mut taken.folded.places;
            places.drain(..request.offset.min(places.len()));
            places.iter_mut().enumerate().for_each(|(place_idx, place)| place.rank = place_idx);
            taken.folded.n_taken = places.len();
            return Ok(taken);
        };
        let is_given = |path: &str| after.holds(path);
        let fresh: Vec<&Ranked> =
            response.hits.iter().filter(|one| !is_given(one.hit.document.as_str())).collect();
        Taken::of(searched, page, response, &fresh, &is_given, after.n_named())
    }

    fn of(
        searched: &Searched<'_>,
        page: &PageQuery<'_>,
        response: &Response,
        fresh: &[&Ranked],
        is_given: &dyn Fn(&str) -> bool,
        offset: usize,
    ) -> Result<Self> {
        let scope = scope_of(searched, page.roots, page.filters);
        let (indexer, deadline) = (searched.indexer, page.deadline);
        let contents = RefCell::default();
        let folding = Folding { indexer, filter: &scope.filter, deadline, is_given, contents };
        let folded = folding.page(fresh, page.request.k)?;
        // Copies are counted once, as far as files were looked at.
        let n_found = response.hits.len();
        let looked_at = response.hits.get(..n_found.min(MAX_COUNTED)).unwrap_or_default();
        let n_contents = folding.n_contents(looked_at)?;
        let is_all = looked_at.len() >= response.total.n;
        let share = n_contents as f64 / looked_at.len().max(1) as f64;
        let n = match looked_at.is_empty() {
            true => response.total.n,
            false => (response.total.n as f64 * share).round() as usize,
        };
        let total = Total { n, is_exact: response.total.is_exact && is_all };
        Ok(Taken { folded, offset, total, is_deep: false })
    }
}

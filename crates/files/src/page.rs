//! One page of what was found: without what the pages before gave, each content once.

use std::collections::HashSet;

use retrieve::{Given, Ranked, Response, Total};

use crate::Result;
use crate::deep::{self, is_deep};
use crate::same::{Folded, Folding};
use crate::search::{
    MAX_WALKED, PageSearch, SPARE_FOR_DUPLICATES, Searched, rank, reach, scope_of,
};

/// Files that are looked at to tell how many contents there are.
const MAX_COUNTED: usize = 200;

/// What a page takes of the files that were found.
pub(crate) struct Taken {
    pub(crate) folded: Folded,
    pub(crate) offset: usize,
    /// How many contents there are, as far as files were looked at.
    pub(crate) total: Total,
}

/// Finds as many files as a page of different contents needs, and takes the page; `known` is what
/// was found already, when it is of this page.
pub(crate) fn take(
    searched: &Searched<'_>,
    asked: &PageSearch<'_>,
    mut known: Option<Response>,
) -> Result<(Response, Taken)> {
    let mut spare = SPARE_FOR_DUPLICATES;
    loop {
        let (response, mut taken, limit) = match known.take() {
            None if is_deep(asked.request) => {
                let (response, before) = deep::page(searched, asked, spare)?;
                let is_given = |path: &str| before.holds(path);
                let fresh: Vec<&Ranked> = response.hits.iter().collect();
                let taken = Taken::of(searched, asked, &response, &fresh, &is_given, before.n)?;
                (response, taken, asked.request.k + 1 + spare)
            }
            known => {
                let response = match known {
                    Some(response) => response,
                    None => rank(searched, asked, spare)?,
                };
                let taken = Taken::by_rank(searched, asked, &response)?;
                (response, taken, reach(asked.request, spare))
            }
        };
        // All that was found may be the same few contents: then more is looked for.
        let is_full = response.hits.len() >= limit;
        let is_last = spare >= MAX_WALKED || asked.deadline.is_over();
        let is_wider = !is_deep(asked.request) && reach(asked.request, spare * 4) > limit;
        if taken.folded.has_more || !is_full || is_last || !(is_wider || is_deep(asked.request)) {
            // What is beyond was not looked at.
            taken.folded.has_more |= is_full;
            return Ok((response, taken));
        }
        spare = spare.saturating_mul(4);
    }
}

impl Taken {
    /// Takes a page of files that were ranked from the first on.
    fn by_rank(
        searched: &Searched<'_>,
        asked: &PageSearch<'_>,
        response: &Response,
    ) -> Result<Self> {
        let after = asked.request.after.as_ref();
        // A walk by numbers passes over the files before it, and over what says the same as they.
        let n_before =
            if after.is_some() { 0 } else { asked.request.offset.min(response.hits.len()) };
        let (before, fresh) = response.hits.split_at(n_before);
        let before: HashSet<&str> = before.iter().map(|one| one.hit.document.as_str()).collect();
        let is_given =
            |path: &str| before.contains(path) || after.is_some_and(|given| given.holds(path));
        let fresh: Vec<&Ranked> =
            fresh.iter().filter(|one| !is_given(one.hit.document.as_str())).collect();
        let offset = after.map_or(asked.request.offset, Given::n_named);
        Taken::of(searched, asked, response, &fresh, &is_given, offset)
    }

    fn of(
        searched: &Searched<'_>,
        asked: &PageSearch<'_>,
        response: &Response,
        fresh: &[&Ranked],
        is_given: &dyn Fn(&str) -> bool,
        offset: usize,
    ) -> Result<Self> {
        let scope = scope_of(searched, asked.roots, asked.filters);
        let (indexer, deadline) = (searched.indexer, asked.deadline);
        let folding = Folding { indexer, filter: &scope.filter, deadline, is_given };
        let folded = folding.page(fresh, asked.request.k)?;
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
        Ok(Taken { folded, offset, total })
    }
}

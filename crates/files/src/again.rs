//! A search with filters that found nothing: what emptied it, the words or the filters?
//!
//! The same words without the filters tell. Words that are in the index are right, and it is the
//! filters that leave nothing; words that are nowhere are mended by the words of the whole index,
//! and looked for behind the same filters. Filters that were only read out of the query give way
//! where they leave nothing; filters that were given stay. Whatever was done is said.

use model::{Deadline, Warning};
use retrieve::Response;

use crate::Result;
use crate::search::{Filters, SearchRequest, Searched, ask};

/// What a search is made again with.
pub(crate) struct Again<'a> {
    pub(crate) searched: &'a Searched<'a>,
    pub(crate) request: &'a SearchRequest,
    /// The words of the query without those that were read as filters.
    pub(crate) query: &'a str,
    pub(crate) roots: &'a [String],
    pub(crate) deadline: &'a Deadline,
}

impl Again<'_> {
    /// Gives the better answer and the filters that it is behind.
    pub(crate) fn search(
        &self,
        response: Response,
        filters: Filters,
        warnings: &mut Vec<Warning>,
    ) -> Result<(Response, Filters)> {
        let open = self.ask(self.query, &Filters::default())?;
        // With a mended spelling the filters may have something to let through after all.
        let (mut response, query) = match &open.corrected {
            Some(corrected) if response.corrected.as_ref() != Some(corrected) => {
                let mended = self.ask(corrected, &filters)?;
                if mended.hits.is_empty() && !response.hits.is_empty() {
                    return Ok((response, filters));
                }
                let noted =
                    open.warnings.iter().filter(|one| one.code == retrieve::QUERY_CORRECTED);
                warnings.extend(noted.cloned());
                (mended, corrected.as_str())
            }
            Some(corrected) => (response, corrected.as_str()),
            None => (response, self.query),
        };
        let is_right = !open.hits.is_empty() && open.corrected.is_none();
        if !response.hits.is_empty() && !is_right {
            return Ok((response, filters));
        }
        let relaxed = self.without_said(&filters);
        if relaxed != filters {
            // The words that were read as filters are words again; a mended query has none of them.
            let query = if query == self.query { self.request.query.as_str() } else { query };
            let wider = self.ask(query, &relaxed)?;
            if !wider.hits.is_empty() {
                // Words that were read as filters must not hide what was asked for.
                warnings.push(Warning::new("filters_relaxed", relaxed_note(&filters, &relaxed)));
                return Ok((wider, relaxed));
            }
        }
        if !open.hits.is_empty() {
            // The words are in the index: it is the filters that leave nothing.
            response.hits.clear();
            response.warnings.retain(|warning| warning.code != retrieve::QUERY_CORRECTED);
            response.total = retrieve::Total { n: 0, is_exact: true };
            let message = format!(
                "the words are in files that do not pass the filters ({}), and in none that does: \
                 leave a filter out, or widen it",
                named(&filters)
            );
            warnings.push(Warning::new("filtered_out", message));
        }
        Ok((response, filters))
    }

    fn ask(&self, query: &str, filters: &Filters) -> Result<Response> {
        ask(self.searched, self.request, query, self.roots, filters, self.deadline)
    }

    /// Leaves out what was only read out of the words of the query.
    fn without_said(&self, filters: &Filters) -> Filters {
        let asked = |was_given: bool, values: &[String]| {
            if was_given { values.to_vec() } else { Vec::new() }
        };
        Filters {
            exts: asked(self.request.exts.is_some(), &filters.exts),
            years: asked(self.request.years.is_some(), &filters.years),
        }
    }
}

fn relaxed_note(filters: &Filters, relaxed: &Filters) -> String {
    let is_left = |before: &[String], after: &[String]| match before == after {
        true => Vec::new(),
        false => before.to_vec(),
    };
    let left_out = Filters {
        exts: is_left(&filters.exts, &relaxed.exts),
        years: is_left(&filters.years, &relaxed.years),
    };
    format!(
        "no file that passes what the query was understood to filter by ({}) has the words: the \
         search was made without it; give `years` or `exts` to filter all the same",
        named(&left_out)
    )
}

fn named(filters: &Filters) -> String {
    let mut names = Vec::new();
    if !filters.years.is_empty() {
        names.push(format!("years {}", filters.years.join(", ")));
    }
    if !filters.exts.is_empty() {
        names.push(format!("formats {}", filters.exts.join(", ")));
    }
    names.join("; ")
}

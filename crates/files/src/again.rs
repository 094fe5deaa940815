//! A search with filters that found nothing: what emptied it, the words or the filters?
//!
//! The same words without the filters tell. Words that are in the index are right, and it is the
//! filters that leave nothing; words that are nowhere are mended by the words of the whole index,
//! and looked for behind the same filters. Filters that were only read out of the query give way
//! where they leave nothing, or nothing that is about the words; filters that were given stay.
//! Whatever was done is said.

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

/// What a search was made with in the end.
pub(crate) struct Decided {
    pub(crate) response: Response,
    pub(crate) query: String,
    pub(crate) filters: Filters,
}

/// A best score below this says that nothing that passes the filters is about the words.
const POOR: f64 = 0.3;

/// How much better the best score must be for filters that were only said to give way.
const CLEARLY_BETTER: f64 = 0.3;

/// Tells whether filters that were read out of the words may have hidden what was asked for.
pub(crate) fn is_in_doubt(response: &Response) -> bool {
    response.corrected.is_some() || best(response) < POOR
}

/// Gives the best score; zero where nothing was found.
fn best(response: &Response) -> f64 {
    response.hits.first().map_or(0.0, |ranked| ranked.hit.score.rounded())
}

impl Again<'_> {
    /// Gives the better answer and the filters that it is behind.
    pub(crate) fn search(
        &self,
        response: Response,
        filters: Filters,
        warnings: &mut Vec<Warning>,
    ) -> Result<Decided> {
        let is_found = !response.hits.is_empty() && response.corrected.is_none();
        if is_found && self.relaxed(&filters).is_empty() {
            return Ok(Decided { response, query: self.query.to_owned(), filters });
        }
        let open = self.ask(self.query, &Filters::default())?;
        if is_found {
            return self.wider_where_better(response, filters, &open, warnings);
        }
        // With a mended spelling the filters may have something to let through after all.
        let (mut response, query) = match &open.corrected {
            Some(corrected) if response.corrected.as_ref() != Some(corrected) => {
                let mended = self.ask(corrected, &filters)?;
                if mended.hits.is_empty() && !response.hits.is_empty() {
                    return Ok(Decided { response, query: self.query.to_owned(), filters });
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
            return Ok(Decided { response, query: query.to_owned(), filters });
        }
        // The words that were read as filters are words again; a mended query has none of them.
        let words = if query == self.query { self.request.query.as_str() } else { query };
        for relaxed in self.relaxed(&filters) {
            let wider = self.ask(words, &relaxed)?;
            if !wider.hits.is_empty() {
                // Words that were read as filters must not hide what was asked for.
                warnings.push(Warning::new("filters_relaxed", relaxed_note(&filters, &relaxed)));
                return Ok(Decided { response: wider, query: words.to_owned(), filters: relaxed });
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
        Ok(Decided { response, query: query.to_owned(), filters })
    }

    /// Something passes the filters that has next to nothing to do with the words, as vectors
    /// always find something: filters that were only read out of the query give way where what
    /// they hide is about the words.
    fn wider_where_better(
        &self,
        response: Response,
        filters: Filters,
        open: &Response,
        warnings: &mut Vec<Warning>,
    ) -> Result<Decided> {
        let is_better = |wider: &Response| best(wider) >= best(&response) + CLEARLY_BETTER;
        if is_better(open) {
            for relaxed in self.relaxed(&filters) {
                let wider = self.ask(&self.request.query, &relaxed)?;
                if is_better(&wider) {
                    let note = relaxed_note(&filters, &relaxed);
                    warnings.push(Warning::new("filters_relaxed", note));
                    let query = self.request.query.clone();
                    return Ok(Decided { response: wider, query, filters: relaxed });
                }
            }
        }
        Ok(Decided { response, query: self.query.to_owned(), filters })
    }

    fn ask(&self, query: &str, filters: &Filters) -> Result<Response> {
        ask(self.searched, self.request, query, self.roots, filters, self.deadline)
    }

    /// Leaves out what was only read out of the words of the query: as little as possible first. A
    /// year is oftener part of a name than a format is, so it goes before.
    fn relaxed(&self, filters: &Filters) -> Vec<Filters> {
        let no_years = (self.request.years.is_none() && !filters.years.is_empty())
            .then(|| Filters { years: Vec::new(), ..filters.clone() });
        let no_exts = (self.request.exts.is_none() && !filters.exts.is_empty())
            .then(|| Filters { exts: Vec::new(), ..filters.clone() });
        let neither = (no_years.is_some() && no_exts.is_some()).then(Filters::default);
        no_years.into_iter().chain(no_exts).chain(neither).collect()
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
        "no file that passes what the query was understood to filter by ({}) answers it: the \
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

//! A search with filters: do they hide what was asked for, and what emptied it, the words or the
//! filters?
//!
//! The same words without the filters tell. Words that are in the index are right, and it is the
//! filters that leave nothing; words that are nowhere are mended by the words of the whole index,
//! and looked for behind the same filters. Filters that were only read out of the query give way
//! where they leave nothing, or hide a file that answers the query better than all they leave:
//! "formulas in excel" may ask for spreadsheets or about them. Of years and formats those go that
//! hide the best answer to the query's own words. A bound of years ("before 2022") names
//! the very year that is not wanted: it gives way only to a file that says it in these words.
//! Filters that were given stay.
//! Whatever was done is said.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use model::{AttributeValue, Deadline, DocumentId, Warning};
use retrieve::{Ranked, Response};
use store::DocumentInfo;

use crate::Result;
use crate::filters::Filters;
use crate::index::attribute;
use crate::search::{SearchRequest, Searched, ask};
use crate::searched_roots::SearchedRoots;
use crate::walk::ext_of;
use crate::years::shown;

/// What a search is made again with.
pub(crate) struct Again<'a> {
    pub(crate) searched: &'a Searched<'a>,
    pub(crate) request: &'a SearchRequest,
    /// The words of the query without those that were read as filters.
    pub(crate) query: &'a str,
    /// The words of the query that bound years to one side, where years were read out of it.
    pub(crate) bounds: Vec<String>,
    pub(crate) roots: &'a SearchedRoots,
    pub(crate) deadline: &'a Deadline,
}

/// What a search was made with in the end.
pub(crate) struct Decided {
    pub(crate) response: Response,
    pub(crate) query: String,
    pub(crate) filters: Filters,
}

/// The code of the warning that the words are in files that do not pass the filters alone.
pub(crate) const FILTERED_OUT: &str = "filtered_out";

/// How much better a hidden file must answer the whole query than the best that passes the filters
/// answers what is left of it. Less is chance: the two are scores of different words.
const BETTER: f64 = 0.05;

/// How much better a hidden file must answer the whole query than the best that passes the filters
/// answers the whole query. What is left of a short query is soon answered in full.
const CLEARLY_BETTER: f64 = 0.3;

/// How much better a hidden file must answer the query's own words where one that passes answers the
/// whole query as well.
const OWN_BETTER: f64 = 0.1;

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
        if is_found {
            return self.wider_where_better(response, filters, warnings);
        }
        let open = self.ask(self.query, &Filters::default())?;
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
        // The words that were read as filters are words again; a mended query has none of them, and
        // a bound that no file says would find the year that it leaves out.
        let whole = self.request.query.as_str();
        let is_whole = query == self.query
            && (self.bounds.is_empty()
                || self.is_bound_said(&self.ask(whole, &Filters::default())?));
        let words = if is_whole { whole } else { query };
        if let Some((relaxed, wider, words)) =
            self.widest_answer(&self.relaxed(&filters), query, words)?
        {
            // Words that were read as filters must not hide what was asked for.
            warnings.push(Warning::new("filters_relaxed", relaxed_note(&filters, &relaxed)));
            return Ok(Decided { response: wider, query: words, filters: relaxed });
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
            warnings.push(Warning::new(FILTERED_OUT, message));
        }
        Ok(Decided { response, query: query.to_owned(), filters })
    }

    /// Something passes the filters: those that were only read out of the query give way where
    /// they hide what answers the query better.
    fn wider_where_better(
        &self,
        response: Response,
        filters: Filters,
        warnings: &mut Vec<Warning>,
    ) -> Result<Decided> {
        // A kind that is not wanted can only be meant as a filter.
        let is_certain = !filters.without_exts.is_empty();
        let all_relaxed = if is_certain { Vec::new() } else { self.relaxed(&filters) };
        let words = self.request.query.as_str();
        if let Some(widest) = all_relaxed.last() {
            let open = self.ask(words, widest)?;
            if self.hides_better(&response, &filters, &open)? {
                let mut better = Vec::new();
                for relaxed in &all_relaxed {
                    let is_better = relaxed == widest
                        || self.hides_better(&response, &filters, &self.ask(words, relaxed)?)?;
                    better.extend(is_better.then(|| relaxed.clone()));
                }
                if let Some((relaxed, wider, query)) =
                    self.widest_answer(&better, self.query, words)?
                {
                    let note = relaxed_note(&filters, &relaxed);
                    warnings.push(Warning::new("filters_relaxed", note));
                    return Ok(Decided { response: wider, query, filters: relaxed });
                }
            }
        }
        Ok(Decided { response, query: self.query.to_owned(), filters })
    }

    /// Gives the filters to search behind, the answer and its words: the first of some filters, of
    /// which none leaves a clearly better answer to the query's own words. Words that were read as
    /// filters find files by their names ("in html"), and so must not choose.
    fn widest_answer(
        &self,
        all_relaxed: &[Filters],
        own_words: &str,
        words: &str,
    ) -> Result<Option<(Filters, Response, String)>> {
        let mut by_own = Vec::new();
        for relaxed in all_relaxed {
            let own = self.ask(own_words, relaxed)?;
            // With other words than these it says nothing.
            let score = if own.corrected.is_none() { best(&own) } else { 0.0 };
            by_own.push((score, relaxed, own));
        }
        let best_score = by_own.iter().map(|(score, ..)| *score).fold(0.0, f64::max);
        for (score, relaxed, own) in by_own {
            if score + BETTER < best_score {
                continue;
            }
            let wider = self.ask(words, relaxed)?;
            if score > 0.0 && hides_own(&wider, &own) {
                return Ok(Some((relaxed.clone(), own, own_words.to_owned())));
            }
            if !wider.hits.is_empty() {
                return Ok(Some((relaxed.clone(), wider, words.to_owned())));
            }
        }
        Ok(None)
    }

    /// Tells whether a wider search for the whole query has a file that the filters hide, and that
    /// answers it better than what passes them.
    fn hides_better(&self, inside: &Response, filters: &Filters, wider: &Response) -> Result<bool> {
        let (outside_best, inside_best) = self.bests(inside, filters, wider)?;
        let Some(outside_best) = outside_best else { return Ok(false) };
        // One that is not among those looked at is no better than the last of them.
        let last = wider.hits.last().map_or(0.0, |ranked| ranked.hit.score.rounded());
        let inside_best = inside_best.unwrap_or(last);
        if outside_best >= inside_best + CLEARLY_BETTER {
            return Ok(true);
        }
        if outside_best < best(inside) + BETTER {
            return Ok(false);
        }
        if outside_best >= inside_best + BETTER {
            return Ok(true);
        }
        // What passes answers the whole query as well, and may do so by its name alone ("in csv"):
        // the query's own words tell.
        let own = self.ask(self.query, &self.relaxed(filters).pop().unwrap_or_default())?;
        let (outside_best, _) = self.bests(inside, filters, &own)?;
        Ok(outside_best.is_some_and(|outside_best| outside_best >= best(inside) + OWN_BETTER))
    }

    /// Gives the best score of a file that the filters hide, and of one that passes them.
    fn bests(
        &self,
        inside: &Response,
        filters: &Filters,
        wider: &Response,
    ) -> Result<(Option<f64>, Option<f64>)> {
        let known: HashSet<&DocumentId> =
            inside.hits.iter().map(|ranked| &ranked.hit.document).collect();
        let others = wider.hits.iter().map(|ranked| &ranked.hit.document);
        let years = self.years_of(others.filter(|one| !known.contains(one)), filters)?;
        let passes_years = |document: &DocumentId| {
            filters.years.is_empty()
                || years
                    .get(document)
                    .is_some_and(|years| years.iter().any(|year| filters.years.contains(year)))
        };
        let (mut outside_best, mut inside_best) = (None, None);
        for ranked in &wider.hits {
            let (document, score) = (&ranked.hit.document, ranked.hit.score.rounded());
            let is_of_kind = is_of_kind(document, filters);
            let passes = known.contains(document) || (is_of_kind && passes_years(document));
            if !passes && !self.may_hide(ranked, is_of_kind) {
                continue;
            }
            let place = if passes { &mut inside_best } else { &mut outside_best };
            place.get_or_insert(score);
            if outside_best.is_some() && inside_best.is_some() {
                break;
            }
        }
        Ok((outside_best, inside_best))
    }

    /// Tells whether a file that does not pass may be what was asked for. One that only years hide
    /// must say their bound in its words, since it is found by the year that is not wanted.
    fn may_hide(&self, ranked: &Ranked, is_of_kind: bool) -> bool {
        self.bounds.is_empty() || !is_of_kind || self.says_bound(ranked)
    }

    fn is_bound_said(&self, response: &Response) -> bool {
        response.hits.iter().any(|ranked| self.says_bound(ranked))
    }

    /// Tells whether a file has a bound of years in its name or in what was found.
    fn says_bound(&self, ranked: &Ranked) -> bool {
        let text = format!("{} {}", ranked.hit.document, ranked.passage.passage.text);
        let said = plain(&text);
        // `< 2022` is in signs: without them it is the very year that is not wanted.
        let in_signs = || text.split_whitespace().collect::<String>();
        self.bounds.iter().any(|bound| match bound.contains(char::is_alphabetic) {
            true => said.contains(&plain(bound)),
            false => in_signs().contains(&bound.split_whitespace().collect::<String>()),
        })
    }

    /// Gives the years of files by one question, where the filters ask for years.
    fn years_of<'d>(
        &self,
        documents: impl Iterator<Item = &'d DocumentId>,
        filters: &Filters,
    ) -> Result<HashMap<DocumentId, Vec<String>>> {
        if filters.years.is_empty() {
            return Ok(HashMap::new());
        }
        let documents: Vec<DocumentId> =
            documents.filter(|document| is_of_kind(document, filters)).cloned().collect();
        let indexer = self.searched.indexer;
        let found = indexer.config().store.documents_by_id(indexer.namespace(), &documents)?;
        let years = |mut info: DocumentInfo| {
            let years = match info.attributes.remove(attribute::YEARS) {
                Some(AttributeValue::Keyword(year)) => vec![year],
                Some(AttributeValue::Keywords(years)) => years,
                Some(AttributeValue::Integer(_)) | None => vec![],
            };
            (info.id, years)
        };
        Ok(found.into_iter().flatten().map(years).collect())
    }

    fn ask(&self, query: &str, filters: &Filters) -> Result<Response> {
        ask(self.searched, self.request, query, self.roots, filters, self.deadline)
    }

    /// Leaves out what was only read out of the words of the query: as little as possible first. A
    /// year is oftener part of a name than a format is, so it goes before.
    fn relaxed(&self, filters: &Filters) -> Vec<Filters> {
        let no_years = (self.request.years.is_none() && !filters.years.is_empty())
            .then(|| Filters { years: Vec::new(), ..filters.clone() });
        let no_exts =
            (self.request.exts.is_none() && filters.has_exts()).then(|| filters.of_any_kind());
        let neither = (no_years.is_some() && no_exts.is_some()).then(Filters::default);
        no_years.into_iter().chain(no_exts).chain(neither).collect()
    }
}

/// Tells whether the whole query puts a file that its own words do not find before one that they
/// find: words that were read as filters are in the names of files, and in nothing that was meant.
fn hides_own(whole: &Response, own: &Response) -> bool {
    let found: HashSet<&DocumentId> = own.hits.iter().map(|ranked| &ranked.hit.document).collect();
    let mut is_found = whole.hits.iter().map(|ranked| found.contains(&ranked.hit.document));
    if own.hits.len() < own.total.n || !own.total.is_exact {
        // Its own words find others too: the first alone tells.
        return !is_found.next().unwrap_or(false);
    }
    // The second look goes on behind the first file that is not found.
    let has_other = is_found.by_ref().any(|is_found| !is_found);
    whole.hits.is_empty() || has_other && is_found.any(|is_found| is_found)
}

/// Tells whether a file is of a kind that the filters want, whatever its years.
fn is_of_kind(document: &DocumentId, filters: &Filters) -> bool {
    let ext = ext_of(Path::new(document.as_str()));
    (filters.exts.is_empty() || filters.exts.contains(&ext)) && !filters.without_exts.contains(&ext)
}

/// Writes words as they are compared: folded, and with one space between them.
fn plain(text: &str) -> String {
    let folded = text::fold(text);
    let words = folded.split(|char: char| !char.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    format!(" {}", words.join(" "))
}

fn relaxed_note(filters: &Filters, relaxed: &Filters) -> String {
    let left_out = |before: &[String], after: &[String]| match before == after {
        true => Vec::new(),
        false => before.to_vec(),
    };
    let left_out = Filters {
        exts: left_out(&filters.exts, &relaxed.exts),
        without_exts: left_out(&filters.without_exts, &relaxed.without_exts),
        years: left_out(&filters.years, &relaxed.years),
    };
    format!(
        "no file that passes what the query was understood to filter by ({}) answers it as well as \
         others do: the search was made without it; give `years` or `exts` to filter all the same",
        named(&left_out)
    )
}

fn named(filters: &Filters) -> String {
    let mut names = Vec::new();
    if !filters.years.is_empty() {
        names.push(format!("years {}", shown(&filters.years).join(", ")));
    }
    if filters.has_exts() {
        names.push(format!("formats {}", filters.shown_exts().join(", ")));
    }
    names.join("; ")
}

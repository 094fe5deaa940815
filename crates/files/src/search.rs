//! Search over the roots that a caller may use, with filters out of the words of the query.

use std::path::Path;

use ingest::JobQueue;
use model::{Around, Caller, Clock, Deadline, Explanation, Timestamp, Warning, iso_seconds};
use retrieve::{Coverage, Given, Grouping, Pipeline, Request, Retriever, Scope, StageTiming};
use serde::Serialize;
use store::Filter;
use store::limits::MAX_CANDIDATES;
use text::query_filters;

use crate::again::{Again, FILTERED_OUT};
use crate::by_name;
use crate::deep::{MAX_BY_RANK, is_deep, total_of};
use crate::filters::{Filters, WITHOUT};
use crate::first_index::first_index;
use crate::hooks::LINES;
use crate::lines::Lines;
use crate::page::take;
use crate::pointers::exact_pointers;
use crate::same::{Folded, Places};
use crate::searched_roots::SearchedRoots;
use crate::walk::ext_of;
use crate::whole_text::WholeText;
use crate::years::{YEARS, range_of, shown};
use crate::{Error, Indexer, Result};

/// The most results in one page.
pub const MAX_RESULTS: usize = 100;

/// Files that are ranked at most; a walk goes no further.
pub const MAX_WALKED: usize = 10_000;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    /// Natural language, or the query syntax.
    pub query: String,
    /// How many results.
    pub k: usize,
    /// How many to pass over first; not looked at when `after` is given.
    pub offset: usize,
    /// The files that the pages before gave; the next page is what is best now without them, or
    /// in a fixed order once so many were given that they cannot be named.
    pub after: Option<Given>,
    /// Extensions to keep; wins over the words of the query.
    pub exts: Option<Vec<String>>,
    /// Years to keep; wins over the words of the query.
    pub years: Option<Vec<String>>,
    /// Roots to search, or folders inside them; all that the caller may use when absent.
    pub roots: Option<Vec<String>>,
}

/// Extensions are shorter than this; `.numbers-template` is among the longest in use.
const MAX_EXT_CHARS: usize = 32;

impl SearchRequest {
    /// Refuses what no file could pass, whoever asks: a query that says nothing, years that the
    /// index never holds, extensions that are none.
    fn check(&self) -> Result<()> {
        let refuse = |argument: &'static str, received: &str, problem: String| {
            let received = received.chars().take(100).collect();
            Err(Error::BadArgument { argument, received, problem })
        };
        if text::is_blank(&self.query) {
            let problem = "must say what to look for".to_owned();
            return refuse("query", &self.query, problem);
        }
        for year in self.years.iter().flatten() {
            if range_of(year).is_none() {
                let (first, last) = (YEARS.start(), YEARS.end());
                let problem = format!(
                    "takes years of four digits, `{first}` to `{last}`, and ranges such as \
                     `2019-2021`"
                );
                return refuse("years", year, problem);
            }
        }
        for ext in self.exts.iter().flatten() {
            let ext_alone = ext.trim();
            let ext_alone = ext_alone.strip_prefix(WITHOUT).unwrap_or(ext_alone);
            let bare = ext_alone.trim_start_matches(['*', '.']);
            let is_ext = |char: char| char.is_alphanumeric() || "_-+.~".contains(char);
            if bare.is_empty() || bare.chars().count() > MAX_EXT_CHARS || !bare.chars().all(is_ext)
            {
                let problem =
                    "takes extensions, such as `.pptx`, or `-.pptx` to leave one out".to_owned();
                return refuse("exts", ext, problem);
            }
        }
        Ok(())
    }
}

/// One file that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileHit {
    /// Resolved, as [`crate::Service`] opens it.
    pub path: String,
    /// Where in it.
    pub pointer: String,
    /// The text around the place, unredacted.
    pub snippet: String,
    /// Calibrated relevance.
    pub score: f64,
    /// The extension.
    pub ext: String,
    /// When the file was changed last, as the index knows it.
    pub modified: String,
    /// Other files with the same content that the caller may see and that pass the filters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub duplicates: Vec<String>,
    /// Why there is no text of it, where it was found by its name alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_text: Option<String>,
    /// The position among the files that this page was taken from, from 0.
    #[serde(skip)]
    pub rank: usize,
    /// Where the line begins to say what was asked for, in characters of the file's text.
    #[serde(skip)]
    pub char_start: usize,
    /// Why it was found.
    #[serde(skip)]
    pub explanation: Explanation,
    /// What the file says around the snippet; it is looked at and never leaves.
    #[serde(skip)]
    pub around: Around,
}

/// Which part of the results is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Pagination {
    /// How many were passed over.
    pub offset: usize,
    /// How many are given.
    pub returned: usize,
    /// How many files these stand for: themselves and their duplicates.
    #[serde(skip)]
    pub taken: usize,
    /// How many there are.
    pub total_estimate: usize,
    /// Whether that number is exact.
    pub total_is_exact: bool,
    /// Whether more files follow this page.
    #[serde(skip)]
    pub has_more: bool,
    /// Whether the page is behind the files that are given best first.
    #[serde(skip)]
    pub is_in_fixed_order: bool,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResults {
    /// Files, best first.
    pub items: Vec<FileHit>,
    /// Which part of the results this is.
    pub pagination: Pagination,
    /// The filters that were applied: extensions.
    pub exts: Vec<String>,
    /// The filters that were applied: years.
    pub years: Vec<String>,
    /// What was skipped, cut or is missing.
    pub warnings: Vec<Warning>,
    /// What part can be found by vector.
    pub coverage: Coverage,
    /// What each stage took, in order.
    pub timings: Vec<StageTiming>,
}

/// What a search works with.
pub(crate) struct Searched<'a> {
    pub(crate) indexer: &'a Indexer,
    pub(crate) retriever: &'a Retriever,
    pub(crate) queue: &'a JobQueue,
    pub(crate) clock: &'a Clock,
}

/// Answers a search.
pub(crate) fn search(
    searched: &Searched<'_>,
    caller: &Caller,
    request: &SearchRequest,
    deadline: &Deadline,
) -> Result<SearchResults> {
    let Searched { indexer, retriever: _, queue, clock } = *searched;
    request.check()?;
    let roots = SearchedRoots::of(indexer, caller, request.roots.as_deref())?;
    let said = query_filters(&request.query, clock);
    let mut filters = Filters::of(request, &said);
    // A query that says nothing but filters still asks for the files that pass them.
    let query = if said.text.trim().is_empty() { request.query.as_str() } else { &said.text };
    let mut warnings = Vec::new();
    let mut decided_query = query.to_owned();
    let mut decided = None;
    if !filters.is_empty() {
        // What the first page decides about filters holds for the others.
        let is_further = is_deep(request) || request.after.is_none() && request.offset > 0;
        let first = is_further.then(|| SearchRequest { offset: 0, after: None, ..request.clone() });
        let first_request = first.as_ref().unwrap_or(request);
        let response = ask(searched, first_request, query, &roots, &filters, deadline)?;
        let bounds = match request.years.is_none() && !filters.years.is_empty() {
            true => text::year_bounds(&request.query, clock),
            false => Vec::new(),
        };
        let again =
            Again { searched, request: first_request, query, bounds, roots: &roots, deadline };
        let first_page = again.search(response, filters, &mut warnings)?;
        (decided_query, filters) = (first_page.query, first_page.filters);
        let is_page = !is_further || first_page.response.hits.is_empty();
        decided = is_page.then_some(first_page.response);
    }
    let page =
        PageQuery { request, query: &decided_query, roots: &roots, filters: &filters, deadline };
    let (mut response, taken) = take(searched, &page, decided)?;
    warnings.extend(std::mem::take(&mut response.warnings));
    if taken.offset == 0 && request.after.is_none() && !taken.folded.has_more {
        // Everything is on this page: nothing was given before it or comes behind it.
        warnings.retain(|warning| warning.code != "sorted_by_page");
    }
    let Coverage { n_passages, n_vectors } = response.coverage;
    let namespace = indexer.namespace().clone();
    let hits = response.hits.iter().map(|ranked| &ranked.hit);
    let hits = hits.filter(|hit| hit.namespace == namespace);
    let asked = [namespace.clone()];
    warnings.extend(indexer.config().vectors.notice(n_passages, n_vectors, asked, hits));
    let n_warnings = warnings.len();
    for root in &roots.names {
        warnings.extend(first_index(indexer, queue, root)?);
    }
    // What is not indexed yet cannot be counted.
    let is_indexing = warnings.len() > n_warnings;
    for root in indexer.unreachable(&roots.names) {
        warnings.push(Warning::new(
            "root_unreachable",
            format!("`{root}` cannot be reached now: its results are from the last index"),
        ));
    }
    let n_ranked = response.hits.len();
    let offset = taken.offset;
    // Pages in the fixed order hold the files of the page alone.
    let n_seen = if taken.is_deep { offset + taken.folded.n_taken } else { n_ranked };
    let is_whole = response.total.is_exact && n_seen >= response.total.n;
    let Folded { places: fresh, n_taken, has_more, warnings: cut } = taken.folded;
    warnings.extend(cut);
    let is_end = !has_more && !response.total.is_exact && n_seen < response.total.n;
    let is_empty_page = offset > 0 && fresh.is_empty() && request.after.is_none();
    let is_behind = is_empty_page && (is_whole || offset >= taken.total.n);
    let is_cut = is_empty_page && !is_behind;
    if is_end && !is_empty_page {
        warnings.push(Warning::new(
            "rank_too_far",
            format!(
                "only the first {n_ranked} files are ranked: narrow the query, or add `exts`, \
                 `years` or `roots`, to see the others"
            ),
        ));
    }
    if is_behind && taken.total.n > 0 {
        let message = format!(
            "nothing is there: `offset` {offset} is behind the last result; give a smaller one, or \
             leave it out to begin again"
        );
        warnings.push(Warning::new("offset_too_far", message));
    }
    if is_cut {
        warnings.push(Warning::new(
            "offset_too_far",
            format!(
                "nothing is ranked beyond the first results before {offset}: narrow the query, or \
                 add `exts`, `years` or `roots`, to see the others"
            ),
        ));
    }
    let passages: Vec<_> =
        fresh.iter().map(|one| (&one.ranked.hit.namespace, &one.ranked.passage.passage)).collect();
    let surroundings = indexer.config().store.surroundings_of(&passages)?;
    let pointers = exact_pointers(indexer, &fresh)?;
    let mut items = Vec::new();
    for ((Places { ranked, snippet, document, duplicates, rank }, surroundings), pointer) in
        fresh.into_iter().zip(surroundings).zip(pointers)
    {
        let modified = document.as_ref().and_then(|found| found.metadata["modified"].as_i64());
        let no_text = document.as_ref().and_then(by_name::why);
        let path = ranked.hit.document.to_string();
        // As the file has it, and `openFile` shows it.
        let lines = document.as_ref().map(|found| &found.metadata[LINES]);
        let shown = match lines.filter(|lines| lines.is_array()) {
            Some(lines) => {
                let passages = std::slice::from_ref(&ranked.passage.passage);
                let text = WholeText::of(passages, &Lines::from_json(lines));
                text.shown(snippet.span.start..snippet.span.end)
            }
            None => snippet.text,
        };
        let start = ranked.passage.passage.span.start + snippet.span.start;
        let around = Around::from(surroundings).of_part(
            &ranked.passage.passage.text,
            snippet.span.start,
            snippet.span.end,
        );
        items.push(FileHit {
            duplicates,
            rank,
            around,
            ext: ext_of(Path::new(&path)),
            pointer,
            // The name is no text of the file.
            snippet: if no_text.is_some() { String::new() } else { shown },
            no_text,
            score: ranked.hit.score.rounded(),
            modified: modified.map(|at| iso_seconds(Timestamp(at))).unwrap_or_default(),
            explanation: ranked.hit.explanation,
            char_start: start + snippet.focus,
            path,
        });
    }
    if items.iter().any(|item| item.no_text.is_some()) {
        // It says that no file passes the filters, and speaks of texts.
        warnings.retain(|warning| warning.code != FILTERED_OUT);
    }
    let pagination = Pagination {
        offset,
        returned: items.len(),
        taken: n_taken,
        total_estimate: taken.total.n,
        total_is_exact: taken.total.is_exact && !is_indexing,
        has_more,
        is_in_fixed_order: taken.is_deep,
    };
    let (exts, years) = (filters.shown_exts(), shown(&filters.years));
    let (coverage, timings) = (response.coverage, response.timings);
    Ok(SearchResults { items, pagination, exts, years, warnings, coverage, timings })
}

/// A search for one page, its filters decided.
#[derive(Clone, Copy)]
pub(crate) struct PageQuery<'a> {
    pub(crate) request: &'a SearchRequest,
    pub(crate) query: &'a str,
    pub(crate) roots: &'a SearchedRoots,
    pub(crate) filters: &'a Filters,
    pub(crate) deadline: &'a Deadline,
}

pub(crate) fn ask(
    searched: &Searched<'_>,
    request: &SearchRequest,
    query: &str,
    roots: &SearchedRoots,
    filters: &Filters,
    deadline: &Deadline,
) -> Result<retrieve::Response> {
    let page = PageQuery { request, query, roots, filters, deadline };
    rank(searched, &page, SPARE_FOR_DUPLICATES)
}

/// Ranks the files that a page needs, and some more.
pub(crate) fn rank(
    searched: &Searched<'_>,
    page: &PageQuery<'_>,
    spare: usize,
) -> Result<retrieve::Response> {
    let PageQuery { request, query, roots, filters, deadline } = *page;
    let limit = reach(request, spare);
    // A page far down needs as many candidates, of which several may be of one file.
    let n_candidates = limit.saturating_mul(PASSAGES_PER_FILE);
    let scopes = [scope_of(searched, roots, filters)];
    let mut factor = 1;
    loop {
        let usual = Pipeline::default();
        let pipeline = Pipeline {
            n_by_words: (usual.n_by_words.max(n_candidates) * factor).min(MAX_CANDIDATES),
            n_by_vector: usual.n_by_vector.max(n_candidates).min(MAX_CANDIDATES),
            n_lexical: (usual.n_lexical * factor).min(MAX_CANDIDATES),
            ..usual
        };
        let ranked = Request {
            query,
            scopes: &scopes,
            limit,
            offset: 0,
            threshold: None,
            grouping: Grouping::Documents,
            pipeline: &pipeline,
            deadline,
        };
        let mut response = searched.retriever.search(&ranked)?;
        let n_given = response.hits.len();
        let is_whole = n_given >= response.total.n && response.total.is_exact;
        if n_given >= limit || is_whole || factor >= MAX_FACTOR || deadline.is_over() {
            response.total = total_of(searched, &ranked, &mut response)?;
            return Ok(response);
        }
        // One long file may fill all candidates: the others come with more of them.
        factor *= 4;
    }
}

/// Names what a search looks at: the files of some roots that pass the filters.
pub(crate) fn scope_of(searched: &Searched<'_>, roots: &SearchedRoots, filters: &Filters) -> Scope {
    let mut conditions = vec![roots.filter()];
    conditions.extend(filters.conditions());
    let namespace = searched.indexer.namespace().clone();
    Scope { namespace, filter: Filter::And(conditions) }
}

/// Tells how many files are ranked for a page: one more than asked for tells whether there is
/// another. They are ranked from the first on, so that copies of those before are known.
pub(crate) fn reach(request: &SearchRequest, spare: usize) -> usize {
    let n_files = request.k.saturating_add(1 + spare);
    match &request.after {
        Some(given) => given.n_named().saturating_add(n_files),
        // What is behind the files that are given best first is another order.
        None => request.offset.saturating_add(n_files).min(MAX_BY_RANK),
    }
}

/// Files asked for beyond those wanted: some of a page may be the same. With ten wanted, their
/// passages are no more than those that a search judges anyway.
pub(crate) const SPARE_FOR_DUPLICATES: usize = 22;

/// How many times more candidates are looked at when a page would be short without need.
const MAX_FACTOR: usize = 64;

/// Passages of one file among the candidates of a search, when pages far down are asked for.
const PASSAGES_PER_FILE: usize = 4;

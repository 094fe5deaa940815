//! Search over the roots that a caller may use, with filters out of the words of the query.

use std::path::Path;

use ingest::{JobQueue, JobState};
use model::{Around, Caller, Clock, Deadline, Explanation, Timestamp, Warning, iso_seconds};
use retrieve::{Coverage, Given, Grouping, Pipeline, Request, Retriever, Scope, StageTiming};
use serde::Serialize;
use store::Filter;
use store::limits::MAX_CANDIDATES;
use text::query_filters;

use crate::again::{Again, Decided, is_in_doubt};
use crate::index::attribute;
use crate::place::Place;
use crate::preview::MAX_PREVIEW_CHARS;
use crate::same::{Places, each, folded};
use crate::walk::{ext_of, normal_ext};
use crate::years::YEARS;
use crate::{Error, INDEX_JOB, Indexer, Result};

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
    /// Roots to search; all that the caller may use when absent.
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
            let number = year.parse().ok().filter(|_| year.len() == 4);
            if !number.is_some_and(|year: u32| YEARS.contains(&year)) {
                let (first, last) = (YEARS.start(), YEARS.end());
                let problem = format!("takes years of four digits, `{first}` to `{last}`");
                return refuse("years", year, problem);
            }
        }
        for ext in self.exts.iter().flatten() {
            let bare = ext.trim().trim_start_matches(['*', '.']);
            let is_ext = |char: char| char.is_alphanumeric() || "_-+.~".contains(char);
            if bare.is_empty() || bare.chars().count() > MAX_EXT_CHARS || !bare.chars().all(is_ext)
            {
                let problem = "takes extensions, such as `.pptx`".to_owned();
                return refuse("exts", ext, problem);
            }
        }
        Ok(())
    }
}

/// One file that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileHit {
    /// The file.
    pub path: String,
    /// Where in it.
    pub pointer: String,
    /// What it says there.
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
    /// The position among the files that this page was taken from, from 0.
    #[serde(skip)]
    pub rank: usize,
    /// Where the snippet begins in the file's text, in characters.
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
    /// What part can be found by meaning.
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
    let roots = searched_roots(indexer, caller, request.roots.as_deref())?;
    let said = query_filters(&request.query, clock);
    let mut filters = Filters {
        exts: match &request.exts {
            Some(exts) => widened(exts),
            None => said.extensions.iter().map(|ext| normal_ext(ext)).collect(),
        },
        years: match &request.years {
            Some(years) => years.clone(),
            None => said.years.iter().map(i32::to_string).collect(),
        },
    };
    // A query that says nothing but filters still asks for the files that pass them.
    let query = if said.text.trim().is_empty() { request.query.as_str() } else { &said.text };
    let mut warnings = Vec::new();
    // What the first page decides about filters holds for the others.
    let is_further = request.after.is_none() && request.offset > 0 && !filters.is_empty();
    let first = is_further.then(|| SearchRequest { offset: 0, ..request.clone() });
    let asked = first.as_ref().unwrap_or(request);
    let mut response = ask(searched, asked, query, &roots, &filters, deadline)?;
    let mut decided_query = query.to_owned();
    if !filters.is_empty() && is_in_doubt(&response) {
        let again = Again { searched, request: asked, query, roots: &roots, deadline };
        let decided = again.search(response, filters, &mut warnings)?;
        Decided { response, query: decided_query, filters } = decided;
    }
    if is_further && !response.hits.is_empty() {
        response = ask(searched, request, &decided_query, &roots, &filters, deadline)?;
    }
    warnings.extend(response.warnings);
    let Coverage { n_passages, n_vectors } = response.coverage;
    let hits = response.hits.iter().map(|ranked| &ranked.hit);
    warnings.extend(indexer.config().vectors.notice(n_passages, n_vectors, hits));
    let n_before = warnings.len();
    for root in &roots {
        warnings.extend(first_index(indexer, queue, root)?);
    }
    // What is not indexed yet cannot be counted.
    let is_indexing = warnings.len() > n_before;
    for root in indexer.unreachable(&roots) {
        warnings.push(Warning::new(
            "root_unreachable",
            format!("`{root}` cannot be reached now: its results are from the last index"),
        ));
    }
    let n_ranked = response.hits.len();
    let mut fresh = response.hits;
    if let Some(given) = &request.after {
        fresh.retain(|ranked| !given.holds(ranked.hit.document.as_str()));
    }
    let n_fresh = fresh.len();
    let is_closed = request.after.as_ref().is_some_and(Given::is_closed);
    let (offset, (fresh, n_taken)) = if is_closed {
        fresh.sort_by_cached_key(|ranked| Given::place_of(ranked.hit.document.as_str()));
        fresh.truncate(request.k);
        (n_ranked - n_fresh, each(indexer, fresh)?)
    } else {
        let offset = request.after.as_ref().map_or(request.offset, Given::n_named);
        (offset, folded(indexer, fresh, request.k)?)
    };
    // All that was ranked may be the same few contents: what lies beyond was not looked at.
    let is_full = !is_closed && n_ranked >= reach(searched, request)?.1;
    let has_more = n_fresh > n_taken || is_full;
    let is_end = !has_more && !response.total.is_exact && offset + n_taken < response.total.n;
    let is_cut =
        offset > 0 && fresh.is_empty() && (offset < response.total.n || !response.total.is_exact);
    if is_end && !is_cut {
        warnings.push(Warning::new(
            "rank_too_far",
            format!(
                "only the first {} files are ranked: narrow the query, or add `exts`, `years` or \
                 `roots`, to see the others",
                offset + n_taken
            ),
        ));
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
    let mut items = Vec::new();
    for Places { ranked, document, duplicates, rank } in fresh {
        let modified = document.and_then(|document| document.metadata["modified"].as_i64());
        let path = ranked.hit.document.to_string();
        let start = ranked.passage.passage.span.start + ranked.snippet.span.start;
        let surroundings =
            indexer.config().store.surroundings(&ranked.hit.namespace, &ranked.passage.passage)?;
        let snippet = &ranked.snippet.span;
        let around = Around::from(surroundings).of_part(
            &ranked.passage.passage.text,
            snippet.start,
            snippet.end,
        );
        items.push(FileHit {
            duplicates,
            rank,
            around,
            ext: ext_of(Path::new(&path)),
            pointer: exact_pointer(indexer, &ranked, start)?,
            snippet: ranked.snippet.text,
            score: ranked.hit.score.rounded(),
            modified: modified.map(|at| iso_seconds(Timestamp(at))).unwrap_or_default(),
            explanation: ranked.hit.explanation,
            char_start: start,
            path,
        });
    }
    let pagination = Pagination {
        offset,
        returned: items.len(),
        taken: n_taken,
        total_estimate: response.total.n,
        total_is_exact: response.total.is_exact && !is_indexing,
        has_more,
    };
    let Filters { exts, years } = filters;
    let (coverage, timings) = (response.coverage, response.timings);
    Ok(SearchResults { items, pagination, exts, years, warnings, coverage, timings })
}

/// Says how far the first index of a root is, while it is not complete: more may be found later.
pub(crate) fn first_index(
    indexer: &Indexer,
    queue: &JobQueue,
    root: &str,
) -> Result<Option<Warning>> {
    if indexer.is_completed(root)? {
        return Ok(None);
    }
    let Some(job) = queue.active(INDEX_JOB, root)? else {
        // A folder that was indexed in parts, or by an older version, is not called empty.
        let is_known = indexer.has_documents(root)?;
        let message = format!("nothing of `{root}` is indexed yet: indexFolder begins it");
        return Ok((!is_known).then(|| Warning::new("not_indexed", message)));
    };
    let n_done = job.progress.n_done;
    let so_far = match (job.state, job.progress.n_total) {
        (JobState::Queued, _) => "it has not begun".to_owned(),
        (_, Some(n_total)) => format!("{n_done} of {} files so far", n_total.max(n_done)),
        (_, None) => format!("{n_done} files so far"),
    };
    let message = format!(
        "`{root}` is being indexed for the first time: {so_far}; more may be found when it is done"
    );
    Ok(Some(Warning::new("first_index", message)))
}

/// What files must be like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filters {
    pub(crate) exts: Vec<String>,
    pub(crate) years: Vec<String>,
}

impl Filters {
    fn is_empty(&self) -> bool {
        self.exts.is_empty() && self.years.is_empty()
    }
}

pub(crate) fn ask(
    searched: &Searched<'_>,
    request: &SearchRequest,
    query: &str,
    roots: &[String],
    filters: &Filters,
    deadline: &Deadline,
) -> Result<retrieve::Response> {
    let mut conditions = vec![Filter::any_of(attribute::ROOT, roots.to_vec())];
    if !filters.exts.is_empty() {
        conditions.push(Filter::any_of(attribute::EXT, filters.exts.clone()));
    }
    if !filters.years.is_empty() {
        conditions.push(Filter::any_of(attribute::YEARS, filters.years.clone()));
    }
    let namespace = searched.indexer.namespace().clone();
    let scope = Scope { namespace, filter: Filter::And(conditions) };
    let (offset, limit) = reach(searched, request)?;
    // A page far down needs as many candidates, of which several may be of one file.
    let n_candidates = (offset + limit).saturating_mul(PASSAGES_PER_FILE);
    let scopes = [scope];
    let mut factor = 1;
    loop {
        let usual = Pipeline::default();
        let pipeline = Pipeline {
            n_by_words: (usual.n_by_words.max(n_candidates) * factor).min(MAX_CANDIDATES),
            n_by_vector: usual.n_by_vector.max(n_candidates).min(MAX_CANDIDATES),
            n_lexical: (usual.n_lexical * factor).min(MAX_CANDIDATES),
            ..usual
        };
        let asked = Request {
            query,
            scopes: &scopes,
            limit,
            offset,
            threshold: None,
            grouping: Grouping::Documents,
            pipeline: &pipeline,
            deadline,
        };
        let mut response = searched.retriever.search(&asked)?;
        let n_given = response.hits.len();
        let is_whole = offset + n_given >= response.total.n && response.total.is_exact;
        if n_given >= limit || is_whole || factor >= MAX_FACTOR || deadline.is_over() {
            let is_all = filters.is_empty() && roots.len() == searched.indexer.roots().all().len();
            if !response.total.is_exact && is_all {
                let n_files = estimated_files(searched, &asked)?;
                response.total.n = response.total.n.max(n_files);
            }
            return Ok(response);
        }
        // One long file may fill all candidates: the others come with more of them.
        factor *= 4;
    }
}

/// Estimates how many files match where more do than are ranked.
fn estimated_files(searched: &Searched<'_>, asked: &Request<'_>) -> Result<usize> {
    let n_matching = searched.retriever.estimate_by_words(asked)?;
    let counts = searched.indexer.config().store.counts(searched.indexer.namespace())?;
    let share = counts.n_documents as f64 / counts.n_passages.max(1) as f64;
    Ok((n_matching as f64 * share).round() as usize)
}

/// Tells from which file on, and up to how many, are ranked for a page: one more than asked for
/// tells whether there is another.
fn reach(searched: &Searched<'_>, request: &SearchRequest) -> Result<(usize, usize)> {
    Ok(match &request.after {
        // A fixed order is of all files that can be ranked.
        Some(given) if given.is_closed() => {
            let counts = searched.indexer.config().store.counts(searched.indexer.namespace())?;
            (0, counts.n_documents.clamp(1, MAX_WALKED))
        }
        Some(given) => (0, given.n_named() + request.k + 1 + SPARE_FOR_DUPLICATES),
        None => (request.offset, request.k + 1 + SPARE_FOR_DUPLICATES),
    })
}

/// Files asked for beyond those wanted: some of a page may be the same.
const SPARE_FOR_DUPLICATES: usize = 10;

/// How many times more candidates are looked at when a page would be short without need.
const MAX_FACTOR: usize = 64;

/// Passages of one file among the candidates of a search, when pages far down are asked for.
const PASSAGES_PER_FILE: usize = 4;

/// Names the place of a hit so that `openFile` shows it: a unit that is longer than one preview
/// is followed by the character in the file where the hit begins.
fn exact_pointer(indexer: &Indexer, ranked: &retrieve::Ranked, start: usize) -> Result<String> {
    let pointer = &ranked.passage.passage.pointer;
    // The unit begins behind the start of the file, so a hit this near needs no more words.
    let shown = MAX_PREVIEW_CHARS - MAX_SNIPPET_CHARS;
    if start <= shown {
        return Ok(pointer.to_string());
    }
    let store = &indexer.config().store;
    let passages = store.passages_of(indexer.namespace(), &ranked.hit.document)?;
    let unit = passages.iter().find(|passage| passage.pointer == *pointer);
    let unit_start = unit.map_or(0, |passage| passage.span.start);
    if start <= unit_start + shown {
        return Ok(pointer.to_string());
    }
    Ok(Place { pointer: Some(pointer.clone()), char_start: Some(start) }.to_string())
}

/// The longest snippet, in characters.
const MAX_SNIPPET_CHARS: usize = 400;

/// Names the roots to search: those asked for, each of which the caller must be allowed to use.
fn searched_roots(
    indexer: &Indexer,
    caller: &Caller,
    asked: Option<&[String]>,
) -> Result<Vec<String>> {
    let visible = indexer.roots().visible(caller);
    let Some(asked) = asked.filter(|asked| !asked.is_empty()) else {
        return Ok(visible.iter().map(|root| root.name.clone()).collect());
    };
    asked
        .iter()
        .map(|given| {
            let (root, resolved) = indexer.roots().locate(caller, given)?;
            if resolved == root.path {
                Ok(root.name.clone())
            } else {
                Err(Error::BadPath { path: given.clone(), problem: "is not a root" })
            }
        })
        .collect()
}

/// `ppt` means `.ppt` and `.pptx`, and so for the other old office formats.
fn widened(exts: &[String]) -> Vec<String> {
    let mut wide = Vec::new();
    for ext in exts {
        let ext = normal_ext(ext);
        if [".ppt", ".doc", ".xls"].contains(&ext.as_str()) {
            wide.push(format!("{ext}x"));
        }
        wide.push(ext);
    }
    wide.sort();
    wide.dedup();
    wide
}

//! Search over the roots that a caller may use, with filters out of the words of the query.

use std::path::Path;

use ingest::{JobQueue, JobState};
use model::{
    Caller, Clock, Deadline, DocumentId, Explanation, Timestamp, Warning, iso_seconds,
};
use retrieve::{Coverage, Grouping, Pipeline, Request, Retriever, Scope};
use serde::Serialize;
use store::Filter;
use text::query_filters;

use crate::index::attribute;
use crate::pages::{Pages, SearchKey};
use crate::walk::{ext_of, normal_ext};
use crate::{Error, INDEX_JOB, Indexer, Result};

/// The most results in one page.
pub const MAX_RESULTS: usize = 100;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    /// Natural language, or the query syntax.
    pub query: String,
    /// How many results.
    pub k: usize,
    /// How many to pass over first.
    pub offset: usize,
    /// Extensions to keep; wins over the words of the query.
    pub exts: Option<Vec<String>>,
    /// Years to keep; wins over the words of the query.
    pub years: Option<Vec<String>>,
    /// Roots to search; all that the caller may use when absent.
    pub roots: Option<Vec<String>>,
}

/// One file that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoundItem {
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
    /// Why it was found.
    #[serde(skip)]
    pub explanation: Explanation,
}

/// Which part of the results is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Pagination {
    /// How many were passed over.
    pub offset: usize,
    /// How many are given.
    pub returned: usize,
    /// How many there are.
    pub total_estimate: usize,
    /// Whether that number is exact.
    pub total_is_exact: bool,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Files, best first.
    pub items: Vec<FoundItem>,
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
}

/// What a search works with.
pub(crate) struct Searched<'a> {
    pub(crate) indexer: &'a Indexer,
    pub(crate) retriever: &'a Retriever,
    pub(crate) queue: &'a JobQueue,
    pub(crate) pages: &'a Pages,
    pub(crate) clock: &'a Clock,
}

/// Answers a search.
pub(crate) fn search(
    searched: &Searched<'_>,
    caller: &Caller,
    request: &SearchRequest,
    deadline: &Deadline,
) -> Result<Found> {
    let Searched { indexer, retriever, queue, pages, clock } = *searched;
    let roots = searched_roots(indexer, caller, request.roots.as_deref())?;
    let said = query_filters(&request.query, clock);
    let exts = match &request.exts {
        Some(exts) => widened(exts),
        None => said.extensions.iter().map(|ext| normal_ext(ext)).collect(),
    };
    let years = match &request.years {
        Some(years) => years.clone(),
        None => said.years.iter().map(i32::to_string).collect(),
    };
    // A query that says nothing but filters still asks for the files that pass them.
    let query = if said.text.trim().is_empty() { request.query.as_str() } else { &said.text };
    let key = SearchKey {
        client: caller.client_key(),
        query: query.to_owned(),
        exts: exts.clone(),
        years: years.clone(),
        roots: roots.clone(),
    };
    let shown = pages.before(&key, request.offset);
    let mut conditions = vec![Filter::any_of(attribute::ROOT, roots.clone())];
    if !exts.is_empty() {
        conditions.push(Filter::any_of(attribute::EXT, exts.clone()));
    }
    if !years.is_empty() {
        conditions.push(Filter::any_of(attribute::YEARS, years.clone()));
    }
    let scope = Scope { namespace: indexer.namespace().clone(), filter: Filter::And(conditions) };
    let response = retriever.search(&Request {
        query,
        scopes: &[scope],
        limit: if shown.is_some() { request.offset + request.k } else { request.k },
        offset: if shown.is_some() { 0 } else { request.offset },
        threshold: None,
        grouping: Grouping::Documents,
        pipeline: &Pipeline::default(),
        deadline,
    })?;
    let mut warnings = response.warnings;
    let Coverage { n_passages, n_vectors } = response.coverage;
    warnings.extend(indexer.config().vectors.warning(n_passages, n_vectors));
    for root in &roots {
        warnings.extend(first_index(indexer, queue, root)?);
    }
    for root in indexer.unreachable(&roots) {
        warnings.push(Warning::new(
            "root_unreachable",
            format!("`{root}` cannot be reached now: its results are from the last index"),
        ));
    }
    let fresh = response
        .hits
        .into_iter()
        .filter(|ranked| shown.as_ref().is_none_or(|shown| !shown.contains(&ranked.hit.document)))
        .take(request.k);
    let mut items = Vec::new();
    for ranked in fresh {
        let document =
            indexer.config().store.document(indexer.namespace(), &ranked.hit.document)?;
        let modified = document.and_then(|document| document.metadata["modified"].as_i64());
        let path = ranked.hit.document.to_string();
        items.push(FoundItem {
            ext: ext_of(Path::new(&path)),
            pointer: ranked.passage.passage.pointer.to_string(),
            snippet: ranked.snippet.text,
            score: ranked.hit.score.rounded(),
            modified: modified.map(|at| iso_seconds(Timestamp(at))).unwrap_or_default(),
            explanation: ranked.hit.explanation,
            path,
        });
    }
    let given = items.iter().map(|item: &FoundItem| DocumentId::new(&item.path));
    pages.remember(key, request.offset, given);
    let pagination = Pagination {
        offset: request.offset,
        returned: items.len(),
        total_estimate: response.total.n,
        total_is_exact: response.total.is_exact,
    };
    Ok(Found { items, pagination, exts, years, warnings, coverage: response.coverage })
}

/// Says how far the first index of a root is, while it is not complete: more may be found later.
fn first_index(indexer: &Indexer, queue: &JobQueue, root: &str) -> Result<Option<Warning>> {
    if indexer.is_completed(root)? {
        return Ok(None);
    }
    let Some(job) = queue.active(INDEX_JOB, root)? else { return Ok(None) };
    let n_done = job.progress.n_done;
    let so_far = match (job.state, job.progress.n_total) {
        (JobState::Queued, _) => "it has not begun".to_owned(),
        (_, Some(n_total)) => format!("{n_done} of {} files so far", n_total.max(n_done)),
        (_, None) => format!("{n_done} files so far"),
    };
    let message = format!("`{root}` is being indexed for the first time: {so_far}");
    Ok(Some(Warning::new("first_index", message)))
}

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

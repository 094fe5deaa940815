//! Files without text are found by the words of their names.
//!
//! Their names are in a namespace of their own, so that ten thousand pictures in a folder change
//! nothing about the scores of texts, take no place among the candidates of a search for texts, and
//! get no vectors. A name counts a tenth of what a text with the same words counts, so a file that
//! says the words comes first.

use std::collections::HashSet;

use ingest::{Prepared, Target};
use model::{DocumentId, NamespaceId, Passage, PassageId, Pointer, Score, Span};
use retrieve::{
    FixedOrder, Grouping, Pipeline, QUERY_CORRECTED, Ranked, Request, Response, Scope, Total,
};
use store::limits::MAX_CANDIDATES;
use store::{Document, DocumentInfo, Manifest, Store};

use crate::index::attribute;
use crate::outcomes::outcome_of;
use crate::search::{PageQuery, Searched, scope_of};
use crate::{Indexer, Result};

/// The namespace of the names.
const NAMESPACE: &str = "files_names";

/// What the score of a name weighs: one with all words of a query is worth less than a text that
/// answers it with one chance in ten.
const NAME_WEIGHT: f64 = 0.1;

/// Gives the namespace of the names.
pub(crate) fn namespace() -> NamespaceId {
    NamespaceId::new(NAMESPACE)
}

/// Makes the namespace of the names.
pub(crate) fn create(store: &Store) -> Result<()> {
    Ok(store.create_namespace(&namespace(), &Manifest::current(None))?)
}

/// Takes the names of files without text in, and those of files that have text now out. It comes
/// before the files themselves are written: when the process ends between the two, the next run
/// does both again.
pub(crate) fn write(target: &Target<'_>, batch: &[Prepared]) -> ingest::Result<()> {
    let (with_text, without): (Vec<_>, Vec<_>) =
        batch.iter().partition(|prepared| !prepared.document.passages.is_empty());
    let with_text: Vec<DocumentId> =
        with_text.into_iter().map(|prepared| prepared.document.id.clone()).collect();
    remove(target.store, &with_text)?;
    // A folder that may not be read is listed, and is no file.
    let files = without.into_iter().filter(|one| one.document.metadata["folder"] != true);
    let entries: Vec<Document> = files.map(|prepared| entry(&prepared.document)).collect();
    if !entries.is_empty() {
        target.store.upsert(&namespace(), &entries)?;
    }
    Ok(())
}

/// Takes names out, as far as they are there: a commit waits for the disk.
pub(crate) fn remove(store: &Store, files: &[DocumentId]) -> store::Result<()> {
    let known = match store.documents_by_id(&namespace(), files) {
        Err(store::Error::UnknownNamespace { .. }) => return Ok(()),
        known => known?,
    };
    let known: Vec<DocumentId> = known.into_iter().flatten().map(|found| found.id).collect();
    if !known.is_empty() {
        store.delete(&namespace(), &known)?;
    }
    Ok(())
}

/// What is written of a name: what a file is filtered by, and the name in the place of a text.
fn entry(file: &Document) -> Document {
    let names = [attribute::ROOT, attribute::EXT, attribute::YEARS];
    let attributes = file.attributes.iter().filter(|(name, _)| names.contains(&name.as_str()));
    let passage = Passage {
        id: PassageId::new(format!("{}#name", file.id)),
        ordinal: 0,
        span: Span::new(0, file.title.chars().count()),
        text: file.title.clone(),
        pointer: Pointer::Whole,
        headings: vec![],
    };
    Document {
        id: file.id.clone(),
        title: file.title.clone(),
        attributes: attributes.map(|(name, value)| (name.clone(), value.clone())).collect(),
        metadata: serde_json::Value::Null,
        fingerprint: file.fingerprint.clone(),
        passages: vec![passage],
    }
}

/// Says why a file that was found by its name has no text; nothing for one that has some.
pub(crate) fn why(document: &DocumentInfo) -> Option<String> {
    let outcome = outcome_of(document);
    let reason = document.metadata["reason"].as_str().unwrap_or(outcome.sentence());
    (document.n_passages == 0).then(|| format!("{outcome}: {reason}"))
}

/// Adds files without text whose names have words of the query, so that at most so many files are
/// there.
pub(crate) fn add_by_rank(
    searched: &Searched<'_>,
    page: &PageQuery<'_>,
    limit: usize,
    response: &mut Response,
) -> Result<()> {
    let ask = |request: &Request<'_>| searched.retriever.search(request);
    let mut names = search(searched, page, limit, response, &ask)?;
    if let Some(names) = names.as_mut().filter(|names| names.hits.len() < limit) {
        // All are here, without those that are gone.
        names.total = Total { n: names.hits.len(), is_exact: true };
    }
    let Some(names) = add_total(response, names) else { return Ok(()) };
    response.hits.extend(names);
    // Of equal scores the texts, which came first, stay first.
    response.hits.sort_by_key(|ranked| std::cmp::Reverse(ranked.hit.score));
    response.hits.truncate(limit);
    Ok(())
}

/// Adds such files in a fixed order.
pub(crate) fn add_in_order(
    searched: &Searched<'_>,
    page: &PageQuery<'_>,
    limit: usize,
    order: &FixedOrder<'_>,
    response: &mut Response,
) -> Result<()> {
    let ask = |request: &Request<'_>| searched.retriever.search_in_order(request, order);
    let names = search(searched, page, limit, response, &ask)?;
    let Some(names) = add_total(response, names) else { return Ok(()) };
    response.hits.extend(names);
    response.hits.sort_by_cached_key(|ranked| order(&ranked.hit.document, &ranked.hit.passage));
    response.hits.truncate(limit);
    Ok(())
}

/// Tells whether names have words of the query.
pub(crate) fn has_any(searched: &Searched<'_>, page: &PageQuery<'_>) -> Result<bool> {
    let scopes = [scope_of_names(searched, page)];
    let pipeline = Pipeline::default();
    let counted = searched.retriever.count_by_words(&request(page, &scopes, &pipeline, 1))?;
    Ok(counted.is_none_or(|counted| counted.n_documents > 0))
}

/// Looks for names, and gives what was found of files that have no text.
fn search(
    searched: &Searched<'_>,
    page: &PageQuery<'_>,
    limit: usize,
    response: &Response,
    ask: &dyn Fn(&Request<'_>) -> retrieve::Result<Response>,
) -> Result<Option<Response>> {
    // Most searches are for words that no name has; then nothing is put in their places either.
    if !response.hits.is_empty() && !has_any(searched, page)? {
        return Ok(None);
    }
    let scopes = [scope_of_names(searched, page)];
    let usual = Pipeline::default();
    let pipeline = Pipeline {
        n_by_words: MAX_CANDIDATES,
        n_by_vector: 0,
        n_lexical: usual.n_lexical.max(limit).min(MAX_CANDIDATES),
        model_rerank: false,
        ..usual
    };
    let request = request(page, &scopes, &pipeline, limit);
    let mut found = ask(&request)?;
    found.hits.retain(has_words);
    if found.hits.is_empty() {
        return Ok(None);
    }
    // A name may be there a moment before its file is, or stay where a run was cut off.
    let without_text = without_text(searched.indexer, &found.hits)?;
    found.hits.retain(|ranked| without_text.contains(&ranked.hit.document));
    for ranked in &mut found.hits {
        ranked.hit.score = Score::new(ranked.hit.score.get() * NAME_WEIGHT);
        ranked.hit.explanation.chance = None;
    }
    Ok((!found.hits.is_empty()).then_some(found))
}

fn scope_of_names(searched: &Searched<'_>, page: &PageQuery<'_>) -> Scope {
    Scope { namespace: namespace(), ..scope_of(searched, page.roots, page.filters) }
}

fn request<'a>(
    page: &PageQuery<'a>,
    scopes: &'a [Scope],
    pipeline: &'a Pipeline,
    limit: usize,
) -> Request<'a> {
    Request {
        query: page.query,
        scopes,
        limit,
        offset: 0,
        threshold: None,
        grouping: Grouping::Documents,
        pipeline,
        deadline: page.deadline,
    }
}

fn without_text(indexer: &Indexer, hits: &[Ranked]) -> Result<HashSet<DocumentId>> {
    let ids: Vec<DocumentId> = hits.iter().map(|ranked| ranked.hit.document.clone()).collect();
    let documents = indexer.config().store.documents_by_id(indexer.namespace(), &ids)?;
    let without = documents.into_iter().flatten().filter(|found| found.n_passages == 0);
    Ok(without.map(|found| found.id).collect())
}

/// Counts names among what was found, and gives their hits. A word that was put in the place of the
/// typed one finds names only where it finds texts too, or nothing else does.
fn add_total(response: &mut Response, names: Option<Response>) -> Option<Vec<Ranked>> {
    let names = names?;
    let is_mended = names.corrected.is_some() && names.corrected != response.corrected;
    if is_mended && !response.hits.is_empty() {
        return None;
    }
    if is_mended {
        let said = names.warnings.into_iter().filter(|warning| warning.code == QUERY_CORRECTED);
        response.warnings.extend(said);
        response.corrected = names.corrected;
    }
    response.total = Total {
        n: response.total.n + names.total.n,
        is_exact: response.total.is_exact && names.total.is_exact,
    };
    Some(names.hits)
}

fn has_words(ranked: &Ranked) -> bool {
    let explanation = &ranked.hit.explanation;
    !explanation.exact.is_empty() || !explanation.folded.is_empty()
}

//! Searches: one request asks for candidates by words and by vector; scores are computed from the
//! texts that come back. What is in memory is found here, while the server looks for vectors.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{Attributes, Deadline, DocumentId, NamespaceId, PassageId};
use qdrant_client::qdrant::{
    Condition, Filter as ServerFilter, PayloadIncludeSelector, PointId,
    QuantizationSearchParamsBuilder, QueryBatchPointsBuilder, QueryPoints, QueryPointsBuilder,
    ScoredPoint, SearchParamsBuilder,
};
use rayon::iter::{
    IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _,
};
use store::remote::{
    self, Counted, Field, More, RowsAsked, Scored, Scorer, Statistics, best, fields_of,
};
use store::{
    ByVector, ByWords, Candidate, Candidates, Clause, Error, Filter, Result, Search, WordsQuery,
    question_of,
};

use crate::ENGINE;
use crate::condition::{self, Bound, bound_of};
use crate::engine::QdrantEngine;
use crate::ledger::{Entry, Tenant, is_current};
use crate::occurrences::{self, QueryTokens, number_in, text_of};
use crate::point::{
    ATTRIBUTES, DENSE, DOCUMENT, HEADINGS, LANGUAGE, NUMBER, PASSAGE, POINTER, SPARSE, TERMS, TEXT,
    TEXT_LENGTH, TITLE, TITLE_LENGTH,
};
use crate::terms::{self, Term};
use crate::word_memory::{self, Shared};
use crate::word_search::WordSearch;
use crate::word_table::{WordTable, id_in};

/// Rows of one answer.
const MAX_ROWS: usize = 10_000;
/// A weight that still ranks: the server gives only points that score.
const SMALLEST_WEIGHT: f64 = 1e-6;
/// Up to this many vectors the server compares all of them in full precision.
const MAX_EXACT_VECTORS: usize = 20_000;
/// Vectors that a walk along a graph keeps in sight: what recall costs.
const GRAPH_WIDTH: u64 = 512;
/// How many times more vectors are computed again from full precision than are asked for.
const OVERSAMPLING: f64 = 1.5;
/// Rows that one thread scores at a time.
const ROWS_AT_ONCE: usize = 64;

impl QdrantEngine {
    /// Searches by words and by vector, both in one request where both are asked for.
    pub(crate) fn find(
        &self,
        id: &NamespaceId,
        search: &Search<'_>,
        deadline: &Deadline,
    ) -> Result<(Candidates, Candidates)> {
        search.check()?;
        let Search { by_words, by_vector, filter } = search;
        let (by_words, by_vector) = (by_words.as_ref(), by_vector.as_ref());
        let (state, entry) = remote::searched::<Tenant>(&*self.catalogue, id)?;
        let space = state.info.manifest.vectors.as_ref();
        let question = by_vector.map(|near| question_of(id, near.vector, space)).transpose()?;
        let nothing = || Candidates { counts: state.counts, ..Candidates::default() };
        let (mut found_words, mut found_near) = (nothing(), nothing());
        let Some(entry) = entry else {
            // A namespace that was restored or has just got its first passages: that nothing is
            // found would be taken for an answer.
            if state.counts.n_passages > 0 {
                let reason = "it is being filled for the first time".to_owned();
                return Err(Error::EngineUnavailable { engine: ENGINE, what: "query", reason });
            }
            return Ok((found_words, found_near));
        };
        if !is_current(&entry, &self.config.prefix) {
            let reason = "an earlier version filled it; it is being filled anew".to_owned();
            return Err(Error::EngineUnavailable { engine: ENGINE, what: "query", reason });
        }
        let bound = bound_of(filter, &entry.fields);
        let by_words = by_words.filter(|words| words.limit > 0 && words.query.can_match());
        let mut near = by_vector
            .zip(question)
            .filter(|(near, _)| near.limit > 0 && state.counts.n_vectors > 0)
            .filter(|_| entry.space.as_ref() == space);
        let mut asked_words =
            RowsAsked::by_words(by_words.map_or(0, |words| words.limit), MAX_ROWS);
        let mut asked_near =
            RowsAsked::by_vector(near.as_ref().map_or(0, |(near, _)| near.limit), MAX_ROWS);
        let is_late =
            |error: &Error| matches!(error, Error::EngineTimeout { .. }) && deadline.is_over();
        // Where the filter has to be checked, payloads come back anyway.
        let table = match bound.is_exact {
            true => self.word_table(&state, &entry),
            false => None,
        };
        let statistics = match by_words {
            None => Statistics::default(),
            Some(words) => {
                let (table, client) = (table.as_ref(), &self.client);
                match self.figures.of_query(client, &entry, table, words.query, deadline) {
                    Ok(statistics) => statistics,
                    Err(error) if is_late(&error) => {
                        found_words.is_partial = true;
                        found_near.is_partial = near.is_some();
                        return Ok((found_words, found_near));
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        let weights = by_words.map(|words| weights_of(words.query, &statistics));
        if let (Some(words), Some(weights)) = (by_words, &weights) {
            let is_short = |clause: &Clause| {
                matches!(clause, Clause::Prefix { prefix, .. }
                    if prefix.chars().count() < terms::START_CHARS[0])
            };
            found_words.is_prefix_cut =
                words.query.must.iter().chain(&words.query.should).any(is_short);
            if weights.is_empty() && near.is_none() {
                return Ok((found_words, found_near));
            }
        }
        let scoring = by_words
            .map(|words| (Scorer::new(words.query, &statistics), QueryTokens::of(words.query)));
        let words_left = by_words.filter(|_| weights.as_ref().is_some_and(|w| !w.is_empty()));
        // Nothing where the memory has gone on by now.
        let in_memory = || -> Option<Vec<Candidate>> {
            let (words, (scorer, tokens)) = (words_left?, scoring.as_ref()?);
            let (dated, tokens) = (table.as_ref()?.read(), tokens.as_ref()?);
            let (query, limit, statistics) = (words.query, words.limit, &statistics);
            let search = WordSearch { query, tokens, statistics, scorer, filter, limit };
            (dated.seen == entry.seen).then(|| search.best(&dated.table))
        };
        let mut ask = |mut words_left: Option<&ByWords<'_>>,
                       mut near: Option<(&ByVector<'_>, Vec<f32>)>|
         -> Result<()> {
            loop {
                let mut queries = vec![];
                if let Some((_, question)) = &near {
                    let is_small = state.counts.n_vectors <= MAX_EXACT_VECTORS;
                    let payload = named_by(table.as_ref(), &bound);
                    let n_rows = asked_near.n_rows();
                    queries.push(vector_query(&entry, question, n_rows, &bound, is_small, payload));
                }
                if let (Some(words), Some(weights)) = (words_left, &weights) {
                    let payload = included(&bound, scored_by(words.query));
                    let n_rows = asked_words.n_rows();
                    let query = words.query;
                    queries.push(words_query(&entry, query, weights, n_rows, &bound, payload));
                }
                if queries.is_empty() {
                    return Ok(());
                }
                let request = QueryBatchPointsBuilder::new(&entry.at.collection, queries).build();
                let asked = self.client.ask("query", deadline, move |peer| {
                    let request = request.clone();
                    async move { peer.query_batch(request).await }
                });
                let answer = match asked {
                    Ok(answer) => answer,
                    Err(error) if is_late(&error) => {
                        found_words.is_partial |= words_left.is_some();
                        found_near.is_partial |= near.is_some();
                        return Ok(());
                    }
                    Err(error) => return Err(error),
                };
                let mut results = answer.result.into_iter();
                if near.is_some() {
                    let mut rows = results.next().map(|result| result.result).unwrap_or_default();
                    let n_given = rows.len();
                    let scored: Vec<Scored> = match &table {
                        Some(table) => {
                            self.read_unknown(&entry, table, &mut rows, &bound, deadline)?;
                            let dated = table.read();
                            let scored = |row: &ScoredPoint| scored_in(&dated.table, row);
                            rows.iter().filter_map(scored).collect()
                        }
                        None => {
                            let passing = rows.iter().filter(|row| passes(filter, &bound, row));
                            passing.map(|row| scored_of(row, row.score)).collect()
                        }
                    };
                    found_near.hits = best(scored, asked_near.limit());
                    let more = asked_near.after(n_given, found_near.hits.len());
                    if more != More::Ask {
                        found_near.is_partial |= more == More::Cut;
                        near = None;
                    }
                }
                if let Some(words) = words_left {
                    let rows = results.next().map(|result| result.result).unwrap_or_default();
                    let score = |row: &ScoredPoint| {
                        let (scorer, tokens) = scoring.as_ref()?;
                        let score = match tokens {
                            Some(tokens) => scorer.score(&tokens.counted(row)),
                            None => scorer.score(&occurrences::words_of(row)),
                        };
                        Some(scored_of(row, score?))
                    };
                    // Without the tokens every row is cut into words again, which is worth two
                    // threads.
                    let scored: Vec<Scored> = rows
                        .par_iter()
                        .with_min_len(ROWS_AT_ONCE)
                        .filter(|row| passes(filter, &bound, row))
                        .filter_map(score)
                        .collect();
                    found_words.hits = best(scored, words.limit);
                    let more = match terms::needs_checking(words.query) || !bound.is_exact {
                        true => asked_words.after(rows.len(), found_words.hits.len()),
                        false => More::Enough,
                    };
                    if more != More::Ask {
                        found_words.is_partial |= more == More::Cut;
                        words_left = None;
                    }
                }
            }
        };
        let in_memory = match &near {
            // The server works on the vectors meanwhile.
            Some(_) if table.is_some() && words_left.is_some() => {
                let (found, asked) = std::thread::scope(|scope| {
                    let found = scope.spawn(in_memory);
                    let asked = ask(None, near.take());
                    (found.join().ok().flatten(), asked)
                });
                asked?;
                found
            }
            _ => in_memory(),
        };
        match in_memory {
            Some(hits) => {
                ask(None, near)?;
                found_words.hits = hits;
            }
            None => ask(words_left, near)?,
        }
        Ok((found_words, found_near))
    }
}

impl QdrantEngine {
    /// Reads the payloads of points that a table does not know: those that came with a change that is
    /// not over. Points that went meanwhile are left out.
    fn read_unknown(
        &self,
        entry: &Entry,
        table: &Shared,
        rows: &mut Vec<ScoredPoint>,
        bound: &Bound,
        deadline: &Deadline,
    ) -> Result<()> {
        let unknown: Vec<PointId> = {
            let dated = table.read();
            let is_known = |row: &&ScoredPoint| {
                id_in(row.id.as_ref()).is_some_and(|id| dated.table.row(id).is_some())
            };
            rows.iter().filter(|row| !is_known(row)).filter_map(|row| row.id.clone()).collect()
        };
        if unknown.is_empty() {
            return Ok(());
        }
        let asked: HashSet<PointId> = unknown.iter().cloned().collect();
        let fields = included(bound, &[]);
        let points = word_memory::points(&self.client, entry, unknown, fields, deadline)?;
        let mut payloads: HashMap<PointId, _> =
            points.into_iter().filter_map(|point| Some((point.id?, point.payload))).collect();
        rows.retain_mut(|row| {
            let Some(id) = row.id.as_ref().filter(|id| asked.contains(*id)) else { return true };
            let payload = payloads.remove(id);
            payload.is_some_and(|payload| {
                row.payload = payload;
                true
            })
        });
        Ok(())
    }
}

/// Gives the dimensions that rank, each with what its word is worth in this namespace.
fn weights_of(query: &WordsQuery, statistics: &Statistics) -> Vec<(u32, f32)> {
    let mut weights: BTreeMap<u32, f64> = BTreeMap::new();
    for clause in query.must.iter().chain(&query.should) {
        for (field, field_boost) in fields_of(query) {
            let parts = terms::of_clause(clause, field);
            for (counted, terms) in Counted::of(clause, field).iter().zip(parts) {
                let idf = statistics.idf(counted).unwrap_or(0.0);
                let weight = f64::from(clause.boost()) * field_boost * idf;
                for term in terms {
                    *weights.entry(term.dimension()).or_default() += weight.max(SMALLEST_WEIGHT);
                }
            }
        }
    }
    weights.into_iter().map(|(dimension, weight)| (dimension, weight as f32)).collect()
}

fn words_query(
    entry: &Entry,
    query: &WordsQuery,
    weights: &[(u32, f32)],
    n_rows: usize,
    bound: &Bound,
    payload: PayloadIncludeSelector,
) -> QueryPoints {
    let fields = || fields_of(query).into_iter().map(|(field, _)| field);
    let has_all_parts = |parts: Vec<Vec<Term>>| -> Condition {
        let parts = parts.iter().filter(|part| !part.is_empty());
        ServerFilter::must(parts.map(|part| condition::holds_any(part))).into()
    };
    let is_known = |clause: &&Clause| {
        terms::of_clause(clause, Field::Text).iter().any(|part| !part.is_empty())
    };
    let must: Vec<Condition> = query
        .must
        .iter()
        .filter(is_known)
        .map(|clause| {
            let of_fields = fields().map(|field| has_all_parts(terms::of_clause(clause, field)));
            ServerFilter::should(of_fields).into()
        })
        .collect();
    // Only what the server can tell for sure may leave a point out.
    let must_not: Vec<Condition> = query
        .must_not
        .iter()
        .filter(|clause| matches!(clause, Clause::Word { .. }) && clause.can_match())
        .flat_map(|clause| fields().map(|field| has_all_parts(terms::of_clause(clause, field))))
        .collect();
    QueryPointsBuilder::new(&entry.at.collection)
        .query(weights.to_vec())
        .using(SPARSE)
        .filter(bound.within(&entry.at.tenant, must, must_not))
        .limit(n_rows as u64)
        .with_payload(payload)
        .build()
}

/// Gives what a passage is scored from.
fn scored_by(query: &WordsQuery) -> &'static [&'static str] {
    match terms::needs_text(query) {
        true => &[TEXT, TITLE, HEADINGS, LANGUAGE],
        false => &[TERMS, TEXT_LENGTH, TITLE_LENGTH],
    }
}

/// Gives the payload to ask for; none where a table names the points.
fn named_by(table: Option<&Shared>, bound: &Bound) -> Option<PayloadIncludeSelector> {
    table.is_none().then(|| included(bound, &[]))
}

fn vector_query(
    entry: &Entry,
    question: &[f32],
    n_rows: usize,
    bound: &Bound,
    is_small: bool,
    payload: Option<PayloadIncludeSelector>,
) -> QueryPoints {
    let rescored =
        QuantizationSearchParamsBuilder::default().rescore(true).oversampling(OVERSAMPLING).build();
    let params = match is_small {
        true => SearchParamsBuilder::default().exact(true),
        false => SearchParamsBuilder::default().hnsw_ef(GRAPH_WIDTH).quantization(rescored),
    };
    let asked = QueryPointsBuilder::new(&entry.at.collection)
        .query(question.to_vec())
        .using(DENSE)
        .filter(bound.within(&entry.at.tenant, [], []))
        .params(params)
        .limit(n_rows as u64);
    match payload {
        Some(payload) => asked.with_payload(payload).build(),
        None => asked.with_payload(false).build(),
    }
}

/// What comes back of a point: what names it, what its filter has to be checked by, and `more`.
fn included(bound: &Bound, more: &[&str]) -> PayloadIncludeSelector {
    let checked: &[&str] = if bound.is_exact { &[] } else { &[POINTER, ATTRIBUTES] };
    let fields = [&[DOCUMENT, PASSAGE, NUMBER], checked, more].concat();
    PayloadIncludeSelector { fields: fields.into_iter().map(str::to_owned).collect() }
}

/// Tells whether a point fits the filter, where the server's condition was wider.
fn passes(filter: &Filter, bound: &Bound, row: &ScoredPoint) -> bool {
    if bound.is_exact {
        return true;
    }
    let attributes: Attributes = serde_json::from_str(text_of(row, ATTRIBUTES)).unwrap_or_default();
    let candidate = condition::Candidate {
        document: text_of(row, DOCUMENT),
        passage: text_of(row, PASSAGE),
        pointer: text_of(row, POINTER),
        attributes: &attributes,
    };
    condition::fits(filter, &candidate)
}

fn scored_of(row: &ScoredPoint, score: f32) -> Scored {
    Scored {
        number: number_in(&row.payload),
        candidate: Candidate {
            document: DocumentId::new(text_of(row, DOCUMENT)),
            passage: PassageId::new(text_of(row, PASSAGE)),
            score,
        },
    }
}

/// Names a point by the table, or by its payload where the table does not know it.
fn scored_in(table: &WordTable, row: &ScoredPoint) -> Option<Scored> {
    if !row.payload.is_empty() {
        return Some(scored_of(row, row.score));
    }
    let (_, known) = table.row(id_in(row.id.as_ref())?)?;
    let (document, passage) = (known.document.clone(), known.passage.clone());
    let candidate = Candidate { document, passage, score: row.score };
    Some(Scored { number: known.number, candidate })
}

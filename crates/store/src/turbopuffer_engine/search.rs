//! Searches: one request asks for candidates by words and by vector and for what BM25 has to know;
//! scores are computed from the rows that come back.

use model::{Deadline, DocumentId, NamespaceId, PassageId};
use serde_json::Value;
use turbopuffer::types::{Filter as EngineFilter, Query, RankBy, Row, SingleQueryResult};

use super::client::MAX_ROWS;
use super::engine::TurbopufferEngine;
use super::filter::{Condition, all, translate};
use super::row::{DOCUMENT, HAS_VECTOR, HEADINGS, LANGUAGE, NUMBER, PASSAGE, TEXT, TITLE, VECTOR};
use super::words;
use crate::remote::{Counted, More, RowsAsked, Scored, Scorer, Words, best, counted_in};
use crate::store::state_of;
use crate::{ByWords, Candidate, Candidates, Error, Result, Search, WordsQuery, question_of};

impl TurbopufferEngine {
    /// Searches by words and by vector in one request where it can be done.
    pub(super) fn find(
        &self,
        id: &NamespaceId,
        search: &Search<'_>,
        deadline: &Deadline,
    ) -> Result<(Candidates, Candidates)> {
        let name_of = || Ok::<_, Error>(self.namespace_of(id)?.view().name.clone());
        let name = name_of()?;
        let found = self.find_once(id, search, deadline);
        // A namespace that was made anew meanwhile has taken another name.
        if matches!(found, Err(Error::EngineMissing { .. })) && name_of()? != name {
            return self.find_once(id, search, deadline);
        }
        found
    }

    fn find_once(
        &self,
        id: &NamespaceId,
        search: &Search<'_>,
        deadline: &Deadline,
    ) -> Result<(Candidates, Candidates)> {
        search.check()?;
        let Search { by_words, by_vector, filter } = search;
        let (by_words, by_vector) = (by_words.as_ref(), by_vector.as_ref());
        let namespace = self.namespace_of(id)?;
        let state = state_of(&*self.catalogue, id)?;
        let question = match by_vector {
            Some(near) => Some(question_of(id, near.vector, state.info.manifest.vectors.as_ref())?),
            None => None,
        };
        let nothing = || Candidates { counts: state.counts, ..Candidates::default() };
        let view = namespace.view();
        let condition = translate(filter, &view.attributes);
        let (Some(name), false) = (&view.name, condition == Condition::Nothing) else {
            return Ok((nothing(), nothing()));
        };
        let by_words = by_words
            .filter(|words| words.limit > 0 && words.query.can_match())
            .filter(|_| state.counts.n_passages > 0);
        let mut asked = RowsAsked::by_words(by_words.map_or(0, |words| words.limit), MAX_ROWS);
        let near = by_vector.zip(question).filter(|(near, _)| near.limit > 0);
        let mut near = near.filter(|_| state.counts.n_vectors > 0 && !view.attributes.is_empty());
        let (mut found_words, mut found_near) = (nothing(), nothing());
        loop {
            let mut queries = vec![];
            let counted = by_words.map_or(vec![], |words| counted_in(words.query));
            if let Some((near, question)) = &near {
                queries.push(vector_query(question, near.limit, &condition));
            }
            if let Some(words) = by_words {
                queries.push(words_query(words.query, asked.n_rows(), &condition));
                queries.push(words::totals());
                queries.extend(counted.iter().map(words::count_of));
            }
            if queries.is_empty() {
                return Ok((found_words, found_near));
            }
            let results = match self.client.ask(name, &queries, deadline) {
                Ok(results) => results,
                Err(Error::EngineTimeout { .. }) if deadline.is_over() => {
                    found_words.is_partial = by_words.is_some();
                    found_near.is_partial = near.is_some();
                    return Ok((found_words, found_near));
                }
                Err(error) => return Err(error),
            };
            let mut results = results.as_slice();
            if let Some((wanted, _)) = near.take() {
                found_near.hits = best(read_near(&results[0].rows), wanted.limit);
                results = &results[1..];
            }
            let Some(words) = by_words else { return Ok((found_words, found_near)) };
            let n_given = results[0].rows.len();
            found_words.hits = score_rows(words, results, counted);
            let more = match words::needs_checking(words.query) {
                true => asked.after(n_given, found_words.hits.len()),
                false => More::Enough,
            };
            if more != More::Ask {
                found_words.is_partial = more == More::Cut;
                return Ok((found_words, found_near));
            }
        }
    }
}

fn words_query(query: &WordsQuery, n_rows: usize, condition: &Condition) -> Query {
    let conditions = words::conditions(query).into_iter().map(Condition::Some);
    let condition = all(conditions.chain([condition.clone()]));
    let query = Query::new()
        .rank_by(words::rank_by(query))
        .limit(n_rows as u64)
        .include_attributes([DOCUMENT, PASSAGE, NUMBER, TEXT, TITLE, HEADINGS, LANGUAGE]);
    with_condition(query, condition)
}

fn vector_query(question: &[f32], limit: usize, condition: &Condition) -> Query {
    let has_vector = Condition::Some(EngineFilter::eq(HAS_VECTOR, true));
    let query = Query::new()
        .rank_by(RankBy::ann(VECTOR, question))
        .limit(RowsAsked::by_vector(limit, MAX_ROWS).n_rows() as u64)
        .include_attributes([DOCUMENT, PASSAGE, NUMBER]);
    with_condition(query, all([has_vector, condition.clone()]))
}

fn with_condition(query: Query, condition: Condition) -> Query {
    match condition {
        Condition::Some(filter) => query.filters(filter),
        Condition::Everything | Condition::Nothing => query,
    }
}

/// Scores the rows of the first result with the figures of the others.
fn score_rows(
    words: &ByWords<'_>,
    results: &[SingleQueryResult],
    counted: Vec<Counted>,
) -> Vec<Candidate> {
    let statistics = words::read_statistics(&results[1..], counted);
    let scorer = Scorer::new(words.query, &statistics);
    let scored = results[0].rows.iter().filter_map(|row| {
        let headings: Vec<String> = row
            .get(HEADINGS)
            .and_then(Value::as_array)
            .map(|headings| headings.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            .unwrap_or_default();
        let language = text_of(row, LANGUAGE).parse().unwrap_or(text::Language::Unknown);
        let cut = Words::cut(text_of(row, TEXT), text_of(row, TITLE), &headings, language);
        let score = scorer.score(&cut)?;
        Some(scored(row, score))
    });
    best(scored.collect(), words.limit)
}

fn read_near(rows: &[Row]) -> Vec<Scored> {
    rows.iter()
        .filter_map(|row| row.dist().map(|distance| scored(row, 1.0 - distance as f32)))
        .collect()
}

fn scored(row: &Row, score: f32) -> Scored {
    let number = row.get(NUMBER).and_then(Value::as_u64);
    Scored {
        number: number.and_then(|number| u32::try_from(number).ok()).unwrap_or(u32::MAX),
        candidate: Candidate {
            document: DocumentId::new(text_of(row, DOCUMENT)),
            passage: PassageId::new(text_of(row, PASSAGE)),
            score,
        },
    }
}

fn text_of<'a>(row: &'a Row, attribute: &str) -> &'a str {
    row.get(attribute).and_then(Value::as_str).unwrap_or_default()
}

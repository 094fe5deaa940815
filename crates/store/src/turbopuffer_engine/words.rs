//! A question by words in turbopuffer's language: what to rank by, what every row has to hold, and
//! what has to be counted for BM25.

use std::collections::BTreeMap;

use turbopuffer::types::{
    AggregateBy, Bm25ClauseParams, ContainsAnyTokenFilterParams, Filter, Query, RankBy, RankByText,
};

use super::naming;
use super::row::{TEXT_LENGTH, TITLE_LENGTH, words_attribute};
use crate::remote::{Counted, Statistics, fields_of};
use crate::{Clause, WordsQuery};

/// A weight that still ranks: the engine gives only rows that score.
const SMALLEST_WEIGHT: f64 = 1e-6;
/// The name of a count in an answer.
const N_ROWS: &str = "n";

/// Gives the words of what is counted as the engine has them.
fn tokens_of(counted: &Counted) -> Vec<String> {
    let token = |term: &String| match counted.is_prefix {
        true => naming::token_prefix(term).to_owned(),
        false => naming::token(term).into_owned(),
    };
    counted.terms.iter().map(token).collect()
}

/// Gives the filter that only rows with one of the words pass.
fn filter_of(counted: &Counted) -> Filter {
    let attribute = words_attribute(counted.field, counted.form);
    let tokens = tokens_of(counted);
    if counted.is_prefix {
        let params = ContainsAnyTokenFilterParams::new().last_as_prefix(true);
        return Filter::contains_any_token_with_params(attribute, tokens, params);
    }
    Filter::contains_any_token(attribute, tokens)
}

/// Gives the query that counts the rows with one of the words.
pub(super) fn count_of(counted: &Counted) -> Query {
    Query::new().filters(filter_of(counted)).aggregate_by([(N_ROWS, AggregateBy::count())])
}

/// Tells whether rows that the engine gives may still not fit: the engine is asked for all words
/// of a phrase, and their order is checked afterwards.
pub(super) fn needs_checking(query: &WordsQuery) -> bool {
    let is_loose = |clause: &Clause| match clause {
        Clause::Phrase { .. } => true,
        Clause::Prefix { prefix, .. } => naming::token_prefix(prefix).len() < prefix.len(),
        Clause::Word { .. } => false,
    };
    query.must.iter().chain(&query.should).chain(&query.must_not).any(is_loose)
}

/// Gives what the engine ranks by.
pub(super) fn rank_by(query: &WordsQuery) -> RankBy {
    // Words of one weight in one attribute are one clause of the engine.
    let mut together: BTreeMap<(&'static str, u64), Vec<String>> = BTreeMap::new();
    let mut parts: Vec<RankByText> = vec![];
    for clause in query.must.iter().chain(&query.should) {
        for (field, field_boost) in fields_of(query) {
            let weight = (f64::from(clause.boost()) * field_boost).max(SMALLEST_WEIGHT);
            for counted in Counted::of(clause, field) {
                let attribute = words_attribute(field, counted.form);
                if counted.is_prefix {
                    let params = Bm25ClauseParams::new().last_as_prefix(true);
                    let tokens = tokens_of(&counted);
                    let part = RankByText::bm25_with_params(attribute, tokens, params);
                    parts.push(RankByText::product(weight, part));
                } else {
                    together
                        .entry((attribute, weight.to_bits()))
                        .or_default()
                        .extend(tokens_of(&counted));
                }
            }
        }
    }
    for ((attribute, weight), tokens) in together {
        if !tokens.is_empty() {
            let part = RankByText::bm25(attribute, tokens);
            parts.push(RankByText::product(f64::from_bits(weight), part));
        }
    }
    RankByText::sum(parts).into()
}

/// Gives what every row has to hold or must not hold, as far as the engine can tell.
pub(super) fn conditions(query: &WordsQuery) -> Vec<Filter> {
    let in_any_field = |clause: &Clause| {
        let of_field = |field| {
            let parts: Vec<Filter> = Counted::of(clause, field).iter().map(filter_of).collect();
            Filter::and(parts)
        };
        Filter::or(fields_of(query).into_iter().map(|(field, _)| of_field(field)))
    };
    let mut conditions: Vec<Filter> = query.must.iter().map(in_any_field).collect();
    for clause in query.must_not.iter().filter(|clause| clause.can_match()) {
        let is_exact = match clause {
            Clause::Word { .. } => true,
            Clause::Prefix { prefix, .. } => naming::token_prefix(prefix).len() == prefix.len(),
            Clause::Phrase { .. } => false,
        };
        if is_exact {
            conditions.push(Filter::not(in_any_field(clause)));
        }
    }
    conditions
}

/// Gives the query for what BM25 has to know about the whole namespace.
pub(super) fn totals() -> Query {
    Query::new().aggregate_by([
        (N_ROWS, AggregateBy::count()),
        (TEXT_LENGTH, AggregateBy::sum(TEXT_LENGTH)),
        (TITLE_LENGTH, AggregateBy::sum(TITLE_LENGTH)),
    ])
}

/// Reads the answers to [`totals`] and to the queries of what was counted.
pub(super) fn read_statistics(
    results: &[turbopuffer::types::SingleQueryResult],
    counted: Vec<Counted>,
) -> Statistics {
    let figure = |idx: usize, name: &str| {
        let found = results.get(idx).and_then(|result| result.aggregations.get(name));
        found.and_then(serde_json::Value::as_f64).unwrap_or(0.0)
    };
    let n_passages = figure(0, N_ROWS);
    let holding = counted
        .into_iter()
        .enumerate()
        .map(|(idx, counted)| (counted, figure(idx + 1, N_ROWS)))
        .collect();
    Statistics {
        n_passages,
        mean_text: figure(0, TEXT_LENGTH) / n_passages.max(1.0),
        mean_title: figure(0, TITLE_LENGTH) / n_passages.max(1.0),
        holding,
    }
}

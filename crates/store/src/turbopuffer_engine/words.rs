//! A question by words in turbopuffer's language: what to rank by, what every row has to hold, and
//! what has to be counted for BM25.

use std::collections::BTreeMap;

use turbopuffer::types::{
    AggregateBy, Bm25ClauseParams, ContainsAnyTokenFilterParams, Filter, Query, RankBy, RankByText,
};

use super::naming;
use super::row::{Field, TEXT_LENGTH, TITLE_LENGTH, words_attribute};
use super::scoring::{Statistics, boost_of, fields_of};
use crate::{Clause, Form, WordsQuery};

/// A weight that still ranks: the engine gives only rows that score.
const SMALLEST_WEIGHT: f64 = 1e-6;
/// The name of a count in an answer.
const N_ROWS: &str = "n";

/// Words whose passages are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Counted {
    pub(super) field: Field,
    pub(super) form: Form,
    pub(super) tokens: Vec<String>,
    pub(super) is_prefix: bool,
}

impl Counted {
    /// Gives what has to be counted to weigh a clause in a field; a phrase weighs what its parts
    /// weigh together.
    pub fn of(clause: &Clause, field: Field) -> Vec<Self> {
        let any = |form: Form, terms: &[String]| Counted {
            field,
            form,
            tokens: terms.iter().map(|term| naming::token(term).into_owned()).collect(),
            is_prefix: false,
        };
        match clause {
            Clause::Word { form, terms, .. } => vec![any(*form, terms)],
            Clause::Phrase { words, .. } => {
                words.iter().map(|(_, terms)| any(Form::Folded, terms)).collect()
            }
            Clause::Prefix { form, prefix, .. } => vec![Counted {
                field,
                form: *form,
                tokens: vec![naming::token_prefix(prefix).to_owned()],
                is_prefix: true,
            }],
        }
    }

    /// Gives the filter that only rows with one of the words pass.
    pub(super) fn filter(&self) -> Filter {
        let attribute = words_attribute(self.field, self.form);
        if self.is_prefix {
            let params = ContainsAnyTokenFilterParams::new().last_as_prefix(true);
            return Filter::contains_any_token_with_params(attribute, self.tokens.clone(), params);
        }
        Filter::contains_any_token(attribute, self.tokens.clone())
    }

    /// Gives the query that counts those rows.
    pub(super) fn query(&self) -> Query {
        Query::new().filters(self.filter()).aggregate_by([(N_ROWS, AggregateBy::count())])
    }
}

/// Tells whether a question can find anything at all.
pub(super) fn asks_for_something(query: &WordsQuery) -> bool {
    query.must.iter().chain(&query.should).any(|clause| !is_empty(clause))
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
            let weight = (f64::from(boost_of(clause)) * field_boost).max(SMALLEST_WEIGHT);
            for counted in Counted::of(clause, field) {
                let attribute = words_attribute(field, counted.form);
                if counted.is_prefix {
                    let params = Bm25ClauseParams::new().last_as_prefix(true);
                    let part = RankByText::bm25_with_params(attribute, counted.tokens, params);
                    parts.push(RankByText::product(weight, part));
                } else {
                    together
                        .entry((attribute, weight.to_bits()))
                        .or_default()
                        .extend(counted.tokens);
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
            let parts: Vec<Filter> =
                Counted::of(clause, field).iter().map(Counted::filter).collect();
            Filter::and(parts)
        };
        Filter::or(fields_of(query).into_iter().map(|(field, _)| of_field(field)))
    };
    let mut conditions: Vec<Filter> =
        query.must.iter().filter(|clause| !is_empty(clause)).map(in_any_field).collect();
    for clause in query.must_not.iter().filter(|clause| !is_empty(clause)) {
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

/// Gives everything that has to be counted to score passages, each once.
pub(super) fn counted_in(query: &WordsQuery) -> Vec<Counted> {
    let mut counted: Vec<Counted> = query
        .must
        .iter()
        .chain(&query.should)
        .flat_map(|clause| {
            fields_of(query).into_iter().flat_map(|(field, _)| Counted::of(clause, field))
        })
        .filter(|counted| !counted.tokens.is_empty())
        .collect();
    counted.sort();
    counted.dedup();
    counted
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

fn is_empty(clause: &Clause) -> bool {
    match clause {
        Clause::Word { terms, .. } => terms.is_empty(),
        Clause::Phrase { words, .. } => {
            words.is_empty() || words.iter().any(|(_, terms)| terms.is_empty())
        }
        Clause::Prefix { .. } => false,
    }
}

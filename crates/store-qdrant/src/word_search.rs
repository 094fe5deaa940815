//! The best passages by words, found in the memory of this process.
//!
//! Where the words of a namespace are in memory, asking Qdrant for candidates by words would only
//! give their rough order, and its peers are better left to the vectors. Every list of a word is
//! read in the order of what it can add to a score; once those that are left cannot lift a passage
//! into the result, they are asked about the passages that are still in sight alone. The scores that
//! leave are those of [`Scorer`], to the last bit.

use store::remote::{Counted, Field, Scored, Scorer, Statistics, best, fields_of};
use store::{Candidate, Clause, Filter, WordsQuery};

use crate::occurrences::QueryTokens;
use crate::terms::{Term, Token};
use crate::word_table::{List, WordTable};

/// Sums are rounded: this part of the worst score that is still in the result is let through, and
/// the exact score decides.
const SLACK: f32 = 1e-3;
/// What a word that is worth nothing still ranks by.
const SMALLEST_WEIGHT: f32 = 1e-6;

/// A question for a table.
pub(crate) struct WordSearch<'a> {
    pub(crate) query: &'a WordsQuery,
    pub(crate) tokens: &'a QueryTokens,
    pub(crate) statistics: &'a Statistics,
    pub(crate) scorer: &'a Scorer<'a>,
    pub(crate) filter: &'a Filter,
    pub(crate) limit: usize,
}

/// A word of the question in a field, with what it is worth.
struct Weighted<'a> {
    list: List<'a>,
    field: Field,
    /// What a word is worth that is all that a passage says: the most that it can add.
    bound: f32,
}

/// The rows that the lists so far have named, with what they add up to.
struct Sums {
    of_row: Vec<f32>,
    rows: Vec<u32>,
}

impl WordSearch<'_> {
    /// Gives the best passages, best first.
    pub(crate) fn best(&self, table: &WordTable) -> Vec<Candidate> {
        let allowed = self.allowed(table);
        let is_allowed = |row: u32| allowed.as_ref().is_none_or(|rows| rows[row as usize]);
        let mut lists = self.lists(table);
        lists.sort_by(|one, other| other.bound.total_cmp(&one.bound));
        let mut sums = Sums { of_row: vec![0.0; table.n_rows()], rows: vec![] };
        let norms = [Field::Text, Field::Title].map(|field| self.norm_of(field));
        let part = |weighted: &Weighted<'_>, row: u32, count: u32| {
            let of_field = usize::from(weighted.field == Field::Title);
            let (fixed, by_length) = norms[of_field];
            let norm = fixed + by_length * table.coded_length(row)[of_field] as f32;
            weighted.bound * count as f32 / (count as f32 + norm)
        };
        let whole: f32 = lists.iter().map(|list| list.bound).sum();
        let (mut rest, mut next) = (whole, 0);
        while let Some(weighted) = lists.get(next) {
            // No sum is larger than what was added up so far.
            let may_be_over = rest < whole - rest;
            let is_over = |least: f32| rest < least * (1.0 - SLACK);
            if may_be_over && sums.least(self.limit).is_some_and(is_over) {
                break;
            }
            weighted.list.each(|row, count| {
                let sum = &mut sums.of_row[row as usize];
                if *sum == 0.0 {
                    if !is_allowed(row) {
                        return;
                    }
                    sums.rows.push(row);
                }
                *sum += part(weighted, row, count);
            });
            rest -= weighted.bound;
            next += 1;
        }
        sums.rows.sort_unstable();
        for weighted in &lists[next..] {
            sums.keep(self.limit, rest.max(0.0));
            let mut from = 0;
            for row in &sums.rows {
                if let Some(count) = weighted.list.count_in(*row, &mut from) {
                    sums.of_row[*row as usize] += part(weighted, *row, count);
                }
            }
            rest -= weighted.bound;
        }
        sums.keep(self.limit, 0.0);
        let found = table.found(self.tokens);
        let scored = sums.rows.iter().filter_map(|row_idx| {
            let row = table.at(*row_idx)?;
            let score = self.scorer.score(&found.counted(*row_idx, row))?;
            let (document, passage) = (row.document.clone(), row.passage.clone());
            let candidate = Candidate { document, passage, score };
            Some(Scored { number: row.number, candidate })
        });
        best(scored.collect(), self.limit)
    }

    /// Gives the words that rank, those that some passage holds.
    fn lists<'t>(&self, table: &'t WordTable) -> Vec<Weighted<'t>> {
        let mut lists = vec![];
        for clause in self.query.must.iter().chain(&self.query.should) {
            for (field, field_boost) in fields_of(self.query) {
                let idf = |counted: &Counted| self.statistics.idf(counted);
                let Some(idf) = Counted::of(clause, field).iter().map(idf).sum::<Option<f64>>()
                else {
                    continue;
                };
                let worth = f64::from(clause.boost()) * field_boost * idf;
                let worth = (worth as f32).max(SMALLEST_WEIGHT);
                let bound = worth * (self.query.bm25.k1 + 1.0);
                let list = table.list(&tokens_of(clause, field));
                lists.extend(list.map(|list| Weighted { list, field, bound }));
            }
        }
        lists
    }

    /// Gives what BM25 adds to a frequency: a fixed part, and one for each word of the field.
    fn norm_of(&self, field: Field) -> (f32, f32) {
        let (k1, b) = (self.query.bm25.k1, self.query.bm25.b);
        let mean = match field {
            Field::Text => self.statistics.mean_text,
            Field::Title => self.statistics.mean_title,
        };
        (k1 * (1.0 - b), k1 * b / mean.max(f64::from(f32::MIN_POSITIVE)) as f32)
    }

    /// Gives which rows may be in the result; nothing where all may.
    fn allowed(&self, table: &WordTable) -> Option<Vec<bool>> {
        let fitting = (!self.filter.is_all()).then(|| table.fitting(self.filter));
        let (must, must_not) = (&self.query.must, &self.query.must_not);
        if fitting.is_none() && must.is_empty() && must_not.is_empty() && table.n_gone() == 0 {
            return None;
        }
        let mut allowed = match fitting {
            Some(fitting) => fitting.to_vec(),
            None => table.living(),
        };
        let holding = |clause: &Clause| {
            let mut rows = vec![false; table.n_rows()];
            for (field, _) in fields_of(self.query) {
                if let Some(list) = table.list(&tokens_of(clause, field)) {
                    list.each(|row, _| rows[row as usize] = true);
                }
            }
            rows
        };
        for clause in must {
            allowed.iter_mut().zip(holding(clause)).for_each(|(one, holds)| *one &= holds);
        }
        for clause in must_not {
            allowed.iter_mut().zip(holding(clause)).for_each(|(one, holds)| *one &= !holds);
        }
        Some(allowed)
    }
}

impl Sums {
    /// Gives the sum of the last one that is in the result so far; nothing while there is room.
    fn least(&self, limit: usize) -> Option<f32> {
        let at = limit.checked_sub(1).filter(|at| *at < self.rows.len())?;
        let mut sums: Vec<f32> = self.rows.iter().map(|row| self.of_row[*row as usize]).collect();
        let (_, least, _) = sums.select_nth_unstable_by(at, |one, other| other.total_cmp(one));
        Some(*least)
    }

    /// Leaves the rows that can be in the result when so much may still be added.
    fn keep(&mut self, limit: usize, rest: f32) {
        let Some(least) = self.least(limit) else { return };
        let least = least * (1.0 - SLACK);
        let of_row = &self.of_row;
        self.rows.retain(|row| of_row[*row as usize] + rest >= least);
    }
}

/// Gives the tokens under which a word is in a field, each once.
fn tokens_of(clause: &Clause, field: Field) -> Vec<Token> {
    let Clause::Word { form, terms, .. } = clause else { return vec![] };
    let mut tokens: Vec<Token> =
        terms.iter().map(|term| Term::word(field, *form, term).token()).collect();
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;
    use qdrant_client::qdrant::Value;
    use store::remote::Words;
    use store::{Bm25, Form};

    use super::*;
    use crate::point::{
        self, ATTRIBUTES, DOCUMENT, NUMBER, PASSAGE, TERMS, TEXT_LENGTH, TITLE_LENGTH,
    };
    use crate::terms;
    use crate::word_table::id_in;

    const WORDS: [&str; 6] = ["red", "tram", "castle", "harbour", "sky", "bridge"];

    fn words_in(text: &str, title: &str) -> Words {
        Words::cut(text, title, &[], text::Language::English)
    }

    fn payload(number: usize, text: &str, title: &str) -> HashMap<String, Value> {
        let words = words_in(text, title);
        let integer = |number: usize| Value::from(number as i64);
        let attributes = format!(r#"{{"colour":"{}"}}"#, ["blue", "grey"][number % 2]);
        HashMap::from([
            (DOCUMENT.to_owned(), format!("d{}", number / 3).into()),
            (PASSAGE.to_owned(), format!("d{}#{number}", number / 3).into()),
            (NUMBER.to_owned(), integer(number)),
            (TERMS.to_owned(), terms::of_passage(&words).words.into()),
            (TEXT_LENGTH.to_owned(), integer(words.length(Field::Text))),
            (TITLE_LENGTH.to_owned(), integer(words.length(Field::Title))),
            (ATTRIBUTES.to_owned(), attributes.into()),
        ])
    }

    fn words_of(numbers: &[usize]) -> String {
        numbers.iter().map(|at| WORDS[*at]).collect::<Vec<_>>().join(" ")
    }

    proptest! {
        /// However few lists are read to their end, what is found is what scoring every passage finds,
        /// in the same order and to the last bit.
        #[test]
        fn the_best_are_those_of_scoring_every_passage(
            texts in prop::collection::vec(
                (prop::collection::vec(0..6_usize, 0..40), prop::collection::vec(0..6_usize, 0..4)),
                1..60,
            ),
            asked in prop::collection::vec((0..6_usize, 0..5_u32), 1..6),
            must in prop::option::of(0..6_usize),
            must_not in prop::option::of(0..6_usize),
            gone in prop::collection::vec(0..60_usize, 0..5),
            is_filtered: bool,
            limit in 1..12_usize,
        ) {
            let mut table = WordTable::default();
            let id = |number: usize| id_in(Some(&point::id_of("t", number as u32))).unwrap();
            for (number, (text, title)) in texts.iter().enumerate() {
                table.add(id(number), &payload(number, &words_of(text), &words_of(title)));
            }
            gone.iter().for_each(|number| table.remove(id(*number)));
            let mut query = WordsQuery::new(Bm25::PASSAGES, 0.5);
            for (word, boost) in asked {
                let folded = Clause::any_term(Form::Folded, [WORDS[word], "nothing"]);
                query.should.push(folded.boosted(boost as f32 / 2.0));
                query.should.push(Clause::term(Form::Exact, WORDS[word]).boosted(0.1));
            }
            query.must.extend(must.map(|word| Clause::term(Form::Folded, WORDS[word])));
            query.must_not.extend(must_not.map(|word| Clause::term(Form::Exact, WORDS[word])));
            let filter = match is_filtered {
                true => Filter::equals("colour", "grey"),
                false => Filter::All,
            };
            let is_there = |number: usize| {
                !gone.contains(&number) && (!is_filtered || number % 2 == 1)
            };

            let totals = table.totals();
            let mut statistics = Statistics {
                n_passages: totals.n_passages,
                mean_text: totals.mean_text,
                mean_title: totals.mean_title,
                ..Statistics::default()
            };
            for clause in query.must.iter().chain(&query.should) {
                for (field, _) in fields_of(&query) {
                    let terms = terms::of_clause(clause, field);
                    for (counted, terms) in Counted::of(clause, field).into_iter().zip(terms) {
                        statistics.holding.insert(counted, table.n_holding(&terms) as f64);
                    }
                }
            }
            let scorer = Scorer::new(&query, &statistics);
            let tokens = QueryTokens::of(&query).unwrap();
            let search = WordSearch {
                query: &query, tokens: &tokens, statistics: &statistics, scorer: &scorer,
                filter: &filter, limit,
            };
            let shown = |hits: Vec<Candidate>| -> Vec<(String, u32)> {
                hits.iter().map(|hit| (hit.passage.to_string(), hit.score.to_bits())).collect()
            };
            let all = texts.iter().enumerate().filter(|(number, _)| is_there(*number));
            let scored = all.filter_map(|(number, (text, title))| {
                let score = scorer.score(&words_in(&words_of(text), &words_of(title)))?;
                let row = payload(number, "", "");
                let name = |field: &str| crate::occurrences::text_in(&row, field).to_owned();
                let document = model::DocumentId::new(name(DOCUMENT));
                let passage = model::PassageId::new(name(PASSAGE));
                let candidate = Candidate { document, passage, score };
                Some(Scored { number: number as u32, candidate })
            });
            let expected = best(scored.collect(), limit);
            prop_assert_eq!(shown(search.best(&table)), shown(expected));
        }
    }
}

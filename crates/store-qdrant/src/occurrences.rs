//! How often the words of a question are in a point that came back: counted from its tokens where the
//! question has only words, and from its text where their order or their beginnings matter.

use std::collections::HashMap;

use qdrant_client::qdrant::{ScoredPoint, Value, value};
use store::remote::{Field, Occurrences, Words};
use store::{Clause, WordsQuery};

use crate::point::{HEADINGS, LANGUAGE, NUMBER, TERMS, TEXT, TEXT_LENGTH, TITLE, TITLE_LENGTH};
use crate::terms::{self, Term, Token};

/// The tokens of a question, each with the clauses and fields that it is looked for by.
pub(crate) struct QueryTokens {
    slots: HashMap<Token, Vec<usize>>,
    n_slots: usize,
}

/// How often each clause matches in a point.
pub(crate) struct CountedTokens {
    counts: Vec<usize>,
    text_length: usize,
    title_length: usize,
}

impl QueryTokens {
    /// Gives the tokens of a question; nothing where counting them is not enough.
    pub(crate) fn of(query: &WordsQuery) -> Option<Self> {
        if terms::needs_text(query) {
            return None;
        }
        let clauses = query.must.iter().chain(&query.should).chain(&query.must_not);
        let mut slots: HashMap<Token, Vec<usize>> = HashMap::new();
        let mut n_slots = 0;
        for (clause_idx, clause) in clauses.enumerate() {
            let Clause::Word { form, terms, .. } = clause else { continue };
            for field in [Field::Text, Field::Title] {
                let slot = slot_of(clause_idx, field);
                n_slots = n_slots.max(slot + 1);
                for term in terms {
                    let of_token = slots.entry(Term::word(field, *form, term).token()).or_default();
                    // A term that a clause names twice is one.
                    if of_token.last() != Some(&slot) {
                        of_token.push(slot);
                    }
                }
            }
        }
        Some(QueryTokens { slots, n_slots })
    }

    /// Gives each token with the clauses and fields that it counts for.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (&Token, &[usize])> {
        self.slots.iter().map(|(token, slots)| (token, slots.as_slice()))
    }

    /// Gives how many clauses and fields there are.
    pub(crate) fn n_slots(&self) -> usize {
        self.n_slots
    }

    pub(crate) fn counted(&self, row: &ScoredPoint) -> CountedTokens {
        let mut counts = vec![0; self.n_slots];
        for token in terms::tokens_of(text_of(row, TERMS)) {
            for slot in self.slots.get(&token).into_iter().flatten() {
                counts[*slot] += 1;
            }
        }
        let length = |field: &str| integer_of(row, field).and_then(|n| usize::try_from(n).ok());
        CountedTokens {
            counts,
            text_length: length(TEXT_LENGTH).unwrap_or(0),
            title_length: length(TITLE_LENGTH).unwrap_or(0),
        }
    }
}

impl CountedTokens {
    /// Takes counts that were made elsewhere.
    pub(crate) fn new(counts: Vec<usize>, text_length: usize, title_length: usize) -> Self {
        CountedTokens { counts, text_length, title_length }
    }
}

impl Occurrences for CountedTokens {
    fn count(&self, clause_idx: usize, _clause: &Clause, field: Field) -> usize {
        self.counts.get(slot_of(clause_idx, field)).copied().unwrap_or(0)
    }

    fn length(&self, field: Field) -> usize {
        match field {
            Field::Text => self.text_length,
            Field::Title => self.title_length,
        }
    }
}

fn slot_of(clause_idx: usize, field: Field) -> usize {
    2 * clause_idx + usize::from(field == Field::Title)
}

/// Cuts the words of a point again.
pub(crate) fn words_of(row: &ScoredPoint) -> Words {
    let headings: Vec<String> =
        match row.payload.get(HEADINGS).and_then(|value| value.kind.as_ref()) {
            Some(value::Kind::ListValue(list)) => {
                list.values.iter().map(|value| string_of(Some(value)).to_owned()).collect()
            }
            _ => vec![],
        };
    let language = text_of(row, LANGUAGE).parse().unwrap_or(text::Language::Unknown);
    Words::cut(text_of(row, TEXT), text_of(row, TITLE), &headings, language)
}

/// Gives a text of a point; an empty one where it has none.
pub(crate) fn text_of<'a>(row: &'a ScoredPoint, field: &str) -> &'a str {
    text_in(&row.payload, field)
}

/// Gives a text of a payload; an empty one where it has none.
pub(crate) fn text_in<'a>(payload: &'a HashMap<String, Value>, field: &str) -> &'a str {
    string_of(payload.get(field))
}

/// Gives a number of a point.
pub(crate) fn integer_of(row: &ScoredPoint, field: &str) -> Option<i64> {
    integer_in(&row.payload, field)
}

/// Gives a number of a payload.
pub(crate) fn integer_in(payload: &HashMap<String, Value>, field: &str) -> Option<i64> {
    match payload.get(field).and_then(|value| value.kind.as_ref()) {
        Some(value::Kind::IntegerValue(number)) => Some(*number),
        _ => None,
    }
}

/// Gives the number of the passage that a payload is of; one without comes last.
pub(crate) fn number_in(payload: &HashMap<String, Value>) -> u32 {
    let number = integer_in(payload, NUMBER);
    number.and_then(|number| u32::try_from(number).ok()).unwrap_or(u32::MAX)
}

fn string_of(value: Option<&Value>) -> &str {
    match value.and_then(|value| value.kind.as_ref()) {
        Some(value::Kind::StringValue(text)) => text,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::remote::{Counted, Scorer, Statistics};
    use store::{Bm25, Form};

    fn point(text: &str, title: &str) -> ScoredPoint {
        let words = Words::cut(text, title, &[], text::Language::English);
        let integer = |number: usize| Value::from(number as i64);
        let payload = HashMap::from([
            (TERMS.to_owned(), terms::of_passage(&words).words.into()),
            (TEXT_LENGTH.to_owned(), integer(words.length(Field::Text))),
            (TITLE_LENGTH.to_owned(), integer(words.length(Field::Title))),
            (TEXT.to_owned(), text.into()),
            (TITLE.to_owned(), title.into()),
            (LANGUAGE.to_owned(), text::Language::English.code().into()),
        ]);
        ScoredPoint { payload, ..ScoredPoint::default() }
    }

    #[test]
    fn tokens_give_the_score_of_the_text_to_the_last_bit() {
        let mut query = WordsQuery::from_text("red trams of the castle", Bm25::KNOWLEDGE, 0.5, 0.1);
        query.must.push(Clause::any_term(Form::Folded, ["tram", "tram", "castl"]));
        query.must_not.push(Clause::term(Form::Exact, "green"));
        let mut statistics = Statistics {
            n_passages: 50.0,
            mean_text: 7.0,
            mean_title: 2.0,
            ..Statistics::default()
        };
        for (at, clause) in query.must.iter().chain(&query.should).enumerate() {
            for field in [Field::Text, Field::Title] {
                let counted =
                    Counted::of(clause, field).into_iter().map(|one| (one, at as f64 + 1.0));
                statistics.holding.extend(counted);
            }
        }
        let scorer = Scorer::new(&query, &statistics);
        let tokens = QueryTokens::of(&query).unwrap();
        let check = |text: &str, title: &str| {
            let row = point(text, title);
            let by_text = scorer.score(&words_of(&row)).map(f32::to_bits);
            assert_eq!(scorer.score(&tokens.counted(&row)).map(f32::to_bits), by_text, "{text}");
            by_text
        };
        assert!(check("The red tram, the red trams and a castle", "Trams").is_some());
        assert!(check("Red sky at night", "Of the castle").is_some());
        assert!(check("A green tram", "").is_none());
        assert!(check("Nothing of it", "").is_none());
        query.must.push(Clause::phrase(["red", "tram"]));
        assert!(QueryTokens::of(&query).is_none());
    }
}

//! The score of a passage, computed from its text: BM25 with the numbers of the question, the same
//! as the embedded engine gives, whatever the engine ranked by.

use std::collections::HashMap;

use model::Passage;
use text::Language;

use super::row::Field;
use super::words::Counted;
use crate::{Bm25, Clause, DocumentSource, Form, WordsQuery, analysis};

/// Positions between the title and each heading, so that no phrase spans two of them.
const GAP: u32 = 100;

/// The words of one passage, as they are indexed.
#[derive(Debug, Default)]
pub struct Words {
    text: Vec<Word>,
    title: Vec<Word>,
}

#[derive(Debug)]
struct Word {
    position: u32,
    exact: String,
    folded: String,
}

impl Words {
    /// Cuts the words of a passage that is in the catalogue.
    pub fn of(document: &DocumentSource, passage: &Passage) -> Self {
        Words::cut(&passage.text, &document.title, &passage.headings, document.language)
    }

    /// Cuts the words of a passage.
    pub fn cut(text: &str, title: &str, headings: &[String], language: Language) -> Self {
        let mut words = Words::default();
        push(&mut words.text, text, language);
        push(&mut words.title, title, language);
        for heading in headings {
            push(&mut words.title, heading, language);
        }
        words
    }

    /// Gives how many words a field has.
    pub fn length(&self, field: Field) -> usize {
        self.of_field(field).len()
    }

    /// Gives the terms of a field in order.
    pub fn terms(&self, field: Field, form: Form) -> impl Iterator<Item = &str> {
        self.of_field(field).iter().map(move |word| word.term(form))
    }

    fn of_field(&self, field: Field) -> &[Word] {
        match field {
            Field::Text => &self.text,
            Field::Title => &self.title,
        }
    }

    /// Counts how often a clause matches in a field.
    fn count(&self, clause: &Clause, field: Field) -> usize {
        let words = self.of_field(field);
        match clause {
            Clause::Word { form, terms, .. } => {
                let is_one = |word: &&Word| terms.iter().any(|term| term == word.term(*form));
                words.iter().filter(is_one).count()
            }
            Clause::Prefix { form, prefix, .. } => {
                words.iter().filter(|word| word.term(*form).starts_with(prefix)).count()
            }
            Clause::Phrase { words: parts, .. } => count_phrases(words, parts),
        }
    }
}

impl Word {
    fn term(&self, form: Form) -> &str {
        match form {
            Form::Exact => &self.exact,
            Form::Folded => &self.folded,
        }
    }
}

/// What BM25 has to know about the whole namespace.
#[derive(Debug, Default)]
pub struct Statistics {
    /// Passages of the namespace.
    pub n_passages: f64,
    /// The mean number of words in a text.
    pub mean_text: f64,
    /// The mean number of words in a title with the headings.
    pub mean_title: f64,
    /// Passages that hold what was counted.
    pub holding: HashMap<Counted, f64>,
}

impl Statistics {
    /// Gives what a word is worth; nothing when no passage holds it.
    pub fn idf(&self, counted: &Counted) -> Option<f64> {
        let n_holding = self.holding.get(counted).copied().unwrap_or(0.0);
        if n_holding <= 0.0 {
            return None;
        }
        let n_holding = n_holding.min(self.n_passages);
        Some((1.0 + (self.n_passages - n_holding + 0.5) / (n_holding + 0.5)).ln())
    }

    fn idf_of_clause(&self, clause: &Clause, field: Field) -> Option<f64> {
        Counted::of(clause, field).iter().map(|counted| self.idf(counted)).sum()
    }
}

/// Scores a passage; nothing when the question does not fit it.
pub fn score(query: &WordsQuery, words: &Words, statistics: &Statistics) -> Option<f32> {
    let fields = fields_of(query);
    let is_match =
        |clause: &Clause| fields.iter().any(|(field, _)| words.count(clause, *field) > 0);
    let is_allowed = query.must.iter().all(is_match) && !query.must_not.iter().any(is_match);
    let is_asked = !query.must.is_empty() || query.should.iter().any(is_match);
    if !is_allowed || !is_asked {
        return None;
    }
    let mut sum = 0.0;
    for clause in query.must.iter().chain(&query.should) {
        for (field, boost) in &fields {
            let frequency = words.count(clause, *field) as f64;
            if frequency > 0.0
                && let Some(idf) = statistics.idf_of_clause(clause, *field)
            {
                let mean = match field {
                    Field::Text => statistics.mean_text,
                    Field::Title => statistics.mean_title,
                };
                let weight = f64::from(boost_of(clause)) * boost * idf;
                sum += weight * saturation(query.bm25, frequency, words.length(*field), mean);
            }
        }
    }
    Some(sum as f32)
}

/// Gives the fields that a question looks into, with their weights.
pub fn fields_of(query: &WordsQuery) -> Vec<(Field, f64)> {
    let mut fields = vec![(Field::Text, 1.0)];
    if query.title_boost > 0.0 {
        fields.push((Field::Title, f64::from(query.title_boost)));
    }
    fields
}

/// Gives what the score of a clause is multiplied by.
pub fn boost_of(clause: &Clause) -> f32 {
    match clause {
        Clause::Word { boost, .. }
        | Clause::Phrase { boost, .. }
        | Clause::Prefix { boost, .. } => boost.max(0.0),
    }
}

fn saturation(bm25: Bm25, frequency: f64, length: usize, mean: f64) -> f64 {
    let (k1, b) = (f64::from(bm25.k1), f64::from(bm25.b));
    let norm = k1 * (1.0 - b + b * length as f64 / mean.max(f64::MIN_POSITIVE));
    (k1 + 1.0) * frequency / (frequency + norm)
}

fn push(words: &mut Vec<Word>, text: &str, language: Language) {
    let base = words.last().map_or(0, |last| last.position + GAP);
    analysis::visit(text, language, |token| {
        words.push(Word {
            position: base + token.position,
            exact: token.exact.to_owned(),
            folded: token.stem.to_owned(),
        });
    });
}

fn count_phrases(words: &[Word], parts: &[(u32, Vec<String>)]) -> usize {
    let Some((first_offset, first_terms)) = parts.first() else { return 0 };
    let stands_at = |position: u32, terms: &[String]| {
        let start = words.partition_point(|word| word.position < position);
        words[start..]
            .iter()
            .take_while(|word| word.position == position)
            .any(|word| terms.iter().any(|term| term == &word.folded))
    };
    let mut n_phrases = 0;
    let mut last_start = None;
    for word in words.iter().filter(|word| first_terms.iter().any(|term| term == &word.folded)) {
        let Some(start) = word.position.checked_sub(*first_offset) else { continue };
        let is_whole = parts[1..].iter().all(|(offset, terms)| stands_at(start + offset, terms));
        if is_whole && last_start != Some(start) {
            n_phrases += 1;
            last_start = Some(start);
        }
    }
    n_phrases
}

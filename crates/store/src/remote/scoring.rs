//! The score of a passage, computed from its text: BM25 with the numbers of the question, the same
//! as the embedded engine gives, whatever the engine ranked by.

use std::collections::HashMap;

use model::Passage;
use tantivy::fieldnorm::FieldNormReader;
use text::Language;

use super::counted::{Counted, Field, fields_of};
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

    fn count_of(&self, clause: &Clause, field: Field) -> usize {
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

/// How often the clauses of a question match in a passage.
///
/// Clauses are numbered in one row: those of `must`, then of `should`, then of `must_not`. Whoever
/// has the text looks at the clause itself; whoever counted beforehand looks at its number.
pub trait Occurrences {
    /// Counts the matches of a clause in a field.
    fn count(&self, clause_idx: usize, clause: &Clause, field: Field) -> usize;

    /// Gives how many words a field has.
    fn length(&self, field: Field) -> usize;
}

impl Occurrences for Words {
    fn count(&self, _clause_idx: usize, clause: &Clause, field: Field) -> usize {
        self.count_of(clause, field)
    }

    fn length(&self, field: Field) -> usize {
        Words::length(self, field)
    }
}

/// Scores passages for one question: what each clause is worth is looked up once.
#[derive(Debug)]
pub struct Scorer<'a> {
    query: &'a WordsQuery,
    fields: Vec<Field>,
    /// For each clause that ranks, what a match is worth in each field; nothing where no passage
    /// holds its words.
    weights: Vec<Vec<Option<f64>>>,
    mean_text: f64,
    mean_title: f64,
}

impl<'a> Scorer<'a> {
    /// Weighs the clauses of a question.
    pub fn new(query: &'a WordsQuery, statistics: &Statistics) -> Self {
        let fields = fields_of(query);
        let weight = |clause: &Clause, (field, boost): &(Field, f64)| {
            let idf = statistics.idf_of_clause(clause, *field)?;
            Some(f64::from(clause.boost()) * boost * idf)
        };
        let ranking = query.must.iter().chain(&query.should);
        let weights = ranking
            .map(|clause| fields.iter().map(|field| weight(clause, field)).collect())
            .collect();
        Scorer {
            query,
            fields: fields.into_iter().map(|(field, _)| field).collect(),
            weights,
            mean_text: statistics.mean_text,
            mean_title: statistics.mean_title,
        }
    }

    /// Scores a passage; nothing when the question does not fit it.
    pub fn score(&self, words: &impl Occurrences) -> Option<f32> {
        let query = self.query;
        let (n_must, n_should) = (query.must.len(), query.should.len());
        let is_match = |clause_idx: usize, clause: &Clause| {
            self.fields.iter().any(|field| words.count(clause_idx, clause, *field) > 0)
        };
        let mut numbered = query.must.iter().enumerate();
        let has_all = numbered.all(|(idx, clause)| is_match(idx, clause));
        let mut numbered = query.must_not.iter().enumerate();
        let is_refused = numbered.any(|(idx, clause)| is_match(n_must + n_should + idx, clause));
        let mut numbered = query.should.iter().enumerate();
        let is_asked = n_must > 0 || numbered.any(|(idx, clause)| is_match(n_must + idx, clause));
        if !has_all || is_refused || !is_asked {
            return None;
        }
        let mut sum = 0.0;
        for (clause_idx, clause) in query.must.iter().chain(&query.should).enumerate() {
            for (field, weight) in self.fields.iter().zip(&self.weights[clause_idx]) {
                let Some(weight) = weight else { continue };
                let frequency = words.count(clause_idx, clause, *field) as f64;
                if frequency > 0.0 {
                    let mean = match field {
                        Field::Text => self.mean_text,
                        Field::Title => self.mean_title,
                    };
                    sum += weight * saturation(query.bm25, frequency, words.length(*field), mean);
                }
            }
        }
        Some(sum as f32)
    }
}

/// Gives the length that BM25 counts with: the embedded index keeps one byte for it, exact up to 39
/// words and rounded down beyond, and a score means the same in every engine.
pub fn coded_length(n_words: usize) -> usize {
    let n_words = u32::try_from(n_words).unwrap_or(u32::MAX);
    FieldNormReader::id_to_fieldnorm(FieldNormReader::fieldnorm_to_id(n_words)) as usize
}

fn saturation(bm25: Bm25, frequency: f64, length: usize, mean: f64) -> f64 {
    let (k1, b) = (f64::from(bm25.k1), f64::from(bm25.b));
    let length = coded_length(length) as f64;
    let norm = k1 * (1.0 - b + b * length / mean.max(f64::MIN_POSITIVE));
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
    let is_at = |position: u32, terms: &[String]| {
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
        let is_whole = parts[1..].iter().all(|(offset, terms)| is_at(start + offset, terms));
        if is_whole && last_start != Some(start) {
            n_phrases += 1;
            last_start = Some(start);
        }
    }
    n_phrases
}

//! Words as numbers: the dimensions of sparse vectors, and the values that are counted and filtered.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use store::rescoring::{Field, Words};
use store::{Bm25, Clause, Form, WordsQuery};

/// The mean length that weights on the side of passages are made with. It is fixed, so that no
/// weight changes when other passages come; scores are computed with the true one afterwards.
const MEAN_TEXT: f64 = 80.0;
const MEAN_TITLE: f64 = 8.0;
/// The beginnings of words that are indexed, in characters: longer ones are checked afterwards.
pub(crate) const PREFIX_CHARS: usize = 3;

/// A word of a field in one of its forms, or the beginning of some.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Term(u64);

impl Term {
    /// Names a word.
    pub(crate) fn word(field: Field, form: Form, word: &str) -> Self {
        Term::of(b'w', field, form, word)
    }

    /// Names the beginning of words; nothing when it is shorter than what is indexed.
    pub(crate) fn start(field: Field, form: Form, prefix: &str) -> Option<Self> {
        let (end, _) = prefix.char_indices().nth(PREFIX_CHARS).unwrap_or((prefix.len(), ' '));
        let is_long = prefix.chars().count() >= PREFIX_CHARS;
        is_long.then(|| Term::of(b'p', field, form, &prefix[..end]))
    }

    fn of(kind: u8, field: Field, form: Form, text: &str) -> Self {
        let field = match field {
            Field::Text => b't',
            Field::Title => b'h',
        };
        let form = match form {
            Form::Exact => b'e',
            Form::Folded => b'f',
        };
        let mut hash = Sha256::new();
        hash.update([kind, field, form]);
        hash.update(text.as_bytes());
        let digest = hash.finalize();
        let (words, _) = digest.as_chunks::<8>();
        Term(u64::from_le_bytes(words[0]))
    }

    /// The dimension of sparse vectors: 32 bits, so that two words may share one. That only changes
    /// the order of candidates; scores are computed from the text.
    pub(crate) fn dimension(&self) -> u32 {
        self.0 as u32
    }

    /// The value that is filtered by and counted: 63 bits, in which no two words of a namespace
    /// meet.
    pub(crate) fn value(&self) -> i64 {
        (self.0 >> 1) as i64
    }
}

/// Gives the terms of a passage with their weights as BM25 saturates them.
pub(crate) fn of_passage(words: &Words) -> BTreeMap<Term, f32> {
    let mut counts: BTreeMap<(Term, u8), usize> = BTreeMap::new();
    for (field, at) in [(Field::Text, 0), (Field::Title, 1)] {
        for form in [Form::Exact, Form::Folded] {
            for word in words.terms(field, form) {
                *counts.entry((Term::word(field, form, word), at)).or_default() += 1;
                if let Some(start) = Term::start(field, form, word) {
                    *counts.entry((start, at)).or_default() += 1;
                }
            }
        }
    }
    let weigh = |((term, at), count): ((Term, u8), usize)| {
        let (length, mean) = match at {
            0 => (words.length(Field::Text), MEAN_TEXT),
            _ => (words.length(Field::Title), MEAN_TITLE),
        };
        let (k1, b) = (f64::from(Bm25::PASSAGES.k1), f64::from(Bm25::PASSAGES.b));
        let norm = k1 * (1.0 - b + b * length as f64 / mean);
        let count = count as f64;
        (term, ((k1 + 1.0) * count / (count + norm)) as f32)
    };
    counts.into_iter().map(weigh).collect()
}

/// Gives the terms under which a clause is found in a field, part by part: a passage that matches
/// has one term of each part. An empty part says that nothing can be said.
pub(crate) fn of_clause(clause: &Clause, field: Field) -> Vec<Vec<Term>> {
    let any = |form: Form, terms: &[String]| {
        terms.iter().map(|term| Term::word(field, form, term)).collect()
    };
    match clause {
        Clause::Word { form, terms, .. } => vec![any(*form, terms)],
        Clause::Phrase { words, .. } => {
            words.iter().map(|(_, terms)| any(Form::Folded, terms)).collect()
        }
        Clause::Prefix { form, prefix, .. } => {
            vec![Term::start(field, *form, prefix).into_iter().collect()]
        }
    }
}

/// Tells whether a clause holds no word at all.
pub(crate) fn is_empty(clause: &Clause) -> bool {
    match clause {
        Clause::Word { terms, .. } => terms.is_empty(),
        Clause::Phrase { words, .. } => words.is_empty(),
        Clause::Prefix { prefix, .. } => prefix.is_empty(),
    }
}

/// Tells whether passages that the server gives may still not fit.
pub(crate) fn needs_checking(query: &WordsQuery) -> bool {
    let is_loose = |clause: &Clause| match clause {
        Clause::Phrase { .. } => true,
        Clause::Prefix { prefix, .. } => prefix.chars().count() != PREFIX_CHARS,
        Clause::Word { .. } => false,
    };
    query.must.iter().chain(&query.should).chain(&query.must_not).any(is_loose)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_told_apart_and_collide_rarely() {
        let word = |field, form| Term::word(field, form, "castle");
        assert_ne!(word(Field::Text, Form::Exact), word(Field::Text, Form::Folded));
        assert_ne!(word(Field::Text, Form::Exact), word(Field::Title, Form::Exact));
        assert_ne!(
            Some(word(Field::Text, Form::Exact)),
            Term::start(Field::Text, Form::Exact, "castle")
        );
        let start = |prefix: &str| Term::start(Field::Text, Form::Exact, prefix);
        assert_eq!(start("cas"), start("castle"));
        assert_eq!(start("ca"), None);
        // By chance 200,000 words share a dimension of 32 bits about five times.
        let mut dimensions: Vec<u32> = (0..200_000)
            .map(|at| Term::word(Field::Text, Form::Exact, &format!("word{at}")).dimension())
            .collect();
        dimensions.sort_unstable();
        let n_collisions = dimensions.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(n_collisions < 30, "{n_collisions}");
    }
}

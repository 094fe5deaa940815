//! Words as numbers and tokens: the dimensions of sparse vectors, and what is counted and filtered by.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use store::remote::{Field, Words};
use store::{Bm25, Clause, Form, WordsQuery};

/// The mean length that weights on the side of passages are made with. It is fixed, so that no
/// weight changes when other passages come; scores are computed with the true one afterwards.
const MEAN_TEXT: f64 = 80.0;
const MEAN_TITLE: f64 = 8.0;
/// The lengths of beginnings of words that are indexed, in characters. A longer one is looked for by
/// the longest of these, and what that finds is checked afterwards; the shorter one is what a word of
/// four or five letters is mended by.
pub(crate) const START_CHARS: [usize; 2] = [2, 3];
/// What tells words from beginnings of words in a hash.
const WORD: u8 = b'w';
const START: u8 = b'p';

/// A word of a field in one of its forms, or the beginning of some.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Term {
    bits: u64,
    /// Whether it is the beginning of words.
    pub(crate) is_start: bool,
}

impl Term {
    /// Names a word.
    pub(crate) fn word(field: Field, form: Form, word: &str) -> Self {
        Term::of(WORD, field, form, word)
    }

    /// Names the beginning of words; nothing when it is shorter than what is indexed.
    pub(crate) fn start(field: Field, form: Form, prefix: &str) -> Option<Self> {
        Term::starts(field, form, prefix).last()
    }

    /// Names the beginnings of a word that are indexed, the shortest first.
    fn starts(field: Field, form: Form, word: &str) -> impl Iterator<Item = Self> {
        let n_chars = word.chars().count();
        let is_long = move |length: &usize| n_chars >= *length;
        START_CHARS.into_iter().filter(is_long).map(move |length| {
            let end = word.char_indices().nth(length).map_or(word.len(), |(end, _)| end);
            Term::of(START, field, form, &word[..end])
        })
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
        Term { bits: u64::from_le_bytes(words[0]), is_start: kind == START }
    }

    /// The dimension of sparse vectors: 32 bits, so that two words may share one. That only changes
    /// the order of candidates; scores are computed from the text.
    pub(crate) fn dimension(&self) -> u32 {
        self.bits as u32
    }

    /// The token that is filtered by and counted: 48 bits in eight characters. Among a million words
    /// two share one with a probability of 0.2 %.
    pub(crate) fn token(&self) -> Token {
        let bits = self.bits >> 16;
        std::array::from_fn(|at| ALPHABET[(bits >> (6 * at)) as usize & 63])
    }
}

/// A word as Qdrant's text index has it.
pub(crate) type Token = [u8; 8];

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

pub(crate) fn text_of(tokens: impl IntoIterator<Item = Token>) -> String {
    let mut text = String::new();
    for token in tokens {
        if !text.is_empty() {
            text.push(' ');
        }
        text.extend(token.map(char::from));
    }
    text
}

pub(crate) fn tokens_of(text: &str) -> impl Iterator<Item = Token> + '_ {
    text.as_bytes().chunks(size_of::<Token>() + 1).filter_map(|chunk| {
        let (token, _) = chunk.split_first_chunk()?;
        Some(*token)
    })
}

/// What a point says of the words of its passage.
pub(crate) struct PassageTerms {
    /// Every word as often as it occurs, so that a score can be computed without the text.
    pub(crate) words: String,
    /// The beginnings of words, each once.
    pub(crate) starts: String,
    /// The weights of words and beginnings, as BM25 saturates them.
    pub(crate) weights: BTreeMap<u32, f32>,
}

pub(crate) fn of_passage(words: &Words) -> PassageTerms {
    let mut counts: BTreeMap<Term, (usize, Field)> = BTreeMap::new();
    let mut starts: BTreeMap<Term, (usize, Field)> = BTreeMap::new();
    for field in [Field::Text, Field::Title] {
        for form in [Form::Exact, Form::Folded] {
            for word in words.terms(field, form) {
                counts.entry(Term::word(field, form, word)).or_insert((0, field)).0 += 1;
                for start in Term::starts(field, form, word) {
                    starts.entry(start).or_insert((0, field)).0 += 1;
                }
            }
        }
    }
    let (k1, b) = (f64::from(Bm25::PASSAGES.k1), f64::from(Bm25::PASSAGES.b));
    let weigh = |count: usize, field: Field| {
        let mean = match field {
            Field::Text => MEAN_TEXT,
            Field::Title => MEAN_TITLE,
        };
        let norm = k1 * (1.0 - b + b * words.length(field) as f64 / mean);
        ((k1 + 1.0) * count as f64 / (count as f64 + norm)) as f32
    };
    // Two words that share a dimension are one there.
    let mut weights: BTreeMap<u32, f32> = BTreeMap::new();
    for (term, (count, field)) in counts.iter().chain(&starts) {
        *weights.entry(term.dimension()).or_default() += weigh(*count, *field);
    }
    let repeated = counts.iter().flat_map(|(term, (count, _))| {
        let token = term.token();
        std::iter::repeat_n(token, *count)
    });
    PassageTerms {
        words: text_of(repeated),
        starts: text_of(starts.keys().map(Term::token)),
        weights,
    }
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

/// Tells whether scoring needs the text itself: the order of words, or words with a beginning that
/// is longer or shorter than what is indexed.
pub(crate) fn needs_text(query: &WordsQuery) -> bool {
    let is_word = |clause: &Clause| matches!(clause, Clause::Word { .. });
    !query.must.iter().chain(&query.should).chain(&query.must_not).all(is_word)
}

/// Tells whether passages that the server gives may still not fit.
pub(crate) fn needs_checking(query: &WordsQuery) -> bool {
    let is_loose = |clause: &Clause| match clause {
        Clause::Phrase { .. } => true,
        Clause::Prefix { prefix, .. } => !START_CHARS.contains(&prefix.chars().count()),
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
        assert_ne!(start("ca"), start("cas"));
        assert_eq!(start("c"), None);
        let indexed = ["c", "ca", "cas", "castle"]
            .map(|word| Term::starts(Field::Text, Form::Exact, word).map(Some).collect::<Vec<_>>());
        let both = vec![start("ca"), start("cas")];
        assert_eq!(indexed, [vec![], vec![start("ca")], both.clone(), both]);
        let token = word(Field::Text, Form::Exact).token();
        assert_eq!(token.map(|byte| byte.is_ascii_whitespace()), [false; 8]);
        let text = text_of([token, token, word(Field::Text, Form::Folded).token()]);
        assert_eq!(text.len(), 26);
        assert_eq!(tokens_of(&text).filter(|one| *one == token).count(), 2);
        assert_eq!(tokens_of(&text).count(), 3);
        assert_eq!(tokens_of("").count(), 0);
        // By chance 200,000 words share a dimension of 32 bits about five times.
        let mut dimensions: Vec<u32> = (0..200_000)
            .map(|at| Term::word(Field::Text, Form::Exact, &format!("word{at}")).dimension())
            .collect();
        dimensions.sort_unstable();
        let n_collisions = dimensions.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(n_collisions < 30, "{n_collisions}");
        // Tokens are counted and filtered by: none of them meet.
        let tokens: std::collections::HashSet<Token> = (0..200_000)
            .map(|at| Term::word(Field::Text, Form::Exact, &format!("word{at}")).token())
            .collect();
        assert_eq!(tokens.len(), 200_000);
    }
}

//! Says where the words of a query are in a text, and in which spelling: the ground of
//! highlights and explanations.

use std::collections::HashMap;

use model::Span;

use crate::analyze::analyzer::{Analyzer, Scratch};
use crate::analyze::beginnings::Beginnings;
use crate::analyze::hidden::OpenTexts;
use crate::analyze::query::QueryWord;
use crate::analyze::token::TokenKind;
use crate::language::{Language, keeps_beginnings};

/// A word of a query, found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The position in the list of query words.
    pub word_idx: usize,
    /// Where it is in the text, in characters.
    pub chars: Span,
    /// Whether the spelling is the same; otherwise it matched by its folded or stemmed form.
    pub is_exact: bool,
    /// The index term through which it matched.
    pub term: String,
}

/// The words of a query, prepared for looking for them in many texts.
#[derive(Debug)]
pub struct WantedWords<'a> {
    words: &'a [QueryWord],
    /// The positions of the words that have an index term.
    by_term: HashMap<&'a str, Vec<usize>, ahash::RandomState>,
    beginnings: Beginnings,
}

impl<'a> WantedWords<'a> {
    /// Prepares words.
    pub fn of(words: &'a [QueryWord]) -> Self {
        let mut by_term: HashMap<&str, Vec<usize>, ahash::RandomState> = HashMap::default();
        for (word_idx, word) in words.iter().enumerate() {
            for term in &word.terms {
                by_term.entry(term).or_default().push(word_idx);
            }
        }
        WantedWords { words, by_term, beginnings: Beginnings::of(words) }
    }
}

impl Analyzer {
    /// Lists where the words of a query are in a text, in order of the text. A private piece of
    /// the text is found as a whole or not at all.
    ///
    /// `language` is the one under which the text was indexed.
    pub fn matches(
        &self,
        words: &[QueryWord],
        text: &str,
        language: Language,
        scratch: &mut Scratch,
    ) -> Vec<Match> {
        self.matches_and_length(&WantedWords::of(words), text, language, scratch).0
    }

    /// Lists the same, and counts the tokens of the text as an index does.
    pub fn matches_and_length(
        &self,
        wanted: &WantedWords<'_>,
        text: &str,
        language: Language,
        scratch: &mut Scratch,
    ) -> (Vec<Match>, usize) {
        let WantedWords { words, by_term, beginnings } = wanted;
        let is_telling = keeps_beginnings(language);
        let mut found = Vec::new();
        let mut n_tokens = 0;
        let is_wanted = |word: &str| !is_telling || beginnings.may_match(word);
        let n_passed_over = self.visit_wanted(text, language, scratch, is_wanted, |token| {
            n_tokens += 1;
            let Some(word_idxs) = by_term.get(token.stem) else { return };
            for word_idx in word_idxs {
                let Some(word) = words.get(*word_idx) else { continue };
                if word.kind.is_ideographic() != token.kind.is_ideographic() {
                    continue;
                }
                found.push(Match {
                    word_idx: *word_idx,
                    chars: token.chars,
                    is_exact: word.exact == token.exact,
                    term: token.stem.to_owned(),
                });
            }
        });
        leave_private(words, text, &mut scratch.open, &mut found);
        (found, n_tokens + n_passed_over)
    }
}

/// Leaves out what was found in private pieces of the text, and adds those that are wanted whole.
fn leave_private(words: &[QueryWord], text: &str, open: &mut OpenTexts, found: &mut Vec<Match>) {
    let wants_whole = words.iter().any(|word| word.kind == TokenKind::Private);
    // Looking for private pieces costs more than looking for words.
    if found.is_empty() && !wants_whole {
        return;
    }
    let Some(hidden) = open.hidden(text) else { return };
    let pieces = hidden.in_chars(text);
    found.retain(|found| {
        let next = pieces.partition_point(|(piece, _)| piece.end <= found.chars.start);
        pieces.get(next).is_none_or(|(piece, _)| found.chars.end <= piece.start)
    });
    for (chars, term) in pieces.iter().filter_map(|(chars, term)| Some((chars, (*term)?))) {
        for (word_idx, word) in words.iter().enumerate() {
            if word.kind == TokenKind::Private && word.terms.iter().any(|other| other == term) {
                found.push(Match {
                    word_idx,
                    chars: *chars,
                    is_exact: true,
                    term: word.exact.clone(),
                });
            }
        }
    }
    found.sort_by_key(|found| found.chars.start);
}

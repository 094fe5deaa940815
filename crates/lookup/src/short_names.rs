//! Names of two to four letters with a slip: `eu` for `Leu`, `uRs` for `Rus`, `青林県` for `青森県`.
//!
//! Nearly every short word is one slip away from some other, so these are looked for only where
//! nothing else was found, and only among names of which everything else agrees. They are never
//! sure.

use crate::index::{Index, NameIdx, NameRecord};
use crate::token::{Token, tokens};
use crate::typo::{self, Orthographies};
use crate::vocabulary::{is_number, is_wide};
use crate::words::{Nature, nature};

/// The letters of a word of a query that may be such a name.
const WRITTEN_CHARS: std::ops::RangeInclusive<usize> = 2..=4;

/// The least characters, of the longer of both, of a name in Han, kana or hangul with a slip.
const LEAST_WIDE_CHARS: usize = 3;

/// What a name is worth before its slip is taken off: little, and more than the least.
const WITHOUT_SLIP: f32 = 0.62;
const SLIP: f32 = 0.04;

/// A name and what it is worth.
pub(crate) struct ShortName {
    pub(crate) name: NameIdx,
    pub(crate) score: f32,
}

/// Finds the names that a query is, but for one slip in a short word.
pub(crate) fn short_names(index: &Index, text: &str) -> Vec<ShortName> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let written: Vec<char> = token.folded.chars().collect();
        let says_kind = nature(&token.folded) == Nature::Kind;
        let is_name = nature(&token.folded) == Nature::Plain
            && index.vocabulary.find(&token.folded).is_some();
        if !WRITTEN_CHARS.contains(&written.len())
            || is_name
            || says_kind
            || is_number(&token.folded)
        {
            continue;
        }
        let is_word_each = written.iter().copied().any(is_wide);
        for word in index.vocabulary.short_words() {
            let meant: Vec<char> = index.vocabulary.word(*word).folded.chars().collect();
            // Of characters that are a word each two must stay, or one word in common is enough.
            if is_word_each && written.len().max(meant.len()) < LEAST_WIDE_CHARS {
                continue;
            }
            let cost = typo::cost(&written, &meant, Orthographies::Two, typo::ONE);
            let Some(cost) = cost else { continue };
            for name in &index.postings[*word as usize] {
                let record = &index.names[*name as usize];
                if agrees(index, &tokens, at, record) {
                    found.push(ShortName { name: *name, score: WITHOUT_SLIP - SLIP * cost });
                }
            }
        }
    }
    found
}

/// Tells whether the rest of a query is in a name or in what is known of its entry, and the rest of
/// the name in the query.
fn agrees(index: &Index, tokens: &[Token], at: usize, record: &NameRecord) -> bool {
    let words = index.words_of(record);
    let others = tokens.iter().enumerate().filter(|(other, _)| *other != at);
    let is_in_name = |token: &Token| {
        words.iter().any(|word| index.vocabulary.word(word.word).folded == token.folded)
    };
    let is_known = others.clone().all(|(_, token)| {
        nature(&token.folded) != Nature::Plain
            || is_in_name(token)
            || index.evidence.holds(record.entry, &index.evidence.find(&token.folded))
    });
    let n_plain = words
        .iter()
        .filter(|word| index.vocabulary.word(word.word).nature == Nature::Plain)
        .count();
    let n_said = others
        .filter(|(_, token)| nature(&token.folded) == Nature::Plain && is_in_name(token))
        .count();
    is_known && n_said + 1 >= n_plain
}

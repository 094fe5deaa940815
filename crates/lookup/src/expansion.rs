//! What one word of a query may stand for: words of names, each with how sure that is.

use ahash::AHashMap;

use crate::vocabulary::WordIdx;

/// A query word stands for at most this many words of the vocabulary; the likeliest are kept.
const MAX_EXPANSIONS: usize = 96;

/// A word that a query word may stand for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Expansion {
    pub(crate) word: WordIdx,
    pub(crate) similarity: f32,
    /// Whether one is short for the other, which says little about what was meant: `a.` may be
    /// short for any word with an A.
    pub(crate) is_abbreviation: bool,
}

/// The words that one query word may stand for, each with its best similarity.
#[derive(Default)]
pub(crate) struct Similarities {
    similarities: AHashMap<WordIdx, (f32, bool)>,
}

impl Similarities {
    pub(crate) fn add(&mut self, word: WordIdx, similarity: f32) {
        self.offer(word, similarity, false);
    }

    pub(crate) fn add_abbreviation(&mut self, word: WordIdx, similarity: f32) {
        self.offer(word, similarity, true);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.similarities.is_empty()
    }

    /// Tells whether it stands for some word otherwise than as an abbreviation.
    pub(crate) fn has_word(&self) -> bool {
        self.similarities.values().any(|(_, is_abbreviation)| !is_abbreviation)
    }

    pub(crate) fn retain(&mut self, is_kept: impl Fn(WordIdx) -> bool) {
        self.similarities.retain(|word, _| is_kept(*word));
    }

    fn offer(&mut self, word: WordIdx, similarity: f32, is_abbreviation: bool) {
        let best = self.similarities.entry(word).or_insert((similarity, is_abbreviation));
        if similarity > best.0 {
            *best = (similarity, is_abbreviation);
        }
    }

    /// Gives them likeliest first.
    pub(crate) fn into_sorted(self) -> Vec<Expansion> {
        let mut expansions: Vec<Expansion> = self
            .similarities
            .into_iter()
            .map(|(word, (similarity, is_abbreviation))| Expansion {
                word,
                similarity,
                is_abbreviation,
            })
            .collect();
        expansions.sort_by(|left, right| {
            right.similarity.total_cmp(&left.similarity).then(left.word.cmp(&right.word))
        });
        expansions.truncate(MAX_EXPANSIONS);
        expansions
    }
}

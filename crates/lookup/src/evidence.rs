//! Words around a name that tell homonyms apart: those of the context, the metadata and the kind.
//!
//! `BERGHIN, jud. Alba` names a commune and says where it lies. The name answers one word, the
//! entry's context the others; an entry that lies elsewhere has no answer to them.

use ahash::AHashMap;

use crate::entry::{Entry, EntryIdx};
use crate::token::tokens;
use crate::words::{Nature, canonical_kind, nature};

/// The number of a word of evidence.
pub(crate) type EvidenceIdx = u32;

/// Words of one entry after this many are not looked at.
const MAX_WORDS: usize = 64;

/// The evidence of all entries.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    by_word: AHashMap<String, EvidenceIdx>,
    /// The words of each entry, one after the other, each list ascending.
    words: Vec<EvidenceIdx>,
    starts: Vec<u32>,
    /// Every word in its order, to find those that begin alike.
    sorted: Vec<(String, EvidenceIdx)>,
}

/// The letters from which on the beginning of a word is that word: who writes `Ostalb` means the
/// `Ostalbkreis`.
const LEAST_BEGINNING: usize = 5;
/// Words that begin alike after this many are not looked at.
const MAX_BEGINNINGS: usize = 16;

impl Evidence {
    /// Collects the traits of entries, in their order.
    pub(crate) fn of(entries: &[Entry]) -> Self {
        let mut evidence = Evidence { starts: vec![0], ..Evidence::default() };
        for entry in entries {
            let mut words: Vec<EvidenceIdx> = entry
                .traits
                .iter()
                .flat_map(|text| tokens(text))
                .filter(|token| nature(&token.folded) != Nature::Glue)
                .take(MAX_WORDS)
                .map(|token| evidence.number(key(&token.folded)))
                .collect();
            words.sort_unstable();
            words.dedup();
            evidence.words.extend(words);
            evidence.starts.push(evidence.words.len() as u32);
        }
        let words = evidence.by_word.iter();
        evidence.sorted = words.map(|(word, number)| (word.clone(), *number)).collect();
        evidence.sorted.sort_unstable();
        evidence
    }

    /// Gives the numbers that a word of a query has.
    pub(crate) fn find(&self, folded: &str) -> Vec<EvidenceIdx> {
        if let Some(number) = self.by_word.get(key(folded)) {
            return vec![*number];
        }
        if folded.chars().count() < LEAST_BEGINNING {
            return Vec::new();
        }
        let start = self.sorted.partition_point(|(word, _)| word.as_str() < folded);
        let alike = self.sorted[start..].iter().take_while(|(word, _)| word.starts_with(folded));
        alike.take(MAX_BEGINNINGS).map(|(_, number)| *number).collect()
    }

    /// Tells whether an entry has one of these words.
    pub(crate) fn holds(&self, entry: EntryIdx, words: &[EvidenceIdx]) -> bool {
        let at = entry.0 as usize;
        let (Some(start), Some(end)) = (self.starts.get(at), self.starts.get(at + 1)) else {
            return false;
        };
        let of_entry = &self.words[*start as usize..*end as usize];
        words.iter().any(|word| of_entry.binary_search(word).is_ok())
    }

    fn number(&mut self, word: &str) -> EvidenceIdx {
        if let Some(known) = self.by_word.get(word) {
            return *known;
        }
        let number = self.by_word.len() as EvidenceIdx;
        self.by_word.insert(word.to_owned(), number);
        number
    }
}

/// Forms of one kind word are one word: `jud.` is `County`.
fn key(folded: &str) -> &str {
    canonical_kind(folded).unwrap_or(folded)
}

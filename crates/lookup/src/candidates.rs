//! From the words of a query to the few names worth scoring in full.
//!
//! A name must cover half of the query's weight. The lightest words together may weigh less
//! than that: names that hold only those cannot qualify, so their long posting lists are never
//! the start of a search (the idea of MaxScore). Only the cap on postings can lose a name, and
//! it loses the longest ones.

use ahash::AHashMap;

use crate::index::{Index, NameIdx};
use crate::query::{QueryWord, Reading};
use crate::vocabulary::similarity;
use crate::weights::LEAST_QUERY_COVERAGE;

/// Posting entries read for the words that can start a search.
const MAX_POSTINGS: usize = 400_000;

/// Names scored in full, unless all are asked for.
pub(crate) const MAX_SCORED: usize = 384;

/// Names that may match.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// The likeliest first.
    pub(crate) names: Vec<NameIdx>,
    /// How many names cover enough of the query, whether listed or not.
    pub(crate) n_covering: usize,
    /// Whether no list was cut.
    pub(crate) is_complete: bool,
}

/// Finds the names that cover enough of a query: the likeliest so many.
pub(crate) fn candidates(index: &Index, reading: &Reading, n_scored: usize) -> Candidates {
    let mut by_weight: Vec<&QueryWord> = reading.words.iter().collect();
    by_weight.sort_by(|left, right| left.weight.total_cmp(&right.weight));
    // A name that answers the weightiest word may be meant, whatever the other words are: the
    // context may answer them, or nothing at all.
    let known = |word: &&&QueryWord| !word.expansions.is_empty() && word.evidence.is_empty();
    let heaviest = by_weight
        .iter()
        .rfind(known)
        .or_else(|| by_weight.iter().rfind(|word| !word.expansions.is_empty()));
    let least = LEAST_QUERY_COVERAGE * heaviest.map_or(reading.weight, |word| word.weight);
    let mut light_weight = 0.0;
    let n_light = by_weight
        .iter()
        .take_while(|word| {
            light_weight += word.weight;
            light_weight < least
        })
        .count();
    let (light_words, heavy) = by_weight.split_at(n_light);

    let mut coverage = Coverage::new(index.names.len());
    let mut n_left = MAX_POSTINGS;
    let mut is_complete = true;
    for (at, word) in heavy.iter().enumerate().rev() {
        // An abbreviation alone fits half of all names: it raises what another word found.
        for expansion in word.expansions.iter().filter(|expansion| !expansion.is_abbreviation) {
            let postings = &index.postings[expansion.word as usize];
            let n_read = postings.len().min(n_left);
            is_complete &= n_read == postings.len();
            n_left -= n_read;
            for name in &postings[..n_read] {
                coverage.add(*name, at, word.weight * expansion.similarity);
            }
        }
    }
    let short = heavy.iter().enumerate().flat_map(|(at, word)| {
        let short = word.expansions.iter().filter(|expansion| expansion.is_abbreviation);
        short.map(move |expansion| (at, word.weight, expansion))
    });
    let light = light_words.iter().enumerate().flat_map(|(at, word)| {
        let at = heavy.len() + at;
        word.expansions.iter().map(move |expansion| (at, word.weight, expansion))
    });
    for (at, weight, expansion) in short.chain(light) {
        for name in &index.postings[expansion.word as usize] {
            coverage.raise(*name, at, weight * expansion.similarity);
        }
    }
    let by_bit = heavy.iter().chain(light_words);
    let context = by_bit.enumerate().filter(|(_, word)| !word.evidence.is_empty());
    let context: Vec<(usize, &QueryWord)> = context.map(|(at, word)| (at, *word)).collect();
    coverage.add_context(index, &context, n_scored);
    let least_counted = LEAST_QUERY_COVERAGE * reading.weight;
    coverage.into_candidates(least, least_counted, is_complete, n_scored)
}

/// How much of the query each touched name covers.
struct Coverage {
    covered: Vec<f32>,
    /// The words of the query that a name answers, one bit each; a query has fewer than 64.
    words: Vec<u64>,
    touched: Vec<NameIdx>,
    /// What the contexts of the touched names answer besides, where there are too many to score.
    by_context: AHashMap<NameIdx, f32>,
}

impl Coverage {
    fn new(n_names: usize) -> Self {
        Coverage {
            covered: vec![0.0; n_names],
            words: vec![0; n_names],
            touched: Vec::new(),
            by_context: AHashMap::new(),
        }
    }

    /// Expansions come likeliest first, so the first to touch a name for a word is the best.
    fn add(&mut self, name: NameIdx, word: usize, weight: f32) {
        let at = name as usize;
        let bit = 1_u64 << (word % 64);
        if self.words[at] & bit != 0 {
            return;
        }
        if self.words[at] == 0 {
            self.touched.push(name);
        }
        self.covered[at] += weight;
        self.words[at] |= bit;
    }

    fn raise(&mut self, name: NameIdx, word: usize, weight: f32) {
        if self.words[name as usize] != 0 {
            self.add(name, word, weight);
        }
    }

    /// Counts what the context of a name answers, where not all names can be scored: of the names
    /// that hold a word like `Vâlcea` few lie in that county.
    fn add_context(&mut self, index: &Index, context: &[(usize, &QueryWord)], n_scored: usize) {
        if self.touched.len() <= n_scored {
            return;
        }
        for name in &self.touched {
            let entry = index.names[*name as usize].entry;
            let answered = self.words[*name as usize];
            let said = context.iter().filter(|(at, word)| {
                answered & (1_u64 << (at % 64)) == 0 && index.evidence.holds(entry, &word.evidence)
            });
            let weight: f32 = said.map(|(_, word)| word.weight * similarity::EVIDENCE).sum();
            if weight > 0.0 {
                self.by_context.insert(*name, weight);
            }
        }
    }

    fn into_candidates(
        self,
        least: f32,
        least_counted: f32,
        is_complete: bool,
        n_scored: usize,
    ) -> Candidates {
        let mut names = self.touched;
        // Abbreviations inside names are seen only in full scoring, hence the slack.
        names.retain(|name| self.covered[*name as usize] >= least * 0.9);
        let is_counted = |name: &&NameIdx| self.covered[**name as usize] >= least_counted * 0.9;
        let n_covering = names.iter().filter(is_counted).count().max(names.len().min(n_scored));
        let said = |name: &NameIdx| {
            self.covered[*name as usize] + self.by_context.get(name).copied().unwrap_or(0.0)
        };
        let order = |left: &NameIdx, right: &NameIdx| {
            said(right).total_cmp(&said(left)).then(left.cmp(right))
        };
        if names.len() > n_scored {
            names.select_nth_unstable_by(n_scored, order);
            names.truncate(n_scored);
        }
        names.sort_unstable_by(order);
        Candidates { names, n_covering, is_complete }
    }
}

//! The formula that this crate replaces: plain pg_trgm similarity of the whole name.

use std::collections::BTreeMap;

use crate::trigram::{Trigram, word_trigrams};

/// Names ranked by pg_trgm's `similarity`, nothing folded but case.
pub(crate) struct PlainTrigrams {
    by_trigram: BTreeMap<Trigram, Vec<u32>>,
    n_trigrams: Vec<usize>,
}

impl PlainTrigrams {
    /// Indexes names by position.
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut index = PlainTrigrams { by_trigram: BTreeMap::new(), n_trigrams: Vec::new() };
        for (at, name) in names.enumerate() {
            let trigrams = trigrams(name);
            index.n_trigrams.push(trigrams.len());
            for trigram in trigrams {
                index.by_trigram.entry(trigram).or_default().push(at as u32);
            }
        }
        index
    }

    /// Gives the positions of the most similar names, best first, however small the similarity.
    pub(crate) fn top(&self, query: &str, limit: usize) -> Vec<(usize, f64)> {
        let trigrams = trigrams(query);
        let mut shared = vec![0_usize; self.n_trigrams.len()];
        for trigram in &trigrams {
            for at in self.by_trigram.get(trigram).into_iter().flatten() {
                shared[*at as usize] += 1;
            }
        }
        let mut ranked: Vec<(usize, f64)> = shared
            .into_iter()
            .enumerate()
            .filter(|(_, n_shared)| *n_shared > 0)
            .map(|(at, n_shared)| {
                let all = self.n_trigrams[at] + trigrams.len() - n_shared;
                (at, n_shared as f64 / all as f64)
            })
            .collect();
        ranked.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        ranked.truncate(limit);
        ranked
    }
}

fn trigrams(text: &str) -> Vec<Trigram> {
    let mut trigrams: Vec<Trigram> = text
        .to_lowercase()
        .split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .flat_map(word_trigrams)
        .collect();
    trigrams.sort_unstable();
    trigrams.dedup();
    trigrams
}

//! The index over one dimension: built once, read by many threads.
//!
//! Names are numbered by rising weight, so that of many names with the same words the shortest
//! comes first in every posting list, and a list that is cut loses the least likely names.

use std::sync::Arc;

use ahash::AHashMap;

use crate::code::Codes;
use crate::entry::{Entry, EntryIdx};
use crate::evidence::Evidence;
use crate::name_embedder::{NameEmbedder, NameEmbedderError, NameVectors};
use crate::token::{Token, folded_name, spelled_name, tokens};
use crate::vocabulary::{Vocabulary, WordIdx};
use crate::weights;
use crate::words::canonical_kind;

/// An in-memory index over the names, aliases, codes and values of one dimension.
#[derive(Debug, Default)]
pub struct Index {
    pub(crate) entries: Vec<Entry>,
    pub(crate) names: Vec<NameRecord>,
    pub(crate) words_of_names: Vec<WordOfName>,
    pub(crate) vocabulary: Vocabulary,
    /// Names that hold a word, by word; each list ascends.
    pub(crate) postings: Vec<Vec<NameIdx>>,
    pub(crate) by_folded_name: AHashMap<String, Vec<NameIdx>>,
    pub(crate) by_value: AHashMap<String, Vec<EntryIdx>>,
    pub(crate) codes: Codes,
    pub(crate) evidence: Evidence,
    pub(crate) vectors: Option<NameVectors>,
}

/// The position of a name in the index.
pub(crate) type NameIdx = u32;

/// One name or alias of one entry.
#[derive(Debug)]
pub(crate) struct NameRecord {
    pub(crate) entry: EntryIdx,
    pub(crate) source: NameSource,
    pub(crate) words: std::ops::Range<u32>,
    pub(crate) weight: f32,
}

/// Where a name is in its entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameSource {
    Name(u32),
    Alias(u32),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct WordOfName {
    pub(crate) word: WordIdx,
    pub(crate) spelling: u32,
    pub(crate) weight: f32,
}

impl Index {
    /// Builds the index. Names without a letter or digit are kept as entries and never match.
    pub fn build(entries: Vec<Entry>) -> Self {
        let mut index = Index { entries, ..Index::default() };
        let mut drafts = index.draft_names();
        index.unglue(&mut drafts);
        let mut n_holding = vec![0_u32; index.vocabulary.len()];
        for draft in &drafts {
            let mut words: Vec<WordIdx> = draft.words.iter().map(|(word, _)| *word).collect();
            words.sort_unstable();
            words.dedup();
            words.into_iter().for_each(|word| n_holding[word as usize] += 1);
        }
        let n_names = drafts.len() as u32;
        let weights: Vec<f32> = n_holding
            .iter()
            .enumerate()
            .map(|(word, n)| {
                weights::in_name(index.vocabulary.word(word as WordIdx).nature, *n, n_names)
            })
            .collect();
        for draft in &mut drafts {
            draft.weight = draft.words.iter().map(|(word, _)| weights[*word as usize]).sum();
        }
        drafts.sort_by(|left, right| left.weight.total_cmp(&right.weight));
        index.postings = n_holding.iter().map(|n| Vec::with_capacity(*n as usize)).collect();
        for draft in drafts {
            index.add_name(draft, &weights);
        }
        index.vocabulary.finish();
        index.evidence = Evidence::of(&index.entries);
        index.add_values();
        index
    }

    /// Gives official names and aliases vectors, so that a query whose letters are
    /// nowhere can still find what it means.
    ///
    /// Fails when the embedder cannot give the vectors; the index then stays as it was.
    pub fn add_vectors(
        &mut self,
        embedder: Arc<dyn NameEmbedder>,
    ) -> Result<(), NameEmbedderError> {
        self.vectors = NameVectors::of(&self.entries, embedder)?;
        Ok(())
    }

    /// Tells whether names have vectors.
    pub fn has_vectors(&self) -> bool {
        self.vectors.is_some()
    }

    /// Looks an entry up by its place.
    pub fn entry(&self, entry: EntryIdx) -> &Entry {
        &self.entries[entry.0 as usize]
    }

    /// Gives the first entry whose value is exactly this text.
    pub fn find_value(&self, value: &str) -> Option<EntryIdx> {
        let key = spelled_name(&tokens(value));
        let entries = self.by_value.get(&key)?;
        entries.iter().copied().find(|entry| self.entry(*entry).value == value)
    }

    /// Gives all entries, in the order they were given.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Counts the entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Counts the names and aliases of all entries.
    pub fn n_names(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn name_text(&self, name: &NameRecord) -> &str {
        let entry = self.entry(name.entry);
        match name.source {
            NameSource::Name(at) => &entry.names[at as usize].text,
            NameSource::Alias(at) => &entry.aliases[at as usize],
        }
    }

    pub(crate) fn words_of(&self, name: &NameRecord) -> &[WordOfName] {
        &self.words_of_names[name.words.start as usize..name.words.end as usize]
    }

    fn draft_names(&mut self) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for (at, entry) in self.entries.iter().enumerate() {
            let entry_idx = EntryIdx(at as u32);
            let names = entry
                .names
                .iter()
                .enumerate()
                .map(|(at, name)| (NameSource::Name(at as u32), name.text.as_str()));
            let aliases = entry
                .aliases
                .iter()
                .enumerate()
                .map(|(at, alias)| (NameSource::Alias(at as u32), alias.as_str()));
            for (source, text) in names.chain(aliases) {
                let tokens = tokens(text);
                if tokens.is_empty() {
                    continue;
                }
                drafts.push(Draft {
                    entry: entry_idx,
                    source,
                    folded: folded_name(&tokens),
                    words: tokens.iter().map(|token| self.vocabulary.add(token)).collect(),
                    weight: 0.0,
                });
            }
        }
        drafts
    }

    /// Takes kind words apart that were written together with a name, as `COMUNACATANE`, where
    /// the rest is a word of another name.
    fn unglue(&mut self, drafts: &mut [Draft]) {
        let mut glued: AHashMap<WordIdx, [(WordIdx, u32); 2]> = AHashMap::new();
        for word in 0..self.vocabulary.len() as WordIdx {
            let Some((first, second)) = unglued(&self.vocabulary.word(word).folded) else {
                continue;
            };
            let rest = if canonical_kind(first).is_some() { second } else { first };
            if self.vocabulary.find(rest).is_some() {
                let parts = [first.to_owned(), second.to_owned()];
                glued.insert(word, parts.map(|part| self.vocabulary.add(&Token::plain(&part))));
            }
        }
        if glued.is_empty() {
            return;
        }
        for draft in drafts {
            if draft.words.iter().any(|(word, _)| glued.contains_key(word)) {
                let words = std::mem::take(&mut draft.words);
                for pair in words {
                    match glued.get(&pair.0) {
                        Some(parts) => draft.words.extend(parts),
                        None => draft.words.push(pair),
                    }
                }
            }
        }
    }

    fn add_name(&mut self, draft: Draft, weights: &[f32]) {
        let name = self.names.len() as NameIdx;
        let start = self.words_of_names.len() as u32;
        for (word, spelling) in draft.words {
            let postings = &mut self.postings[word as usize];
            if postings.last() != Some(&name) {
                postings.push(name);
            }
            self.words_of_names.push(WordOfName { word, spelling, weight: weights[word as usize] });
        }
        self.by_folded_name.entry(draft.folded).or_default().push(name);
        self.names.push(NameRecord {
            entry: draft.entry,
            source: draft.source,
            words: start..self.words_of_names.len() as u32,
            weight: draft.weight,
        });
    }

    fn add_values(&mut self) {
        for (at, entry) in self.entries.iter().enumerate() {
            let entry_idx = EntryIdx(at as u32);
            let value = spelled_name(&tokens(&entry.value));
            if !value.is_empty() {
                self.by_value.entry(value).or_default().push(entry_idx);
            }
            if let Some(code) = &entry.code {
                self.codes.add(code, entry_idx);
            }
        }
    }
}

/// The shortest kind word and the shortest rest that are taken apart.
const LEAST_GLUED_CHARS: usize = 4;

/// Cuts a kind word from the start or the end of a word.
fn unglued(folded: &str) -> Option<(&str, &str)> {
    if folded.len() < 10 || canonical_kind(folded).is_some() {
        return None;
    }
    folded.char_indices().map(|(cut, _)| folded.split_at(cut)).find(|(first, second)| {
        let is_long = first.len() >= LEAST_GLUED_CHARS && second.len() >= LEAST_GLUED_CHARS;
        is_long
            && ((first.len() >= 6 && canonical_kind(first).is_some())
                || (second.len() >= 6 && canonical_kind(second).is_some()))
    })
}

struct Draft {
    entry: EntryIdx,
    source: NameSource,
    folded: String,
    words: Vec<(WordIdx, u32)>,
    weight: f32,
}

//! Where each clause of a question occurs in a segment: one list of entries for each clause and
//! field, with how often, and what that is worth.

use std::collections::HashMap;
use std::ops::Bound;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, InvertedIndexReader, SegmentReader, TERMINATED, Term};

use super::index::LexicalView;
use crate::contract::prefix_range;
use crate::{Bm25, Clause, Result, limits};

/// A clause in one field, with its weight over the whole index.
pub(super) struct Weighted<'a> {
    clause: &'a Clause,
    field: Field,
    /// `boost × idf × (k1 + 1)`; no entry can score more than this.
    weight: f32,
    /// The denominator of BM25 without the frequency, for each coded length.
    norms: [f32; 256],
}

/// The entries of one segment that a weighted clause matches, with how often.
pub(super) struct List {
    occurrences: Occurrences,
    lengths: FieldNormReader,
    weight: f32,
    norms: [f32; 256],
}

enum Occurrences {
    Postings(Box<SegmentPostings>),
    Any(AnyTerm),
    Collected { entries: Vec<(u32, u32)>, at: usize },
}

impl<'a> Weighted<'a> {
    /// Weighs a clause in a field; nothing when it occurs nowhere or counts nothing.
    ///
    /// Tells through `is_cut` when a prefix stands for too many terms.
    pub(super) fn new(
        view: &LexicalView,
        clause: &'a Clause,
        field: Field,
        field_boost: f32,
        bm25: Bm25,
        is_cut: &mut bool,
    ) -> Result<Option<Self>> {
        let n_entries: u64 =
            view.searcher.segment_readers().iter().map(|s| u64::from(s.max_doc())).sum();
        let mut n_words = 0;
        for segment in view.searcher.segment_readers() {
            n_words += segment.inverted_index(field)?.total_num_tokens();
        }
        let idf_of = |n_holding: u64| {
            let (n_holding, n_entries) = (n_holding as f64, n_entries as f64);
            (1.0 + (n_entries - n_holding + 0.5) / (n_holding + 0.5)).ln() as f32
        };
        let (boost, idf) = match clause {
            Clause::Word { terms, boost, .. } => {
                let n_holding = n_holding_any(view, field, terms)?;
                (*boost, if n_holding == 0 { 0.0 } else { idf_of(n_holding.min(n_entries)) })
            }
            Clause::Phrase { words, boost, .. } => {
                let mut idf = 0.0;
                for (_, terms) in words {
                    let n_holding = n_holding_any(view, field, terms)?.min(n_entries);
                    if n_holding == 0 {
                        return Ok(None);
                    }
                    idf += idf_of(n_holding);
                }
                (*boost, idf)
            }
            Clause::Prefix { prefix, boost, .. } => {
                let mut n_holding = 0;
                for segment in view.searcher.segment_readers() {
                    let index = segment.inverted_index(field)?;
                    n_holding += collect_prefix(&index, prefix, is_cut)?.len() as u64;
                }
                (*boost, if n_holding == 0 { 0.0 } else { idf_of(n_holding.min(n_entries)) })
            }
        };
        let weight = boost * field_boost * idf * (bm25.k1 + 1.0);
        // A weight that is not positive can only come from a boost of zero or nonsense.
        if weight.is_nan() || weight <= 0.0 {
            return Ok(None);
        }
        let mean_length = (n_words as f32 / n_entries.max(1) as f32).max(f32::MIN_POSITIVE);
        let norms = std::array::from_fn(|code| {
            let length = FieldNormReader::id_to_fieldnorm(code as u8) as f32;
            bm25.k1 * (1.0 - bm25.b + bm25.b * length / mean_length)
        });
        Ok(Some(Weighted { clause, field, weight, norms }))
    }

    /// Gives the list of one segment; nothing when the clause does not occur in it.
    pub(super) fn list(&self, segment: &SegmentReader) -> Result<Option<List>> {
        let index = segment.inverted_index(self.field)?;
        let Some(occurrences) = occurrences(&index, self.clause, self.field)? else {
            return Ok(None);
        };
        Ok(Some(List {
            occurrences,
            lengths: segment.get_fieldnorms_reader(self.field)?,
            weight: self.weight,
            norms: self.norms,
        }))
    }
}

impl List {
    /// Gives the most that any entry can score here.
    pub(super) fn bound(&self) -> f32 {
        self.weight
    }

    /// Gives the present entry, or [`TERMINATED`].
    pub(super) fn entry(&self) -> u32 {
        match &self.occurrences {
            Occurrences::Postings(postings) => postings.doc(),
            Occurrences::Any(any) => any.entry,
            Occurrences::Collected { entries, at } => {
                entries.get(*at).map_or(TERMINATED, |(entry, _)| *entry)
            }
        }
    }

    /// Goes to the next entry.
    pub(super) fn advance(&mut self) -> u32 {
        match &mut self.occurrences {
            Occurrences::Postings(postings) => postings.advance(),
            Occurrences::Any(any) => any.seek(any.entry.saturating_add(1)),
            Occurrences::Collected { at, .. } => {
                *at += 1;
                self.entry()
            }
        }
    }

    /// Goes to the first entry that is not before the target, never backwards.
    pub(super) fn seek(&mut self, target: u32) -> u32 {
        if self.entry() >= target {
            return self.entry();
        }
        match &mut self.occurrences {
            Occurrences::Postings(postings) => postings.seek(target),
            Occurrences::Any(any) => any.seek(target),
            Occurrences::Collected { entries, at } => {
                *at += entries[*at..].partition_point(|(entry, _)| *entry < target);
                self.entry()
            }
        }
    }

    /// Gives how many entries there are, about.
    pub(super) fn len(&self) -> usize {
        match &self.occurrences {
            Occurrences::Postings(postings) => postings.size_hint() as usize,
            Occurrences::Any(any) => any.size_hint(),
            Occurrences::Collected { entries, .. } => entries.len(),
        }
    }

    /// Gives the BM25 of the present entry.
    pub(super) fn score(&self) -> f32 {
        let (entry, frequency) = match &self.occurrences {
            Occurrences::Postings(postings) => (postings.doc(), postings.term_freq()),
            Occurrences::Any(any) => (any.entry, any.frequency()),
            Occurrences::Collected { entries, at } => entries[*at],
        };
        let frequency = frequency as f32;
        let norm = self.norms[self.lengths.fieldnorm_id(entry) as usize];
        self.weight * frequency / (frequency + norm)
    }
}

/// Calls `each` with the entries that match a clause in a field.
pub(super) fn for_each_match(
    segment: &SegmentReader,
    clause: &Clause,
    field: Field,
    mut each: impl FnMut(u32),
) -> Result<()> {
    let index = segment.inverted_index(field)?;
    let Some(occurrences) = occurrences(&index, clause, field)? else { return Ok(()) };
    match occurrences {
        Occurrences::Postings(mut postings) => {
            let mut entry = postings.doc();
            while entry != TERMINATED {
                each(entry);
                entry = postings.advance();
            }
        }
        Occurrences::Any(any) => {
            for mut postings in any.postings {
                let mut entry = postings.doc();
                while entry != TERMINATED {
                    each(entry);
                    entry = postings.advance();
                }
            }
        }
        Occurrences::Collected { entries, .. } => {
            entries.into_iter().for_each(|(entry, _)| each(entry));
        }
    }
    Ok(())
}

fn occurrences(
    index: &InvertedIndexReader,
    clause: &Clause,
    field: Field,
) -> Result<Option<Occurrences>> {
    match clause {
        Clause::Word { terms, .. } => {
            let any = AnyTerm::read(index, field, terms, IndexRecordOption::WithFreqs)?;
            Ok(any.map(|mut any| match any.postings.len() {
                1 => Occurrences::Postings(Box::new(any.postings.remove(0))),
                _ => Occurrences::Any(any),
            }))
        }
        Clause::Phrase { words, .. } => {
            let entries = collect_phrase(index, words, field)?;
            Ok((!entries.is_empty()).then_some(Occurrences::Collected { entries, at: 0 }))
        }
        Clause::Prefix { prefix, .. } => {
            let entries = collect_prefix(index, prefix, &mut false)?;
            Ok((!entries.is_empty()).then_some(Occurrences::Collected { entries, at: 0 }))
        }
    }
}

/// Gives the entries in which the words are at the given distances, and how often.
fn collect_phrase(
    index: &InvertedIndexReader,
    words: &[(u32, Vec<String>)],
    field: Field,
) -> Result<Vec<(u32, u32)>> {
    let mut lists = vec![];
    for (offset, terms) in words {
        match AnyTerm::read(index, field, terms, IndexRecordOption::WithFreqsAndPositions)? {
            Some(any) => lists.push((*offset, any)),
            None => return Ok(vec![]),
        }
    }
    lists.sort_by_key(|(_, any)| any.size_hint());
    let Some(((first_offset, rarest), others)) = lists.split_first_mut() else {
        return Ok(vec![]);
    };
    let furthest = words.iter().map(|(offset, _)| *offset).max().unwrap_or(0);
    let mut found = vec![];
    let (mut starts, mut positions) = (vec![], vec![]);
    while rarest.entry != TERMINATED {
        let entry = rarest.entry;
        let next = others.iter_mut().map(|(_, any)| any.seek(entry)).max();
        if let Some(next) = next
            && next != entry
        {
            rarest.seek(next);
            continue;
        }
        // Positions are shifted so that a phrase begins at the same place in every list.
        rarest.positions(furthest - *first_offset, &mut starts);
        for (offset, any) in others.iter_mut() {
            any.positions(furthest - *offset, &mut positions);
            starts.retain(|start| positions.binary_search(start).is_ok());
        }
        if !starts.is_empty() {
            found.push((entry, starts.len() as u32));
        }
        rarest.seek(entry + 1);
    }
    Ok(found)
}

/// Gives the entries that hold a term with this start, and how many such words they hold.
fn collect_prefix(
    index: &InvertedIndexReader,
    prefix: &str,
    is_cut: &mut bool,
) -> Result<Vec<(u32, u32)>> {
    let (_, end) = prefix_range(prefix.as_bytes());
    let mut range = index.terms().range().ge(prefix.as_bytes());
    if let Bound::Excluded(end) = &end {
        range = range.lt(end);
    }
    let mut terms = range.into_stream()?;
    let mut found: HashMap<u32, u32> = HashMap::new();
    let mut n_terms = 0;
    while terms.advance() {
        n_terms += 1;
        if n_terms > limits::MAX_PREFIX_TERMS {
            *is_cut = true;
            break;
        }
        let info = terms.value().clone();
        let mut postings =
            index.read_postings_from_terminfo(&info, IndexRecordOption::WithFreqs)?;
        let mut entry = postings.doc();
        while entry != TERMINATED {
            *found.entry(entry).or_default() += postings.term_freq();
            entry = postings.advance();
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_unstable();
    Ok(found)
}

fn n_holding_any(view: &LexicalView, field: Field, terms: &[String]) -> Result<u64> {
    // The sum counts a passage twice that holds two of the terms, which is rare: a document is
    // stemmed in one language.
    let mut n_holding = 0;
    for term in terms {
        n_holding += view.searcher.doc_freq(&Term::from_field_text(field, term))?;
    }
    Ok(n_holding)
}

/// The entries that hold any of several terms.
struct AnyTerm {
    postings: Vec<SegmentPostings>,
    entry: u32,
}

impl AnyTerm {
    /// Reads the terms that occur; nothing when none does.
    fn read(
        index: &InvertedIndexReader,
        field: Field,
        terms: &[String],
        option: IndexRecordOption,
    ) -> Result<Option<Self>> {
        let mut postings = vec![];
        for term in terms {
            postings.extend(index.read_postings(&Term::from_field_text(field, term), option)?);
        }
        let first = postings.iter().map(SegmentPostings::doc).min();
        Ok(first.map(|entry| AnyTerm { postings, entry }))
    }

    /// Goes to the first entry that is not before the target, never backwards.
    fn seek(&mut self, target: u32) -> u32 {
        if self.entry < target {
            let entries = self.postings.iter_mut().map(|postings| {
                if postings.doc() >= target { postings.doc() } else { postings.seek(target) }
            });
            self.entry = entries.min().unwrap_or(TERMINATED);
        }
        self.entry
    }

    fn size_hint(&self) -> usize {
        self.postings.iter().map(|postings| postings.size_hint() as usize).sum()
    }

    fn frequency(&self) -> u32 {
        let here = self.postings.iter().filter(|postings| postings.doc() == self.entry);
        here.map(Postings::term_freq).sum()
    }

    /// Gives the positions in the present entry, shifted by an offset, in order.
    fn positions(&mut self, offset: u32, positions: &mut Vec<u32>) {
        positions.clear();
        for postings in self.postings.iter_mut().filter(|it| it.doc() == self.entry) {
            postings.append_positions_with_offset(offset, positions);
        }
        positions.sort_unstable();
        positions.dedup();
    }
}

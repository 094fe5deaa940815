//! Phrases: the entries in which words are at given distances from each other.

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, InvertedIndexReader, TERMINATED, Term};

use crate::Result;

/// Gives the entries in which the words are at the given distances, and how often.
pub(super) fn collect_phrase(
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

/// The entries that hold any of several terms.
pub(super) struct AnyTerm {
    postings: Vec<SegmentPostings>,
    entry: u32,
}

impl AnyTerm {
    /// Reads the terms that occur; nothing when none does.
    pub(super) fn read(
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

    /// Calls `each` with every entry; with one that holds several of the terms for each of them.
    pub(super) fn each(self, mut each: impl FnMut(u32)) {
        for mut postings in self.postings {
            let mut entry = postings.doc();
            while entry != TERMINATED {
                each(entry);
                entry = postings.advance();
            }
        }
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

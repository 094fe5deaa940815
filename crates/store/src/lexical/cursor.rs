//! The entries of one term in a segment, with how often it is in each, a block at a time.

use tantivy::postings::BlockSegmentPostings;
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{InvertedIndexReader, TERMINATED};

use crate::Result;

/// Entries of a whole block; only the last block of a term has fewer.
pub(super) const BLOCK: usize = 128;

/// A place in the list of a term.
pub(super) struct Cursor {
    block: BlockSegmentPostings,
    at: usize,
    n_entries: usize,
}

impl Cursor {
    /// Reads a term from its first entry on.
    pub(super) fn new(index: &InvertedIndexReader, term: &TermInfo) -> Result<Self> {
        let block = index.read_block_postings_from_terminfo(term, IndexRecordOption::WithFreqs)?;
        Ok(Cursor { block, at: 0, n_entries: term.doc_freq as usize })
    }

    /// Counts the entries of the whole list.
    pub(super) fn n_entries(&self) -> usize {
        self.n_entries
    }

    /// Gives the present entry, or [`TERMINATED`].
    pub(super) fn entry(&self) -> u32 {
        self.block.docs().get(self.at).copied().unwrap_or(TERMINATED)
    }

    /// Gives how often the term is in the present entry.
    pub(super) fn frequency(&self) -> u32 {
        self.block.freqs().get(self.at).copied().unwrap_or(0)
    }

    /// Goes to the first entry that is not before the target, never backwards.
    pub(super) fn seek(&mut self, target: u32) -> u32 {
        if self.entry() < target {
            self.at = self.block.seek(target);
        }
        self.entry()
    }

    /// Calls `each` with the entries before `end` and their frequencies, and goes to the next one.
    pub(super) fn each_before(&mut self, end: u32, mut each: impl FnMut(u32, u32)) {
        loop {
            let (entries, frequencies) = (self.block.docs(), self.block.freqs());
            let n_entries = entries.len();
            let rest = entries.iter().zip(frequencies).skip(self.at);
            let n_before = rest
                .take_while(|(entry, _)| **entry < end)
                .map(|(entry, frequency)| each(*entry, *frequency))
                .count();
            self.at += n_before;
            if self.at < n_entries || n_entries < BLOCK {
                return;
            }
            self.block.advance();
            self.at = 0;
        }
    }
}

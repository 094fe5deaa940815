//! Documents that are written together.

use std::time::{Duration, Instant};

use super::Prepared;
use crate::limits;

/// The smallest part of the largest batch that is written by one commit, however slow it is.
const LEAST_SHARE: f64 = 1.0 / 32.0;

/// The part of the largest batch that the first one may be: nothing is known of commits yet.
const FIRST_SHARE: f64 = 1.0 / 8.0;

/// Documents that wait for their commit.
pub(super) struct Batch {
    /// When the first one came.
    pub(super) begun: Option<Instant>,
    pub(super) documents: Vec<Prepared>,
    n_passages: usize,
    n_bytes: usize,
    max_documents: usize,
    /// The part of the largest batch that this one may be.
    share: f64,
}

impl Batch {
    pub(super) fn new(max_documents: usize) -> Self {
        Batch {
            begun: None,
            documents: vec![],
            n_passages: 0,
            n_bytes: 0,
            max_documents,
            share: FIRST_SHARE,
        }
    }

    /// Begins a batch that may be as large as any.
    pub(super) fn of_any_size(max_documents: usize) -> Self {
        Batch { share: 1.0, ..Batch::new(max_documents) }
    }

    pub(super) fn push(&mut self, prepared: Prepared) {
        self.begun.get_or_insert_with(Instant::now);
        self.n_passages += prepared.document.passages.len();
        self.n_bytes += prepared.n_text_bytes();
        self.documents.push(prepared);
    }

    pub(super) fn is_full(&self) -> bool {
        self.filled() >= self.share
    }

    /// Gives which part of the largest batch this one is.
    fn filled(&self) -> f64 {
        let part = |n: usize, of: usize| n as f64 / of.max(1) as f64;
        part(self.n_passages, limits::PASSAGES_PER_COMMIT)
            .max(part(self.n_bytes, limits::TEXT_BYTES_PER_COMMIT))
            .max(part(self.documents.len(), self.max_documents))
    }

    /// Gives the documents and begins anew.
    pub(super) fn take(&mut self) -> Vec<Prepared> {
        let next = Batch { share: self.share, ..Batch::new(self.max_documents) };
        std::mem::replace(self, next).documents
    }

    /// Hears how long it took to write a batch that was `filled` so far. The next ones are as large
    /// as can be written in [`limits::LONGEST_COMMIT`]: whoever else writes waits no longer.
    fn adapt(&mut self, filled: f64, took: Duration) {
        let a_full_one = took.as_secs_f64() / filled.max(f64::EPSILON);
        let share = limits::LONGEST_COMMIT.as_secs_f64() / a_full_one.max(f64::EPSILON);
        // One slow commit says little: another program may have had the disk.
        self.share = share.clamp(self.share / 2.0, self.share * 2.0).clamp(LEAST_SHARE, 1.0);
    }

    /// Lets `write` have the documents, begins anew, and gives how long it took.
    pub(super) fn write_by<E>(
        &mut self,
        write: impl FnOnce(&mut [Prepared]) -> Result<(), E>,
    ) -> Result<Duration, E> {
        let filled = self.filled();
        let mut documents = self.take();
        let begun = Instant::now();
        write(&mut documents)?;
        let took = begun.elapsed();
        // What few documents cost says nothing of many.
        if filled >= self.share / 2.0 {
            self.adapt(filled, took);
        }
        Ok(took)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However long a full batch takes on a machine, batches come to take what they may.
    #[test]
    fn batches_become_as_large_as_can_be_written_in_time() {
        let allowed = limits::LONGEST_COMMIT.as_secs_f64();
        for full_takes in [0.01, 0.3, 1.0, 3.0, 9.0] {
            let mut batch = Batch::new(100);
            for _ in 0..20 {
                let filled = batch.share;
                batch.adapt(filled, Duration::from_secs_f64(filled * full_takes));
            }
            let takes = batch.share * full_takes;
            assert!(takes <= allowed * 1.01, "{full_takes}: {takes}");
            assert!(takes >= allowed * 0.99 || batch.share == 1.0, "{full_takes}: {takes}");
        }
        let mut slow = Batch::new(100);
        (0..20).for_each(|_| slow.adapt(1.0, Duration::from_secs(3_600)));
        assert!((slow.share - LEAST_SHARE).abs() < f64::EPSILON);
    }
}

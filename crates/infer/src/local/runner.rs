//! Runs an encoder over many texts: batches of about the same number of tokens, shared by threads.
//!
//! Texts are sorted by length and cut into ragged batches without padding. Each thread takes the
//! next batch until there are none, so the threads end together. Working memory is kept between
//! calls.

use std::sync::atomic::{AtomicUsize, Ordering};

use model::Deadline;
use parking_lot::Mutex;

use super::interactive_first::{Polite, RIGHT_OF_WAY};
use crate::{Error, Result};

pub(crate) use super::interactive_first::Urgency;

/// Tokens of one batch: enough to use each weight often, few enough to stay in the cache.
const BATCH_TOKENS: usize = 512;
/// The most threads one call uses.
pub const MAX_THREADS: usize = 16;

/// A forward pass over a ragged batch.
pub(crate) trait Forward: Send + Sync {
    /// Memory that a pass needs and keeps between calls.
    type Space: Default + Send;

    /// The length of one token's state.
    fn n_dimensions(&self) -> usize;

    /// Computes the last hidden state of every token of every sequence, one row each, in order.
    /// Calls `pause` every millisecond or so, where others may be let through.
    fn forward<'s>(
        &self,
        sequences: &[&[u32]],
        space: &'s mut Self::Space,
        pause: &dyn Fn(),
    ) -> &'s [f32];
}

/// An encoder with the working memory of finished calls, ready for the next ones.
#[derive(Debug)]
pub(crate) struct Runner<E: Forward> {
    pub(crate) encoder: E,
    spaces: Mutex<Vec<E::Space>>,
}

impl<E: Forward> Runner<E> {
    pub(crate) fn new(encoder: E) -> Self {
        Runner { encoder, spaces: Mutex::new(Vec::new()) }
    }

    /// Runs all texts, and turns the states of each into what the caller wants, in order.
    ///
    /// Fails with [`Error::OutOfTime`] when the deadline is over first.
    pub(crate) fn run<R: Send>(
        &self,
        texts: &[&[u32]],
        n_threads: usize,
        urgency: Urgency,
        deadline: &Deadline,
        finish: impl Fn(usize, &[f32]) -> R + Sync,
    ) -> Result<Vec<R>> {
        let _first = (urgency == Urgency::Interactive).then(|| RIGHT_OF_WAY.enter());
        let lengths: Vec<usize> = texts.iter().map(|text| text.len()).collect();
        let batches = batches(&lengths, n_threads);
        let next = AtomicUsize::new(0);
        let work = || self.run_batches(texts, &batches, &next, urgency, deadline, &finish);
        let n_workers = n_threads.min(batches.len());
        let mut done: Vec<(usize, R)> = if n_workers <= 1 {
            work()
        } else {
            std::thread::scope(|scope| {
                let workers: Vec<_> = (1..n_workers).map(|_| scope.spawn(work)).collect();
                let mut done = work();
                for worker in workers {
                    done.extend(worker.join().expect("the forward pass does not panic"));
                }
                done
            })
        };
        let n_done = done.len();
        if n_done < texts.len() {
            let doing = "running the model";
            return Err(Error::OutOfTime { doing, n_done, n_asked: texts.len() });
        }
        done.sort_unstable_by_key(|(text_idx, _)| *text_idx);
        Ok(done.into_iter().map(|(_, result)| result).collect())
    }

    /// Takes batches until there are none, or the deadline is over.
    fn run_batches<R>(
        &self,
        texts: &[&[u32]],
        batches: &[Vec<usize>],
        next: &AtomicUsize,
        urgency: Urgency,
        deadline: &Deadline,
        finish: &impl Fn(usize, &[f32]) -> R,
    ) -> Vec<(usize, R)> {
        let mut space = self.spaces.lock().pop().unwrap_or_default();
        let dimensions = self.encoder.n_dimensions();
        let polite = Polite::new(&RIGHT_OF_WAY);
        let pause = || {
            if urgency == Urgency::Background {
                polite.give_way();
            }
        };
        let mut done = Vec::new();
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            if deadline.is_over() {
                break;
            }
            let sequences: Vec<&[u32]> = batch.iter().map(|text_idx| texts[*text_idx]).collect();
            let mut states = self.encoder.forward(&sequences, &mut space, &pause);
            for text_idx in batch {
                let (own, rest) = states.split_at(texts[*text_idx].len() * dimensions);
                states = rest;
                done.push((*text_idx, finish(*text_idx, own)));
            }
        }
        self.spaces.lock().push(space);
        done
    }
}

/// Gives how many threads one call uses on this machine.
pub(crate) fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
}

/// Cuts texts into batches of neighbours in length, the longest first: what is taken last is
/// small, so the threads end together.
fn batches(lengths: &[usize], n_threads: usize) -> Vec<Vec<usize>> {
    let n_tokens: usize = lengths.iter().sum();
    let fair_share = n_tokens.div_ceil(n_threads.max(1)).max(1);
    let limit = BATCH_TOKENS.min(fair_share);
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|text_idx| std::cmp::Reverse(lengths[*text_idx]));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut n_in_last = usize::MAX;
    for text_idx in order {
        let length = lengths[text_idx];
        if n_in_last.saturating_add(length) > limit {
            batches.push(Vec::new());
            n_in_last = 0;
        }
        n_in_last += length;
        if let Some(batch) = batches.last_mut() {
            batch.push(text_idx);
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn batches_hold_every_text_once(
            lengths in proptest::collection::vec(1usize..600, 0..80),
            n_threads in 1usize..5,
        ) {
            let batches = batches(&lengths, n_threads);
            let mut seen: Vec<usize> = batches.concat();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..lengths.len()).collect::<Vec<_>>());
            for batch in batches {
                let n_tokens: usize = batch.iter().map(|text_idx| lengths[*text_idx]).sum();
                prop_assert!(batch.len() == 1 || n_tokens <= BATCH_TOKENS);
            }
        }
    }
}

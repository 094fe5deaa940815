//! The default embedder: multilingual-e5-small from an E5S1 container, on our own kernels.
//!
//! Queries and passages get the prefixes the model was trained with; vectors are the mean of the
//! token states, brought to length 1. Texts are sorted by length and cut into batches of about
//! the same number of tokens, and the batches are shared by as many threads as the machine has.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use model::Deadline;
use parking_lot::Mutex;

use super::container::Container;
use super::encoder::{Encoder, Space};
use super::kernels::Level;
use super::product::{DEPTH_PADDING, Operand};
use super::unigram::{Tokens, Unigram};
use super::vectorised::Bf16;
use crate::{EmbeddedText, Embedder, EmbedderId, Error, Result, TokenVectors};

/// Tokens of one batch: enough to use each weight often, few enough to stay in the cache.
const BATCH_TOKENS: usize = 512;
/// The most tokens of one text, the marks included.
pub const MAX_TOKENS: usize = 512;
/// The most threads one call uses.
pub const MAX_THREADS: usize = 16;
/// Characters of a text that are looked at: more than any 512 tokens can cover.
const MAX_TEXT_BYTES: usize = 64 * 1024;
const QUERY_PREFIX: &str = "query: ";
const PASSAGE_PREFIX: &str = "passage: ";

/// A loaded E5S1 model.
#[derive(Debug)]
pub struct E5Embedder {
    id: EmbedderId,
    tokenizer: Unigram,
    engine: Engine,
    dimensions: usize,
    max_tokens: usize,
    n_threads: usize,
    level: Level,
}

#[derive(Debug)]
enum Engine {
    Plain(Runner<f32>),
    Tiles(Runner<Bf16>),
}

/// An encoder with the working memory of finished calls, ready for the next ones.
#[derive(Debug)]
struct Runner<T> {
    encoder: Encoder<T>,
    spaces: Mutex<Vec<Space<T>>>,
}

/// What is asked for each text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    Pooled,
    Tokens,
}

impl E5Embedder {
    /// Loads a container.
    ///
    /// Fails when the file is missing, damaged or of a shape that is not supported.
    pub fn open(container: &Path, id: EmbedderId) -> Result<Self> {
        let container = Container::open(container)?;
        let head_size = container.shape.hidden / container.shape.n_heads;
        // Tiles read the columns of a head in whole steps.
        let fits_tiles = head_size.is_multiple_of(DEPTH_PADDING);
        let level = if fits_tiles { Level::best() } else { Level::best_without_tiles() };
        E5Embedder::from_container(container, id, level)
    }

    pub(crate) fn from_container(
        container: Container,
        id: EmbedderId,
        level: Level,
    ) -> Result<Self> {
        let shape = container.shape;
        if container.vocabulary.scores.len() > shape.vocabulary {
            return Err(container.unusable("it has more pieces than word vectors"));
        }
        let engine = if level.has_tiles() {
            Engine::Tiles(Runner::new(Encoder::load(&container, level)?))
        } else {
            Engine::Plain(Runner::new(Encoder::load(&container, level)?))
        };
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(E5Embedder {
            id,
            engine,
            dimensions: shape.hidden,
            max_tokens: shape.max_positions.min(MAX_TOKENS),
            n_threads: n_threads.min(MAX_THREADS),
            level,
            tokenizer: Unigram::new(container.vocabulary),
        })
    }

    /// Gives the name of the instruction set in use.
    pub fn level_name(&self) -> &'static str {
        self.level.name()
    }

    /// Counts the bytes of the packed weights.
    pub fn n_packed_bytes(&self) -> usize {
        match &self.engine {
            Engine::Plain(runner) => runner.encoder.n_packed_bytes(),
            Engine::Tiles(runner) => runner.encoder.n_packed_bytes(),
        }
    }

    /// Sets how many threads one call uses, between 1 and [`MAX_THREADS`].
    pub fn with_threads(mut self, n_threads: usize) -> Self {
        self.n_threads = n_threads.clamp(1, MAX_THREADS);
        self
    }

    /// Gives the token ids of a passage, for comparison with other programs.
    pub fn passage_ids(&self, passage: &str) -> Vec<u32> {
        self.encode(PASSAGE_PREFIX, passage).ids
    }

    /// Gives the token ids of a query, for comparison with other programs.
    pub fn query_ids(&self, query: &str) -> Vec<u32> {
        self.encode(QUERY_PREFIX, query).ids
    }

    /// Embeds texts that are tokens already.
    pub(crate) fn embed_ids(&self, ids: &[Vec<u32>], deadline: &Deadline) -> Result<Vec<Vec<f32>>> {
        let texts: Vec<Tokens> = ids
            .iter()
            .map(|ids| Tokens { ids: ids.clone(), n_before_text: 1, is_truncated: false })
            .collect();
        let embedded = self.run(&texts, Want::Pooled, deadline)?;
        Ok(embedded.into_iter().map(|text| text.pooled).collect())
    }

    fn encode(&self, prefix: &str, text: &str) -> Tokens {
        let end = text.floor_char_boundary(MAX_TEXT_BYTES);
        let mut tokens = self.tokenizer.encode(prefix, &text[..end], self.max_tokens);
        tokens.is_truncated |= end < text.len();
        tokens
    }

    fn run(&self, texts: &[Tokens], want: Want, deadline: &Deadline) -> Result<Vec<EmbeddedText>> {
        match &self.engine {
            Engine::Plain(runner) => {
                runner.run(texts, want, self.dimensions, self.n_threads, deadline)
            }
            Engine::Tiles(runner) => {
                runner.run(texts, want, self.dimensions, self.n_threads, deadline)
            }
        }
    }

    fn run_passages(
        &self,
        passages: &[&str],
        want: Want,
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        let texts: Vec<Tokens> =
            passages.iter().map(|passage| self.encode(PASSAGE_PREFIX, passage)).collect();
        self.run(&texts, want, deadline)
    }

    fn run_query(&self, query: &str, want: Want, deadline: &Deadline) -> Result<EmbeddedText> {
        let mut embedded = self.run(&[self.encode(QUERY_PREFIX, query)], want, deadline)?;
        Ok(embedded.pop().expect("one text gives one vector"))
    }
}

impl Embedder for E5Embedder {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    fn embed_query(&self, query: &str, deadline: &Deadline) -> Result<Vec<f32>> {
        Ok(self.run_query(query, Want::Pooled, deadline)?.pooled)
    }

    fn embed_passages(&self, passages: &[&str], deadline: &Deadline) -> Result<Vec<Vec<f32>>> {
        let embedded = self.run_passages(passages, Want::Pooled, deadline)?;
        Ok(embedded.into_iter().map(|text| text.pooled).collect())
    }

    fn has_token_vectors(&self) -> bool {
        true
    }

    fn embed_query_with_tokens(&self, query: &str, deadline: &Deadline) -> Result<EmbeddedText> {
        self.run_query(query, Want::Tokens, deadline)
    }

    fn embed_passages_with_tokens(
        &self,
        passages: &[&str],
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        self.run_passages(passages, Want::Tokens, deadline)
    }
}

impl<T: Operand> Runner<T> {
    fn new(encoder: Encoder<T>) -> Self {
        Runner { encoder, spaces: Mutex::new(Vec::new()) }
    }

    fn run(
        &self,
        texts: &[Tokens],
        want: Want,
        dimensions: usize,
        n_threads: usize,
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        let batches = batches(texts, n_threads);
        let next = AtomicUsize::new(0);
        let work = || self.run_batches(texts, &batches, &next, want, dimensions, deadline);
        let n_workers = n_threads.min(batches.len());
        let done: Vec<(usize, EmbeddedText)> = if n_workers <= 1 {
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
            let doing = "computing vectors";
            return Err(Error::OutOfTime { doing, n_done, n_asked: texts.len() });
        }
        let mut done = done;
        done.sort_unstable_by_key(|(text_idx, _)| *text_idx);
        Ok(done.into_iter().map(|(_, embedded)| embedded).collect())
    }

    /// Takes batches until there are none, or the deadline is over.
    fn run_batches(
        &self,
        texts: &[Tokens],
        batches: &[Vec<usize>],
        next: &AtomicUsize,
        want: Want,
        dimensions: usize,
        deadline: &Deadline,
    ) -> Vec<(usize, EmbeddedText)> {
        let mut space = self.spaces.lock().pop().unwrap_or_default();
        let mut done = Vec::new();
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            if deadline.is_over() {
                break;
            }
            let sequences: Vec<&[u32]> =
                batch.iter().map(|text_idx| texts[*text_idx].ids.as_slice()).collect();
            let mut states = self.encoder.forward(&sequences, &mut space);
            for text_idx in batch {
                let tokens = &texts[*text_idx];
                let (own, rest) = states.split_at(tokens.ids.len() * dimensions);
                states = rest;
                done.push((*text_idx, embedded(own, tokens, want, dimensions)));
            }
        }
        self.spaces.lock().push(space);
        done
    }
}

/// Cuts texts into batches of neighbours in length, the longest first: what is taken last is
/// small, so the threads end together.
fn batches(texts: &[Tokens], n_threads: usize) -> Vec<Vec<usize>> {
    let n_tokens: usize = texts.iter().map(|text| text.ids.len()).sum();
    let fair_share = n_tokens.div_ceil(n_threads.max(1)).max(1);
    let limit = BATCH_TOKENS.min(fair_share);
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|text_idx| std::cmp::Reverse(texts[*text_idx].ids.len()));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut n_in_last = usize::MAX;
    for text_idx in order {
        let length = texts[text_idx].ids.len();
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

/// Pools the states of one text.
fn embedded(states: &[f32], tokens: &Tokens, want: Want, dimensions: usize) -> EmbeddedText {
    let mut pooled = vec![0.0; dimensions];
    for state in states.chunks_exact(dimensions) {
        for (sum, value) in pooled.iter_mut().zip(state) {
            *sum += value;
        }
    }
    scale_to_one(&mut pooled);
    let tokens_wanted = match want {
        Want::Pooled => TokenVectors::default(),
        Want::Tokens => {
            let own = tokens.n_before_text..tokens.ids.len() - 1;
            let mut flat = states[own.start * dimensions..own.end * dimensions].to_vec();
            flat.chunks_exact_mut(dimensions).for_each(scale_to_one);
            TokenVectors { dimensions, flat }
        }
    };
    EmbeddedText { pooled, tokens: tokens_wanted, is_truncated: tokens.is_truncated }
}

/// Brings a vector to length 1; a vector of zeros stays as it is.
pub(crate) fn scale_to_one(vector: &mut [f32]) {
    let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt() as f32;
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

#[cfg(test)]
mod tests;

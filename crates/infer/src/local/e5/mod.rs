//! The default embedder: multilingual-e5-small from an E5S1 container, on our own kernels.
//!
//! Queries and passages get the prefixes the model was trained with; vectors are the mean of the
//! token states, brought to length 1.

mod engine;

use std::path::Path;

use model::Deadline;

use self::engine::{Engine, Kernels};
use super::container::Container;
use super::kernels::Level;
use super::pooling::scale_to_one;
use super::runner::{Urgency, default_threads};
use super::unigram::{Tokens, Unigram};
use crate::{EmbeddedText, Embedder, EmbedderId, Result, TokenVectors};

pub use self::engine::{KERNELS_VARIABLE, kernel_names};

/// The most tokens of one text, the marks included.
pub const MAX_TOKENS: usize = 512;
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
    kernels: Kernels,
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
        let kernels = Kernels::choose(&container)?;
        E5Embedder::from_container(container, id, kernels)
    }

    /// Loads a container with kernels of f32, whatever the environment names: what others are
    /// compared with.
    ///
    /// Fails as [`E5Embedder::open`] does.
    pub fn open_in_f32(container: &Path, id: EmbedderId) -> Result<Self> {
        let kernels = Kernels::Plain(Level::best_without_tiles());
        E5Embedder::from_container(Container::open(container)?, id, kernels)
    }

    pub(crate) fn from_container(
        container: Container,
        id: EmbedderId,
        kernels: Kernels,
    ) -> Result<Self> {
        let shape = container.shape;
        if container.vocabulary.scores.len() > shape.vocabulary {
            return Err(container.unusable("it has more pieces than word vectors"));
        }
        let engine = Engine::load(&container, kernels)?;
        Ok(E5Embedder {
            id,
            engine,
            dimensions: shape.hidden,
            max_tokens: shape.max_positions.min(MAX_TOKENS),
            n_threads: default_threads(),
            kernels,
            tokenizer: Unigram::new(container.vocabulary),
        })
    }

    /// Gives the name of the kernels in use.
    pub fn kernels_name(&self) -> &'static str {
        self.kernels.name()
    }

    /// Counts the bytes of the packed weights.
    pub fn n_packed_bytes(&self) -> usize {
        self.engine.n_packed_bytes()
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
        let embedded = self.run(&texts, Want::Pooled, Urgency::Background, deadline)?;
        Ok(embedded.into_iter().map(|text| text.pooled).collect())
    }

    fn encode(&self, prefix: &str, text: &str) -> Tokens {
        let end = text.floor_char_boundary(MAX_TEXT_BYTES);
        let mut tokens = self.tokenizer.encode(prefix, &text[..end], self.max_tokens);
        tokens.is_truncated |= end < text.len();
        tokens
    }

    fn run(
        &self,
        texts: &[Tokens],
        want: Want,
        urgency: Urgency,
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        let ids: Vec<&[u32]> = texts.iter().map(|text| text.ids.as_slice()).collect();
        let finish = |text_idx: usize, states: &[f32]| {
            embedded(states, &texts[text_idx], want, self.dimensions)
        };
        self.engine.run(&ids, self.n_threads, urgency, deadline, finish)
    }

    fn run_passages(
        &self,
        passages: &[&str],
        want: Want,
        urgency: Urgency,
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        let texts: Vec<Tokens> =
            passages.iter().map(|passage| self.encode(PASSAGE_PREFIX, passage)).collect();
        self.run(&texts, want, urgency, deadline)
    }

    fn run_query(&self, query: &str, want: Want, deadline: &Deadline) -> Result<EmbeddedText> {
        let mut embedded =
            self.run(&[self.encode(QUERY_PREFIX, query)], want, Urgency::Interactive, deadline)?;
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
        let embedded = self.run_passages(passages, Want::Pooled, Urgency::Background, deadline)?;
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
        self.run_passages(passages, Want::Tokens, Urgency::Background, deadline)
    }

    fn embed_passages_first(
        &self,
        passages: &[&str],
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        self.run_passages(passages, Want::Tokens, Urgency::Interactive, deadline)
    }
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

#[cfg(test)]
mod tests;

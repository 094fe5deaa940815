//! An embedder from any folder like those of sentence-transformers, run by rten.

use std::path::Path;

use model::Deadline;
use tokenizers::Encoding;

use super::graph::{Graph, batches};
use super::pooling::scale_to_one;
use super::sentence::is_truncated;
use crate::{EmbeddedText, Embedder, EmbedderId, Error, Result, TokenVectors};

/// Outputs that hold a state for each token, as exporters name them; then those that are pooled.
const OUTPUTS: &[&str] =
    &["last_hidden_state", "token_embeddings", "hidden_states", "sentence_embedding"];

/// A model that a user brings as an ONNX graph with its tokenizer.
#[derive(Debug)]
pub struct OnnxEmbedder {
    graph: Graph,
    dimensions: usize,
    has_tokens: bool,
}

impl OnnxEmbedder {
    /// Loads a folder, and embeds one word to learn the length of its vectors.
    ///
    /// Fails when a file is missing or the graph is not an encoder of text.
    pub fn open(folder: &Path, id: EmbedderId) -> Result<Self> {
        let graph = Graph::open(folder, id, OUTPUTS)?;
        let mut embedder = OnnxEmbedder { graph, dimensions: 0, has_tokens: false };
        let probe = embedder.graph.text.encode("", "dimension")?;
        let output = embedder.graph.run(&[&probe.0])?;
        embedder.has_tokens = output.shape.len() == 3;
        embedder.dimensions = match output.shape.as_slice() {
            [_, _, dimensions] | [_, dimensions] if *dimensions > 0 => *dimensions,
            shape => return Err(embedder.graph.unexpected(shape)),
        };
        Ok(embedder)
    }

    fn embed(
        &self,
        prefix: &str,
        texts: &[&str],
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        let encoded = texts
            .iter()
            .map(|text| self.graph.text.encode(prefix, text))
            .collect::<Result<Vec<(Encoding, usize)>>>()?;
        let lengths: Vec<usize> = encoded.iter().map(|(text, _)| text.len()).collect();
        let mut embedded: Vec<Option<EmbeddedText>> = vec![None; texts.len()];
        let mut n_done = 0;
        for batch in batches(&lengths) {
            if deadline.is_over() {
                let n_asked = texts.len();
                return Err(Error::OutOfTime { doing: "computing vectors", n_done, n_asked });
            }
            let parts: Vec<&Encoding> =
                batch.iter().map(|text_idx| &encoded[*text_idx].0).collect();
            let output = self.graph.run(&parts)?;
            let n_values = output.values.len() / batch.len();
            for (text_idx, values) in batch.iter().zip(output.values.chunks_exact(n_values)) {
                let (text, n_before) = &encoded[*text_idx];
                embedded[*text_idx] = Some(self.pool(values, text, *n_before)?);
            }
            n_done += batch.len();
        }
        Ok(embedded.into_iter().flatten().collect())
    }

    fn pool(&self, values: &[f32], text: &Encoding, n_before: usize) -> Result<EmbeddedText> {
        let dimensions = self.dimensions;
        let expected = if self.has_tokens { text.len() * dimensions } else { dimensions };
        if values.len() < expected {
            return Err(self.graph.unexpected(&[values.len()]));
        }
        if self.has_tokens {
            return Ok(self.graph.text.pool(values, dimensions, text, n_before));
        }
        let mut pooled = values[..dimensions].to_vec();
        scale_to_one(&mut pooled);
        let tokens = TokenVectors::default();
        Ok(EmbeddedText { pooled, tokens, is_truncated: is_truncated(text) })
    }

    fn require_tokens(&self) -> Result<()> {
        if self.has_tokens {
            return Ok(());
        }
        Err(Error::NoTokenVectors { embedder: self.graph.text.id.to_string() })
    }
}

impl Embedder for OnnxEmbedder {
    fn id(&self) -> &EmbedderId {
        &self.graph.text.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn max_tokens(&self) -> usize {
        self.graph.text.max_tokens
    }

    fn embed_query(&self, query: &str, deadline: &Deadline) -> Result<Vec<f32>> {
        let mut embedded = self.embed(&self.graph.text.query_prefix, &[query], deadline)?;
        Ok(embedded.pop().expect("one text gives one vector").pooled)
    }

    fn embed_passages(&self, passages: &[&str], deadline: &Deadline) -> Result<Vec<Vec<f32>>> {
        let embedded = self.embed(&self.graph.text.passage_prefix, passages, deadline)?;
        Ok(embedded.into_iter().map(|text| text.pooled).collect())
    }

    fn has_token_vectors(&self) -> bool {
        self.has_tokens
    }

    fn embed_query_with_tokens(&self, query: &str, deadline: &Deadline) -> Result<EmbeddedText> {
        self.require_tokens()?;
        let mut embedded = self.embed(&self.graph.text.query_prefix, &[query], deadline)?;
        Ok(embedded.pop().expect("one text gives one vector"))
    }

    fn embed_passages_with_tokens(
        &self,
        passages: &[&str],
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        self.require_tokens()?;
        self.embed(&self.graph.text.passage_prefix, passages, deadline)
    }
}

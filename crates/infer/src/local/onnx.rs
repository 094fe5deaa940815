//! An embedder from any folder like those of sentence-transformers, run by rten.

use std::path::Path;

use model::Deadline;
use tokenizers::Encoding;

use super::e5::scale_to_one;
use super::graph::{Graph, batches, read_json};
use crate::{EmbeddedText, Embedder, EmbedderId, Error, Result, TokenVectors};

/// Outputs that hold a state for each token, as exporters name them; then those that are pooled.
const OUTPUTS: &[&str] =
    &["last_hidden_state", "token_embeddings", "hidden_states", "sentence_embedding"];

/// How token states become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pooling {
    Mean,
    FirstToken,
}

/// An ONNX embedder.
#[derive(Debug)]
pub struct OnnxEmbedder {
    graph: Graph,
    pooling: Pooling,
    dimensions: usize,
    has_tokens: bool,
    query_prefix: String,
    passage_prefix: String,
}

impl OnnxEmbedder {
    /// Loads a folder, and embeds one word to learn the length of its vectors.
    ///
    /// Fails when a file is missing or the graph is not an encoder of text.
    pub fn open(folder: &Path, id: EmbedderId) -> Result<Self> {
        let graph = Graph::open(folder, id, OUTPUTS)?;
        let (query_prefix, passage_prefix) = prefixes(folder, &graph.id.name);
        let mut embedder = OnnxEmbedder {
            pooling: pooling(folder),
            graph,
            dimensions: 0,
            has_tokens: false,
            query_prefix,
            passage_prefix,
        };
        let probe = embedder.encode("", "dimension")?;
        let output = embedder.graph.run(&[&probe.0])?;
        embedder.has_tokens = output.shape.len() == 3;
        embedder.dimensions = match output.shape.as_slice() {
            [_, _, dimensions] | [_, dimensions] if *dimensions > 0 => *dimensions,
            shape => return Err(embedder.graph.unexpected(shape)),
        };
        Ok(embedder)
    }

    /// Gives the tokens of a text, and how many of them stand before it.
    fn encode(&self, prefix: &str, text: &str) -> Result<(Encoding, usize)> {
        let failed = |error| self.graph.untokenized(&error);
        let tokenizer = &self.graph.tokenizer;
        let whole = tokenizer.encode_fast(format!("{prefix}{text}"), true).map_err(failed)?;
        let n_marks = whole.get_special_tokens_mask().iter().take_while(|mark| **mark == 1).count();
        let n_prefix = match prefix.trim_end() {
            "" => 0,
            prefix => tokenizer.encode_fast(prefix, false).map_err(failed)?.len(),
        };
        Ok((whole, n_marks + n_prefix))
    }

    fn embed(
        &self,
        prefix: &str,
        texts: &[&str],
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        let encoded = texts
            .iter()
            .map(|text| self.encode(prefix, text))
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
        let is_truncated = !text.get_overflowing().is_empty();
        let n_tokens = text.len();
        let expected = if self.has_tokens { n_tokens * dimensions } else { dimensions };
        if values.len() < expected {
            return Err(self.graph.unexpected(&[values.len()]));
        }
        let mut pooled = vec![0.0; dimensions];
        if !self.has_tokens || self.pooling == Pooling::FirstToken {
            pooled.copy_from_slice(&values[..dimensions]);
        } else {
            for state in values[..expected].chunks_exact(dimensions) {
                for (sum, value) in pooled.iter_mut().zip(state) {
                    *sum += value;
                }
            }
        }
        scale_to_one(&mut pooled);
        let mut tokens = TokenVectors::default();
        if self.has_tokens {
            let n_after =
                text.get_special_tokens_mask().iter().rev().take_while(|mark| **mark == 1).count();
            let end = n_tokens.saturating_sub(n_after).max(n_before);
            let mut flat = values[n_before * dimensions..end * dimensions].to_vec();
            flat.chunks_exact_mut(dimensions).for_each(scale_to_one);
            tokens = TokenVectors { dimensions, flat };
        }
        Ok(EmbeddedText { pooled, tokens, is_truncated })
    }

    fn require_tokens(&self) -> Result<()> {
        if self.has_tokens {
            return Ok(());
        }
        Err(Error::NoTokenVectors { embedder: self.graph.id.to_string() })
    }
}

impl Embedder for OnnxEmbedder {
    fn id(&self) -> &EmbedderId {
        &self.graph.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn max_tokens(&self) -> usize {
        self.graph.max_tokens
    }

    fn embed_query(&self, query: &str, deadline: &Deadline) -> Result<Vec<f32>> {
        let mut embedded = self.embed(&self.query_prefix, &[query], deadline)?;
        Ok(embedded.pop().expect("one text gives one vector").pooled)
    }

    fn embed_passages(&self, passages: &[&str], deadline: &Deadline) -> Result<Vec<Vec<f32>>> {
        let embedded = self.embed(&self.passage_prefix, passages, deadline)?;
        Ok(embedded.into_iter().map(|text| text.pooled).collect())
    }

    fn has_token_vectors(&self) -> bool {
        self.has_tokens
    }

    fn embed_query_with_tokens(&self, query: &str, deadline: &Deadline) -> Result<EmbeddedText> {
        self.require_tokens()?;
        let mut embedded = self.embed(&self.query_prefix, &[query], deadline)?;
        Ok(embedded.pop().expect("one text gives one vector"))
    }

    fn embed_passages_with_tokens(
        &self,
        passages: &[&str],
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        self.require_tokens()?;
        self.embed(&self.passage_prefix, passages, deadline)
    }
}

/// Reads how states are pooled; the mean unless the folder says otherwise.
fn pooling(folder: &Path) -> Pooling {
    let config = read_json(&folder.join("1_Pooling/config.json")).unwrap_or_default();
    let uses_first = config["pooling_mode_cls_token"].as_bool() == Some(true)
        && config["pooling_mode_mean_tokens"].as_bool() != Some(true);
    if uses_first { Pooling::FirstToken } else { Pooling::Mean }
}

/// Reads what stands before queries and passages. The E5 family was trained with prefixes and
/// does not write them into its files, so it is known by name.
fn prefixes(folder: &Path, name: &str) -> (String, String) {
    let config = read_json(&folder.join("config_sentence_transformers.json")).unwrap_or_default();
    let prompt = |names: &[&str]| {
        let prompts = &config["prompts"];
        names.iter().find_map(|name| prompts[*name].as_str().map(str::to_owned))
    };
    let is_e5 = name.to_ascii_lowercase().split(['-', '/', '_']).any(|word| word == "e5");
    let default = |prefix: &str| if is_e5 { prefix.to_owned() } else { String::new() };
    let query = prompt(&["query"]).unwrap_or_else(|| default("query: "));
    let passage = prompt(&["passage", "document"]).unwrap_or_else(|| default("passage: "));
    (query, passage)
}

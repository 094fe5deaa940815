//! A cross-encoder from a folder: BERT or XLM-R with a classification head, run by rten.

use std::path::Path;

use model::Deadline;
use tokenizers::Encoding;

use super::graph::{Graph, batches};
use crate::{EmbedderId, Error, Reranker, Result};

/// The most passages of one call.
pub const MAX_PAIRS: usize = 1000;

/// A local cross-encoder.
#[derive(Debug)]
pub struct CrossEncoder {
    graph: Graph,
}

impl CrossEncoder {
    /// Loads a folder.
    ///
    /// Fails when a file is missing, or the graph does not give one or two scores for a pair.
    pub fn open(folder: &Path, id: EmbedderId) -> Result<Self> {
        let graph = Graph::open(folder, id, &["logits"])?;
        let encoder = CrossEncoder { graph };
        encoder.run(&[&encoder.encode("question", "answer")?])?;
        Ok(encoder)
    }

    fn encode(&self, query: &str, passage: &str) -> Result<Encoding> {
        let pair = self.graph.tokenizer.encode_fast((query, passage), true);
        pair.map_err(|error| self.graph.untokenized(&error))
    }

    fn run(&self, pairs: &[&Encoding]) -> Result<Vec<f32>> {
        let output = self.graph.run(pairs)?;
        let n_labels = match output.shape.as_slice() {
            [_] | [_, 1] => 1,
            [_, 2] => 2,
            shape => return Err(self.graph.unexpected(shape)),
        };
        // With one label its logit is the score; with two, the second against the first is.
        let logit = |labels: &[f32]| match labels {
            [one] => *one,
            [no, yes] => yes - no,
            _ => 0.0,
        };
        Ok(output.values.chunks_exact(n_labels).map(|labels| sigmoid(logit(labels))).collect())
    }
}

impl Reranker for CrossEncoder {
    fn id(&self) -> &EmbedderId {
        &self.graph.id
    }

    fn score(&self, query: &str, passages: &[&str], deadline: &Deadline) -> Result<Vec<f32>> {
        let n_asked = passages.len();
        let out_of_time = |n_done| Error::OutOfTime { doing: "scoring pairs", n_done, n_asked };
        if n_asked > MAX_PAIRS {
            return Err(Error::Runtime {
                model: self.graph.id.to_string(),
                problem: format!("{n_asked} passages in one call, allowed are {MAX_PAIRS}"),
            });
        }
        let pairs = passages
            .iter()
            .map(|passage| self.encode(query, passage))
            .collect::<Result<Vec<Encoding>>>()?;
        let lengths: Vec<usize> = pairs.iter().map(Encoding::len).collect();
        let mut scores = vec![0.0; n_asked];
        let mut n_done = 0;
        for batch in batches(&lengths) {
            if deadline.is_over() {
                return Err(out_of_time(n_done));
            }
            let part: Vec<&Encoding> = batch.iter().map(|pair_idx| &pairs[*pair_idx]).collect();
            for (pair_idx, score) in batch.iter().zip(self.run(&part)?) {
                scores[*pair_idx] = score;
            }
            n_done += batch.len();
        }
        Ok(scores)
    }
}

/// Brings a logit between 0 and 1.
pub(crate) fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}

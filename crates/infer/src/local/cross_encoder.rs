//! A cross-encoder from a folder: BERT or XLM-R with a classification head, run by rten.

use std::path::Path;

use model::Deadline;
use tokenizers::Encoding;

use super::graph::{Graph, batches};
use super::pooling::relevance_of;
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
        encoder.run(&[&encoder.graph.text.encode_pair("question", "answer")?])?;
        Ok(encoder)
    }

    fn run(&self, pairs: &[&Encoding]) -> Result<Vec<f32>> {
        let output = self.graph.run(pairs)?;
        let n_labels = match output.shape.as_slice() {
            [_] | [_, 1] => 1,
            [_, 2] => 2,
            shape => return Err(self.graph.unexpected(shape)),
        };
        Ok(output.values.chunks_exact(n_labels).map(relevance_of).collect())
    }
}

impl Reranker for CrossEncoder {
    fn id(&self) -> &EmbedderId {
        &self.graph.text.id
    }

    fn score(&self, query: &str, passages: &[&str], deadline: &Deadline) -> Result<Vec<f32>> {
        let n_asked = passages.len();
        let out_of_time = |n_done| Error::OutOfTime { doing: "scoring pairs", n_done, n_asked };
        check_pair_count(&self.graph.text.id, n_asked)?;
        let pairs = passages
            .iter()
            .map(|passage| self.graph.text.encode_pair(query, passage))
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

/// Fails when a call asks for more pairs than allowed.
pub(crate) fn check_pair_count(id: &EmbedderId, n_pairs: usize) -> Result<()> {
    if n_pairs <= MAX_PAIRS {
        return Ok(());
    }
    let problem = format!("{n_pairs} passages in one call, allowed are {MAX_PAIRS}");
    Err(Error::Runtime { model: id.to_string(), problem })
}

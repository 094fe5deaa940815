//! A ModernBERT folder with a classification head as a cross-encoder.

use std::path::Path;

use model::Deadline;
use tokenizers::Encoding;

use super::config::ModernConfig;
use super::embedder::{Engine, best_level};
use super::weights::{Checkpoint, Tensors};
use crate::local::cross_encoder::check_pair_count;
use crate::local::kernels::Level;
use crate::local::pooling::relevance_of;
use crate::local::runner::Urgency;
use crate::local::sentence::SentenceFolder;
use crate::local::vectorised::{Plain, gelu};
use crate::{EmbedderId, Reranker, Result};

/// A local ModernBERT cross-encoder.
#[derive(Debug)]
pub struct ModernCrossEncoder {
    text: SentenceFolder,
    engine: Engine,
    head: Head,
}

/// Dense, GELU, norm, then one or two labels.
#[derive(Debug)]
struct Head {
    reads_first: bool,
    epsilon: f32,
    dense: Vec<f32>,
    dense_bias: Option<Vec<f32>>,
    scale: Vec<f32>,
    shift: Option<Vec<f32>>,
    labels: Vec<f32>,
    label_bias: Vec<f32>,
}

impl ModernCrossEncoder {
    /// Loads a folder.
    ///
    /// Fails when a file is missing, or the head does not give one or two scores for a pair.
    pub fn open(folder: &Path, id: EmbedderId) -> Result<Self> {
        let config = ModernConfig::read(folder)?;
        let level = best_level(&config);
        ModernCrossEncoder::open_at(folder, id, &config, level)
    }

    pub(super) fn open_at(
        folder: &Path,
        id: EmbedderId,
        config: &ModernConfig,
        level: Level,
    ) -> Result<Self> {
        let text = SentenceFolder::open(folder, id)?;
        let checkpoint = Checkpoint::open(folder)?;
        let head = Head::load(&checkpoint.tensors()?, config)?;
        let engine = Engine::load(&checkpoint, config, text.max_tokens, level)?;
        Ok(ModernCrossEncoder { text, engine, head })
    }
}

impl Reranker for ModernCrossEncoder {
    fn id(&self) -> &EmbedderId {
        &self.text.id
    }

    fn score(&self, query: &str, passages: &[&str], deadline: &Deadline) -> Result<Vec<f32>> {
        check_pair_count(&self.text.id, passages.len())?;
        let pairs = passages
            .iter()
            .map(|passage| self.text.encode_pair(query, passage))
            .collect::<Result<Vec<Encoding>>>()?;
        let ids: Vec<&[u32]> = pairs.iter().map(Encoding::get_ids).collect();
        self.engine.run(&ids, Urgency::Interactive, deadline, |_, states| self.head.score(states))
    }
}

impl Head {
    fn load(tensors: &Tensors<'_>, config: &ModernConfig) -> Result<Self> {
        let hidden = config.hidden;
        let one = tensors.find("classifier.weight", hidden);
        let labels = match one {
            Ok(Some(labels)) => labels,
            _ => tensors.get("classifier.weight", 2 * hidden)?,
        };
        let n_labels = labels.len() / hidden;
        let label_bias = tensors.find("classifier.bias", n_labels)?;
        Ok(Head {
            reads_first: config.classifier_reads_first,
            epsilon: config.epsilon,
            dense: tensors.get("head.dense.weight", hidden * hidden)?,
            dense_bias: tensors.find("head.dense.bias", hidden)?,
            scale: tensors.get("head.norm.weight", hidden)?,
            shift: tensors.find("head.norm.bias", hidden)?,
            label_bias: label_bias.unwrap_or_else(|| vec![0.0; n_labels]),
            labels,
        })
    }

    /// Gives the relevance of one pair from the states of its tokens.
    fn score(&self, states: &[f32]) -> f32 {
        let hidden = self.scale.len();
        let mut pooled = vec![0.0; hidden];
        let n_read = if self.reads_first { 1 } else { states.len() / hidden };
        for state in states.chunks_exact(hidden).take(n_read) {
            pooled.iter_mut().zip(state).for_each(|(sum, value)| *sum += value / n_read as f32);
        }
        let mut activated: Vec<f32> = self
            .dense
            .chunks_exact(hidden)
            .map(|row| row.iter().zip(&pooled).map(|(weight, value)| weight * value).sum())
            .collect();
        if let Some(bias) = &self.dense_bias {
            activated.iter_mut().zip(bias).for_each(|(value, bias)| *value += bias);
        }
        activated.iter_mut().for_each(|value| *value = gelu::<Plain>(*value));
        let mean = activated.iter().sum::<f32>() / hidden as f32;
        let variance =
            activated.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / hidden as f32;
        let factor = 1.0 / (variance + self.epsilon).sqrt();
        for (at, value) in activated.iter_mut().enumerate() {
            let shift = self.shift.as_ref().map_or(0.0, |shift| shift[at]);
            *value = (*value - mean) * factor * self.scale[at] + shift;
        }
        let labels: Vec<f32> = self
            .labels
            .chunks_exact(hidden)
            .zip(&self.label_bias)
            .map(|(row, bias)| {
                bias + row.iter().zip(&activated).map(|(weight, value)| weight * value).sum::<f32>()
            })
            .collect();
        relevance_of(&labels)
    }
}

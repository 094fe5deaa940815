//! The forward pass of ModernBERT over a ragged batch of sequences.
//!
//! Norms come before the products and the residual path stays in 32 bits, so the normalised rows
//! are written only as operands. The two halves of the feed-forward's first product lie side by
//! side in each panel, so that the gate is applied while a block is still in the cache.

use super::config::{ModernConfig, Reach};
use super::rotary::{RotaryTable, Rotate};
use super::weights::Tensors;
use crate::Result;
use crate::local::attention::{AttentionSpace, Head, Projected, attend};
use crate::local::kernels::{self, Level};
use crate::local::product::{
    AddBiased, DEPTH_PADDING, Operand, Panels, Product, ROW_PADDING, Store, StoreGeglu,
};
use crate::local::runner::Forward;
use crate::local::vectorised::{LayerNorm, NormaliseInto};

/// The weights of a model, packed for one level.
#[derive(Debug)]
pub(super) struct ModernEncoder<T> {
    level: Level,
    config: ModernConfig,
    /// The width of the feed-forward rows, padded with zeros.
    feed_width: usize,
    words: Vec<f32>,
    embedding_norm: Norm,
    layers: Vec<Layer<T>>,
    final_norm: Norm,
    global: RotaryTable,
    local: RotaryTable,
}

#[derive(Debug)]
struct Layer<T> {
    reach: Reach,
    /// Absent in the first layer, whose input is normalised already.
    attention_norm: Option<Norm>,
    /// Queries (scaled), keys and values.
    projection: Linear<T>,
    attention_out: Linear<T>,
    feed_norm: Norm,
    feed_in: Linear<T>,
    feed_out: Linear<T>,
}

#[derive(Debug)]
struct Linear<T> {
    weights: Panels<T>,
    bias: Vec<f32>,
}

#[derive(Debug)]
struct Norm {
    scale: Vec<f32>,
    shift: Vec<f32>,
}

/// Memory that a forward pass needs and keeps between calls.
#[derive(Debug, Default)]
pub(super) struct Space<T> {
    hidden: Vec<f32>,
    operand: Vec<T>,
    unturned: Vec<f32>,
    projected: Vec<T>,
    context: Vec<T>,
    fed: Vec<T>,
    attention: AttentionSpace<T>,
}

impl<T: Operand> ModernEncoder<T> {
    /// Packs the weights of a checkpoint, for texts of at most `max_tokens`.
    ///
    /// Fails when a tensor is missing or of another size.
    pub(super) fn load(
        tensors: &Tensors<'_>,
        config: &ModernConfig,
        level: Level,
        max_tokens: usize,
    ) -> Result<Self> {
        let hidden = config.hidden;
        let head_size = hidden / config.n_heads;
        let layers = config
            .layers
            .iter()
            .enumerate()
            .map(|(layer_idx, reach)| Layer::load(tensors, config, level, layer_idx, *reach))
            .collect::<Result<_>>()?;
        let words = "model.embeddings.tok_embeddings.weight";
        Ok(ModernEncoder {
            level,
            feed_width: feed_width(config),
            words: tensors.get(words, config.vocabulary * hidden)?,
            embedding_norm: Norm::load(tensors, "model.embeddings.norm", hidden)?,
            layers,
            final_norm: Norm::load(tensors, "model.final_norm", hidden)?,
            global: RotaryTable::new(head_size, max_tokens, config.global_theta),
            local: RotaryTable::new(head_size, max_tokens, config.local_theta),
            config: config.clone(),
        })
    }

    fn embed(&self, sequences: &[&[u32]], space: &mut Space<T>) {
        let hidden = self.config.hidden;
        let last = self.config.vocabulary - 1;
        let ids = sequences.iter().flat_map(|ids| ids.iter());
        for (row, id) in space.hidden.chunks_exact_mut(hidden).zip(ids) {
            // A tokenizer with more pieces than the model has words is a broken folder: such
            // pieces are read as the last word rather than ending the process.
            row.copy_from_slice(&self.words[(*id as usize).min(last) * hidden..][..hidden]);
        }
        self.normalise_both(&self.embedding_norm, space);
    }

    fn run_layer(&self, layer: &Layer<T>, lengths: &[usize], space: &mut Space<T>) {
        let (level, hidden) = (self.level, self.config.hidden);
        let n_rows: usize = lengths.iter().sum();
        if let Some(norm) = &layer.attention_norm {
            self.normalise(norm, space);
        }
        Product {
            level,
            left: &space.operand,
            stride: hidden,
            n_rows,
            right: &layer.projection.weights,
        }
        .compute(Store { out: &mut space.unturned, stride: 3 * hidden });
        for (row, at) in space.unturned.chunks_exact_mut(3 * hidden).zip(0..n_rows) {
            debug_assert!(at < n_rows, "only rows of tokens are turned");
            for (value, bias) in row.iter_mut().zip(&layer.projection.bias) {
                *value += bias;
            }
        }
        let (table, window) = match layer.reach {
            Reach::Global => (&self.global, None),
            Reach::Local => (&self.local, Some(self.config.window)),
        };
        let Space { unturned, projected, context, attention, .. } = space;
        kernels::run(level, Rotate { table, lengths, hidden, rows: unturned, out: projected });
        let mut start = 0;
        for length in lengths {
            let rows =
                Projected { rows: projected, stride: 3 * hidden, start, length: *length, window };
            for head in Head::all(hidden, self.config.n_heads) {
                attend(level, &rows, head, attention, context, hidden);
            }
            start += length;
        }
        let right = &layer.attention_out.weights;
        Product { level, left: &space.context, stride: hidden, n_rows, right }.compute(AddBiased {
            bias: &layer.attention_out.bias,
            out: &mut space.hidden,
            stride: hidden,
        });
        self.normalise(&layer.feed_norm, space);
        let right = &layer.feed_in.weights;
        Product { level, left: &space.operand, stride: hidden, n_rows, right }.compute(
            StoreGeglu { bias: &layer.feed_in.bias, out: &mut space.fed, stride: self.feed_width },
        );
        let right = &layer.feed_out.weights;
        Product { level, left: &space.fed, stride: self.feed_width, n_rows, right }.compute(
            AddBiased { bias: &layer.feed_out.bias, out: &mut space.hidden, stride: hidden },
        );
    }

    /// Writes the normalised rows as operands; the rows themselves stay.
    fn normalise(&self, norm: &Norm, space: &mut Space<T>) {
        kernels::run(
            self.level,
            NormaliseInto {
                rows: &space.hidden,
                copy: &mut space.operand,
                scale: &norm.scale,
                shift: &norm.shift,
                epsilon: self.config.epsilon,
            },
        );
    }

    /// Normalises the rows in place, and writes them as operands too.
    fn normalise_both(&self, norm: &Norm, space: &mut Space<T>) {
        kernels::run(
            self.level,
            LayerNorm {
                rows: &mut space.hidden,
                copy: &mut space.operand,
                scale: &norm.scale,
                shift: &norm.shift,
                epsilon: self.config.epsilon,
            },
        );
    }
}

impl<T: Operand> Forward for ModernEncoder<T> {
    type Space = Space<T>;

    fn n_dimensions(&self) -> usize {
        self.config.hidden
    }

    fn forward<'s>(
        &self,
        sequences: &[&[u32]],
        space: &'s mut Space<T>,
        pause: &dyn Fn(),
    ) -> &'s [f32] {
        let hidden = self.config.hidden;
        let lengths: Vec<usize> = sequences.iter().map(|ids| ids.len()).collect();
        let n_rows: usize = lengths.iter().sum();
        let n_padded = (n_rows + ROW_PADDING).next_multiple_of(ROW_PADDING);
        space.hidden.resize(n_rows * hidden, 0.0);
        space.operand.resize(n_padded * hidden, T::default());
        space.unturned.resize(n_rows * 3 * hidden, 0.0);
        space.projected.resize(n_padded * 3 * hidden, T::default());
        space.context.resize(n_padded * hidden, T::default());
        space.fed.resize(n_padded * self.feed_width, T::default());
        self.embed(sequences, space);
        for layer in &self.layers {
            self.run_layer(layer, &lengths, space);
            pause();
        }
        self.normalise_both(&self.final_norm, space);
        &space.hidden
    }
}

impl<T: Operand> Layer<T> {
    fn load(
        tensors: &Tensors<'_>,
        config: &ModernConfig,
        level: Level,
        layer_idx: usize,
        reach: Reach,
    ) -> Result<Self> {
        let (hidden, feed) = (config.hidden, config.feed_forward);
        let name = |part: &str| format!("model.layers.{layer_idx}.{part}");
        let matrix = |part: &str, n_out: usize, n_in: usize| {
            tensors.get(&name(&format!("{part}.weight")), n_out * n_in)
        };
        let bias = |part: &str, n_out: usize| {
            let found = tensors.find(&name(&format!("{part}.bias")), n_out)?;
            Ok::<_, crate::Error>(found.unwrap_or_else(|| vec![0.0; n_out]))
        };
        // Scores are divided by the root of the head size; dividing the queries does the same,
        // since turning a vector does not change its length.
        let scale = 1.0 / ((hidden / config.n_heads) as f32).sqrt();
        let mut projection = matrix("attn.Wqkv", 3 * hidden, hidden)?;
        let mut projection_bias = bias("attn.Wqkv", 3 * hidden)?;
        projection[..hidden * hidden].iter_mut().for_each(|value| *value *= scale);
        projection_bias[..hidden].iter_mut().for_each(|value| *value *= scale);
        let plain = |rows: &[f32], n_in: usize, bias: Vec<f32>| {
            let mut weights = Panels::zero(level, rows.len() / n_in, n_in);
            for (column, row) in rows.chunks_exact(n_in).enumerate() {
                weights.set_column(column, row.iter().map(|value| T::from_f32(*value)));
            }
            Linear { weights, bias }
        };
        let attention_norm = if layer_idx == 0 {
            None
        } else {
            Some(Norm::load(tensors, &name("attn_norm"), hidden)?)
        };
        Ok(Layer {
            reach,
            attention_norm,
            projection: plain(&projection, hidden, projection_bias),
            attention_out: plain(
                &matrix("attn.Wo", hidden, hidden)?,
                hidden,
                bias("attn.Wo", hidden)?,
            ),
            feed_norm: Norm::load(tensors, &name("mlp_norm"), hidden)?,
            feed_in: gated(
                level,
                config,
                &matrix("mlp.Wi", 2 * feed, hidden)?,
                &bias("mlp.Wi", 2 * feed)?,
            ),
            feed_out: plain(&matrix("mlp.Wo", hidden, feed)?, feed, bias("mlp.Wo", hidden)?),
        })
    }
}

/// Packs the first product of the feed-forward: the first half of each panel is activated, the
/// second half is its gate. Columns beyond the width are zeros, which give zeros.
fn gated<T: Operand>(level: Level, config: &ModernConfig, rows: &[f32], bias: &[f32]) -> Linear<T> {
    let (hidden, feed) = (config.hidden, config.feed_forward);
    let n_out = 2 * feed_width(config);
    let half = T::panel_columns(level) / 2;
    let mut weights = Panels::zero(level, n_out, hidden);
    let mut packed_bias = vec![0.0; n_out];
    for (row_idx, row) in rows.chunks_exact(hidden).enumerate() {
        let (at, part) = if row_idx < feed { (row_idx, 0) } else { (row_idx - feed, half) };
        let column = at / half * 2 * half + part + at % half;
        weights.set_column(column, row.iter().map(|value| T::from_f32(*value)));
        packed_bias[column] = bias[row_idx];
    }
    Linear { weights, bias: packed_bias }
}

/// The feed-forward's width as an operand: whole steps of depth, so whole panels of both halves.
fn feed_width(config: &ModernConfig) -> usize {
    config.feed_forward.next_multiple_of(DEPTH_PADDING)
}

impl Norm {
    fn load(tensors: &Tensors<'_>, name: &str, width: usize) -> Result<Self> {
        let shift = tensors.find(&format!("{name}.bias"), width)?;
        Ok(Norm {
            scale: tensors.get(&format!("{name}.weight"), width)?,
            shift: shift.unwrap_or_else(|| vec![0.0; width]),
        })
    }
}

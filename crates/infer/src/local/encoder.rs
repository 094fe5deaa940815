//! The transformer itself: weights, and the forward pass over a batch of sequences.
//!
//! A batch is ragged: the tokens of all its sequences follow one another without padding, so
//! no product is wasted on tokens that are not there. Attention runs for each sequence alone.

use super::attention::{AttentionSpace, Head, Projected, attend};
use super::container::{Container, Shape};
use super::embeddings::{Embeddings, Norm, load_layers};
use super::kernels::{self, Level};
use super::product::{AddBiased, Operand, Panels, Product, ROW_PADDING, StoreBiased, StoreGelu};
use super::runner::Forward;
use super::vectorised::LayerNorm;
use crate::Result;

/// The weights of a model, packed for one level.
#[derive(Debug)]
pub(crate) struct Encoder<T> {
    level: Level,
    shape: Shape,
    embeddings: Embeddings,
    layers: Vec<Layer<T>>,
}

#[derive(Debug)]
struct Layer<T> {
    /// Queries (scaled), keys and values.
    projection: Linear<T>,
    attention_out: Linear<T>,
    attention_norm: Norm,
    feed_in: Linear<T>,
    feed_out: Linear<T>,
    out_norm: Norm,
}

#[derive(Debug)]
struct Linear<T> {
    weights: Panels<T>,
    bias: Vec<f32>,
}

/// Memory that a forward pass needs and keeps between calls.
#[derive(Debug, Default)]
pub(crate) struct Space<T> {
    hidden: Vec<f32>,
    operand: Vec<T>,
    projected: Vec<T>,
    context: Vec<T>,
    fed: Vec<T>,
    attention: AttentionSpace<T>,
}

impl<T: Operand> Encoder<T> {
    /// Packs the weights of a container.
    ///
    /// Fails when a tensor is missing or too small.
    pub(crate) fn load(container: &Container, level: Level) -> Result<Self> {
        Ok(Encoder {
            level,
            shape: container.shape,
            embeddings: Embeddings::load(container)?,
            layers: load_layers(container.shape.n_layers, |layer_idx| {
                Layer::load(container, level, layer_idx)
            })?,
        })
    }

    /// Counts the bytes of the packed weights.
    pub(crate) fn n_packed_bytes(&self) -> usize {
        let layer = |layer: &Layer<T>| {
            [&layer.projection, &layer.attention_out, &layer.feed_in, &layer.feed_out]
                .map(|linear| linear.weights.n_bytes())
                .iter()
                .sum::<usize>()
        };
        self.layers.iter().map(layer).sum()
    }

    fn run_layer(
        &self,
        layer: &Layer<T>,
        sequences: &[&[u32]],
        n_rows: usize,
        space: &mut Space<T>,
    ) {
        let (level, hidden, feed) = (self.level, self.shape.hidden, self.shape.feed_forward);
        let Space { projected, context, attention, .. } = space;
        Product {
            level,
            left: &space.operand,
            stride: hidden,
            n_rows,
            right: &layer.projection.weights,
        }
        .compute(StoreBiased {
            bias: &layer.projection.bias,
            out: projected,
            stride: 3 * hidden,
        });
        let mut start = 0;
        for ids in sequences {
            let rows = Projected {
                rows: projected,
                stride: 3 * hidden,
                start,
                length: ids.len(),
                window: None,
            };
            for head in Head::all(hidden, self.shape.n_heads) {
                attend(level, &rows, head, attention, context, hidden);
            }
            start += ids.len();
        }
        Product {
            level,
            left: context,
            stride: hidden,
            n_rows,
            right: &layer.attention_out.weights,
        }
        .compute(AddBiased {
            bias: &layer.attention_out.bias,
            out: &mut space.hidden,
            stride: hidden,
        });
        self.normalise(&layer.attention_norm, space);
        Product {
            level,
            left: &space.operand,
            stride: hidden,
            n_rows,
            right: &layer.feed_in.weights,
        }
        .compute(StoreGelu {
            bias: &layer.feed_in.bias,
            out: &mut space.fed,
            stride: feed,
        });
        Product { level, left: &space.fed, stride: feed, n_rows, right: &layer.feed_out.weights }
            .compute(AddBiased {
                bias: &layer.feed_out.bias,
                out: &mut space.hidden,
                stride: hidden,
            });
        self.normalise(&layer.out_norm, space);
    }

    /// Normalises the rows, and leaves them as operands of the next product too.
    fn normalise(&self, norm: &Norm, space: &mut Space<T>) {
        kernels::run(
            self.level,
            LayerNorm {
                rows: &mut space.hidden,
                copy: &mut space.operand,
                scale: &norm.scale,
                shift: &norm.shift,
                epsilon: self.shape.epsilon,
            },
        );
    }
}

impl<T: Operand> Forward for Encoder<T> {
    type Space = Space<T>;

    fn n_dimensions(&self) -> usize {
        self.shape.hidden
    }

    /// Invariant: sequences are not longer than the model's positions, and hold known ids.
    fn forward<'s>(
        &self,
        sequences: &[&[u32]],
        space: &'s mut Space<T>,
        pause: &dyn Fn(),
    ) -> &'s [f32] {
        let hidden = self.shape.hidden;
        let n_rows: usize = sequences.iter().map(|ids| ids.len()).sum();
        let n_padded = (n_rows + ROW_PADDING).next_multiple_of(ROW_PADDING);
        space.hidden.resize(n_rows * hidden, 0.0);
        space.operand.resize(n_padded * hidden, T::default());
        space.projected.resize(n_padded * 3 * hidden, T::default());
        space.context.resize(n_padded * hidden, T::default());
        space.fed.resize(n_padded * self.shape.feed_forward, T::default());
        self.embeddings.read(sequences, &mut space.hidden);
        self.normalise(&self.embeddings.norm, space);
        for layer in &self.layers {
            self.run_layer(layer, sequences, n_rows, space);
            pause();
        }
        &space.hidden
    }
}

impl<T: Operand> Layer<T> {
    fn load(container: &Container, level: Level, layer_idx: usize) -> Result<Self> {
        let Shape { hidden, feed_forward, n_heads, .. } = container.shape;
        let name = |part: &str| format!("l{layer_idx}.{part}");
        // Scores are divided by the root of the head size; dividing the queries does the same.
        let scale = 1.0 / ((hidden / n_heads) as f32).sqrt();
        let projection = Linear::load(
            container,
            level,
            hidden,
            hidden,
            &[(&name("q"), scale), (&name("k"), 1.0), (&name("v"), 1.0)],
        )?;
        let plain = |part: &str, n_out, n_in| {
            Linear::load(container, level, n_out, n_in, &[(&name(part), 1.0)])
        };
        Ok(Layer {
            projection,
            attention_out: plain("ao", hidden, hidden)?,
            attention_norm: Norm::load(container, &name("aln"), hidden)?,
            feed_in: plain("fi", feed_forward, hidden)?,
            feed_out: plain("fo", hidden, feed_forward)?,
            out_norm: Norm::load(container, &name("oln"), hidden)?,
        })
    }
}

impl<T: Operand> Linear<T> {
    /// Stacks matrices of `n_out` rows each, multiplied by their factors.
    fn load(
        container: &Container,
        level: Level,
        n_out: usize,
        n_in: usize,
        parts: &[(&str, f32)],
    ) -> Result<Self> {
        let mut weights = Panels::zero(level, n_out * parts.len(), n_in);
        let mut bias = Vec::with_capacity(n_out * parts.len());
        let mut row = vec![0.0; n_in];
        for (part_idx, (name, factor)) in parts.iter().enumerate() {
            let matrix = container.tensor(&format!("{name}.w"), n_out * n_in)?;
            for row_idx in 0..n_out {
                matrix.read_row(row_idx, &mut row);
                let column = row.iter().map(|value| T::from_f32(value * factor));
                weights.set_column(part_idx * n_out + row_idx, column);
            }
            let shifts = container.vector(&format!("{name}.b"), n_out)?;
            bias.extend(shifts.iter().map(|value| value * factor));
        }
        Ok(Linear { weights, bias })
    }
}

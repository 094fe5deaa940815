//! The transformer in eight bits: weights, and the forward pass over a ragged batch.
//!
//! A layer is two steps. Attention runs for each sequence. Everything else runs for a few rows at
//! a time, from the context to the projection of the next layer, so that what one product leaves is
//! still in the cache when the next one takes it.

use super::attention::{Attend, AttentionSpace, HEAD_SIZE, Projected, StoreProjected};
use super::byte_rows::{ByteRows, NormaliseAndQuantise, Quantise};
use super::matrix::Matrix;
use super::product::{Add, StoreGelu, multiply};
use crate::Result;
use crate::local::container::{Container, Shape};
use crate::local::embeddings::{Embeddings, Norm, load_layers};
use crate::local::kernels::{self, Dots, Int8Kernel};
use crate::local::runner::Forward;

/// About how many rows go through a layer together: their 1,536 columns of f32 between the two
/// halves of the feed-forward step take 300 KB, and a weight that was loaded is used four times.
const CHUNK_ROWS: usize = 48;
/// What GELU is never below.
const LOWEST_GELU: f32 = -0.171;

/// The weights of a model, packed for one kernel.
#[derive(Debug)]
pub(crate) struct Int8Encoder<K> {
    kernel: K,
    shape: Shape,
    embeddings: Embeddings,
    layers: Vec<Layer<K>>,
}

#[derive(Debug)]
struct Layer<K> {
    /// Queries, keys and values.
    projection: Matrix<K>,
    attention_out: Matrix<K>,
    attention_norm: Norm,
    feed_in: Matrix<K>,
    feed_out: Matrix<K>,
    out_norm: Norm,
}

/// Memory that a forward pass needs and keeps between calls.
#[derive(Debug, Default)]
pub(crate) struct Space<L> {
    hidden: Vec<f32>,
    context: Vec<f32>,
    /// Left operands of a few rows.
    operand: ByteRows,
    fed: Vec<f32>,
    fed_operand: ByteRows,
    projected: Projected<L>,
    attention: AttentionSpace<L>,
}

impl<K: Int8Kernel> Int8Encoder<K> {
    /// Tells whether a model's shape suits this kernel.
    pub(crate) fn fits(container: &Container) -> bool {
        let head_size = container.shape.hidden / container.shape.n_heads;
        head_size == HEAD_SIZE && (K::SCALE_DEPTH.is_none() || container.has_blocks())
    }

    /// Packs the weights of a container.
    ///
    /// Fails when a tensor is missing or too small.
    pub(crate) fn load(container: &Container, kernel: K) -> Result<Self> {
        Ok(Int8Encoder {
            kernel,
            shape: container.shape,
            embeddings: Embeddings::load(container)?,
            layers: load_layers(container.shape.n_layers, |layer_idx| {
                Layer::load(container, layer_idx)
            })?,
        })
    }

    /// Counts the bytes of the packed weights.
    pub(crate) fn n_packed_bytes(&self) -> usize {
        let layer = |layer: &Layer<K>| {
            [&layer.projection, &layer.attention_out, &layer.feed_in, &layer.feed_out]
                .map(Matrix::n_bytes)
                .iter()
                .sum::<usize>()
        };
        self.layers.iter().map(layer).sum()
    }

    /// Computes queries, keys and values of the rows in `space.operand`.
    fn project(
        &self,
        layer: &Layer<K>,
        first_row: usize,
        n_rows: usize,
        space: &mut Space<<K::Dots as Dots>::Left>,
    ) {
        let store = StoreProjected::<K::Dots> { out: &mut space.projected, first_row };
        multiply(self.kernel, &space.operand, n_rows, &layer.projection, store);
    }

    /// Computes one head of one sequence.
    fn attend(
        &self,
        head: usize,
        start: usize,
        length: usize,
        space: &mut Space<<K::Dots as Dots>::Left>,
    ) {
        let Space { projected, attention, context, .. } = space;
        let dots = self.kernel.dots();
        Attend { dots, projected, head, start, length, space: attention, context }.compute();
    }

    /// Takes rows from the context to the end of the layer.
    fn finish_layer(
        &self,
        layer: &Layer<K>,
        first_row: usize,
        n_rows: usize,
        space: &mut Space<<K::Dots as Dots>::Left>,
    ) {
        let (kernel, level) = (self.kernel, self.kernel.vectors());
        let Shape { hidden: width, feed_forward, epsilon, .. } = self.shape;
        let Space { hidden, context, operand, fed, fed_operand, .. } = space;
        let own = first_row * width..(first_row + n_rows) * width;
        let (rows, context) = (&mut hidden[own.clone()], &context[own]);
        kernels::run(level, Quantise { rows: context, width, lowest: None, out: operand });
        let residual = Add { out: rows, stride: width };
        multiply(kernel, operand, n_rows, &layer.attention_out, residual);
        normalise::<K>(kernel, &layer.attention_norm, epsilon, rows, operand);
        let gelu = StoreGelu { out: fed, stride: feed_forward };
        multiply(kernel, operand, n_rows, &layer.feed_in, gelu);
        let fed = &fed[..n_rows * feed_forward];
        let lowest = Some(LOWEST_GELU);
        kernels::run(level, Quantise { rows: fed, width: feed_forward, lowest, out: fed_operand });
        let residual = Add { out: rows, stride: width };
        multiply(kernel, fed_operand, n_rows, &layer.feed_out, residual);
        normalise::<K>(kernel, &layer.out_norm, epsilon, rows, operand);
    }
}

fn normalise<K: Int8Kernel>(
    kernel: K,
    norm: &Norm,
    epsilon: f32,
    rows: &mut [f32],
    out: &mut ByteRows,
) {
    let (scale, shift) = (&norm.scale, &norm.shift);
    kernels::run(kernel.vectors(), NormaliseAndQuantise { rows, scale, shift, epsilon, out });
}

impl<K: Int8Kernel> Forward for Int8Encoder<K> {
    type Space = Space<<K::Dots as Dots>::Left>;

    fn n_dimensions(&self) -> usize {
        self.shape.hidden
    }

    /// Invariant: sequences are not longer than the model's positions, and hold known ids.
    fn forward<'s>(
        &self,
        sequences: &[&[u32]],
        space: &'s mut Space<<K::Dots as Dots>::Left>,
        pause: &dyn Fn(),
    ) -> &'s [f32] {
        let Shape { hidden, feed_forward, n_heads, epsilon, .. } = self.shape;
        let n_rows: usize = sequences.iter().map(|ids| ids.len()).sum();
        let chunk = CHUNK_ROWS.next_multiple_of(K::ROWS);
        let padded = |n_in: usize| n_in.next_multiple_of(K::DEPTH_PADDING);
        space.hidden.resize(n_rows * hidden, 0.0);
        space.context.resize(n_rows * hidden, 0.0);
        space.operand.reserve(chunk, padded(hidden));
        space.fed.resize(chunk * feed_forward, 0.0);
        space.fed_operand.reserve(chunk, padded(feed_forward));
        space.projected.reserve::<K::Dots>(n_rows, n_heads);
        self.embeddings.read(sequences, &mut space.hidden);
        let chunks = || (0..n_rows).step_by(chunk).map(|first| (first, chunk.min(n_rows - first)));
        let Some(first_layer) = self.layers.first() else { return &space.hidden };
        for (first, n) in chunks() {
            let rows = &mut space.hidden[first * hidden..][..n * hidden];
            let norm = &self.embeddings.norm;
            normalise::<K>(self.kernel, norm, epsilon, rows, &mut space.operand);
            self.project(first_layer, first, n, space);
        }
        for (layer_idx, layer) in self.layers.iter().enumerate() {
            let mut start = 0;
            for ids in sequences {
                for head in 0..n_heads {
                    self.attend(head, start, ids.len(), space);
                    pause();
                }
                start += ids.len();
            }
            for (first, n) in chunks() {
                self.finish_layer(layer, first, n, space);
                if let Some(next) = self.layers.get(layer_idx + 1) {
                    self.project(next, first, n, space);
                }
                pause();
            }
        }
        &space.hidden
    }
}

impl<K: Int8Kernel> Layer<K> {
    fn load(container: &Container, layer_idx: usize) -> Result<Self> {
        let Shape { hidden, feed_forward, .. } = container.shape;
        let name = |part: &str| format!("l{layer_idx}.{part}");
        let matrix = |part: &str, n_out, n_in| Matrix::load(container, n_out, n_in, &[name(part)]);
        let projection = ["q", "k", "v"].map(name);
        Ok(Layer {
            projection: Matrix::load(container, hidden, hidden, &projection)?,
            attention_out: matrix("ao", hidden, hidden)?,
            attention_norm: Norm::load(container, &name("aln"), hidden)?,
            feed_in: matrix("fi", feed_forward, hidden)?,
            feed_out: matrix("fo", hidden, feed_forward)?,
            out_norm: Norm::load(container, &name("oln"), hidden)?,
        })
    }
}

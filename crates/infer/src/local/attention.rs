//! Self-attention of one sequence: every token looks at every other.

use super::kernels::{self, Level};
use super::product::{DEPTH_PADDING, Operand, Panels, Product, ROW_PADDING, Store};
use super::vectorised::Softmax;

/// How many query rows are worked on together: their scores stay in the cache.
const QUERY_ROWS: usize = 32;

/// Which columns of a projected row belong to one head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    pub(crate) size: usize,
    pub(crate) query_column: usize,
    pub(crate) key_column: usize,
    pub(crate) value_column: usize,
}

impl Head {
    /// Gives the heads of rows that hold queries, keys and values of `hidden` columns each.
    pub(crate) fn all(hidden: usize, n_heads: usize) -> impl Iterator<Item = Head> {
        let size = hidden / n_heads;
        (0..n_heads).map(move |head_idx| Head {
            size,
            query_column: head_idx * size,
            key_column: hidden + head_idx * size,
            value_column: 2 * hidden + head_idx * size,
        })
    }
}

/// Memory that attention needs and keeps between calls.
#[derive(Debug, Default)]
pub(crate) struct AttentionSpace<T> {
    keys: Panels<T>,
    values: Panels<T>,
    scores: Vec<f32>,
    weights: Vec<T>,
}

/// The queries, keys and values of a batch, side by side in one row for each token.
pub(crate) struct Projected<'a, T> {
    pub(crate) rows: &'a [T],
    pub(crate) stride: usize,
    /// The first row of the sequence.
    pub(crate) start: usize,
    /// The number of its tokens.
    pub(crate) length: usize,
    /// How many tokens to each side a token sees; all where there is none.
    pub(crate) window: Option<usize>,
}

/// Computes one head for one sequence, and stores it in the head's columns of `context`.
///
/// Queries are scaled already.
pub(crate) fn attend<T: Operand>(
    level: Level,
    projected: &Projected<'_, T>,
    head: Head,
    space: &mut AttentionSpace<T>,
    context: &mut [T],
    context_stride: usize,
) {
    let Projected { rows, stride, start, length, window } = *projected;
    let size = head.size;
    space.keys.reset(level, length, size);
    space.values.reset(level, size, length);
    for token_idx in 0..length {
        let row = &rows[(start + token_idx) * stride..][..stride];
        let key = &row[head.key_column..][..size];
        space.keys.set_column(token_idx, key.iter().copied());
        space.values.set_depth(token_idx, &row[head.value_column..][..size]);
    }
    let score_stride = length.next_multiple_of(DEPTH_PADDING);
    space.scores.resize(QUERY_ROWS * score_stride, 0.0);
    space.weights.resize(ROW_PADDING * score_stride, T::default());
    for first in (0..length).step_by(QUERY_ROWS) {
        let n_rows = QUERY_ROWS.min(length - first);
        let left = &rows[(start + first) * stride + head.query_column..];
        Product { level, left, stride, n_rows, right: &space.keys }
            .compute(Store { out: &mut space.scores, stride: score_stride });
        kernels::run(
            level,
            Softmax {
                scores: &mut space.scores,
                weights: &mut space.weights,
                stride: score_stride,
                n_rows,
                length,
                first_row: first,
                window,
            },
        );
        let out = &mut context[(start + first) * context_stride + head.query_column..];
        Product { level, left: &space.weights, stride: score_stride, n_rows, right: &space.values }
            .compute(Store { out, stride: context_stride });
    }
}

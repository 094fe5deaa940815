//! Self-attention of one sequence in small whole numbers, one head at a time.
//!
//! Queries and keys have a scale for each token and head, which costs no accuracy that could be
//! measured. The weights of a row are relative to its largest, and are divided by their sum as
//! they were rounded, so that they add up to one exactly; values have a scale for each column.
//! How many bits all this has is the kernel's choice ([`Dots`]).

use super::approximate::{ROUNDER, exp2};
use super::product::{Columns, Epilogue, columns_mut};
use crate::local::kernels::{self, Dots, PANEL_COLUMNS, Small, Sums};
use crate::local::vectorised::{Arithmetic, LANES, Work, largest_lane};

/// The size of a head that this attention takes: one panel of the projection.
pub(crate) const HEAD_SIZE: usize = PANEL_COLUMNS;
/// The most rows that a kernel takes at once.
const MAX_BLOCK_ROWS: usize = 12;
/// What makes the weight of a key that is not there 0.
const NOWHERE: f32 = 1e30;

/// Queries, keys and values of a batch.
#[derive(Debug, Default)]
pub(crate) struct Projected<L> {
    n_heads: usize,
    /// One number for each column, rows behind each other.
    queries: Vec<L>,
    /// Words of neighbouring columns, rows behind each other.
    keys: Vec<u32>,
    /// One for each row and head.
    query_scales: Vec<f32>,
    key_scales: Vec<f32>,
    /// What the zero of the queries adds to the scaled score of each key.
    key_shifts: Vec<f32>,
    values: Vec<f32>,
}

impl<L: Small> Projected<L> {
    /// Makes room for so many rows.
    pub(crate) fn reserve<D: Dots<Left = L>>(&mut self, n_rows: usize, n_heads: usize) {
        self.n_heads = n_heads;
        let n_numbers = n_rows * n_heads * HEAD_SIZE;
        self.queries.resize(n_numbers, L::default());
        self.keys.resize(n_numbers / D::GROUP, 0);
        self.values.resize(n_numbers, 0.0);
        for scales in [&mut self.query_scales, &mut self.key_scales, &mut self.key_shifts] {
            scales.resize(n_rows * n_heads, 0.0);
        }
    }
}

/// Takes the projection: a panel is one head of the queries, the keys or the values.
pub(crate) struct StoreProjected<'a, D: Dots> {
    pub(crate) out: &'a mut Projected<D::Left>,
    /// The row of the batch that the product's first row is.
    pub(crate) first_row: usize,
}

impl<D: Dots> Epilogue for StoreProjected<'_, D> {
    #[inline(always)]
    fn take<A: Arithmetic>(&mut self, row: usize, column: usize, values: &Columns) {
        let out = &mut *self.out;
        let width = out.n_heads * HEAD_SIZE;
        let start = (self.first_row + row) * width;
        if column < width {
            let place = start + column;
            // Scores are divided by the root of the head size, and powers are those of two.
            let factor = std::f32::consts::LOG2_E / (HEAD_SIZE as f32).sqrt();
            let largest = largest_size(values);
            let bits = rounded::<A>(values, D::LARGEST / largest, D::LEFT_ZERO);
            out.queries[place..][..HEAD_SIZE].copy_from_slice(&bits.map(D::Left::from_bits));
            out.query_scales[place / HEAD_SIZE] = largest * (factor / D::LARGEST);
        } else if column < 2 * width {
            let place = start + column - width;
            let largest = largest_size(values);
            let bits = rounded::<A>(values, D::LARGEST / largest, 0.0);
            let words = &mut out.keys[place / D::GROUP..][..HEAD_SIZE / D::GROUP];
            for (word, group) in words.iter_mut().zip(bits.chunks_exact(D::GROUP)) {
                *word = word_of::<D>(group);
            }
            let scale = largest * (1.0 / D::LARGEST);
            let sum: i32 =
                bits.iter().map(|bits| bits.wrapping_sub(ROUNDER.to_bits()) as i32).sum();
            out.key_scales[place / HEAD_SIZE] = scale;
            out.key_shifts[place / HEAD_SIZE] = -D::LEFT_ZERO * sum as f32 * scale;
        } else {
            *columns_mut(&mut out.values, start + column - 2 * width) = *values;
        }
    }
}

/// Puts the low bits of neighbours into one word.
#[inline(always)]
fn word_of<D: Dots>(group: &[u32]) -> u32 {
    let n_bits = u32::BITS as usize / D::GROUP;
    let mask = u32::MAX >> (u32::BITS as usize - n_bits);
    group.iter().rev().fold(0, |word, bits| word.unbounded_shl(n_bits as u32) | bits & mask)
}

/// Gives the largest size of a number, and never 0.
#[inline(always)]
fn largest_size(values: &Columns) -> f32 {
    let mut lanes = [f32::MIN_POSITIVE * 1e6; LANES];
    for chunk in values.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            let size = chunk[lane].abs();
            lanes[lane] = if size > lanes[lane] { size } else { lanes[lane] };
        }
    }
    largest_lane(&lanes)
}

/// Rounds numbers, and gives them with a zero added in the low bits of [`ROUNDER`].
#[inline(always)]
fn rounded<A: Arithmetic>(values: &Columns, inverse: f32, zero: f32) -> [u32; HEAD_SIZE] {
    let mut bits = [0; HEAD_SIZE];
    for at in 0..HEAD_SIZE {
        bits[at] = A::fused(values[at], inverse, ROUNDER + zero).to_bits();
    }
    bits
}

/// Memory that attention needs and keeps between calls.
#[derive(Debug, Default)]
pub(crate) struct AttentionSpace<L> {
    keys: Vec<u32>,
    key_scales: Vec<f32>,
    key_shifts: Vec<f32>,
    values: Vec<u32>,
    scores: Vec<f32>,
    weights: Vec<L>,
}

/// Computes one head of one sequence, and stores it in the head's columns of `context`.
pub(crate) struct Attend<'a, D: Dots> {
    pub(crate) dots: D,
    pub(crate) projected: &'a Projected<D::Left>,
    pub(crate) head: usize,
    /// The first row of the sequence.
    pub(crate) start: usize,
    /// The number of its tokens.
    pub(crate) length: usize,
    pub(crate) space: &'a mut AttentionSpace<D::Left>,
    pub(crate) context: &'a mut [f32],
}

impl<D: Dots> Attend<'_, D> {
    pub(crate) fn compute(self) {
        kernels::run(self.dots.vectors(), self);
    }
}

impl<D: Dots> Work for Attend<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(mut self) {
        let padded = self.length.next_multiple_of(PANEL_COLUMNS);
        let n_words = padded * HEAD_SIZE / D::GROUP;
        self.space.keys.resize(n_words, 0);
        self.space.values.resize(n_words, 0);
        self.space.scores.resize(D::ROWS * padded, 0.0);
        self.space.weights.resize(D::ROWS * padded, D::Left::default());
        self.space.key_scales.resize(padded, 0.0);
        self.space.key_shifts.resize(padded, 0.0);
        let n_blocks = self.length.div_ceil(D::ROWS).max(1);
        let block_rows = self.length.div_ceil(n_blocks).max(1);
        self.pack_keys();
        let value_scales = self.pack_values::<A>();
        let mut sums = Sums::zero();
        for first in (0..self.length).step_by(block_rows) {
            let n_rows = block_rows.min(self.length - first);
            self.rows::<A>(first, n_rows, padded, &value_scales, &mut sums);
        }
    }
}

impl<D: Dots> Attend<'_, D> {
    /// Words of one key.
    const WORDS: usize = HEAD_SIZE / D::GROUP;

    /// Brings the keys into panels of 32, group by group.
    #[inline(always)]
    fn pack_keys(&mut self) {
        let projected = self.projected;
        let AttentionSpace { keys, key_scales, key_shifts, .. } = &mut *self.space;
        key_scales[self.length..].fill(0.0);
        key_shifts[self.length..].fill(-NOWHERE);
        let panels = keys.chunks_exact_mut(Self::WORDS * PANEL_COLUMNS).enumerate();
        for (panel_idx, panel) in panels {
            let first = panel_idx * PANEL_COLUMNS;
            for column in 0..PANEL_COLUMNS.min(self.length - first) {
                let token_idx = first + column;
                let place = (self.start + token_idx) * projected.n_heads + self.head;
                key_scales[token_idx] = projected.key_scales[place];
                key_shifts[token_idx] = projected.key_shifts[place];
                let key = &projected.keys[place * Self::WORDS..][..Self::WORDS];
                for (row, word) in panel.as_chunks_mut::<PANEL_COLUMNS>().0.iter_mut().zip(key) {
                    row[column] = *word;
                }
            }
        }
    }

    /// Rounds the values, a group of tokens together, and gives the scale of each column.
    #[inline(always)]
    fn pack_values<A: Arithmetic>(&mut self) -> Columns {
        let projected = self.projected;
        let row = |token_idx: usize| {
            let place = (self.start + token_idx) * projected.n_heads + self.head;
            &projected.values[place * HEAD_SIZE..].as_chunks::<HEAD_SIZE>().0[0]
        };
        let mut largest = [f32::MIN_POSITIVE * 1e6; HEAD_SIZE];
        for token_idx in 0..self.length {
            for (most, value) in largest.iter_mut().zip(row(token_idx)) {
                let size = value.abs();
                *most = if size > *most { size } else { *most };
            }
        }
        let mut inverse = [0.0; HEAD_SIZE];
        for at in 0..HEAD_SIZE {
            inverse[at] = D::LARGEST_VALUE / largest[at];
        }
        let n_bits = u32::BITS as usize / D::GROUP;
        let mask = u32::MAX >> (u32::BITS as usize - n_bits);
        let nothing = [0.0; HEAD_SIZE];
        let (groups, _) = self.space.values.as_chunks_mut::<HEAD_SIZE>();
        let n_groups = self.length.div_ceil(D::GROUP);
        for (group_idx, group) in groups.iter_mut().enumerate().take(n_groups) {
            let mut words = [0u32; HEAD_SIZE];
            for offset in 0..D::GROUP {
                let token_idx = group_idx * D::GROUP + offset;
                let row = if token_idx < self.length { row(token_idx) } else { &nothing };
                for at in 0..HEAD_SIZE {
                    let bits = A::fused(row[at], inverse[at], ROUNDER).to_bits();
                    words[at] |= (bits & mask) << (n_bits * offset);
                }
            }
            *group = words;
        }
        largest.map(|most| most / D::LARGEST_VALUE)
    }

    /// Computes some rows.
    #[inline(always)]
    fn rows<A: Arithmetic>(
        &mut self,
        first: usize,
        n_rows: usize,
        padded: usize,
        value_scales: &Columns,
        sums: &mut Sums,
    ) {
        let projected = self.projected;
        let n_heads = projected.n_heads;
        let stride = n_heads * HEAD_SIZE;
        let AttentionSpace { keys, key_scales, key_shifts, values, scores, weights } =
            &mut *self.space;
        let place = |row: usize| (self.start + first + row) * n_heads + self.head;
        let queries = &projected.queries[place(0) * HEAD_SIZE..];
        const { assert!(D::ROWS <= MAX_BLOCK_ROWS, "every row needs its top") };
        let mut tops = [[-NOWHERE; LANES]; MAX_BLOCK_ROWS];
        let panels = keys.chunks_exact(Self::WORDS * PANEL_COLUMNS).enumerate();
        for (panel_idx, panel) in panels {
            self.dots.block(queries, stride, n_rows, panel, Self::WORDS, sums);
            let column = panel_idx * PANEL_COLUMNS;
            let scales = &key_scales[column..].as_chunks::<PANEL_COLUMNS>().0[0];
            let shifts = &key_shifts[column..].as_chunks::<PANEL_COLUMNS>().0[0];
            for (row, (sums, top)) in sums.0.iter().zip(&mut tops).take(n_rows).enumerate() {
                // In an array of its own first: the compiler then knows that nothing overlaps.
                let mut own = [0.0; PANEL_COLUMNS];
                for at in 0..PANEL_COLUMNS {
                    own[at] = A::fused(sums[at] as f32, scales[at], shifts[at]);
                }
                let mut most = *top;
                for chunk in own.as_chunks::<LANES>().0 {
                    for lane in 0..LANES {
                        most[lane] =
                            if chunk[lane] > most[lane] { chunk[lane] } else { most[lane] };
                    }
                }
                *top = most;
                *columns_mut(scores, row * padded + column) = own;
            }
        }
        let mut totals = [0u32; MAX_BLOCK_ROWS];
        for (row, total) in totals.iter_mut().take(n_rows).enumerate() {
            let scale = projected.query_scales[place(row)];
            let shift = -largest_lane(&tops[row]) * scale;
            let scores = &scores[row * padded..][..padded];
            let weights = &mut weights[row * padded..][..padded];
            *total = soften::<A, D>(scores, scale, shift, weights);
        }
        let n_groups = self.length.div_ceil(D::GROUP);
        self.dots.block(weights, padded, n_rows, values, n_groups, sums);
        for (row, (sums, total)) in sums.0.iter().zip(totals).take(n_rows).enumerate() {
            let factor = 1.0 / total as f32;
            let mut own = [0.0; HEAD_SIZE];
            for at in 0..HEAD_SIZE {
                own[at] = sums[at] as f32 * (value_scales[at] * factor);
            }
            *columns_mut(self.context, place(row) * HEAD_SIZE) = own;
        }
    }
}

/// Turns scores into weights relative to the largest, and gives their sum.
#[inline(always)]
fn soften<A: Arithmetic, D: Dots>(
    scores: &[f32],
    scale: f32,
    shift: f32,
    weights: &mut [D::Left],
) -> u32 {
    let mut totals = [0u32; LANES];
    let (scores, _) = scores.as_chunks::<LANES>();
    let (weights, _) = weights.as_chunks_mut::<LANES>();
    for (scores, weights) in scores.iter().zip(weights) {
        let mut bits = [0; LANES];
        for lane in 0..LANES {
            let power = exp2::<A>(A::fused(scores[lane], scale, shift));
            bits[lane] = A::fused(power, D::LARGEST_WEIGHT, ROUNDER).to_bits() & 0xffff;
            totals[lane] += bits[lane];
        }
        *weights = bits.map(D::Left::from_bits);
    }
    totals.iter().sum()
}

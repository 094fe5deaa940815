//! Rows of bytes that stand for numbers: the left operands of products.

use super::approximate::ROUNDER;
use crate::local::vectorised::{Arithmetic, LANES, Work, largest_lane, sum, sum_of_squares};

/// Rows after the last one that a kernel may read, though it drops what it computes of them.
const ROW_PADDING: usize = 32;
/// The largest byte. 255 would do but for rounding: a byte never wraps with one less.
const LARGEST: f32 = 254.0;
/// Less than this between the lowest and the highest number counts as this, so that the scale of a
/// row of zeros is finite.
const SMALLEST_RANGE: f32 = 1e-30;

/// Rows of bytes, each with the scale and the zero that bring it back.
#[derive(Debug, Default)]
pub(crate) struct ByteRows {
    pub(crate) bytes: Vec<u8>,
    pub(crate) stride: usize,
    pub(crate) row_scales: Vec<RowScale>,
}

/// What the bytes of a row stand for: `(byte - zero) * scale`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowScale {
    pub(crate) scale: f32,
    pub(crate) zero: f32,
}

impl ByteRows {
    /// Makes room for rows of a width, whose depth is filled up to `stride`.
    pub(crate) fn reserve(&mut self, n_rows: usize, stride: usize) {
        self.stride = stride;
        self.row_scales.resize(n_rows, RowScale::default());
        self.bytes.resize((n_rows + ROW_PADDING) * stride, 0);
    }
}

/// Brings rows to bytes.
pub(crate) struct Quantise<'a> {
    /// The rows, one after another.
    pub(crate) rows: &'a [f32],
    pub(crate) width: usize,
    /// What no number is below, where that is known.
    pub(crate) lowest: Option<f32>,
    pub(crate) out: &'a mut ByteRows,
}

impl Work for Quantise<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let ByteRows { bytes, stride, row_scales } = self.out;
        let outs = bytes.chunks_exact_mut(*stride).zip(row_scales.iter_mut());
        for (row, (bytes, row_scale)) in self.rows.chunks_exact(self.width).zip(outs) {
            let (low, high) = match self.lowest {
                Some(lowest) => (lowest, largest(row)),
                None => extremes(row),
            };
            *row_scale = to_bytes::<A>(row, low, high, &mut bytes[..self.width]);
        }
    }
}

/// Layer normalisation of every row in place, and the rows as bytes.
pub(crate) struct NormaliseAndQuantise<'a> {
    /// The rows, one after another.
    pub(crate) rows: &'a mut [f32],
    pub(crate) scale: &'a [f32],
    pub(crate) shift: &'a [f32],
    pub(crate) epsilon: f32,
    pub(crate) out: &'a mut ByteRows,
}

impl Work for NormaliseAndQuantise<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let width = self.scale.len();
        let ByteRows { bytes, stride, row_scales } = self.out;
        let outs = bytes.chunks_exact_mut(*stride).zip(row_scales.iter_mut());
        let (scale, shift) = (self.scale, &self.shift[..width]);
        for (row, (bytes, row_scale)) in self.rows.chunks_exact_mut(width).zip(outs) {
            let row = &mut row[..width];
            let mean = sum(row) / width as f32;
            let variance = sum_of_squares::<A>(row, mean) / width as f32;
            let factor = 1.0 / (variance + self.epsilon).sqrt();
            let shifted = -mean * factor;
            for at in 0..width {
                let normal = A::fused(row[at], factor, shifted);
                row[at] = A::fused(normal, scale[at], shift[at]);
            }
            let (low, high) = extremes(row);
            *row_scale = to_bytes::<A>(row, low, high, &mut bytes[..width]);
        }
    }
}

/// Rounds a row to bytes, given what its numbers lie between; 0 is between them, and exact.
#[inline(always)]
fn to_bytes<A: Arithmetic>(row: &[f32], low: f32, high: f32, bytes: &mut [u8]) -> RowScale {
    let range = (high - low).max(SMALLEST_RANGE);
    let inverse = LARGEST / range;
    // Up, so that the lowest number does not fall below 0.
    let zero = (-low * inverse).ceil();
    let shift = zero + ROUNDER;
    for (byte, value) in bytes.iter_mut().zip(row) {
        *byte = A::fused(*value, inverse, shift).to_bits() as u8;
    }
    RowScale { scale: range / LARGEST, zero }
}

/// Gives the lowest number of a row or 0, and the highest or 0.
#[inline(always)]
fn extremes(row: &[f32]) -> (f32, f32) {
    let mut low = [0.0f32; LANES];
    let mut high = [0.0f32; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            low[lane] = if chunk[lane] < low[lane] { chunk[lane] } else { low[lane] };
            high[lane] = if chunk[lane] > high[lane] { chunk[lane] } else { high[lane] };
        }
    }
    let low = rest.iter().fold(-largest_lane(&low.map(|low| -low)), |low, value| low.min(*value));
    let high = rest.iter().fold(largest_lane(&high), |high, value| high.max(*value));
    (low, high)
}

/// Gives the highest number of a row or 0.
#[inline(always)]
fn largest(row: &[f32]) -> f32 {
    let mut high = [0.0f32; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            high[lane] = if chunk[lane] > high[lane] { chunk[lane] } else { high[lane] };
        }
    }
    rest.iter().fold(largest_lane(&high), |high, value| high.max(*value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::local::kernels::{self, Level};

    proptest! {
        #[test]
        fn bytes_give_the_numbers_back_within_half_a_step(
            numbers in proptest::collection::vec(-1e4f32..1e4, 1..80),
            factor in prop::sample::select(vec![1e-30f32, 1e-3, 1.0, 1e6]),
        ) {
            let row: Vec<f32> = numbers.iter().map(|number| number * factor).collect();
            for level in Level::available() {
                let mut out = ByteRows::default();
                out.reserve(1, row.len().next_multiple_of(4));
                let work = Quantise { rows: &row, width: row.len(), lowest: None, out: &mut out };
                kernels::run(level, work);
                let RowScale { scale, zero } = out.row_scales[0];
                for (number, byte) in row.iter().zip(&out.bytes) {
                    let back = (f32::from(*byte) - zero) * scale;
                    prop_assert!((back - number).abs() <= 0.502 * scale, "{number} {back} {scale}");
                }
            }
        }
    }

    #[test]
    fn a_row_of_zeros_stays_one() {
        let mut out = ByteRows::default();
        out.reserve(1, 64);
        let rows = [0.0; 64];
        kernels::run(
            Level::best(),
            Quantise { rows: &rows, width: 64, lowest: None, out: &mut out },
        );
        let RowScale { scale, zero } = out.row_scales[0];
        assert!(out.bytes[..64].iter().all(|byte| (f32::from(*byte) - zero) * scale == 0.0));
    }
}

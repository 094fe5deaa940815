//! What the kernels for products of bytes have in common.
//!
//! A product of bytes takes rows of unsigned bytes on the left and panels of 32 columns of signed
//! bytes on the right. Four neighbouring depths of a column lie together (a [`QUAD`]), since all
//! instructions in question multiply and add four bytes at once. The sums of a block of rows and
//! one panel go to [`Sums`], and the caller scales them.

use std::fmt::Debug;

use super::{Level, Vnni};

/// Columns of a panel.
pub(crate) const PANEL_COLUMNS: usize = 32;
/// Neighbouring depths that lie together.
pub(crate) const QUAD: usize = 4;
/// The most rows of a block.
pub(crate) const MAX_ROWS: usize = 32;

/// A kernel that this processor can run.
pub(crate) trait Int8Kernel: Debug + Copy + Send + Sync + 'static {
    /// What it adds up in.
    type Sum: Sum;
    /// What must live on a thread while it computes blocks.
    type Session;
    /// How many rows it takes at once; more make several blocks.
    const ROWS: usize;
    /// Depths are filled up to a whole number of this many.
    const DEPTH_PADDING: usize;
    /// How many depths of a column share a scale; all of them where there is none.
    const SCALE_DEPTH: Option<usize>;

    /// Asks the processor.
    fn detect() -> Option<Self>;

    /// Gives the level for everything around the products.
    fn vectors(self) -> Level;

    /// Gives the name for reports.
    fn name(self) -> &'static str;

    /// Gives the kernel for products of bytes whose right operand uses all eight bits, where the
    /// processor has one.
    fn full_range(self) -> Option<Vnni>;

    /// Says where a byte of a panel is.
    fn place(depth: usize, column: usize, n_in: usize) -> usize;

    /// Says where the scale of a column is among those of its panel.
    fn scale_place(depth: usize, column: usize, n_in: usize) -> usize;

    /// Prepares this thread.
    fn begin(self) -> Self::Session;

    /// Multiplies up to [`Int8Kernel::ROWS`] rows, `stride` apart, with a panel.
    fn block(
        session: &Self::Session,
        left: &[u8],
        stride: usize,
        n_rows: usize,
        panel: Panel<'_>,
        sums: &mut Sums<Self::Sum>,
    );
}

/// One panel of the right operand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Panel<'a> {
    pub(crate) values: &'a [i8],
    /// One scale for each column, or for each of its parts.
    pub(crate) scales: &'a [f32],
    /// The padded depth.
    pub(crate) n_in: usize,
}

/// The sums of a block of rows and a panel.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Sums<S>(pub(crate) [[S; PANEL_COLUMNS]; MAX_ROWS]);

impl<S: Sum> Sums<S> {
    pub(crate) fn zero() -> Self {
        Sums([[S::default(); PANEL_COLUMNS]; MAX_ROWS])
    }
}

/// A sum of products.
pub(crate) trait Sum: Debug + Copy + Default {
    /// Rounds to the nearest.
    fn to_f32(self) -> f32;
}

impl Sum for i32 {
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self as f32
    }
}

impl Sum for f32 {
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::local::kernels::Madd;

    /// Checks the sums of a block against the definition. The largest bytes are among the
    /// operands, so that an instruction that saturates would show.
    fn check<K: Int8Kernel>(n_rows: usize, n_in: usize, most: i8) {
        let Some(kernel) = K::detect() else { return };
        let n_in = n_in.next_multiple_of(K::DEPTH_PADDING);
        let byte_at = |row: usize, depth: usize| [255, 0, 254, 17, 128][(row * 3 + depth * 7) % 5];
        let weight_at = |column: usize, depth: usize| {
            [most, -most, 1, -2, most - 1, most][(column * 5 + depth * 11 + column / 7) % 6]
        };
        let scale_at = |column: usize, depth: usize| match K::SCALE_DEPTH {
            Some(part) => 0.5 + ((column + depth / part) % 4) as f32 / 4.0,
            None => 1.0,
        };
        let stride = n_in + 8;
        let mut left = vec![0u8; (n_rows + MAX_ROWS) * stride];
        for row in 0..n_rows {
            for depth in 0..n_in {
                left[row * stride + depth] = byte_at(row, depth);
            }
        }
        let mut values = vec![0i8; n_in * PANEL_COLUMNS];
        let n_scales = K::SCALE_DEPTH.map_or(1, |part| n_in / part) * PANEL_COLUMNS;
        let mut scales = vec![1.0; n_scales];
        for column in 0..PANEL_COLUMNS {
            for depth in 0..n_in {
                values[K::place(depth, column, n_in)] = weight_at(column, depth);
                scales[K::scale_place(depth, column, n_in)] = scale_at(column, depth);
            }
        }
        let panel = Panel { values: &values, scales: &scales, n_in };
        let mut sums = Sums::<K::Sum>::zero();
        let session = kernel.begin();
        K::block(&session, &left, stride, n_rows, panel, &mut sums);
        for row in 0..n_rows {
            for column in 0..PANEL_COLUMNS {
                let expected: f64 = (0..n_in)
                    .map(|depth| {
                        let product =
                            i32::from(byte_at(row, depth)) * i32::from(weight_at(column, depth));
                        f64::from(product) * f64::from(scale_at(column, depth))
                    })
                    .sum();
                let received = f64::from(sums.0[row][column].to_f32());
                let tolerance = 1e-6 * expected.abs().max(1e4);
                assert!(
                    (received - expected).abs() <= tolerance,
                    "{} {n_rows}x{n_in} at {row},{column}: {received} {expected}",
                    kernel.name()
                );
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn every_kernel_agrees_with_the_definition(n_rows in 1usize..=32, n_in in 1usize..400) {
            check::<Madd>(n_rows.min(Madd::ROWS), n_in, 8);
            check::<Vnni>(n_rows.min(Vnni::ROWS), n_in, 127);
            #[cfg(target_os = "linux")]
            check::<crate::local::kernels::Int8Tiles>(n_rows, n_in, 127);
        }
    }
}

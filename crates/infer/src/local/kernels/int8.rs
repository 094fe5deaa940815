//! What the kernels for products of bytes have in common.
//!
//! A product of bytes takes rows of unsigned bytes on the left and panels of 32 columns of signed
//! bytes on the right. Four neighbouring depths of a column lie together (a [`QUAD`]), since all
//! instructions in question multiply and add four bytes at once. The sums of a block of rows and
//! one panel go to [`Sums`], and the caller scales them.
//!
//! Attention multiplies numbers that are both made while the model runs: [`Dots`].

use std::fmt::Debug;

use super::Level;

pub(crate) const PANEL_COLUMNS: usize = 32;
/// Neighbouring depths that lie together.
pub(crate) const QUAD: usize = 4;
/// The most rows of a block.
pub(crate) const MAX_ROWS: usize = 32;

/// A kernel that this processor can run.
pub(crate) trait Int8Kernel: Debug + Copy + Send + Sync + 'static {
    /// The kernel for attention on the same processor.
    type Dots: Dots;
    /// What must live on a thread while it computes blocks.
    type Session;
    /// How many rows it takes at once; more make several blocks.
    const ROWS: usize;
    /// Depths are filled up to a whole number of this many.
    const DEPTH_PADDING: usize;
    /// How many depths of a column share a scale; all of them where there is none. The scales of
    /// such blocks are whole numbers, and all the same in a kernel without them.
    const SCALE_DEPTH: Option<usize>;

    /// Asks the processor.
    fn detect() -> Option<Self>;

    /// Gives the level for everything around the products.
    fn vectors(self) -> Level;

    /// Gives the name for reports.
    fn name(self) -> &'static str;

    /// Gives the kernel for attention.
    fn dots(self) -> Self::Dots;

    /// Says where a byte of a panel is.
    fn place(depth: usize, column: usize, n_in: usize) -> usize;

    /// Says where the scale of a block of a column is among those of its panel.
    fn block_scale_place(depth: usize, column: usize, n_in: usize) -> usize;

    /// Gives the largest scale of a block with which no sum of this depth can overflow.
    fn largest_block_scale(n_in: usize) -> i16;

    /// Prepares this thread.
    fn begin(self) -> Self::Session;

    /// Multiplies up to [`Int8Kernel::ROWS`] rows, `stride` apart, with a panel.
    fn block(
        session: &Self::Session,
        left: &[u8],
        stride: usize,
        n_rows: usize,
        panel: Panel<'_>,
        sums: &mut Sums,
    );
}

/// A kernel for products of numbers that are both made while the model runs.
///
/// Both operands are small whole numbers. [`Dots::GROUP`] neighbouring depths of the right operand
/// lie together in one word of 32 bits, as a quad does: four bytes, or two numbers of 16 bits.
pub(crate) trait Dots: Debug + Copy + Send + Sync + 'static {
    /// A number of the left operand.
    type Left: Small;
    /// How many neighbouring depths lie together.
    const GROUP: usize;
    /// How many rows it takes at once; more make several blocks.
    const ROWS: usize;
    /// What is added to a left operand that may be negative.
    const LEFT_ZERO: f32;
    /// The largest query and key. A head of 32 of them does not overflow.
    const LARGEST: f32;
    /// The largest weight of a key.
    const LARGEST_WEIGHT: f32;
    /// The largest value. As many as a text has tokens, weighted, do not overflow.
    const LARGEST_VALUE: f32;

    /// Gives the level for everything around the products.
    fn vectors(self) -> Level;

    /// Multiplies up to [`Dots::ROWS`] rows, `stride` apart, with a panel of 32 columns whose
    /// words lie group by group.
    fn block(
        self,
        left: &[Self::Left],
        stride: usize,
        n_rows: usize,
        panel: &[u32],
        n_groups: usize,
        sums: &mut Sums,
    );
}

/// A small whole number.
pub(crate) trait Small: Debug + Copy + Default + Send + Sync + 'static {
    /// Takes the low bits.
    fn from_bits(bits: u32) -> Self;
}

impl Small for u8 {
    #[inline(always)]
    fn from_bits(bits: u32) -> Self {
        bits as u8
    }
}

impl Small for i16 {
    #[inline(always)]
    fn from_bits(bits: u32) -> Self {
        bits as i16
    }
}

/// One panel of the right operand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Panel<'a> {
    pub(crate) values: &'a [i8],
    /// One for each block of each column, twice in the two halves of a word; empty for a kernel
    /// without blocks.
    pub(crate) block_scales: &'a [i32],
    /// The padded depth.
    pub(crate) n_in: usize,
}

#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Sums(pub(crate) [[i32; PANEL_COLUMNS]; MAX_ROWS]);

impl Sums {
    pub(crate) fn zero() -> Self {
        Sums([[0; PANEL_COLUMNS]; MAX_ROWS])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::local::kernels::{Madd, Pairs, Vnni};

    /// Checks the sums of a block against the definition. The largest bytes and scales are among
    /// the operands, so that an instruction that saturates or wraps would show.
    fn check<K: Int8Kernel>(n_rows: usize, n_in: usize, most: i8) {
        let Some(kernel) = K::detect() else { return };
        let n_in = n_in.next_multiple_of(K::DEPTH_PADDING);
        let byte_at = |row: usize, depth: usize| match row % 3 {
            0 => 255,
            _ => [255, 0, 254, 17, 128][(row * 3 + depth * 7) % 5],
        };
        let weight_at = |column: usize, depth: usize| match column {
            0 => most,
            1 => -most,
            _ => [most, -most, 1, -2, most - 1, most][(column * 5 + depth * 11 + column / 7) % 6],
        };
        let scale_at = |column: usize, depth: usize| match K::SCALE_DEPTH {
            Some(_) if column < 2 => i32::from(K::largest_block_scale(n_in)),
            Some(part) => i32::from(K::largest_block_scale(n_in)) >> ((column + depth / part) % 5),
            None => 1,
        };
        let stride = n_in + 8;
        let mut left = vec![0u8; (n_rows + MAX_ROWS) * stride];
        for row in 0..n_rows {
            for depth in 0..n_in {
                left[row * stride + depth] = byte_at(row, depth);
            }
        }
        let mut values = vec![0i8; n_in * PANEL_COLUMNS];
        let n_scales = K::SCALE_DEPTH.map_or(0, |part| n_in / part) * PANEL_COLUMNS;
        let mut block_scales = vec![0; n_scales];
        for column in 0..PANEL_COLUMNS {
            for depth in 0..n_in {
                values[K::place(depth, column, n_in)] = weight_at(column, depth);
                if K::SCALE_DEPTH.is_some() {
                    let twice = scale_at(column, depth) * 0x1_0001;
                    block_scales[K::block_scale_place(depth, column, n_in)] = twice;
                }
            }
        }
        let panel = Panel { values: &values, block_scales: &block_scales, n_in };
        let mut sums = Sums::zero();
        let session = kernel.begin();
        K::block(&session, &left, stride, n_rows, panel, &mut sums);
        for row in 0..n_rows {
            for column in 0..PANEL_COLUMNS {
                let product = |depth| {
                    i64::from(byte_at(row, depth))
                        * i64::from(weight_at(column, depth))
                        * i64::from(scale_at(column, depth))
                };
                let expected: i64 = (0..n_in).map(product).sum();
                let name = kernel.name();
                let received = i64::from(sums.0[row][column]);
                assert_eq!(received, expected, "{name} {n_rows}x{n_in} at {row},{column}");
            }
        }
    }

    /// The same for attention, with the largest numbers that the kernel promises to take.
    fn check_dots<D: Dots>(dots: D, n_rows: usize, depth: usize, left_most: i32, right_most: i32) {
        let n_groups = depth.div_ceil(D::GROUP);
        let stride = n_groups * D::GROUP + 4;
        let left_at = |row: usize, depth: usize| match row % 2 {
            0 => left_most,
            _ => [left_most, 0, 3, left_most / 2][(row + depth * 5) % 4],
        };
        let right_at = |column: usize, at: usize| match column {
            _ if at >= depth => 0,
            0 => right_most,
            1 => -right_most,
            _ => [right_most, -right_most, 5, -1, 0][(column * 3 + at * 7) % 5],
        };
        let mut left = vec![D::Left::default(); n_rows * stride];
        for row in 0..n_rows {
            for at in 0..depth {
                left[row * stride + at] = D::Left::from_bits(left_at(row, at) as u32);
            }
        }
        let mut panel = vec![0u32; n_groups * PANEL_COLUMNS];
        let bits = 32 / D::GROUP;
        for column in 0..PANEL_COLUMNS {
            for at in 0..n_groups * D::GROUP {
                let low = right_at(column, at) as u32 & (u32::MAX >> (32 - bits));
                panel[at / D::GROUP * PANEL_COLUMNS + column] |= low << (bits * (at % D::GROUP));
            }
        }
        let mut sums = Sums::zero();
        dots.block(&left, stride, n_rows, &panel, n_groups, &mut sums);
        for row in 0..n_rows {
            for column in 0..PANEL_COLUMNS {
                let expected: i64 = (0..depth)
                    .map(|at| i64::from(left_at(row, at)) * i64::from(right_at(column, at)))
                    .sum();
                assert_eq!(i64::from(sums.0[row][column]), expected, "{row},{column}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn every_kernel_agrees_with_the_definition(n_rows in 1usize..=32, n_in in 1usize..1600) {
            check::<Madd>(n_rows.min(Madd::ROWS), n_in, 8);
            check::<Vnni>(n_rows.min(<Vnni as Int8Kernel>::ROWS), n_in, 127);
        }

        #[test]
        fn every_kernel_for_attention_agrees_with_the_definition(
            n_rows in 1usize..=12, length in 1usize..=512,
        ) {
            fn both<D: Dots>(dots: D, n_rows: usize, length: usize) {
                let query = D::LARGEST + D::LEFT_ZERO;
                check_dots(dots, n_rows, 32, query as i32, D::LARGEST as i32);
                let (weight, value) = (D::LARGEST_WEIGHT as i32, D::LARGEST_VALUE as i32);
                check_dots(dots, n_rows, length, weight, value);
            }
            if let Some(kernel) = Madd::detect() {
                both::<Pairs>(kernel.dots(), n_rows, length);
            }
            if let Some(vnni) = Vnni::detect() {
                both(vnni.dots(), n_rows, length);
            }
        }
    }
}

//! Products of bytes by AVX2, for processors without dot products.
//!
//! The instruction at hand multiplies bytes and adds neighbours up in 16 bits, where it saturates:
//! two products of full bytes do not fit. The weights of the default model have four bits, though
//! (-8 to 7, in blocks of 32 depths that share a scale), so the eight quads of a block fit exactly:
//! 8 quads * 2 products * 255 * 8 = 32,640. Hence this kernel takes the blocks as the model file
//! has them, and adds up a block in 16 bits. The scale of a block is a whole number here (its
//! column has the rest of it), so one instruction scales the sums of a block and widens them to
//! 32 bits, and nothing becomes a floating-point number before the column is done.
#![expect(unsafe_code, reason = "products of bytes")]

use std::arch::asm;
use std::arch::x86_64::*;

use super::int8::{Int8Kernel, PANEL_COLUMNS, Panel, QUAD, Sums};
use super::{Kind, Level, Pairs};

/// A processor with AVX2.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Madd {
    vectors: Level,
}

/// Columns that are worked on together: two vectors of eight.
const HALF_COLUMNS: usize = PANEL_COLUMNS / 2;
/// Bytes of one quad of half a panel.
const QUAD_BYTES: usize = HALF_COLUMNS * QUAD;
const VECTOR_BYTES: usize = 32;
const VECTOR_NUMBERS: usize = 8;
/// Depths that share a scale.
const BLOCK_DEPTH: usize = 32;
const QUADS_PER_BLOCK: usize = BLOCK_DEPTH / QUAD;
/// The largest sum of a block and a column.
const LARGEST_BLOCK_SUM: i32 = BLOCK_DEPTH as i32 * 255 * 8;
/// Rows whose sums in 16 bits fit the registers beside the operands.
const GROUP_ROWS: usize = 4;

impl Int8Kernel for Madd {
    type Dots = Pairs;
    type Session = Madd;
    const ROWS: usize = 24;
    const DEPTH_PADDING: usize = BLOCK_DEPTH;
    const SCALE_DEPTH: Option<usize> = Some(BLOCK_DEPTH);

    fn detect() -> Option<Self> {
        let vectors = Level::available().into_iter().find(|level| level.0 == Kind::Avx2)?;
        Some(Madd { vectors })
    }

    fn vectors(self) -> Level {
        self.vectors
    }

    fn name(self) -> &'static str {
        "avx2 int8"
    }

    fn dots(self) -> Pairs {
        Pairs::of(self.vectors)
    }

    #[inline(always)]
    fn place(depth: usize, column: usize, n_in: usize) -> usize {
        let (half, column) = (column / HALF_COLUMNS, column % HALF_COLUMNS);
        half * n_in * HALF_COLUMNS + depth / QUAD * QUAD_BYTES + column * QUAD + depth % QUAD
    }

    #[inline(always)]
    fn block_scale_place(depth: usize, column: usize, n_in: usize) -> usize {
        let (half, column) = (column / HALF_COLUMNS, column % HALF_COLUMNS);
        (half * (n_in / BLOCK_DEPTH) + depth / BLOCK_DEPTH) * HALF_COLUMNS + column
    }

    fn largest_block_scale(n_in: usize) -> i16 {
        let n_blocks = i32::try_from(n_in / BLOCK_DEPTH).unwrap_or(i32::MAX);
        let largest = (i32::MAX / LARGEST_BLOCK_SUM).checked_div(n_blocks);
        largest.map_or(i16::MAX, |largest| i16::try_from(largest).unwrap_or(i16::MAX))
    }

    fn begin(self) -> Madd {
        self
    }

    /// Invariant: weights are between -8 and 8, and scales of blocks not above
    /// [`Madd::largest_block_scale`], or sums could overflow (and wrap).
    fn block(
        _session: &Madd,
        left: &[u8],
        stride: usize,
        n_rows: usize,
        panel: Panel<'_>,
        sums: &mut Sums,
    ) {
        let Panel { values, block_scales, n_in } = panel;
        let n_blocks = n_in / BLOCK_DEPTH;
        assert!((1..=Madd::ROWS).contains(&n_rows), "a block has 1 to 24 rows");
        assert!(left.len() >= (n_rows - 1) * stride + n_in, "the rows must hold every depth");
        assert!(values.len() >= n_in * PANEL_COLUMNS, "the panel must hold every depth");
        assert!(block_scales.len() >= n_blocks * PANEL_COLUMNS, "every block needs its scales");
        for half in 0..2 {
            let values = &values[half * n_in * HALF_COLUMNS..];
            let scales = &block_scales[half * n_blocks * HALF_COLUMNS..];
            let part = Part { values, scales, n_blocks, column: half * HALF_COLUMNS };
            for first in (0..n_rows).step_by(GROUP_ROWS) {
                let left = &left[first * stride..];
                let sums = &mut sums.0[first..];
                // SAFETY: a `Madd` exists only where the processor has AVX2. The assertions above
                // bound every load, and `sums` has more rows than a block.
                unsafe {
                    match n_rows - first {
                        1 => rows::<1>(left, stride, part, sums),
                        2 => rows::<2>(left, stride, part, sums),
                        3 => rows::<3>(left, stride, part, sums),
                        _ => rows::<4>(left, stride, part, sums),
                    }
                }
            }
        }
    }
}

/// Half of a panel.
#[derive(Clone, Copy)]
struct Part<'a> {
    values: &'a [i8],
    scales: &'a [i32],
    n_blocks: usize,
    column: usize,
}

/// Computes exactly `ROWS` rows of 16 columns.
///
/// # Safety
///
/// As [`Madd::block`] asserts, and only on a processor with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn rows<const ROWS: usize>(
    left: &[u8],
    stride: usize,
    part: Part<'_>,
    sums: &mut [[i32; PANEL_COLUMNS]],
) {
    let mut scaled = [[_mm256_setzero_si256(); 2]; ROWS];
    let mut left = left.as_ptr();
    let mut values = part.values.as_ptr();
    let mut scales = part.scales.as_ptr();
    for _ in 0..part.n_blocks {
        let mut own = [[_mm256_setzero_si256(); 2]; ROWS];
        for quad in 0..QUADS_PER_BLOCK {
            // SAFETY: the caller checked that there are values and rows for every block.
            let weights = unsafe {
                let values = values.add(quad * QUAD_BYTES);
                [
                    _mm256_loadu_si256(values.cast()),
                    _mm256_loadu_si256(values.add(VECTOR_BYTES).cast()),
                ]
            };
            for (row, own) in own.iter_mut().enumerate() {
                // SAFETY: as above, for each of the `ROWS` rows.
                let bytes = unsafe { left.add(row * stride + quad * QUAD).cast::<i32>() };
                // SAFETY: as above.
                let bytes = _mm256_set1_epi32(unsafe { bytes.read_unaligned() });
                for (own, weights) in own.iter_mut().zip(weights) {
                    let products = _mm256_maddubs_epi16(bytes, weights);
                    let sum = if quad == 0 { products } else { _mm256_add_epi16(*own, products) };
                    *own = in_order(sum);
                }
            }
        }
        for side in 0..2 {
            // SAFETY: the caller checked that there are two vectors of scales for every block.
            let scales = unsafe { _mm256_loadu_si256(scales.add(side * VECTOR_NUMBERS).cast()) };
            for (own, scaled) in own.iter().zip(&mut scaled) {
                let wide = _mm256_madd_epi16(own[side], scales);
                scaled[side] = _mm256_add_epi32(scaled[side], wide);
            }
        }
        left = left.wrapping_add(BLOCK_DEPTH);
        values = values.wrapping_add(QUADS_PER_BLOCK * QUAD_BYTES);
        scales = scales.wrapping_add(HALF_COLUMNS);
    }
    for (scaled, sums) in scaled.iter().zip(sums) {
        for (side, scaled) in scaled.iter().enumerate() {
            let out = sums[part.column + side * VECTOR_NUMBERS..][..VECTOR_NUMBERS].as_mut_ptr();
            // SAFETY: the slice has eight numbers.
            unsafe { _mm256_storeu_si256(out.cast(), *scaled) };
        }
    }
}

/// Gives a sum as it is, and hides from the compiler how it came about.
///
/// The compiler would otherwise turn the eight additions of a block into a tree, whose products do
/// not fit the registers: a quarter slower.
#[inline]
#[target_feature(enable = "avx2")]
fn in_order(mut sum: __m256i) -> __m256i {
    // SAFETY: no instruction is emitted.
    unsafe {
        asm!("/* {0} */", inout(ymm_reg) sum, options(pure, nomem, nostack, preserves_flags))
    };
    sum
}

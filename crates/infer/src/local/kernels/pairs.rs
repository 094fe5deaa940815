//! Products of numbers of 16 bits by AVX2: attention on processors without dot products of bytes.
//!
//! One instruction multiplies 16 pairs and adds neighbours up in 32 bits, without saturation. That
//! is twice what f32 can do in the same time, and with 12 bits of precision no accuracy is lost
//! that could be measured.
#![expect(unsafe_code, reason = "products of small numbers")]

use std::arch::x86_64::*;

use super::Level;
use super::int8::{Dots, PANEL_COLUMNS, Sums};

/// A processor with AVX2.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pairs {
    vectors: Level,
}

const VECTOR_NUMBERS: usize = 8;
/// Columns that are worked on together: two vectors.
const HALF_COLUMNS: usize = 2 * VECTOR_NUMBERS;
/// Rows whose sums fit the registers beside the operands.
const GROUP_ROWS: usize = 4;

impl Pairs {
    /// Takes a level that has AVX2.
    pub(super) fn of(vectors: Level) -> Self {
        assert!(vectors.0 == super::Kind::Avx2, "the level says what the processor has");
        Pairs { vectors }
    }
}

impl Dots for Pairs {
    type Left = i16;
    const GROUP: usize = 2;
    const ROWS: usize = 12;
    const LEFT_ZERO: f32 = 0.0;
    const LARGEST: f32 = 4095.0;
    const LARGEST_WEIGHT: f32 = 4095.0;
    const LARGEST_VALUE: f32 = 1023.0;

    fn vectors(self) -> Level {
        self.vectors
    }

    fn block(
        self,
        left: &[i16],
        stride: usize,
        n_rows: usize,
        panel: &[u32],
        n_groups: usize,
        sums: &mut Sums,
    ) {
        assert!((1..=Pairs::ROWS).contains(&n_rows), "a block has 1 to 12 rows");
        assert!(
            left.len() >= (n_rows - 1) * stride + n_groups * Pairs::GROUP,
            "the rows must hold every pair"
        );
        assert!(panel.len() >= n_groups * PANEL_COLUMNS, "the panel must hold every pair");
        for column in (0..PANEL_COLUMNS).step_by(HALF_COLUMNS) {
            for first in (0..n_rows).step_by(GROUP_ROWS) {
                let left = &left[first * stride..];
                let sums = &mut sums.0[first..];
                // SAFETY: a `Pairs` exists only where the processor has AVX2. The assertions above
                // bound every load, and `sums` has more rows than a block.
                unsafe {
                    match n_rows - first {
                        1 => rows::<1>(left, stride, panel, column, n_groups, sums),
                        2 => rows::<2>(left, stride, panel, column, n_groups, sums),
                        3 => rows::<3>(left, stride, panel, column, n_groups, sums),
                        _ => rows::<4>(left, stride, panel, column, n_groups, sums),
                    }
                }
            }
        }
    }
}

/// Computes exactly `ROWS` rows of 16 columns from `column` on.
///
/// # Safety
///
/// As [`Pairs::block`] asserts, and only on a processor with AVX2.
#[target_feature(enable = "avx2")]
unsafe fn rows<const ROWS: usize>(
    left: &[i16],
    stride: usize,
    panel: &[u32],
    column: usize,
    n_groups: usize,
    sums: &mut [[i32; PANEL_COLUMNS]],
) {
    let mut own = [[_mm256_setzero_si256(); 2]; ROWS];
    let mut left = left.as_ptr();
    let mut panel = panel.as_ptr().wrapping_add(column);
    for _ in 0..n_groups {
        // SAFETY: the caller checked that the panel has 32 columns for every pair.
        let right = unsafe {
            [_mm256_loadu_si256(panel.cast()), _mm256_loadu_si256(panel.add(VECTOR_NUMBERS).cast())]
        };
        for (row, own) in own.iter_mut().enumerate() {
            // SAFETY: the caller checked that every one of the `ROWS` rows holds every pair.
            let pair = unsafe { left.add(row * stride).cast::<i32>().read_unaligned() };
            let pair = _mm256_set1_epi32(pair);
            own[0] = _mm256_add_epi32(own[0], _mm256_madd_epi16(pair, right[0]));
            own[1] = _mm256_add_epi32(own[1], _mm256_madd_epi16(pair, right[1]));
        }
        left = left.wrapping_add(Pairs::GROUP);
        panel = panel.wrapping_add(PANEL_COLUMNS);
    }
    for (own, sums) in own.iter().zip(sums) {
        for (side, own) in own.iter().enumerate() {
            let out = sums[column + side * VECTOR_NUMBERS..][..VECTOR_NUMBERS].as_mut_ptr();
            // SAFETY: the slice has eight numbers.
            unsafe { _mm256_storeu_si256(out.cast(), *own) };
        }
    }
}

//! Products of f32 numbers by AVX-512 and by AVX2 with fused multiplication and addition.
//!
//! They are written in instructions, since the compiler left the sums of the same loops in memory
//! and multiplied one number at a time, depending on what was inlined around them: sixteen times
//! slower.
#![expect(unsafe_code, reason = "sums that must stay in registers")]

use super::{Kind, Level};

/// Columns of a panel of two wide vectors.
pub(crate) const WIDE_COLUMNS: usize = 32;
/// Columns of a panel of two narrow vectors.
pub(crate) const NARROW_COLUMNS: usize = 16;

/// Multiplies `ROWS` rows, `stride` apart, with a panel of wide vectors.
pub(crate) fn wide_block<const ROWS: usize>(
    level: Level,
    left: &[f32],
    stride: usize,
    panel: &[[f32; WIDE_COLUMNS]],
    sums: &mut [[f32; WIDE_COLUMNS]; ROWS],
) {
    assert!(level.has_wide_vectors(), "panels are this wide only where vectors are");
    assert!(left.len() >= (ROWS - 1) * stride + panel.len(), "every row must hold every depth");
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the level was made after the processor was asked; the rows hold every depth.
    unsafe {
        wide::<ROWS>(left, stride, panel, sums);
    }
    #[cfg(not(target_arch = "x86_64"))]
    unreachable!("no other processor has wide vectors: {sums:?}");
}

/// Multiplies `ROWS` rows, `stride` apart, with a panel of narrow vectors; tells whether this level
/// has the instructions, and does nothing where it has not.
pub(crate) fn narrow_block<const ROWS: usize>(
    level: Level,
    left: &[f32],
    stride: usize,
    panel: &[[f32; NARROW_COLUMNS]],
    sums: &mut [[f32; NARROW_COLUMNS]; ROWS],
) -> bool {
    assert!(left.len() >= (ROWS - 1) * stride + panel.len(), "every row must hold every depth");
    if level.0 == Kind::Portable {
        return false;
    }
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every level but the portable one has AVX2; the rows hold every depth.
    unsafe {
        narrow::<ROWS>(left, stride, panel, sums);
    }
    #[cfg(not(target_arch = "x86_64"))]
    unreachable!("no other processor has another level: {sums:?}");
    #[cfg(target_arch = "x86_64")]
    true
}

/// # Safety
///
/// As [`wide_block`] asserts, and only on a processor with AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn wide<const ROWS: usize>(
    left: &[f32],
    stride: usize,
    panel: &[[f32; WIDE_COLUMNS]],
    sums: &mut [[f32; WIDE_COLUMNS]; ROWS],
) {
    use std::arch::x86_64::*;
    const LANES: usize = 16;
    let mut own = [[_mm512_setzero_ps(); 2]; ROWS];
    for (depth, right) in panel.iter().enumerate() {
        // SAFETY: a row of the panel has two vectors.
        let right =
            unsafe { [_mm512_loadu_ps(right.as_ptr()), _mm512_loadu_ps(right[LANES..].as_ptr())] };
        for (row, own) in own.iter_mut().enumerate() {
            // SAFETY: the caller checked that every row holds every depth.
            let left = _mm512_set1_ps(unsafe { *left.get_unchecked(row * stride + depth) });
            own[0] = _mm512_fmadd_ps(left, right[0], own[0]);
            own[1] = _mm512_fmadd_ps(left, right[1], own[1]);
        }
    }
    for (own, sums) in own.iter().zip(sums) {
        // SAFETY: a row of sums has room for two vectors.
        unsafe {
            _mm512_storeu_ps(sums.as_mut_ptr(), own[0]);
            _mm512_storeu_ps(sums[LANES..].as_mut_ptr(), own[1]);
        }
    }
}

/// # Safety
///
/// As [`narrow_block`] asserts, and only on a processor with AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn narrow<const ROWS: usize>(
    left: &[f32],
    stride: usize,
    panel: &[[f32; NARROW_COLUMNS]],
    sums: &mut [[f32; NARROW_COLUMNS]; ROWS],
) {
    use std::arch::x86_64::*;
    const LANES: usize = 8;
    let mut own = [[_mm256_setzero_ps(); 2]; ROWS];
    for (depth, right) in panel.iter().enumerate() {
        // SAFETY: a row of the panel has two vectors.
        let right =
            unsafe { [_mm256_loadu_ps(right.as_ptr()), _mm256_loadu_ps(right[LANES..].as_ptr())] };
        for (row, own) in own.iter_mut().enumerate() {
            // SAFETY: the caller checked that every row holds every depth.
            let left = _mm256_set1_ps(unsafe { *left.get_unchecked(row * stride + depth) });
            own[0] = _mm256_fmadd_ps(left, right[0], own[0]);
            own[1] = _mm256_fmadd_ps(left, right[1], own[1]);
        }
    }
    for (own, sums) in own.iter().zip(sums) {
        // SAFETY: a row of sums has room for two vectors.
        unsafe {
            _mm256_storeu_ps(sums.as_mut_ptr(), own[0]);
            _mm256_storeu_ps(sums[LANES..].as_mut_ptr(), own[1]);
        }
    }
}

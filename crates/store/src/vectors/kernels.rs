//! The inner loops over vectors, and the memory map they read from. The only file of the crate
//! with `unsafe`.
//!
//! Each loop exists in plain Rust, which is the law that the others are tested against, and for
//! the vector units of x86-64; which one runs is decided once, by what the processor says.
#![expect(unsafe_code, reason = "vector units and memory maps cannot be used without")]

use std::fs::File;
use std::sync::OnceLock;

use memmap2::{Mmap, MmapOptions};

/// A file in memory, read only.
#[derive(Debug)]
pub(super) struct Mapping(Mmap);

impl Mapping {
    /// Maps the first `n_bytes` of a file.
    ///
    /// The file may grow behind the mapped part, and bytes that no view has been told of may be
    /// written; bytes that were read once never change, since slots are only ever appended.
    pub(super) fn new(file: &File, n_bytes: usize) -> std::io::Result<Self> {
        // SAFETY: the folder is locked against other processes, and this process neither
        // shortens a mapped file nor writes to slots that a view was given: `VectorFile`
        // appends, and replaces whole generations under new names.
        unsafe { MmapOptions::new().len(n_bytes).map(file) }.map(Mapping)
    }

    /// Gives the first `n_bytes`.
    pub(super) fn bytes(&self, n_bytes: usize) -> &[u8] {
        &self.0[..n_bytes]
    }
}

/// Which form of the inner loops runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Unit {
    /// Gives the best form that this processor has.
    pub(super) fn best() -> Self {
        static BEST: OnceLock<Unit> = OnceLock::new();
        *BEST.get_or_init(|| *Unit::available().last().unwrap_or(&Unit::Plain))
    }

    /// Gives every form that this processor has, the fastest last.
    pub(super) fn available() -> Vec<Self> {
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut, reason = "only x86-64 adds"))]
        let mut units = vec![Unit::Plain];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
                units.push(Unit::Avx2);
            }
            if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vpopcntdq") {
                units.push(Unit::Avx512);
            }
        }
        units
    }
}

/// Multiplies the question with each row and adds up, in whole numbers.
///
/// Invariant: `rows` holds `out.len()` rows of the question's length.
pub(super) fn dot_rows(unit: Unit, question: &[i8], rows: &[i8], out: &mut [i32]) {
    assert_eq!(rows.len(), question.len() * out.len(), "rows have the question's length");
    match unit {
        Unit::Plain => {
            for (row, sum) in rows.chunks_exact(question.len()).zip(out) {
                *sum = dot_plain(question, row);
            }
        }
        // SAFETY: `Unit::available` found the features that these functions are compiled for.
        #[cfg(target_arch = "x86_64")]
        Unit::Avx2 => unsafe { x86::dot_rows_avx2(question, rows, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Unit::Avx512 => unsafe { x86::dot_rows_avx512(question, rows, out) },
    }
}

/// Counts the bits in which each row differs from the question.
///
/// Invariant: `rows` holds `out.len()` rows of the question's length.
pub(super) fn differing_bits(unit: Unit, question: &[u64], rows: &[u64], out: &mut [u16]) {
    assert_eq!(rows.len(), question.len() * out.len(), "rows have the question's length");
    match unit {
        Unit::Plain => differing_plain(question, rows, out),
        // SAFETY: `Unit::available` found the features that these functions are compiled for.
        #[cfg(target_arch = "x86_64")]
        Unit::Avx2 => unsafe { x86::differing_popcnt(question, rows, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Unit::Avx512 => unsafe { x86::differing_avx512(question, rows, out) },
    }
}

fn dot_plain(left: &[i8], right: &[i8]) -> i32 {
    left.iter().zip(right).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[inline(always)]
fn differing_plain(question: &[u64], rows: &[u64], out: &mut [u16]) {
    for (row, count) in rows.chunks_exact(question.len()).zip(out) {
        let differing: u32 = question.iter().zip(row).map(|(a, b)| (a ^ b).count_ones()).sum();
        *count = differing as u16;
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{differing_plain, dot_plain};

    #[target_feature(enable = "avx2")]
    pub(super) fn dot_rows_avx2(question: &[i8], rows: &[i8], out: &mut [i32]) {
        let whole = question.len() / 16 * 16;
        for (row, sum) in rows.chunks_exact(question.len()).zip(out) {
            let mut sums = _mm256_setzero_si256();
            for at in (0..whole).step_by(16) {
                // SAFETY: `at + 16 <= whole`, which is inside both slices.
                let (a, b) = unsafe {
                    (
                        _mm_loadu_si128(question.as_ptr().add(at).cast()),
                        _mm_loadu_si128(row.as_ptr().add(at).cast()),
                    )
                };
                let products = _mm256_madd_epi16(_mm256_cvtepi8_epi16(a), _mm256_cvtepi8_epi16(b));
                sums = _mm256_add_epi32(sums, products);
            }
            let halves =
                _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
            let quarters = _mm_add_epi32(halves, _mm_shuffle_epi32(halves, 0b01_00_11_10));
            let total = _mm_add_epi32(quarters, _mm_shuffle_epi32(quarters, 0b10_11_00_01));
            *sum = _mm_cvtsi128_si32(total) + dot_plain(&question[whole..], &row[whole..]);
        }
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn dot_rows_avx512(question: &[i8], rows: &[i8], out: &mut [i32]) {
        let whole = question.len() / 32 * 32;
        for (row, sum) in rows.chunks_exact(question.len()).zip(out) {
            let mut sums = _mm512_setzero_si512();
            for at in (0..whole).step_by(32) {
                // SAFETY: `at + 32 <= whole`, which is inside both slices.
                let (a, b) = unsafe {
                    (
                        _mm256_loadu_si256(question.as_ptr().add(at).cast()),
                        _mm256_loadu_si256(row.as_ptr().add(at).cast()),
                    )
                };
                let products = _mm512_madd_epi16(_mm512_cvtepi8_epi16(a), _mm512_cvtepi8_epi16(b));
                sums = _mm512_add_epi32(sums, products);
            }
            *sum = _mm512_reduce_add_epi32(sums) + dot_plain(&question[whole..], &row[whole..]);
        }
    }

    #[target_feature(enable = "popcnt")]
    pub(super) fn differing_popcnt(question: &[u64], rows: &[u64], out: &mut [u16]) {
        differing_plain(question, rows, out);
    }

    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    pub(super) fn differing_avx512(question: &[u64], rows: &[u64], out: &mut [u16]) {
        for (row, count) in rows.chunks_exact(question.len()).zip(out) {
            let mut counts = _mm512_setzero_si512();
            for at in (0..question.len()).step_by(8) {
                let n_words = (question.len() - at).min(8);
                let mask = ((1u16 << n_words) - 1) as __mmask8;
                // SAFETY: the mask loads `n_words` words from `at`, which is inside both slices.
                let (a, b) = unsafe {
                    (
                        _mm512_maskz_loadu_epi64(mask, question.as_ptr().add(at).cast()),
                        _mm512_maskz_loadu_epi64(mask, row.as_ptr().add(at).cast()),
                    )
                };
                counts = _mm512_add_epi64(counts, _mm512_popcnt_epi64(_mm512_xor_si512(a, b)));
            }
            *count = _mm512_reduce_add_epi64(counts) as u16;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_unit_counts_like_plain_rust(
            dimensions in 1usize..200,
            n_rows in 0usize..9,
            seed in any::<u64>(),
        ) {
            let mut state = seed | 1;
            let mut next = move || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state >> 16
            };
            let question: Vec<i8> = (0..dimensions).map(|_| next() as i8).collect();
            let rows: Vec<i8> = (0..dimensions * n_rows).map(|_| next() as i8).collect();
            let bits: Vec<u64> = (0..dimensions).map(|_| next()).collect();
            let bit_rows: Vec<u64> = (0..dimensions * n_rows).map(|_| next()).collect();
            let mut dots = vec![0; n_rows];
            let mut counts = vec![0; n_rows];
            dot_rows(Unit::Plain, &question, &rows, &mut dots);
            differing_bits(Unit::Plain, &bits, &bit_rows, &mut counts);
            for unit in Unit::available() {
                let mut unit_dots = vec![0; n_rows];
                let mut unit_counts = vec![0; n_rows];
                dot_rows(unit, &question, &rows, &mut unit_dots);
                differing_bits(unit, &bits, &bit_rows, &mut unit_counts);
                prop_assert_eq!(&unit_dots, &dots, "{:?}", unit);
                prop_assert_eq!(&unit_counts, &counts, "{:?}", unit);
            }
        }
    }
}

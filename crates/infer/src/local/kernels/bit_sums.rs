//! Sums of small numbers under a mask of bits: late interaction over one-bit token vectors.
#![expect(unsafe_code, reason = "one instruction adds up bytes under a mask")]

/// Tells whether this processor adds up bytes under a mask in one instruction.
pub(crate) fn has_bit_sums() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vnni")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// Bytes that one wide vector holds.
const VECTOR_BYTES: usize = 64;

/// Rows of small numbers, to be added up where the bits of another row are set.
pub(crate) struct BitSums {
    /// The rows behind each other, each filled up with zeros to whole vectors.
    rows: Vec<i8>,
    n_vectors: usize,
}

impl BitSums {
    /// Takes rows of equal length.
    ///
    /// # Panics
    ///
    /// Where [`has_bit_sums`] says no.
    pub(crate) fn new(rows: &[Vec<i8>]) -> Self {
        assert!(has_bit_sums(), "the processor was asked first");
        let n_vectors = rows.first().map_or(0, |row| row.len().div_ceil(VECTOR_BYTES));
        let mut flat = Vec::with_capacity(rows.len() * n_vectors * VECTOR_BYTES);
        for row in rows {
            assert_eq!(row.len().div_ceil(VECTOR_BYTES), n_vectors, "rows have one length");
            flat.extend(row);
            flat.resize(flat.len().next_multiple_of(VECTOR_BYTES), 0);
        }
        BitSums { rows: flat, n_vectors }
    }

    /// Raises each `best` to the largest sum of its row over the set bits of any of the masks,
    /// which are `n_bytes` long each.
    pub(crate) fn raise(&self, masks: &[u8], n_bytes: usize, best: &mut [i32]) {
        assert_eq!(best.len() * self.n_vectors * VECTOR_BYTES, self.rows.len(), "one for each row");
        assert!(n_bytes <= self.n_vectors * 8, "no mask is longer than a row");
        // SAFETY: `new` asked the processor, and every row is `n_vectors` whole vectors long.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            self.raise_avx512(masks, n_bytes, best);
        }
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!("`new` refuses other processors: {masks:?} {n_bytes}");
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    fn raise_avx512(&self, masks: &[u8], n_bytes: usize, best: &mut [i32]) {
        use std::arch::x86_64::*;
        let mut ones = vec![_mm512_setzero_si512(); self.n_vectors];
        for mask in masks.chunks_exact(n_bytes) {
            for (ones, bits) in ones.iter_mut().zip(mask.chunks(8)) {
                let mut word = [0; 8];
                word[..bits.len()].copy_from_slice(bits);
                *ones = _mm512_maskz_set1_epi8(u64::from_le_bytes(word), 1);
            }
            let rows = self.rows.chunks_exact(self.n_vectors * VECTOR_BYTES);
            for (best, row) in best.iter_mut().zip(rows) {
                let mut sums = [_mm512_setzero_si512(); 2];
                for (idx, (ones, numbers)) in
                    ones.iter().zip(row.chunks_exact(VECTOR_BYTES)).enumerate()
                {
                    // SAFETY: the chunk has the 64 bytes that are loaded.
                    let numbers = unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) };
                    sums[idx % 2] = _mm512_dpbusd_epi32(sums[idx % 2], *ones, numbers);
                }
                let sum = _mm512_reduce_add_epi32(_mm512_add_epi32(sums[0], sums[1]));
                *best = (*best).max(sum);
            }
        }
    }
}

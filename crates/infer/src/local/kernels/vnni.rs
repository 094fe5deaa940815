//! Products of bytes by AVX-512 VNNI: one instruction multiplies 64 pairs of bytes and adds them
//! up in 16 sums of 32 bits, without saturation.
//!
//! 12 rows and two vectors of 16 columns make 24 sums, which together with two vectors of weights
//! and one byte quad of a row leave five of the 32 registers free. On a core that starts one such
//! instruction in a cycle the block runs at 98 % of that.
#![expect(unsafe_code, reason = "dot products of bytes")]

use std::arch::x86_64::*;

use super::int8::{Dots, Int8Kernel, PANEL_COLUMNS, Panel, QUAD, Sums};
use super::{Kind, Level};

/// A processor with AVX-512 VNNI.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vnni {
    vectors: Level,
}

/// Bytes of one quad of all columns of a panel.
const QUAD_BYTES: usize = PANEL_COLUMNS * QUAD;
const VECTOR_BYTES: usize = 64;
/// Rows that one pointer reaches: an address may add one or two strides to it.
const ROWS_PER_POINTER: usize = 3;

impl Int8Kernel for Vnni {
    type Dots = Vnni;
    type Session = Vnni;
    const ROWS: usize = 12;
    const DEPTH_PADDING: usize = QUAD;
    const SCALE_DEPTH: Option<usize> = None;

    fn detect() -> Option<Self> {
        let vectors = Level::available().into_iter().find(|level| level.0 == Kind::Avx512)?;
        is_x86_feature_detected!("avx512vnni").then_some(Vnni { vectors })
    }

    fn vectors(self) -> Level {
        self.vectors
    }

    fn name(self) -> &'static str {
        "avx512 vnni int8"
    }

    fn dots(self) -> Vnni {
        self
    }

    #[inline(always)]
    fn place(depth: usize, column: usize, _n_in: usize) -> usize {
        depth / QUAD * QUAD_BYTES + column * QUAD + depth % QUAD
    }

    #[inline(always)]
    fn block_scale_place(_depth: usize, column: usize, _n_in: usize) -> usize {
        column
    }

    fn largest_block_scale(_n_in: usize) -> i16 {
        1
    }

    fn begin(self) -> Vnni {
        self
    }

    #[inline(always)]
    fn block(
        session: &Vnni,
        left: &[u8],
        stride: usize,
        n_rows: usize,
        panel: Panel<'_>,
        sums: &mut Sums,
    ) {
        let n_quads = panel.n_in / QUAD;
        assert!(panel.values.len() >= n_quads * QUAD_BYTES, "the panel must hold every quad");
        // SAFETY: the panel holds every quad.
        unsafe { session.product(left, stride, n_rows, panel.values.as_ptr(), n_quads, sums) };
    }
}

impl Dots for Vnni {
    type Left = u8;
    const GROUP: usize = QUAD;
    const ROWS: usize = 12;
    const LEFT_ZERO: f32 = 128.0;
    const LARGEST: f32 = 127.0;
    const LARGEST_WEIGHT: f32 = 255.0;
    const LARGEST_VALUE: f32 = 127.0;

    fn vectors(self) -> Level {
        self.vectors
    }

    #[inline(always)]
    fn block(
        self,
        left: &[u8],
        stride: usize,
        n_rows: usize,
        panel: &[u32],
        n_groups: usize,
        sums: &mut Sums,
    ) {
        assert!(panel.len() >= n_groups * PANEL_COLUMNS, "the panel must hold every quad");
        // SAFETY: the panel holds every quad.
        unsafe { self.product(left, stride, n_rows, panel.as_ptr().cast(), n_groups, sums) };
    }
}

impl Vnni {
    /// Multiplies up to 12 rows of `n_quads` quads with a panel.
    ///
    /// # Safety
    ///
    /// The panel must hold `n_quads` quads of 32 columns.
    unsafe fn product(
        self,
        left: &[u8],
        stride: usize,
        n_rows: usize,
        panel: *const i8,
        n_quads: usize,
        sums: &mut Sums,
    ) {
        assert!((1..=<Vnni as Dots>::ROWS).contains(&n_rows), "a block has 1 to 12 rows");
        assert!(
            left.len() >= (n_rows - 1) * stride + n_quads * QUAD,
            "the rows must hold every quad"
        );
        // SAFETY: a `Vnni` exists only where the processor has the instructions. The assertions
        // and the caller bound every load; at most 12 of the 32 rows of `sums` are written.
        unsafe {
            match n_rows {
                1 => rows::<1>(left, stride, panel, n_quads, sums),
                2 => rows::<2>(left, stride, panel, n_quads, sums),
                3 => rows::<3>(left, stride, panel, n_quads, sums),
                4 => rows::<4>(left, stride, panel, n_quads, sums),
                5 => rows::<5>(left, stride, panel, n_quads, sums),
                6 => rows::<6>(left, stride, panel, n_quads, sums),
                7 => rows::<7>(left, stride, panel, n_quads, sums),
                8 => rows::<8>(left, stride, panel, n_quads, sums),
                9 => rows::<9>(left, stride, panel, n_quads, sums),
                10 => rows::<10>(left, stride, panel, n_quads, sums),
                11 => rows::<11>(left, stride, panel, n_quads, sums),
                _ => rows::<12>(left, stride, panel, n_quads, sums),
            }
        }
    }
}

/// Computes a block of exactly `ROWS` rows.
///
/// # Safety
///
/// As [`Vnni::product`] asserts and demands, and only on a processor that has the instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
unsafe fn rows<const ROWS: usize>(
    left: &[u8],
    stride: usize,
    mut panel: *const i8,
    n_quads: usize,
    sums: &mut Sums,
) {
    let mut own = [[_mm512_setzero_si512(); 2]; ROWS];
    // Twelve pointers would not fit the registers. Some are outside when there are fewer rows,
    // and are then never read.
    let mut lefts: [*const u8; <Vnni as Dots>::ROWS / ROWS_PER_POINTER] =
        std::array::from_fn(|at| left.as_ptr().wrapping_add(at * ROWS_PER_POINTER * stride));
    for _ in 0..n_quads {
        // SAFETY: the caller checked that the panel holds `n_quads` pairs of vectors.
        let weights = unsafe {
            [_mm512_loadu_si512(panel.cast()), _mm512_loadu_si512(panel.add(VECTOR_BYTES).cast())]
        };
        for (row, own) in own.iter_mut().enumerate() {
            let start = lefts[row / ROWS_PER_POINTER].wrapping_add(row % ROWS_PER_POINTER * stride);
            // SAFETY: the caller checked that every one of the `ROWS` rows holds `n_quads` quads.
            let quad = _mm512_set1_epi32(unsafe { start.cast::<i32>().read_unaligned() });
            own[0] = _mm512_dpbusd_epi32(own[0], quad, weights[0]);
            own[1] = _mm512_dpbusd_epi32(own[1], quad, weights[1]);
        }
        lefts = lefts.map(|left| left.wrapping_add(QUAD));
        panel = panel.wrapping_add(QUAD_BYTES);
    }
    for (own, sums) in own.iter().zip(&mut sums.0) {
        // SAFETY: a row of `sums` has room for two vectors.
        unsafe {
            _mm512_storeu_si512(sums.as_mut_ptr().cast(), own[0]);
            _mm512_storeu_si512(sums.as_mut_ptr().cast::<u8>().add(VECTOR_BYTES).cast(), own[1]);
        }
    }
}

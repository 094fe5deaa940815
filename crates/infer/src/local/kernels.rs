//! Choosing the instruction set at run time, the matrix tiles of recent Intel processors, and sums
//! under a mask of bits.
//!
//! This is the only file of the crate with unsafe code. It rests on three facts:
//!
//! - A [`Level`] can only be had from [`Level::available`], which asks the processor (and, for
//!   tiles, the operating system) first. So whoever holds a level may run its instructions.
//! - [`Tiles::product`] checks that every address the tile instructions touch lies inside the
//!   slices it was given.
//! - [`BitSums`] asks the processor when it is made, and loads whole vectors out of checked chunks.
#![expect(unsafe_code, reason = "instruction sets chosen at run time, and tile instructions")]

use super::vectorised::{Bf16, Plain, Work};

/// A set of instructions that this processor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Level(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    Tiles,
}

impl Level {
    /// Gives all levels of this machine, the slowest first; the first always works.
    pub(crate) fn available() -> Vec<Level> {
        let mut levels = vec![Level(Kind::Portable)];
        #[cfg(target_arch = "x86_64")]
        {
            let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let has_avx512 = has_avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if has_avx2 {
                levels.push(Level(Kind::Avx2));
            }
            if has_avx512 {
                levels.push(Level(Kind::Avx512));
            }
            #[cfg(target_os = "linux")]
            if has_avx512 && tiles_are_usable() {
                levels.push(Level(Kind::Tiles));
            }
        }
        levels
    }

    /// Gives the fastest level of this machine.
    pub(crate) fn best() -> Level {
        *Level::available().last().expect("the portable level is always there")
    }

    /// Gives the level without tiles: for shapes that tiles do not fit.
    pub(crate) fn best_without_tiles() -> Level {
        let fits = |level: &Level| !level.has_tiles();
        Level::available().into_iter().rfind(fits).expect("the portable level is always there")
    }

    /// Tells whether products run on bf16 tiles rather than on f32 vectors.
    pub(crate) fn has_tiles(self) -> bool {
        match self.0 {
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            Kind::Tiles => true,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 | Kind::Avx512 => false,
            Kind::Portable => false,
        }
    }

    /// Tells whether the vectors hold 16 numbers.
    pub(crate) fn has_wide_vectors(self) -> bool {
        match self.0 {
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            Kind::Tiles => true,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => true,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => false,
            Kind::Portable => false,
        }
    }

    /// Gives the level's name for reports.
    pub(crate) fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable f32",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2 f32",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "avx512 f32",
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            Kind::Tiles => "amx bf16",
        }
    }
}

/// Runs a piece of work with the instructions of a level.
pub(crate) fn run<W: Work>(level: Level, work: W) -> W::Output {
    match level.0 {
        Kind::Portable => run_portable(work),
        // SAFETY: a level is made only after the processor was asked for it.
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2 => unsafe { run_avx2(work) },
        // SAFETY: a level is made only after the processor was asked for it.
        #[cfg(target_arch = "x86_64")]
        Kind::Avx512 => unsafe { run_avx512(work) },
        // SAFETY: tiles are offered only where AVX-512 is there too.
        #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
        Kind::Tiles => unsafe { run_avx512(work) },
    }
}

#[cfg(not(target_arch = "aarch64"))]
fn run_portable<W: Work>(work: W) -> W::Output {
    work.run::<Plain>()
}

/// Every 64-bit ARM processor multiplies and adds in one instruction.
#[cfg(target_arch = "aarch64")]
fn run_portable<W: Work>(work: W) -> W::Output {
    work.run::<super::vectorised::Fused>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<W: Work>(work: W) -> W::Output {
    work.run::<super::vectorised::Fused>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn run_avx512<W: Work>(work: W) -> W::Output {
    work.run::<super::vectorised::Fused>()
}

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

/// How many rows one tile has.
pub(crate) const TILE_ROWS: usize = 16;
/// How many inner columns of the left operand one tile takes.
pub(crate) const TILE_DEPTH: usize = 32;
/// How many columns a block of two tiles has.
pub(crate) const BLOCK_COLUMNS: usize = 32;
/// How many rows a block of two tiles has.
pub(crate) const BLOCK_ROWS: usize = 32;

/// The result of one block product: 32 rows of 32 columns.
#[repr(C, align(64))]
pub(crate) struct Block(pub(crate) [f32; BLOCK_ROWS * BLOCK_COLUMNS]);

impl Block {
    pub(crate) fn zero() -> Self {
        Block([0.0; BLOCK_ROWS * BLOCK_COLUMNS])
    }
}

/// The tile registers of this thread, configured while the value lives.
pub(crate) struct Tiles {
    /// Tile registers belong to a thread, so the value must stay on it.
    _not_send: std::marker::PhantomData<*const ()>,
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tiles {
    use std::arch::asm;
    use std::arch::x86_64::__cpuid_count;

    use super::*;

    /// The layout of tile registers: palette 1, every tile 16 rows of 64 bytes.
    #[repr(C, align(64))]
    struct Layout([u8; 64]);

    static LAYOUT: Layout = {
        let mut bytes = [0; 64];
        bytes[0] = 1;
        let mut tile = 0;
        while tile < 8 {
            bytes[16 + 2 * tile] = 64;
            bytes[48 + tile] = TILE_ROWS as u8;
            tile += 1;
        }
        Layout(bytes)
    };

    impl Tiles {
        /// Configures the registers of this thread.
        pub(crate) fn begin(level: Level) -> Tiles {
            assert!(level.has_tiles(), "the level says whether tiles may be used");
            // SAFETY: the level was made after the processor and the system allowed tiles, and
            // the layout is a valid one of 64 bytes.
            unsafe {
                asm!("ldtilecfg [{0}]", in(reg) &raw const LAYOUT, options(nostack, readonly));
            }
            Tiles { _not_send: std::marker::PhantomData }
        }

        /// Multiplies up to 32 rows of the left operand with a panel of 32 columns.
        ///
        /// `left` starts at the first row; rows are `stride` apart; `n_rows` of the block are
        /// wanted, and the memory of 16 or 32 rows is read. `panel` has `n_steps` pairs of tiles.
        #[inline(always)]
        pub(crate) fn product(
            &self,
            left: &[Bf16],
            stride: usize,
            n_rows: usize,
            panel: &[Bf16],
            n_steps: usize,
            block: &mut Block,
        ) {
            let needs_two = n_rows > TILE_ROWS;
            let n_rows_read = if needs_two { BLOCK_ROWS } else { TILE_ROWS };
            assert!(n_steps > 0, "a product needs at least one step");
            assert!(
                left.len() >= (n_rows_read - 1) * stride + n_steps * TILE_DEPTH,
                "the left operand must be padded to whole tiles"
            );
            assert!(
                panel.len() >= n_steps * BLOCK_COLUMNS * TILE_DEPTH,
                "the panel must hold every step"
            );
            let stride_bytes = stride * 2;
            let upper = left.as_ptr();
            if needs_two {
                // SAFETY: the assertions above bound every tile that is read: 32 rows of
                // `n_steps` tiles on the left, `n_steps` pairs of 1 KiB tiles in the panel. The
                // block has room for the four tiles that are written. `self` proves that the
                // registers are configured on this thread, and tile registers are not used by
                // compiled code.
                unsafe {
                    let lower = left.as_ptr().add(TILE_ROWS * stride);
                    asm!(
                        "tilezero tmm0",
                        "tilezero tmm1",
                        "tilezero tmm2",
                        "tilezero tmm3",
                        "2:",
                        "tileloadd tmm6, [{panel} + {dense}*1]",
                        "tileloadd tmm4, [{upper} + {stride}*1]",
                        "tileloadd tmm7, [{panel} + {dense}*1 + 1024]",
                        "tileloadd tmm5, [{lower} + {stride}*1]",
                        "tdpbf16ps tmm0, tmm4, tmm6",
                        "tdpbf16ps tmm1, tmm4, tmm7",
                        "tdpbf16ps tmm2, tmm5, tmm6",
                        "tdpbf16ps tmm3, tmm5, tmm7",
                        "add {upper}, 64",
                        "add {lower}, 64",
                        "add {panel}, 2048",
                        "dec {steps}",
                        "jnz 2b",
                        "tilestored [{block} + {wide}*1], tmm0",
                        "tilestored [{block} + {wide}*1 + 64], tmm1",
                        "tilestored [{block} + {wide}*1 + 2048], tmm2",
                        "tilestored [{block} + {wide}*1 + 2112], tmm3",
                        upper = inout(reg) upper => _,
                        lower = inout(reg) lower => _,
                        panel = inout(reg) panel.as_ptr() => _,
                        steps = inout(reg) n_steps => _,
                        block = in(reg) block.0.as_mut_ptr(),
                        stride = in(reg) stride_bytes,
                        dense = in(reg) 64usize,
                        wide = in(reg) 128usize,
                        options(nostack),
                    );
                }
            } else {
                // SAFETY: as above, with 16 rows on the left and two tiles written.
                unsafe {
                    asm!(
                        "tilezero tmm0",
                        "tilezero tmm1",
                        "2:",
                        "tileloadd tmm4, [{upper} + {stride}*1]",
                        "tileloadd tmm6, [{panel} + {dense}*1]",
                        "tileloadd tmm7, [{panel} + {dense}*1 + 1024]",
                        "tdpbf16ps tmm0, tmm4, tmm6",
                        "tdpbf16ps tmm1, tmm4, tmm7",
                        "add {upper}, 64",
                        "add {panel}, 2048",
                        "dec {steps}",
                        "jnz 2b",
                        "tilestored [{block} + {wide}*1], tmm0",
                        "tilestored [{block} + {wide}*1 + 64], tmm1",
                        upper = inout(reg) upper => _,
                        panel = inout(reg) panel.as_ptr() => _,
                        steps = inout(reg) n_steps => _,
                        block = in(reg) block.0.as_mut_ptr(),
                        stride = in(reg) stride_bytes,
                        dense = in(reg) 64usize,
                        wide = in(reg) 128usize,
                        options(nostack),
                    );
                }
            }
        }
    }

    impl Drop for Tiles {
        fn drop(&mut self) {
            // SAFETY: the registers were configured by `begin` on this thread. Releasing them
            // keeps the system from saving 8 KiB at every switch of threads.
            unsafe {
                asm!("tilerelease", options(nostack, nomem));
            }
        }
    }

    /// Asks the processor for bf16 tiles, and the system for leave to use them.
    pub(super) fn tiles_are_usable() -> bool {
        const BF16_TILES: u32 = 1 << 22;
        const TILES: u32 = 1 << 24;
        let features = __cpuid_count(7, 0).edx;
        let has_instructions = features & BF16_TILES != 0 && features & TILES != 0;
        has_instructions && system_allows_tiles()
    }

    /// Asks Linux to save tile registers for this process, without which they fault.
    fn system_allows_tiles() -> bool {
        const ARCH_PRCTL: i64 = 158;
        const ARCH_REQ_XCOMP_PERM: i64 = 0x1023;
        const TILE_DATA: i64 = 18;
        let status: i64;
        // SAFETY: the call takes two numbers and touches no memory of ours; the kernel
        // overwrites only the registers named here.
        unsafe {
            asm!(
                "syscall",
                inlateout("rax") ARCH_PRCTL => status,
                in("rdi") ARCH_REQ_XCOMP_PERM,
                in("rsi") TILE_DATA,
                out("rcx") _,
                out("r11") _,
                options(nostack),
            );
        }
        status == 0
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use tiles::tiles_are_usable;

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
impl Tiles {
    /// Never called: no level of this machine has tiles.
    pub(crate) fn begin(level: Level) -> Tiles {
        assert!(level.has_tiles(), "the level says whether tiles may be used");
        Tiles { _not_send: std::marker::PhantomData }
    }

    /// Never called: no level of this machine has tiles.
    pub(crate) fn product(
        &self,
        _left: &[Bf16],
        _stride: usize,
        _n_rows: usize,
        _panel: &[Bf16],
        _n_steps: usize,
        _block: &mut Block,
    ) {
    }
}

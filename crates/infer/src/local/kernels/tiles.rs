//! The matrix tiles of recent Intel processors: blocks of 32 rows and 32 columns.
//!
//! [`Tiles`] multiplies bf16 numbers, and checks that every address which the tile instructions
//! touch lies inside the slices they were given.
#![expect(unsafe_code, reason = "tile instructions")]

use super::Level;
use crate::local::vectorised::Bf16;

/// The processor's flag for tiles of bf16 numbers.
pub(super) const BF16_TILES: u32 = 1 << 22;

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
mod asm {
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
            // SAFETY: the level was made after the processor and the system allowed tiles.
            unsafe { Tiles::configure() }
        }

        /// # Safety
        ///
        /// The processor has tiles, and the system allows them.
        unsafe fn configure() -> Tiles {
            // SAFETY: the caller asked, and the layout is a valid one of 64 bytes.
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

    /// Asks the processor for tiles of a kind, and the system for leave to use them.
    pub(crate) fn are_usable(kind: u32) -> bool {
        const TILES: u32 = 1 << 24;
        let features = __cpuid_count(7, 0).edx;
        let has_instructions = features & kind != 0 && features & TILES != 0;
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
pub(crate) use asm::are_usable;

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

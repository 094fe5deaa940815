//! Choosing the instruction set at run time, and the kernels that name instructions.
//!
//! This folder holds all unsafe code of the crate, one file for each kernel. It rests on two facts:
//!
//! - A [`Level`], and every kernel beside it ([`Vnni`], [`Madd`], [`Pairs`],
//!   [`BitSums`]), can only be had after the processor (and, for tiles, the operating system) was
//!   asked. So whoever holds one may run its instructions.
//! - Each kernel checks before its first load that every address it will touch lies inside the
//!   slices it was given.
#![expect(unsafe_code, reason = "instruction sets chosen at run time")]

mod bit_sums;
mod fma;
#[cfg(target_arch = "x86_64")]
mod int8;
#[cfg(target_arch = "x86_64")]
mod madd;
#[cfg(target_arch = "x86_64")]
mod pairs;
mod tiles;
#[cfg(target_arch = "x86_64")]
mod vnni;

pub(crate) use bit_sums::{BitSums, has_bit_sums};
pub(crate) use fma::{NARROW_COLUMNS, WIDE_COLUMNS, narrow_block, wide_block};
#[cfg(target_arch = "x86_64")]
pub(crate) use int8::{Dots, Int8Kernel, PANEL_COLUMNS, Panel, Small, Sums};
#[cfg(target_arch = "x86_64")]
pub(crate) use madd::Madd;
#[cfg(target_arch = "x86_64")]
pub(crate) use pairs::Pairs;
pub(crate) use tiles::{BLOCK_COLUMNS, BLOCK_ROWS, Block, TILE_DEPTH, TILE_ROWS, Tiles};
#[cfg(target_arch = "x86_64")]
pub(crate) use vnni::Vnni;

use super::vectorised::{Plain, Work};

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
            if has_avx512 && tiles::are_usable(tiles::BF16_TILES) {
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

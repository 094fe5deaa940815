//! Faults in random order against a running server, and a model of what it acknowledged.
//!
//! `cargo xtask chaos [ROUNDS [SEED]] [--binary FILE]`. Each round sends some changes (documents added, replaced,
//! deleted, some of them at the same time), lets a fault happen in the middle, brings the server
//! back, and compares: what was acknowledged is there, what was deleted is not, and what was in
//! flight is one of the two. A seed repeats a sequence of faults; where the scheduler puts a
//! kill is not repeated.

mod faults;
mod ledger;
mod site;

mod catalogue;
mod slow_disk;
mod upstreams;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;

use crate::binary;
use faults::Fault;
use ledger::Ledger;
use site::Site;

/// Rounds unless the caller says otherwise.
const ROUNDS: u32 = 200;

/// Rounds in CI: each fault once.
pub(crate) const CI_ROUNDS: u32 = Fault::ALL.len() as u32;

/// The seed in CI; another one may be named.
const SEED: u64 = 1;

/// Runs the rounds: `[ROUNDS [SEED]]`.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let (arguments, binary) = match arguments {
        [before @ .., "--binary", binary] => (before, PathBuf::from(binary)),
        _ => (arguments, binary::build(binary::Kind::Shipped)?),
    };
    let (rounds, seed) = match arguments {
        [] => (ROUNDS, SEED),
        [rounds] => (rounds.parse().context("the first argument is a number of rounds")?, SEED),
        [rounds, seed] => (
            rounds.parse().context("the first argument is a number of rounds")?,
            seed.parse().context("the second argument is a seed")?,
        ),
        _ => anyhow::bail!("usage: cargo xtask chaos [ROUNDS [SEED]] [--binary FILE]"),
    };
    rounds_with(&binary, rounds, seed).map(|line| eprintln!("{line}"))
}

/// Runs so many rounds over a build of the workspace, and gives a line that says how they went.
pub(crate) fn rounds_of(rounds: u32, seed: u64) -> anyhow::Result<String> {
    rounds_with(&binary::build(binary::Kind::Shipped)?, rounds, seed)
}

fn rounds_with(binary: &Path, rounds: u32, seed: u64) -> anyhow::Result<String> {
    let mut random = Random(seed);
    let mut site = Site::open(binary)?;
    let faults = Fault::possible(&site);
    let mut first = faults.clone();
    let mut ledger = Ledger::new(&site)?;
    let started = Instant::now();
    for round in 0..rounds {
        let fault = Fault::choose(&mut random, &mut first, &faults);
        let checked = fault
            .happen(&mut site, &mut ledger, &mut random)
            .and_then(|()| ledger.compare(&site))
            .with_context(|| format!("round {round} of seed {seed}: `{}`", fault.name()))
            .inspect_err(|_| site.tell())?;
        eprintln!("round {round}: {}, {checked}", fault.name());
    }
    Ok(format!(
        "     Chaos: {rounds} rounds of seed {seed} in {:.0} s, {} acknowledged changes, 0 lost",
        started.elapsed().as_secs_f64(),
        ledger.n_acknowledged()
    ))
}

/// Numbers that a seed repeats (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap_or(0)
    }
}

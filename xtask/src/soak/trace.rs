//! What the clients saw, and what the server used while they asked.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::usage;

/// The share of the run after which memory counts as settled.
const WARM_UP_SHARE: f64 = 0.25;

/// Memory and disk may grow by this share after the warm-up, and by this much in any case.
const MAX_GROWTH_SHARE: f64 = 0.25;
const MAX_GROWTH_KIB: u64 = 64 * 1_024;
/// In a short run nothing has settled: caches fill, and the allocator keeps what it had.
const MAX_SHORT_GROWTH_KIB: u64 = 256 * 1_024;
const SHORT_RUN: Duration = Duration::from_secs(300);

/// So many more descriptors may be open at the end: as many as there are connections, and some.
const MAX_MORE_DESCRIPTORS: u64 = 64;

const MAX_SHOWN_ERRORS: usize = 5;

/// Lines of the report about what was used.
const N_SHOWN: usize = 12;

/// What the clients saw.
#[derive(Default)]
pub(crate) struct Seen {
    latencies: BTreeMap<&'static str, Vec<Duration>>,
    errors: Vec<String>,
    n_errors: u64,
}

impl Seen {
    pub(crate) fn add(&mut self, name: &'static str, took: Duration, result: Result<(), String>) {
        self.latencies.entry(name).or_default().push(took);
        if let Err(error) = result {
            self.n_errors += 1;
            if self.errors.len() < MAX_SHOWN_ERRORS {
                self.errors.push(error);
            }
        }
    }

    pub(crate) fn n_errors(&self) -> u64 {
        self.n_errors
    }

    pub(crate) fn errors(&self) -> &[String] {
        &self.errors
    }

    /// Tells how many times longer one call in a hundred took than one in two.
    pub(crate) fn spread(&self, name: &str) -> f64 {
        let mut sorted = self.latencies.get(name).cloned().unwrap_or_default();
        sorted.sort_unstable();
        quantile(&sorted, 0.99) / quantile(&sorted, 0.5).max(f64::MIN_POSITIVE)
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.latencies.iter().map(|(name, latencies)| line(name, latencies)).collect()
    }
}

/// Gives the line of one kind of call.
pub(crate) fn line(name: &str, latencies: &[Duration]) -> String {
    let mut sorted = latencies.to_vec();
    sorted.sort_unstable();
    let [p50, p99, most] = [0.5, 0.99, 1.0].map(|share| quantile(&sorted, share) * 1_000.0);
    let n = sorted.len();
    format!("     {name:20} {n:8} calls, p50 {p50:7.1} ms, p99 {p99:7.1} ms, at most {most:.0} ms")
}

/// Gives the latency, in seconds, that so large a share of calls did not exceed.
pub(crate) fn quantile(sorted: &[Duration], share: f64) -> f64 {
    let index = (sorted.len().saturating_sub(1) as f64 * share) as usize;
    sorted.get(index).map_or(0.0, Duration::as_secs_f64)
}

/// What the server used at one moment.
#[derive(Debug, Clone, Copy)]
struct Usage {
    at: Duration,
    memory_kib: u64,
    n_descriptors: u64,
    disk_kib: u64,
}

/// What the server used over the run.
pub(crate) struct Trace {
    process: u32,
    data: PathBuf,
    length: Duration,
    looks: Vec<Usage>,
}

impl Trace {
    pub(crate) fn new(process: u32, data: PathBuf, length: Duration) -> Trace {
        Trace { process, data, length, looks: Vec::new() }
    }

    /// Looks once.
    pub(crate) fn look(&mut self, at: Duration) -> anyhow::Result<()> {
        self.looks.push(Usage {
            at,
            memory_kib: usage::memory_kib(self.process)?,
            n_descriptors: usage::n_descriptors(self.process)?,
            disk_kib: usage::folder_bytes(&self.data)? / 1_024,
        });
        Ok(())
    }

    /// Gives some of what was seen, from the first look to the last.
    pub(crate) fn lines(&self) -> Vec<String> {
        let step = self.looks.len().div_ceil(N_SHOWN).max(1);
        let some = self.looks.iter().rev().step_by(step).collect::<Vec<_>>().into_iter().rev();
        some.map(|usage| {
            let Usage { at, memory_kib, n_descriptors, disk_kib } = usage;
            let seconds = at.as_secs();
            format!(
                "     at {seconds:5} s {memory_kib:8} KiB of memory, {n_descriptors:4} \
                 descriptors, {disk_kib:8} KiB of disk"
            )
        })
        .collect()
    }

    /// Holds that nothing grew after the warm-up. The highest figure before counts against the
    /// lowest of the last looks, since merges and indexing make both go up and down.
    pub(crate) fn hold(&self) -> anyhow::Result<()> {
        let warm = self.length.mul_f64(WARM_UP_SHARE);
        let n_warm = self.looks.iter().take_while(|usage| usage.at < warm).count() + 1;
        let (before, after) = self.looks.split_at(n_warm.min(self.looks.len()));
        let last = after.get(after.len() - after.len().div_ceil(4)..).unwrap_or_default();
        let held = |name: &str, of: fn(&Usage) -> u64, least: u64| -> anyhow::Result<()> {
            let before = before.iter().map(of).max().context("the run was too short to settle")?;
            let after = last.iter().map(of).min().context("the run was too short to settle")?;
            let allowed = ((before as f64 * MAX_GROWTH_SHARE) as u64).max(least);
            ensure!(after <= before + allowed, "{name} grew from {before} to {after}");
            Ok(())
        };
        let is_short = self.length < SHORT_RUN;
        let max_growth = if is_short { MAX_SHORT_GROWTH_KIB } else { MAX_GROWTH_KIB };
        held("memory in KiB", |usage| usage.memory_kib, max_growth)?;
        held("disk in KiB", |usage| usage.disk_kib, max_growth)?;
        held("open descriptors", |usage| usage.n_descriptors, MAX_MORE_DESCRIPTORS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(memory: &[u64], is_flat: bool) {
        let looks = memory.iter().enumerate().map(|(n, &mib)| Usage {
            at: Duration::from_secs(n as u64 * 60),
            memory_kib: mib * 1_024,
            n_descriptors: 40,
            disk_kib: 10,
        });
        let length = Duration::from_secs(memory.len() as u64 * 60);
        let trace = Trace { process: 0, data: PathBuf::new(), length, looks: looks.collect() };
        assert_eq!(trace.hold().is_ok(), is_flat, "{memory:?}");
    }

    #[test]
    fn growth_is_told_from_going_up_and_down() {
        check(&[50, 200, 210, 205, 260, 200, 190, 215], true);
        check(&[50, 200, 250, 300, 350, 400, 450, 500], false);
        check(&[200, 200, 200, 200, 200, 200, 600, 200], true);
        check(&[], false);
    }

    #[test]
    fn quantiles_are_latencies_that_were_seen() {
        let sorted: Vec<Duration> = (1..=101).map(Duration::from_secs).collect();
        assert_eq!(quantile(&sorted, 0.5), 51.0);
        assert_eq!(quantile(&sorted, 0.99), 100.0);
        assert_eq!(quantile(&[], 0.5), 0.0);
    }
}

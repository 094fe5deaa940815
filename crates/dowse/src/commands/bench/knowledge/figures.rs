//! From answers to figures: latency, quality, and what a threshold keeps.

use std::time::Duration;

use model::Report;
use retrieve::eval::{Metrics, mean_metrics};

use super::set::QueryOutcome;

/// Thresholds of the guide that the tool's description follows.
const THRESHOLDS: [f64; 4] = [0.5, 0.6, 0.7, 0.8];

/// Results that an agent gets unless it asks for more.
const DEFAULT_RESULTS: usize = 10;

/// Adds p50 and p99 of some times, with a target where there is one.
pub(super) fn latency(
    report: &mut Report,
    what: &str,
    times: &mut [Duration],
    targets: Option<[f64; 2]>,
) {
    times.sort_unstable();
    for (place, name) in [(50, "p50"), (99, "p99")] {
        let ms = percentile(times, place).as_secs_f64() * 1e3;
        let target = targets.map(|targets| if place == 50 { targets[0] } else { targets[1] });
        match target {
            Some(target) => {
                let note = format!("target: under {target}");
                report.add_noted(format!("{what}, {name}"), ms, "ms", note);
            }
            None => report.add(format!("{what}, {name}"), ms, "ms"),
        }
    }
}

/// Adds how good the order of documents is.
pub(super) fn quality(report: &mut Report, asked: &[QueryOutcome]) {
    let all: Vec<Metrics> = asked.iter().map(|asked| asked.metrics).collect();
    let mean = mean_metrics(&all);
    let figures =
        [("nDCG@10", mean.ndcg_10), ("recall@10", mean.recall_10), ("MRR@10", mean.mrr_10)];
    for (name, value) in figures {
        report.add_noted(name, value, "", format!("{value:.4}"));
    }
}

/// Adds precision and recall of what each threshold keeps of the default number of results.
pub(super) fn thresholds(report: &mut Report, asked: &[QueryOutcome]) {
    for threshold in THRESHOLDS {
        let (mut n_kept, mut n_right, mut n_relevant, mut n_empty) = (0, 0, 0, 0);
        for asked in asked {
            let kept = asked.scored.iter().take(DEFAULT_RESULTS);
            let kept: Vec<bool> = kept
                .filter(|(score, _)| *score >= threshold)
                .map(|(_, is_relevant)| *is_relevant)
                .collect();
            n_kept += kept.len();
            n_right += kept.iter().filter(|is_relevant| **is_relevant).count();
            n_relevant += asked.n_relevant;
            n_empty += usize::from(kept.is_empty());
        }
        let part = |n: usize, of: usize| n as f64 / of.max(1) as f64;
        let note = format!(
            "recall {:.2}; {:.1} documents a question, {n_empty} questions without any",
            part(n_right, n_relevant),
            part(n_kept, asked.len())
        );
        let name = format!("threshold {threshold}, precision");
        report.add_noted(name, part(n_right, n_kept), "", note);
    }
}

fn percentile(sorted: &[Duration], place: usize) -> Duration {
    let idx = (sorted.len() * place).div_ceil(100).saturating_sub(1);
    sorted.get(idx).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let times: Vec<Duration> = (1..=200).map(Duration::from_millis).collect();
        assert_eq!(percentile(&times, 50), Duration::from_millis(100));
        assert_eq!(percentile(&times, 99), Duration::from_millis(198));
        assert_eq!(percentile(&times[..1], 99), Duration::from_millis(1));
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }
}

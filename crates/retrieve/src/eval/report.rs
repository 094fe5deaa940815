//! What an evaluation found, as JSON to keep, as a table to read, and against an earlier one.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::Metrics;

/// One stage of one dataset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StageReport {
    /// How good its order is.
    #[serde(flatten)]
    pub metrics: Metrics,
    /// Half of the queries took no longer.
    pub p50_ms: f64,
    /// All but one in a hundred took no longer.
    pub p99_ms: f64,
}

/// One dataset.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DatasetReport {
    /// Its name.
    pub name: String,
    /// How many queries were asked.
    pub queries: usize,
    /// The stages: `textbook` (a plain BM25 to compare with), `words`, `vectors`, `fused`, `final`,
    /// and `held_out`, which is `final` on the half of the queries that no setting was chosen on;
    /// the others follow on the same half.
    pub stages: BTreeMap<String, StageReport>,
    /// Of the relevant documents in the answers of the held-out half, the part that scores over
    /// [`CUT`].
    pub relevant_above: f64,
    /// Of pairs of a held-out query and a document taken at random, the part over [`CUT`].
    pub random_above: f64,
    /// What thresholds do, for `words` alone and for the `final` answer, on all queries and on the
    /// held-out half.
    #[serde(default)]
    pub thresholds: BTreeMap<String, ThresholdReport>,
}

/// The thresholds that are looked at.
pub(super) const THRESHOLDS: [f64; 4] = [0.5, 0.6, 0.7, 0.8];

/// Hits of one answer that a threshold is judged by.
const N_JUDGED_HITS: usize = 10;

/// What the thresholds 0.5, 0.6, 0.7 and 0.8 do to answers, in this order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ThresholdReport {
    /// Queries asked.
    pub n_queries: usize,
    /// Relevant documents of all queries.
    pub n_relevant: usize,
    /// Hits among the first ten at or over the threshold.
    pub n_hits: [usize; 4],
    /// Those of them that are relevant.
    pub n_relevant_hits: [usize; 4],
    /// Queries with any hit at or over the threshold.
    pub n_answered: [usize; 4],
    /// Queries whose first hit is relevant and at or over the threshold.
    pub n_first_right: [usize; 4],
}

impl ThresholdReport {
    /// Counts one answer, sorted by score.
    pub(super) fn add(&mut self, response: &crate::Response, relevant: &BTreeMap<String, u32>) {
        self.n_queries += 1;
        // A grade of 0 is a document that somebody judged wrong.
        let is_right = |id: &str| relevant.get(id).is_some_and(|grade| *grade > 0);
        self.n_relevant += relevant.values().filter(|grade| **grade > 0).count();
        let hits: Vec<(f64, bool)> = response
            .hits
            .iter()
            .take(N_JUDGED_HITS)
            .map(|ranked| {
                let is_relevant = is_right(ranked.hit.document.as_str());
                (ranked.hit.score.get(), is_relevant)
            })
            .collect();
        for (idx, threshold) in THRESHOLDS.into_iter().enumerate() {
            let over = hits.iter().filter(|(score, _)| *score >= threshold);
            let n_relevant = over.clone().filter(|(_, is_relevant)| *is_relevant).count();
            self.n_hits[idx] += over.clone().count();
            self.n_relevant_hits[idx] += n_relevant;
            self.n_answered[idx] += usize::from(over.count() > 0);
            let is_right = |(score, is_relevant): &(f64, bool)| *is_relevant && *score >= threshold;
            self.n_first_right[idx] += usize::from(hits.first().is_some_and(is_right));
        }
    }

    fn lines(&self, dataset: &str, stage: &str) -> String {
        let part = |n: usize, of: usize| n as f64 / of.max(1) as f64;
        let mut lines = String::new();
        for (idx, threshold) in THRESHOLDS.into_iter().enumerate() {
            let _ = writeln!(
                lines,
                "{dataset:<24} {stage:<17} at {threshold}: precision {:.3} recall {:.3} answered \
                 {:.3} first right {:.3}",
                part(self.n_relevant_hits[idx], self.n_hits[idx]),
                part(self.n_relevant_hits[idx], self.n_relevant),
                part(self.n_answered[idx], self.n_queries),
                part(self.n_first_right[idx], self.n_queries),
            );
        }
        lines
    }
}

/// The score over which a hit counts as relevant.
pub const CUT: f64 = 0.6;

/// All datasets of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EvalReport {
    /// In the order given.
    pub datasets: Vec<DatasetReport>,
}

const STAGES: [&str; 9] = [
    "textbook",
    "words",
    "vectors",
    "fused",
    "final",
    "held_out",
    "held_out_textbook",
    "held_out_words",
    "held_out_fused",
];

impl EvalReport {
    /// Writes a table.
    pub fn table(&self) -> String {
        let mut table = format!(
            "{:<24} {:<17} {:>8} {:>10} {:>11} {:>8} {:>9} {:>9}\n",
            "dataset", "stage", "ndcg@10", "recall@10", "recall@100", "mrr@10", "p50 ms", "p99 ms"
        );
        for dataset in &self.datasets {
            for stage in STAGES {
                let Some(report) = dataset.stages.get(stage) else { continue };
                let Metrics { ndcg_10, recall_10, recall_100, mrr_10 } = report.metrics;
                let _ = writeln!(
                    table,
                    "{:<24} {stage:<17} {ndcg_10:>8.4} {recall_10:>10.4} {recall_100:>11.4} \
                     {mrr_10:>8.4} {:>9.1} {:>9.1}",
                    dataset.name, report.p50_ms, report.p99_ms
                );
            }
            let _ = writeln!(
                table,
                "{:<24} {} queries; over {CUT}: {:.1} % of relevant, {:.1} % of random pairs",
                dataset.name,
                dataset.queries,
                dataset.relevant_above * 100.0,
                dataset.random_above * 100.0
            );
            for (stage, report) in &dataset.thresholds {
                table.push_str(&report.lines(&dataset.name, stage));
            }
        }
        table
    }

    /// Writes what changed in nDCG@10 against an earlier run, one line for each stage of each
    /// dataset that both have.
    pub fn difference(&self, baseline: &EvalReport) -> String {
        let mut lines = String::new();
        for (dataset, stage, now, before) in self.pairs(baseline) {
            let _ = writeln!(
                lines,
                "{dataset:<24} {stage:<17} {before:.4} → {now:.4} ({:+.4})",
                now - before
            );
        }
        lines
    }

    /// Names every stage whose nDCG@10 fell by more than `tolerance`.
    pub fn drops(&self, baseline: &EvalReport, tolerance: f64) -> Vec<String> {
        self.pairs(baseline)
            .into_iter()
            .filter(|(_, _, now, before)| before - now > tolerance)
            .map(|(dataset, stage, now, before)| {
                format!("{dataset}, {stage}: nDCG@10 fell from {before:.4} to {now:.4}")
            })
            .collect()
    }

    fn pairs(&self, baseline: &EvalReport) -> Vec<(&str, &'static str, f64, f64)> {
        let mut pairs = Vec::new();
        for dataset in &self.datasets {
            let Some(before) = baseline.datasets.iter().find(|other| other.name == dataset.name)
            else {
                continue;
            };
            for stage in STAGES {
                if let (Some(now), Some(then)) =
                    (dataset.stages.get(stage), before.stages.get(stage))
                {
                    let name = dataset.name.as_str();
                    pairs.push((name, stage, now.metrics.ndcg_10, then.metrics.ndcg_10));
                }
            }
        }
        pairs
    }
}

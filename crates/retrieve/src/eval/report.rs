//! What an evaluation found, as JSON to keep, as a table to read, and against an earlier one.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::{JudgedQuery, Metrics};

/// One stage of one dataset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StageReport {
    /// How good its order is, over the queries that have a right document; nothing where none has.
    #[serde(flatten)]
    pub metrics: Option<Metrics>,
    /// Of the queries for which a document was judged wrong, the part that has such a one first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong_first: Option<f64>,
    /// Half of the queries took no longer.
    pub p50_ms: f64,
    /// All but one in a hundred took no longer.
    pub p99_ms: f64,
}

/// How good the answers to the queries of a judged set are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DatasetReport {
    /// That of its folder.
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
    /// Queries asked that have a right document.
    pub n_queries: usize,
    /// Relevant documents of all queries.
    pub n_relevant: usize,
    /// Hits among the first ten at or over the threshold.
    pub n_hits: [usize; 4],
    /// How many of those hits are right, at each threshold.
    pub n_relevant_hits: [usize; 4],
    /// Queries with any hit at or over the threshold.
    pub n_answered: [usize; 4],
    /// Queries whose first hit is relevant and at or over the threshold.
    pub n_first_right: [usize; 4],
    /// Queries for which a document was judged wrong.
    #[serde(default)]
    pub n_with_wrong: usize,
    /// Those of them whose first hit was judged wrong and is at or over the threshold.
    #[serde(default)]
    pub n_first_wrong: [usize; 4],
}

impl ThresholdReport {
    /// Counts one answer, sorted by score.
    pub(super) fn add(&mut self, response: &crate::Response, query: &JudgedQuery) {
        if query.has_wrong() {
            self.n_with_wrong += 1;
            let first = response.hits.first().map(|ranked| &ranked.hit);
            let wrong = first.filter(|hit| query.is_wrong(hit.document.as_str()));
            for (n_first_wrong, threshold) in self.n_first_wrong.iter_mut().zip(THRESHOLDS) {
                let is_over = wrong.is_some_and(|hit| hit.score.get() >= threshold);
                *n_first_wrong += usize::from(is_over);
            }
        }
        // What is right for it nobody has said: its hits are neither.
        if !query.has_right() {
            return;
        }
        self.n_queries += 1;
        let relevant = &query.relevant;
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
            let _ = write!(lines, "{dataset:<24} {stage:<17} at {threshold}:");
            if self.n_queries > 0 {
                let _ = write!(
                    lines,
                    " precision {:.3} recall {:.3} answered {:.3} first right {:.3}",
                    part(self.n_relevant_hits[idx], self.n_hits[idx]),
                    part(self.n_relevant_hits[idx], self.n_relevant),
                    part(self.n_answered[idx], self.n_queries),
                    part(self.n_first_right[idx], self.n_queries),
                );
            }
            if self.n_with_wrong > 0 {
                let n_first_wrong = part(self.n_first_wrong[idx], self.n_with_wrong);
                let _ = write!(lines, " first wrong {n_first_wrong:.3}");
            }
            lines.push('\n');
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
                let figure = |value: Option<f64>| {
                    value.map_or("-".to_owned(), |value| format!("{value:.4}"))
                };
                let of = |value: fn(&Metrics) -> f64| figure(report.metrics.as_ref().map(value));
                let _ = write!(
                    table,
                    "{:<24} {stage:<17} {:>8} {:>10} {:>11} {:>8} {:>9.1} {:>9.1}",
                    dataset.name,
                    of(|metrics| metrics.ndcg_10),
                    of(|metrics| metrics.recall_10),
                    of(|metrics| metrics.recall_100),
                    of(|metrics| metrics.mrr_10),
                    report.p50_ms,
                    report.p99_ms
                );
                if report.wrong_first.is_some() {
                    let _ = write!(table, " wrong first {}", figure(report.wrong_first));
                }
                table.push('\n');
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

    /// Writes what changed against an earlier run, one line for each figure of each stage of each
    /// dataset that both have.
    pub fn difference(&self, baseline: &EvalReport) -> String {
        let mut lines = String::new();
        for Pair { dataset, stage, figure, now, before } in self.pairs(baseline) {
            let figure = figure.name();
            let _ = writeln!(
                lines,
                "{dataset:<24} {stage:<17} {figure:<11} {before:.4} → {now:.4} ({:+.4})",
                now - before
            );
        }
        lines
    }

    /// Names every stage whose nDCG@10 fell by more than `tolerance`, or that has documents that
    /// were judged wrong first in so much more of the queries.
    pub fn drops(&self, baseline: &EvalReport, tolerance: f64) -> Vec<String> {
        let worse = |pair: &Pair<'_>| match pair.figure {
            Figure::Ndcg => pair.before - pair.now > tolerance,
            Figure::WrongFirst => pair.now - pair.before > tolerance,
        };
        self.pairs(baseline)
            .into_iter()
            .filter(worse)
            .map(|Pair { dataset, stage, figure, now, before }| match figure {
                Figure::Ndcg => {
                    format!("{dataset}, {stage}: nDCG@10 fell from {before:.4} to {now:.4}")
                }
                Figure::WrongFirst => format!(
                    "{dataset}, {stage}: a wrong document is first in {now:.4} of the queries, \
                     where it was in {before:.4}"
                ),
            })
            .collect()
    }

    fn pairs(&self, baseline: &EvalReport) -> Vec<Pair<'_>> {
        let mut pairs = Vec::new();
        for dataset in &self.datasets {
            let Some(before) = baseline.datasets.iter().find(|other| other.name == dataset.name)
            else {
                continue;
            };
            for stage in STAGES {
                let (Some(now), Some(then)) = (dataset.stages.get(stage), before.stages.get(stage))
                else {
                    continue;
                };
                for figure in [Figure::Ndcg, Figure::WrongFirst] {
                    if let (Some(now), Some(before)) = (figure.of(now), figure.of(then)) {
                        pairs.push(Pair { dataset: &dataset.name, stage, figure, now, before });
                    }
                }
            }
        }
        pairs
    }
}

/// What two runs are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Ndcg,
    WrongFirst,
}

impl Figure {
    fn name(self) -> &'static str {
        match self {
            Figure::Ndcg => "nDCG@10",
            Figure::WrongFirst => "wrong first",
        }
    }

    fn of(self, stage: &StageReport) -> Option<f64> {
        match self {
            Figure::Ndcg => stage.metrics.map(|metrics| metrics.ndcg_10),
            Figure::WrongFirst => stage.wrong_first,
        }
    }
}

/// One figure in two runs.
struct Pair<'a> {
    dataset: &'a str,
    stage: &'static str,
    figure: Figure,
    now: f64,
    before: f64,
}

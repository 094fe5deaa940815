//! nDCG, recall and reciprocal rank of one order, and their means.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How good one order is, or the mean over many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Discounted gain of the first ten against the best possible.
    #[serde(rename = "ndcg@10")]
    pub ndcg_10: f64,
    /// The part of the relevant documents among the first ten.
    #[serde(rename = "recall@10")]
    pub recall_10: f64,
    /// The part of the relevant documents among the first hundred.
    #[serde(rename = "recall@100")]
    pub recall_100: f64,
    /// One divided by the place of the first relevant document among the first ten.
    #[serde(rename = "mrr@10")]
    pub mrr_10: f64,
}

impl Metrics {
    /// Judges an order of document ids.
    pub fn of<'a>(
        order: impl Iterator<Item = &'a str>,
        relevant: &BTreeMap<String, u32>,
    ) -> Metrics {
        let gains: Vec<u32> =
            order.take(100).map(|id| relevant.get(id).copied().unwrap_or(0)).collect();
        let mut ideal: Vec<u32> = relevant.values().copied().collect();
        ideal.sort_unstable_by(|one, other| other.cmp(one));
        let best = discounted(&ideal);
        let n_relevant = relevant.values().filter(|grade| **grade > 0).count().max(1) as f64;
        let n_found = |n: usize| gains.iter().take(n).filter(|gain| **gain > 0).count() as f64;
        let first = gains.iter().take(10).position(|gain| *gain > 0);
        Metrics {
            ndcg_10: if best > 0.0 { discounted(&gains) / best } else { 0.0 },
            recall_10: n_found(10) / n_relevant,
            recall_100: n_found(100) / n_relevant,
            mrr_10: first.map_or(0.0, |place| 1.0 / (place + 1) as f64),
        }
    }
}

/// Gives the mean of many.
pub fn mean_metrics(all: &[Metrics]) -> Metrics {
    let mean = |value_of: &dyn Fn(&Metrics) -> f64| {
        all.iter().map(value_of).sum::<f64>() / all.len().max(1) as f64
    };
    Metrics {
        ndcg_10: mean(&|metrics| metrics.ndcg_10),
        recall_10: mean(&|metrics| metrics.recall_10),
        recall_100: mean(&|metrics| metrics.recall_100),
        mrr_10: mean(&|metrics| metrics.mrr_10),
    }
}

fn discounted(gains: &[u32]) -> f64 {
    let gain = |(place, gain): (usize, &u32)| f64::from(*gain) / ((place + 2) as f64).log2();
    gains.iter().take(10).enumerate().map(gain).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_judged_as_by_hand() {
        let relevant = BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 1)]);
        let check = |order: &[&str], ndcg: f64, recall: f64, mrr: f64| {
            let metrics = Metrics::of(order.iter().copied(), &relevant);
            assert!((metrics.ndcg_10 - ndcg).abs() < 1e-3, "{order:?} {metrics:?}");
            assert_eq!((metrics.recall_10, metrics.mrr_10), (recall, mrr), "{order:?}");
        };
        check(&["a", "b"], 1.0, 1.0, 1.0);
        check(&["x", "a"], 0.387, 0.5, 0.5);
        check(&["x"], 0.0, 0.0, 0.0);
        check(&[], 0.0, 0.0, 0.0);
    }
}

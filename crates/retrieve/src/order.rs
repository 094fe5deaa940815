//! The final order: every kind of evidence on the scale of the candidates at hand, weighed.
//!
//! BM25, cosines and late interaction have scales of their own that change from query to query.
//! Brought to mean 0 and deviation 1 over the candidates, they can be added. The weights were
//! chosen on half of the queries of judged sets in four languages, one setting for all.

use crate::features::Features;

/// What each kind of evidence weighs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weights {
    pub(crate) bm25: f64,
    pub(crate) cosine: f64,
    pub(crate) late: f64,
    pub(crate) proximity: f64,
    pub(crate) coverage: f64,
    pub(crate) title: f64,
}

/// The weights of the default order.
pub(crate) const WEIGHTS: Weights =
    Weights { bm25: 0.25, cosine: 0.15, late: 0.60, proximity: 0.02, coverage: 0.02, title: 0.0 };

/// Picks one feature; nothing where its stage did not run.
type Feature = dyn Fn(&Features) -> Option<f64>;

/// Scores candidates for their order; only differences inside one result mean something.
pub(crate) fn blend(candidates: &[Features], weights: &Weights) -> Vec<f64> {
    let mut blended = vec![0.0; candidates.len()];
    let kinds: [(f64, &Feature); 6] = [
        (weights.bm25, &|features| Some(features.bm25)),
        (weights.cosine, &|features| features.cosine),
        (weights.late, &|features| features.late),
        (weights.proximity, &|features| Some(features.proximity)),
        (weights.coverage, &|features| Some(features.coverage)),
        (weights.title, &|features| Some(features.title)),
    ];
    for (weight, value_of) in kinds {
        let known: Vec<f64> = candidates.iter().filter_map(value_of).collect();
        let n_known = known.len() as f64;
        let mean = known.iter().sum::<f64>() / n_known.max(1.0);
        let variance = known.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let deviation = (variance / n_known.max(1.0)).sqrt();
        if deviation <= 1e-9 {
            continue;
        }
        for (blended, candidate) in blended.iter_mut().zip(candidates) {
            // A passage without a vector yet is neither helped nor hurt.
            let value = value_of(candidate).unwrap_or(mean);
            *blended += weight * (value - mean) / deviation;
        }
    }
    blended
}

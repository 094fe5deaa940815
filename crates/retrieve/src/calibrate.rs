//! From evidence to the score that leaves: relevance between 0 and 1, whatever the query.
//!
//! A logistic curve over figures that do not depend on the other candidates, fitted on judged
//! sets in four languages. The order of the results is decided elsewhere; along it the scores
//! are made to fall (pooled where they would rise), so that sorting by score changes nothing.

use model::Score;

use crate::features::Features;

/// Gives the relevance that the evidence speaks for.
///
/// The model's figures lie lower between two languages than within one, for good pairs and bad
/// ones alike, so that an answer in another language has a curve of its own. Words alone decide
/// where a model of an unknown scale says little.
pub(crate) fn relevance(features: &Features) -> f64 {
    let Features { coverage, proximity, .. } = *features;
    let by_words = word_logit(coverage, proximity);
    let logit: f64 = match (features.cosine, features.late) {
        (Some(cosine), Some(late)) => {
            if features.is_foreign {
                -45.5 + 2.5 * coverage + 41.0 * cosine + 41.0 * late
            } else {
                -23.7 + 8.5 * coverage + 8.9 * cosine + 27.3 * late
            }
        }
        (Some(cosine), None) => {
            let together = -35.7 + 13.3 * coverage + 0.75 * proximity + 35.4 * cosine;
            together.max(by_words)
        }
        (None, _) => by_words,
    };
    logistic(logit)
}

/// Gives the relevance that words alone speak for, on the same scale as every other score:
/// `coverage` is the part of the query's worth whose words stand in a text, `proximity` the part
/// of its neighbouring words that are neighbours there.
pub fn relevance_by_words(coverage: f64, proximity: f64) -> Score {
    Score::new(logistic(word_logit(coverage, proximity)))
}

fn word_logit(coverage: f64, proximity: f64) -> f64 {
    -8.2 + 16.4 * coverage + 3.9 * proximity
}

fn logistic(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

/// Makes scores fall along the order with the least change: neighbours that would rise share
/// their mean.
pub(crate) fn falling(scores: &[f64]) -> Vec<Score> {
    let mut pools: Vec<(f64, usize)> = Vec::with_capacity(scores.len());
    for score in scores {
        let mut pool = (*score, 1);
        while let Some(&(sum, n)) = pools.last()
            && sum / n as f64 <= pool.0 / pool.1 as f64
        {
            pools.pop();
            pool = (sum + pool.0, n + pool.1);
        }
        pools.push(pool);
    }
    let spread = |(sum, n): (f64, usize)| std::iter::repeat_n(Score::new(sum / n as f64), n);
    pools.into_iter().flat_map(spread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_fall_along_the_order() {
        let falling = |scores: &[f64]| -> Vec<f64> {
            super::falling(scores).into_iter().map(Score::get).collect()
        };
        assert_eq!(falling(&[0.75, 0.5, 0.25]), [0.75, 0.5, 0.25]);
        assert_eq!(falling(&[0.25, 0.75, 0.125]), [0.5, 0.5, 0.125]);
        assert_eq!(falling(&[]), [0.0; 0]);
    }
}

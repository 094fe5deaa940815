//! Vectors of length 1, and logits as probabilities.

/// Brings a vector to length 1; a vector of zeros stays as it is.
pub(crate) fn scale_to_one(vector: &mut [f32]) {
    let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt() as f32;
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

/// Brings a logit between 0 and 1.
pub(crate) fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}

/// Gives the relevance that the labels of a classifier mean: with one label its logit is the
/// score; with two, the second against the first is.
pub(crate) fn relevance_of(labels: &[f32]) -> f32 {
    match labels {
        [one] => sigmoid(*one),
        [no, yes] => sigmoid(yes - no),
        _ => 0.0,
    }
}

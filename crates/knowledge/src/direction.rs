//! Where a text points in the space of a model: enough to choose between collections.

use infer::Embedder;
use serde::{Deserialize, Serialize};

/// The direction of a text in the space of one model, a byte for each dimension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Direction {
    embedder: String,
    values: Vec<i8>,
}

impl Direction {
    pub(crate) fn new(embedder: &dyn Embedder, vector: &[f32]) -> Self {
        Direction::of(&embedder.id().to_string(), vector)
    }

    pub(crate) fn of(embedder: &str, vector: &[f32]) -> Self {
        let largest = vector.iter().fold(f32::MIN_POSITIVE, |most, value| most.max(value.abs()));
        let scale = f32::from(i8::MAX) / largest;
        let values = vector.iter().map(|value| (value * scale).round() as i8).collect();
        Direction { embedder: embedder.to_owned(), values }
    }

    /// Gives the cosine of two directions; nothing when they are of different models.
    pub(crate) fn cosine(&self, other: &Direction) -> Option<f64> {
        if self.embedder != other.embedder || self.values.len() != other.values.len() {
            return None;
        }
        let product = |one: &[i8], other: &[i8]| -> f64 {
            one.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        };
        let lengths = product(&self.values, &self.values) * product(&other.values, &other.values);
        (lengths > 0.0).then(|| product(&self.values, &other.values) / lengths.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_survive_in_bytes_and_models_do_not_mix() {
        let one = Direction::of("m", &[0.6, 0.8, 0.0]);
        let check = |other: Direction, expected: Option<f64>| match (one.cosine(&other), expected) {
            (Some(found), Some(expected)) => assert!((found - expected).abs() < 0.01, "{found}"),
            (found, expected) => assert_eq!(found, expected),
        };
        check(Direction::of("m", &[6.0, 8.0, 0.0]), Some(1.0));
        check(Direction::of("m", &[0.8, -0.6, 0.0]), Some(0.0));
        check(Direction::of("m", &[0.0, 0.0, 0.0]), None);
        check(Direction::of("m", &[1.0]), None);
        check(Direction::of("n", &[0.6, 0.8, 0.0]), None);
    }
}

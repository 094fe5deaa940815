//! Calibrated relevance: the only number that leaves as `score`.

use std::cmp::Ordering;

use serde::{Serialize, Serializer};

/// Calibrated relevance between 0 and 1, with the same meaning in every family and language.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Score(f64);

impl Score {
    /// Takes a number into the range; what is not a number becomes 0.
    pub fn new(value: f64) -> Self {
        if value.is_nan() { Score(0.0) } else { Score(value.clamp(0.0, 1.0)) }
    }

    /// Gives the number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// Gives the number rounded to four digits, as it is shown.
    pub fn rounded(self) -> f64 {
        (self.0 * 10_000.0).round() / 10_000.0
    }
}

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.rounded())
    }
}

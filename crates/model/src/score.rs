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

    /// Tells whether the score reaches a threshold as it is shown: whoever asks for at least what an
    /// answer said of a result gets that result.
    pub fn reaches(self, threshold: Score) -> bool {
        self >= threshold || self.rounded() >= threshold.0
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_reaches_what_is_shown_of_it() {
        let check = |score: f64, threshold: f64, expected: bool| {
            assert_eq!(Score::new(score).reaches(Score::new(threshold)), expected, "{score}");
        };
        check(0.672_16, 0.6722, true);
        check(0.672_24, 0.6722, true);
        check(0.672_24, 0.672_24, true);
        check(0.672_14, 0.6722, false);
    }
}

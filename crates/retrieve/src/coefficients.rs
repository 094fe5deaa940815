//! The coefficients of the score, written by `cargo xtask fit`. Not edited by hand.

use crate::features::EvidenceKind;

/// Gives the coefficients of a kind of evidence, in the order of its figures.
pub(crate) fn coefficients(kind: EvidenceKind) -> &'static [f64] {
    match kind {
        EvidenceKind::Words => &WORDS,
        EvidenceKind::Vector => &VECTOR,
        EvidenceKind::Tokens => &TOKENS,
    }
}

const WORDS: [f64; 14] = [-8.0, 4.0, 4.0, 4.0, 1.5, 1.0, 0.5, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0];
const VECTOR: [f64; 20] = [
    -8.0, 4.0, 0.0, 3.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0,
    0.0,
];
const TOKENS: [f64; 25] = [
    -8.0, 3.0, 0.0, 3.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.7, 0.0, 0.0, 0.0, 0.0,
    0.0, 1.2, 0.0, 0.0, 0.0, 0.0,
];

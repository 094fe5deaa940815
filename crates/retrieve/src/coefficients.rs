//! The coefficients of the score, written by `cargo xtask fit`. Not edited by hand.
//!
//! Fitted on the queries that are not held out of these judged sets (name, queries):
//! adi, 125;
//! cacm, 146;
//! drcd-dev-test, 211;
//! handbook_en, 158;
//! handbook_en@handbook_ja, 27;
//! handbook_en@handbook_ro, 27;
//! handbook_en@handbook_zh, 27;
//! handbook_ja, 154;
//! handbook_ja@handbook_en, 26;
//! handbook_ro, 152;
//! handbook_ro@handbook_en, 26;
//! handbook_zh, 142;
//! handbook_zh@handbook_ja, 26;
//! jaquad-dev, 219;
//! rulebook_en, 128;
//! rulebook_ja, 132;
//! rulebook_ro, 119;
//! rulebook_zh, 119;
//! xquad-en, 190;
//! xquad-en@xquad-ro, 83;
//! xquad-en@xquad-zh, 83;
//! xquad-ro, 187;
//! xquad-ro@xquad-en, 83;
//! xquad-zh, 189;
//! xquad-zh@xquad-en, 83;

use crate::features::EvidenceKind;

/// Gives the coefficients of a kind of evidence, in the order of its figures.
pub(crate) fn coefficients(kind: EvidenceKind) -> &'static [f64] {
    match kind {
        EvidenceKind::Words => &WORDS,
        EvidenceKind::Vector => &VECTOR,
        EvidenceKind::Tokens => &TOKENS,
    }
}

const WORDS: [f64; 15] = [
    -2.6780,  // one
    0.4138,   // ln content
    4.3160,   // short
    0.8916,   // function_share
    -14.9784, // function_share over
    -0.4122,  // ln passages
    0.0000,   // coverage
    0.5089,   // bm25_share
    2.3089,   // bm25_share × ln content
    0.6375,   // proximity
    0.0000,   // title
    0.8014,   // title_covered
    0.5197,   // title × title_covered
    1.1104,   // rarest
    1.7225,   // coverage × ln content
];

const VECTOR: [f64; 18] = [
    -1.3619,  // one
    -0.0046,  // ln content
    2.2537,   // short
    -0.4226,  // function_share
    -10.1331, // function_share over
    -0.5598,  // ln passages
    3.1890,   // coverage
    0.0000,   // bm25_share
    3.3800,   // bm25_share × ln content
    0.5117,   // proximity
    0.0000,   // title
    0.0000,   // title_covered
    0.7710,   // title × title_covered
    0.0000,   // rarest
    0.1531,   // vector
    0.2485,   // foreign × vector
    -0.6361,  // foreign
    0.7579,   // vector × uncovered
];

const TOKENS: [f64; 19] = [
    -2.4727,  // one
    0.1732,   // ln content
    2.2136,   // short
    0.1138,   // function_share
    -10.9526, // function_share over
    -0.6009,  // ln passages
    3.6004,   // coverage
    0.0000,   // bm25_share
    2.5782,   // bm25_share × ln content
    0.6213,   // proximity
    0.0000,   // title
    0.0000,   // title_covered
    0.4937,   // title × title_covered
    0.0000,   // rarest
    0.1766,   // vector
    0.3491,   // foreign × vector
    -1.0179,  // foreign
    0.1857,   // late
    0.6236,   // late × uncovered
];

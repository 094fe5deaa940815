//! The coefficients of the score, written by `cargo xtask fit`. Not edited by hand.
//!
//! Fitted on the queries that are not held out of these judged sets (name, queries):
//! adi, 119;
//! cacm, 140;
//! handbook_en, 152;
//! handbook_en@handbook_ja, 27;
//! handbook_en@handbook_ro, 27;
//! handbook_en@handbook_zh, 27;
//! handbook_ja, 146;
//! handbook_ja@handbook_en, 26;
//! handbook_ro, 146;
//! handbook_ro@handbook_en, 26;
//! handbook_zh, 135;
//! handbook_zh@handbook_ja, 26;
//! jaquad-dev, 211;
//! rulebook_en, 122;
//! rulebook_ja, 125;
//! rulebook_ro, 113;
//! rulebook_zh, 113;
//! xquad-en, 184;
//! xquad-en@xquad-ro, 83;
//! xquad-en@xquad-zh, 83;
//! xquad-ro, 181;
//! xquad-ro@xquad-en, 83;
//! xquad-zh, 181;
//! xquad-zh@xquad-en, 83;
//!
//! With vectors, their level was moved by `cargo xtask fit --level`: of all off-topic queries, in
//! one language and across, at most 1 % reach 0.6.

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
    -2.1886,  // one
    0.3118,   // ln content
    3.5313,   // short
    0.6375,   // function_share
    -13.6490, // function_share over
    -0.3701,  // ln passages
    0.0000,   // coverage
    0.6375,   // bm25_share
    2.4226,   // bm25_share × ln content
    0.5495,   // proximity
    0.0000,   // title
    0.7762,   // title_covered
    0.6295,   // title × title_covered
    1.0937,   // rarest
    1.2524,   // coverage × ln content
];

const VECTOR: [f64; 18] = [
    -1.8618, // one
    0.1634,  // ln content
    2.4049,  // short
    -0.5076, // function_share
    -8.7372, // function_share over
    -0.5167, // ln passages
    2.9384,  // coverage
    0.0000,  // bm25_share
    3.0080,  // bm25_share × ln content
    0.3772,  // proximity
    0.0000,  // title
    0.0000,  // title_covered
    0.8834,  // title × title_covered
    0.0000,  // rarest
    0.1768,  // vector
    0.2880,  // foreign × vector
    -0.5723, // foreign
    0.7041,  // vector × uncovered
];

const TOKENS: [f64; 19] = [
    -2.9086, // one
    0.4374,  // ln content
    2.6371,  // short
    -0.0052, // function_share
    -9.4152, // function_share over
    -0.5361, // ln passages
    2.8474,  // coverage
    0.0000,  // bm25_share
    2.2210,  // bm25_share × ln content
    0.4459,  // proximity
    0.0000,  // title
    0.0000,  // title_covered
    0.5999,  // title × title_covered
    0.0484,  // rarest
    0.1673,  // vector
    0.3946,  // foreign × vector
    -0.8491, // foreign
    0.2072,  // late
    0.5316,  // late × uncovered
];

//! The coefficients of the score, written by `cargo xtask fit`. Not edited by hand.
//!
//! Fitted on the queries that are not held out of these judged sets (name, queries):
//! adi, 127;
//! cacm, 139;
//! drcd-dev-test, 159;
//! jaquad-dev, 164;
//! rulebook_en, 102;
//! rulebook_ja, 102;
//! rulebook_ro, 93;
//! rulebook_zh, 89;
//! scifact, 153;
//! xquad-en, 138;
//! xquad-ro, 137;
//! xquad-ro@xquad-en, 106;
//! xquad-zh, 136;
//! xquad-zh@xquad-en, 106;

use crate::features::EvidenceKind;

/// Gives the coefficients of a kind of evidence, in the order of its figures.
pub(crate) fn coefficients(kind: EvidenceKind) -> &'static [f64] {
    match kind {
        EvidenceKind::Words => &WORDS,
        EvidenceKind::Vector => &VECTOR,
        EvidenceKind::Tokens => &TOKENS,
    }
}

const WORDS: [f64; 14] = [
    -5.0057, // one
    0.0000,  // coverage
    1.6533,  // half covered
    0.9423,  // bm25_share
    0.4663,  // proximity
    0.0000,  // title
    0.4645,  // title_covered
    2.0058,  // title × title_covered
    0.0000,  // ln matched
    1.1370,  // rarest
    -0.7654, // ln content
    1.9356,  // coverage × ln content
    0.3569,  // function_share
    5.7982,  // bm25_share × ln content
];

const VECTOR: [f64; 20] = [
    -7.5793, // one
    0.0000,  // coverage
    4.9671,  // half covered
    3.2458,  // bm25_share
    0.5651,  // proximity
    0.0000,  // title
    0.0000,  // title_covered
    2.0182,  // title × title_covered
    0.0000,  // ln matched
    0.7801,  // rarest
    -2.0301, // ln content
    5.1499,  // coverage × ln content
    -1.2958, // function_share
    0.0000,  // bm25_share × ln content
    2.8873,  // vector
    -0.7149, // vector over 2
    -1.3920, // vector × coverage
    2.9927,  // foreign
    0.9396,  // foreign × vector
    -1.1988, // vector × short
];

const TOKENS: [f64; 25] = [
    -6.4483, // one
    0.0000,  // coverage
    4.7819,  // half covered
    2.9417,  // bm25_share
    0.5052,  // proximity
    0.0000,  // title
    0.0000,  // title_covered
    1.6725,  // title × title_covered
    0.0000,  // ln matched
    0.8322,  // rarest
    -2.4171, // ln content
    3.7634,  // coverage × ln content
    -0.7411, // function_share
    0.0000,  // bm25_share × ln content
    1.1096,  // vector
    -0.5279, // vector over 2
    -1.1869, // vector × coverage
    -5.3460, // foreign
    -1.2879, // foreign × vector
    0.5061,  // vector × short
    1.5115,  // late
    0.3211,  // late over 2
    2.9011,  // foreign × late
    -0.3343, // ln tokens
    -2.2676, // late × short
];

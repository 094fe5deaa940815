//! The coefficients of the score, in the form that `cargo xtask fit` writes; running it replaces
//! this file. This version was computed from the rows that the program gathered, with its loss,
//! by a script outside of the repository.
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
    -4.4188, // one
    -2.7176, // coverage
    2.9450,  // half covered
    2.4703,  // bm25_share
    0.4693,  // proximity
    -0.7184, // title
    0.6492,  // title_covered
    2.6806,  // title × title_covered
    -0.2439, // ln matched
    1.5615,  // rarest
    -1.1385, // ln content
    3.5565,  // coverage × ln content
    0.1948,  // function_share
    4.6029,  // bm25_share × ln content
];

const VECTOR: [f64; 20] = [
    -8.2384, // one
    -0.5316, // coverage
    3.9745,  // half covered
    4.3834,  // bm25_share
    0.4941,  // proximity
    -1.0725, // title
    -1.0651, // title_covered
    4.6827,  // title × title_covered
    -2.2806, // ln matched
    1.3827,  // rarest
    -1.6523, // ln content
    8.1229,  // coverage × ln content
    -1.4124, // function_share
    -0.4135, // bm25_share × ln content
    2.9431,  // vector
    -0.6705, // vector over 2
    -1.5680, // vector × coverage
    3.0873,  // foreign
    0.8972,  // foreign × vector
    -1.1035, // vector × short
];

const TOKENS: [f64; 25] = [
    -7.0593, // one
    -1.0686, // coverage
    4.1303,  // half covered
    4.3197,  // bm25_share
    0.4645,  // proximity
    -1.0558, // title
    -0.9036, // title_covered
    4.1500,  // title × title_covered
    -2.0716, // ln matched
    1.4661,  // rarest
    -2.0830, // ln content
    6.8490,  // coverage × ln content
    -0.7918, // function_share
    -0.8894, // bm25_share × ln content
    1.2341,  // vector
    -0.4898, // vector over 2
    -1.3246, // vector × coverage
    -5.2144, // foreign
    -1.3051, // foreign × vector
    0.3897,  // vector × short
    1.3629,  // late
    0.3992,  // late over 2
    2.8875,  // foreign × late
    -0.3439, // ln tokens
    -2.0887, // late × short
];

//! From evidence to the score that leaves: relevance between 0 and 1, whatever the query.
//!
//! One logistic curve for each kind of evidence, over figures that no other candidate has a part
//! in. The coefficients are fitted on judged sets by `cargo xtask fit`, which writes
//! `coefficients.rs`; results are sorted by this score and by nothing else.

use model::{Chance, Score};

use crate::coefficients::coefficients;
use crate::features::{Evidence, EvidenceKind, LN_PASSAGES, WordFigures};

/// What the logit of a cross-encoder weighs against the logit of all other evidence. It has read
/// both texts together, so it decides; the rest breaks near ties. Not fitted: chosen so that a
/// clear verdict of the cross-encoder cannot be outvoted.
const CROSS_ENCODER_WEIGHT: f64 = 0.95;

/// Logits of a cross-encoder beyond this say nothing more.
const MAX_LOGIT: f64 = 7.0;

/// Passages of a namespace as it is usual: what a text outside of one is judged by.
const USUAL_PASSAGES: f64 = 1_000.0;

/// Gives the relevance that the evidence speaks for.
pub(crate) fn relevance(evidence: &Evidence) -> Score {
    Score::new(logistic(logit(evidence)))
}

fn logit(evidence: &Evidence) -> f64 {
    let kind = evidence.kind();
    let figures = evidence.figures(kind);
    let own: f64 =
        figures.iter().zip(coefficients(kind)).map(|(figure, weight)| figure * weight).sum();
    match evidence.cross_encoder {
        None => own,
        Some(said) => {
            let said = (said / (1.0 - said)).ln().clamp(-MAX_LOGIT, MAX_LOGIT);
            let own = own.clamp(-MAX_LOGIT, MAX_LOGIT);
            CROSS_ENCODER_WEIGHT * said + (1.0 - CROSS_ENCODER_WEIGHT) * own
        }
    }
}

/// Tells how the score moves when its namespace is searched together with others: by the part of
/// the evidence that is not in words, and by nothing where the words are all there.
pub(crate) fn chance(evidence: &Evidence) -> Option<Chance> {
    let kind = evidence.kind();
    let uncovered = 1.0 - evidence.words.coverage.clamp(0.0, 1.0);
    if kind == EvidenceKind::Words || uncovered <= 0.0 {
        return None;
    }
    let slope = coefficients(kind).get(LN_PASSAGES).copied().unwrap_or_default().min(0.0);
    let share = if evidence.cross_encoder.is_some() { 1.0 - CROSS_ENCODER_WEIGHT } else { 1.0 };
    Some(Chance {
        logit: logit(evidence),
        slope: slope * uncovered * share,
        ln_passages: evidence.words.ln_passages,
    })
}

/// Gives the relevance of a passage among all that were searched together, so many of them.
///
/// A passage that has no word of the query is as near as it is, whichever namespace it is in; what
/// that says depends on how many others had the chance to be as near. A namespace of a hundred
/// passages beside one of a hundred thousand must not make its nearest look like an answer.
pub fn relevance_among(chance: &Chance, n_passages: u64) -> Score {
    let more = (n_passages as f64).ln_1p() - chance.ln_passages;
    Score::new(logistic(chance.logit + chance.slope * more.max(0.0)))
}

/// Gives the relevance of a text that is no passage, by words alone, on the same scale as every
/// other score: `coverage` is the part of the query's worth whose words are in the text,
/// `proximity` the part of its neighbouring words that are neighbours there, `n_words` how many
/// content words the query has.
pub fn relevance_by_words(coverage: f64, proximity: f64, n_words: usize) -> Score {
    if coverage <= 0.0 {
        return Score::default();
    }
    let content = n_words as f64;
    let words = WordFigures {
        coverage,
        // One occurrence in a text of the usual length.
        bm25_share: 0.55 * coverage,
        proximity,
        title: 0.0,
        title_covered: 0.0,
        matched: coverage * content,
        rarest: coverage,
        content,
        function_share: 0.0,
        ln_passages: USUAL_PASSAGES.ln_1p(),
    };
    relevance(&Evidence { words, ..Evidence::default() })
}

fn logistic(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

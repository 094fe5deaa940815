//! Judge: the evidence for every candidate, one file for each kind, and the score that leaves.
//!
//! Invariant: the score of a candidate depends on its own evidence alone. What is gathered for a
//! candidate may depend on its rank within fixed depths, never on the limit or the threshold.

mod cross_encoder;
mod late;
mod vectors;
mod words;

use std::time::Instant;

use model::{Explanation, Hit, Score, Stage, StageScore, Warning};
use store::StoredPassage;

use crate::features::Evidence;
use crate::fuse::Fused;
use crate::question::Question;
use crate::score::relevance;
use crate::semantic::Semantic;
use crate::{Ranked, Request, Result, Retriever, StageTiming, snippet};

/// Candidates that one thread looks at in one go.
const CANDIDATES_AT_ONCE: usize = 16;

/// A candidate with its evidence and its score.
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    pub(crate) fused: Fused,
    pub(crate) passage: StoredPassage,
    pub(crate) evidence: Evidence,
    pub(crate) matches: Vec<text::Match>,
    pub(crate) explanation: Explanation,
    pub(crate) score: Score,
}

impl Judged {
    pub(crate) fn into_ranked(self, request: &Request<'_>) -> Ranked {
        let snippet = snippet::snippet(&self.matches, &self.passage.passage.text);
        let hit = Hit {
            namespace: request.scopes[self.fused.scope_idx].namespace.clone(),
            document: self.fused.document,
            passage: self.fused.passage,
            score: self.score,
            explanation: self.explanation,
        };
        Ranked { hit, passage: self.passage, snippet }
    }
}

/// What the stages before have found.
pub(crate) struct Gathered<'a> {
    pub(crate) question: &'a Question,
    pub(crate) semantic: &'a Semantic,
}

/// Judges the fused candidates and sorts them by score.
pub(crate) fn judge(
    retriever: &Retriever,
    request: &Request<'_>,
    gathered: &Gathered<'_>,
    fused: Vec<Fused>,
    timings: &mut Vec<StageTiming>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Judged>> {
    let begun = Instant::now();
    let mut judged = words::judge(retriever, request, gathered, fused)?;
    timings.push(StageTiming { stage: "bm25", took: begun.elapsed(), skipped: None });

    let begun = Instant::now();
    vectors::judge(retriever, request, gathered, &mut judged, warnings);
    let skipped = late::judge(retriever, request, gathered.semantic, &mut judged, warnings);
    let was_skipped = skipped.is_some();
    timings.push(StageTiming { stage: "late_interaction", took: begun.elapsed(), skipped });
    sort(&mut judged);
    if !was_skipped {
        explain(&mut judged, Stage::LateInteraction, |judged| {
            judged.evidence.late.map(|_| judged.score.get())
        });
    }

    let begun = Instant::now();
    let question = gathered.question;
    let skipped = cross_encoder::judge(retriever, request, question, &mut judged, warnings).err();
    timings.push(StageTiming { stage: "cross_encoder", took: begun.elapsed(), skipped });
    sort(&mut judged);
    Ok(judged)
}

/// Scores the evidence and brings the best first; equals are in the order of scope and passage id.
fn sort(judged: &mut [Judged]) {
    for judged in judged.iter_mut() {
        judged.score = relevance(&judged.evidence);
    }
    judged.sort_by(|one, other| {
        let place = |judged: &Judged| (judged.fused.scope_idx, judged.fused.passage.clone());
        other.score.cmp(&one.score).then_with(|| place(one).cmp(&place(other)))
    });
}

/// Writes what a stage says of each candidate into its explanation, with the rank among those that
/// the stage has seen.
fn explain(judged: &mut [Judged], stage: Stage, score_of: impl Fn(&Judged) -> Option<f64>) {
    let mut seen: Vec<(usize, f64)> = judged
        .iter()
        .enumerate()
        .filter_map(|(idx, judged)| score_of(judged).map(|score| (idx, score)))
        .collect();
    seen.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    for (rank, (idx, score)) in (1..).zip(seen) {
        let entry = StageScore { stage, rank, score, raw: None };
        judged[idx].explanation.stages.push(entry);
    }
}

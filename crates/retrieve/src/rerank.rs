//! Re-rank: the evidence of every candidate, the final order, the score that leaves.

use std::collections::BTreeMap;
use std::time::Instant;

use infer::Reranker;
use model::{Explanation, Hit, PassageId, Score, Stage, StageScore, Warning};
use rayon::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator,
};
use store::StoredPassage;

use crate::breaker::Outcome;
use crate::calibrate::{falling, relevance};
use crate::candidates::List;
use crate::features::{Features, WeighedWords, WordEvidence};
use crate::fuse::Fused;
use crate::meaning::Meaning;
use crate::order::{WEIGHTS, blend};
use crate::question::Question;
use crate::{Ranked, Request, Result, Retriever, StageTiming, snippet};

/// Candidates that one thread looks at in one go.
const CANDIDATES_AT_ONCE: usize = 16;

/// A candidate after the last stage.
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    pub(crate) fused: Fused,
    pub(crate) passage: StoredPassage,
    pub(crate) features: Features,
    pub(crate) matches: Vec<text::Match>,
    pub(crate) explanation: Explanation,
    pub(crate) score: Score,
    /// What the order is made of.
    order: f64,
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

/// Judges the fused candidates and brings them into the final order.
#[expect(clippy::too_many_arguments, reason = "one stage takes what all stages before it gave")]
pub(crate) fn rerank(
    retriever: &Retriever,
    request: &Request<'_>,
    question: &Question,
    by_words: &List,
    meaning: &Meaning,
    fused: Vec<Fused>,
    timings: &mut Vec<StageTiming>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Judged>> {
    let begun = Instant::now();
    let mut judged = look(retriever, request, question, by_words, meaning, fused)?;
    rank_by_bm25(&mut judged, by_words);
    timings.push(StageTiming { stage: "bm25", took: begun.elapsed(), skipped: None });

    let begun = Instant::now();
    let skipped = late_interaction(retriever, request, meaning, &mut judged, warnings);
    let features: Vec<Features> = judged.iter().map(|judged| judged.features).collect();
    for (judged, order) in judged.iter_mut().zip(blend(&features, &WEIGHTS)) {
        judged.order = order;
        judged.score = Score::new(relevance(&judged.features));
    }
    sort(&mut judged);
    let read = match retriever.reranker.as_deref().filter(|_| request.pipeline.model_rerank) {
        Some(reranker) => {
            cross_encoder(retriever, reranker, request, question, &mut judged, warnings)
        }
        None => skipped.map_or(Ok(judged.len()), Err),
    };
    let (n_read, skipped) = match read {
        Ok(n_read) => (n_read, None),
        Err(why) => (0, Some(why)),
    };
    let scores: Vec<f64> = judged.iter().map(|judged| judged.score.get()).collect();
    for (rank, (judged, score)) in (1..).zip(judged.iter_mut().zip(falling(&scores))) {
        // What the stage itself says of a passage that it has read; the order's own figures mean
        // nothing outside of one result.
        let last = StageScore { stage: Stage::CrossEncoder, rank, score: judged.score.get() };
        judged.score = score;
        if rank as usize <= n_read {
            judged.explanation.stages.push(last);
        }
    }
    timings.push(StageTiming { stage: "cross_encoder", took: begun.elapsed(), skipped });
    Ok(judged)
}

/// Reads the candidates and looks for the words of the query in them.
fn look(
    retriever: &Retriever,
    request: &Request<'_>,
    question: &Question,
    by_words: &List,
    meaning: &Meaning,
    fused: Vec<Fused>,
) -> Result<Vec<Judged>> {
    let words =
        WeighedWords::new(&*retriever.store, request.scopes, &question.plain, &question.words)?;
    let mut passages = fetch(retriever, request, &fused)?;
    let candidates: Vec<(u32, Fused, StoredPassage)> = (1..)
        .zip(fused)
        .filter_map(|(rank, fused)| {
            let passage = passages.remove(&(fused.scope_idx, fused.passage.clone()))?;
            Some((rank, fused, passage))
        })
        .collect();
    // Looking for the words costs most of this stage, and no candidate waits for another.
    let evidence: Vec<WordEvidence> = candidates
        .par_iter()
        .with_min_len(CANDIDATES_AT_ONCE)
        .map(|(_, _, passage)| words.evidence(passage))
        .collect();
    let mut judged = Vec::with_capacity(candidates.len());
    for ((rank, fused, passage), evidence) in candidates.into_iter().zip(evidence) {
        let bm25 = fused.words.as_ref().map_or(by_words.floor(), |seen| seen.score);
        // Under a full list a passage may have a vector that is farther away than the last one;
        // otherwise it has none.
        let unseen = meaning.list.is_full.then(|| meaning.list.floor());
        let features = Features {
            bm25,
            bm25_share: words.share_of(bm25),
            coverage: evidence.coverage,
            proximity: evidence.proximity,
            title: evidence.title,
            cosine: fused.vector.as_ref().map(|seen| seen.score).or(unseen),
            late: None,
            is_foreign: evidence.is_foreign,
        };
        let WordEvidence { matches, exact, folded, .. } = evidence;
        let rrf = StageScore { stage: Stage::Rrf, rank, score: fused.rrf };
        let stages = [fused.words.clone(), fused.vector.clone(), Some(rrf)];
        let explanation =
            Explanation { stages: stages.into_iter().flatten().collect(), exact, folded };
        judged.push(Judged {
            fused,
            passage,
            features,
            matches,
            explanation,
            score: Score::default(),
            order: 0.0,
        });
    }
    Ok(judged)
}

fn fetch(
    retriever: &Retriever,
    request: &Request<'_>,
    fused: &[Fused],
) -> Result<BTreeMap<(usize, PassageId), StoredPassage>> {
    let mut passages = BTreeMap::new();
    for (scope_idx, scope) in request.scopes.iter().enumerate() {
        let ids: Vec<PassageId> = fused
            .iter()
            .filter(|fused| fused.scope_idx == scope_idx)
            .map(|fused| fused.passage.clone())
            .collect();
        for stored in retriever.store.passages(&scope.namespace, &ids)?.into_iter().flatten() {
            passages.insert((scope_idx, stored.id().clone()), stored);
        }
    }
    Ok(passages)
}

/// Writes each candidate's place by BM25 alone into its explanation. What a list that is full has
/// left out scores somewhere below it: that is no figure to show.
fn rank_by_bm25(judged: &mut [Judged], by_words: &List) {
    let mut order: Vec<usize> = (0..judged.len()).collect();
    order.sort_by(|one, other| {
        judged[*other].features.bm25.total_cmp(&judged[*one].features.bm25).then(one.cmp(other))
    });
    for (rank, idx) in (1..).zip(order) {
        if judged[idx].fused.words.is_none() && by_words.is_full {
            continue;
        }
        let score = judged[idx].features.bm25;
        judged[idx].explanation.stages.push(StageScore { stage: Stage::Bm25, rank, score });
    }
}

/// Compares the tokens of the query with the kept tokens of each candidate; says why not.
fn late_interaction(
    retriever: &Retriever,
    request: &Request<'_>,
    meaning: &Meaning,
    judged: &mut [Judged],
    warnings: &mut Vec<Warning>,
) -> Option<String> {
    let Some(late) = &meaning.late else {
        let why = meaning.skipped.as_deref().unwrap_or("the model has no token vectors");
        return Some(why.to_owned());
    };
    for (scope_idx, scope) in request.scopes.iter().enumerate() {
        let own: Vec<usize> =
            (0..judged.len()).filter(|idx| judged[*idx].fused.scope_idx == scope_idx).collect();
        let ids: Vec<PassageId> =
            own.iter().map(|idx| judged[*idx].fused.passage.clone()).collect();
        let blobs = match retriever.store.blobs(&scope.namespace, &ids) {
            Ok(blobs) => blobs,
            Err(error) => {
                let message = format!("late interaction was skipped: {error}");
                warnings.push(Warning::new("rerank_skipped", message.clone()));
                judged.iter_mut().for_each(|judged| judged.features.late = None);
                return Some(message);
            }
        };
        let scores: Option<Vec<Option<f64>>> = blobs
            .into_par_iter()
            .with_min_len(CANDIDATES_AT_ONCE)
            .map(|blob| {
                let is_in_time = !request.deadline.is_over();
                is_in_time.then(|| blob.and_then(|blob| late.score(&blob)))
            })
            .collect();
        let Some(scores) = scores else {
            let message = "late interaction was skipped: the deadline came first";
            warnings.push(Warning::new("degraded", message));
            judged.iter_mut().for_each(|judged| judged.features.late = None);
            return Some(message.to_owned());
        };
        for (idx, score) in own.into_iter().zip(scores) {
            judged[idx].features.late = score;
        }
    }
    None
}

/// Lets a cross-encoder judge the best candidates, which then stand first, and tells how many it
/// has read; the order before stands when it cannot, and the reason is the error.
fn cross_encoder(
    retriever: &Retriever,
    reranker: &dyn Reranker,
    request: &Request<'_>,
    question: &Question,
    judged: &mut [Judged],
    warnings: &mut Vec<Warning>,
) -> std::result::Result<usize, String> {
    if !retriever.reranker_breaker.may_try(Instant::now()) {
        let message = "the re-ranker is left out for a while: it failed repeatedly";
        warnings.push(Warning::new("circuit_open", message));
        return Err("the circuit is open".to_owned());
    }
    let n_read = request.pipeline.n_model.min(judged.len());
    let texts: Vec<&str> =
        judged[..n_read].iter().map(|judged| judged.passage.passage.text.as_str()).collect();
    let scores = match reranker.score(&question.plain, &texts, request.deadline) {
        Ok(scores) if scores.len() == n_read => scores,
        outcome => {
            retriever.reranker_breaker.record(Outcome::Failed, Instant::now());
            let why = match outcome {
                Ok(scores) => format!("it gave {} scores for {n_read} passages", scores.len()),
                Err(error) => error.to_string(),
            };
            let message = format!("the re-ranker was skipped, the order before stands: {why}");
            warnings.push(Warning::new("rerank_skipped", message));
            return Err(why);
        }
    };
    retriever.reranker_breaker.record(Outcome::Worked, Instant::now());
    let (read, rest) = judged.split_at_mut(n_read);
    for (judged, score) in read.iter_mut().zip(scores) {
        judged.score = Score::new(f64::from(score));
        judged.order = judged.score.get();
    }
    sort(read);
    // What the model has not read comes after what it has.
    let least = read.last().map_or(1.0, |judged| judged.score.get());
    for judged in rest {
        judged.score = Score::new(judged.score.get().min(least));
        judged.order = judged.score.get();
    }
    Ok(n_read)
}

/// Best first; equals stand in the order of scope and passage id.
fn sort(judged: &mut [Judged]) {
    judged.sort_by(|one, other| {
        let place = |judged: &Judged| (judged.fused.scope_idx, judged.fused.passage.clone());
        other.order.total_cmp(&one.order).then_with(|| place(one).cmp(&place(other)))
    });
}

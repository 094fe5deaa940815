//! Judge: the evidence for every candidate, one file for each kind, and the score that leaves.
//!
//! Invariant: the score of a candidate depends on its own evidence alone. What is gathered for a
//! candidate may depend on its rank within fixed depths, never on the limit or the threshold.

mod cross_encoder;
mod late;
mod missing;
mod vectors;
mod words;

use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use model::{Explanation, Hit, Score, Stage, StageScore, Warning};
use store::StoredPassage;

use crate::features::Evidence;
use crate::fuse::Fused;
use crate::question::Question;
use crate::score::{chance, relevance};
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
    pub(crate) matches: Vec<snippet::WordMatch>,
    pub(crate) explanation: Explanation,
    pub(crate) score: Score,
}

impl Judged {
    pub(crate) fn into_ranked(self, request: &Request<'_>) -> Ranked {
        let hit = Hit {
            namespace: request.scopes[self.fused.scope_idx].namespace.clone(),
            document: self.fused.document,
            passage: self.fused.passage,
            score: self.score,
            explanation: self.explanation,
        };
        Ranked { hit, passage: self.passage, matches: self.matches }
    }
}

/// Gives the rank that the fusion gave a candidate, from 1.
pub(crate) fn rank_of(explanation: &Explanation) -> usize {
    let fused = explanation.stages.iter().find(|seen| seen.stage == Stage::Rrf);
    fused.map_or(0, |seen| seen.rank as usize)
}

/// What the stages before have found.
pub(crate) struct Gathered<'a> {
    pub(crate) question: &'a Question,
    pub(crate) semantic: &'a Semantic,
}

/// Candidates that are judged at a time.
pub(crate) struct Depth {
    /// How many are judged at first, and how many more each time.
    pub(crate) block: usize,
    /// How many a page needs, where it is beyond the others.
    pub(crate) n_asked: usize,
    /// How many of those that come first may get a vector that they lack.
    pub(crate) n_made: usize,
}

impl Depth {
    /// Gives the depths of a search that is sorted by score.
    pub(crate) fn by_score(block: usize, n_asked: usize) -> Self {
        Depth { block, n_asked, n_made: missing::MAX_MADE }
    }

    /// Gives the depths of a page whose order the caller fixes.
    pub(crate) fn of_page(block: usize) -> Self {
        Depth { block, n_asked: 0, n_made: 0 }
    }
}

/// More blocks than these are not judged because of what the ones before are like.
const MAX_BLOCKS: usize = 3;

/// Gives how many candidates are judged at most, by the size of a block and what a page asks for.
pub(crate) fn most_judged(block: usize, n_asked: usize) -> usize {
    (MAX_BLOCKS * block).max(n_asked)
}

/// The part of a block that has to be relevant for the next one to be judged too. Most questions
/// have a few answers, and stop at the first block.
const RICH_PART: f64 = 0.1;

/// What counts as relevant there: somewhat below what callers ask for.
const RICH_SCORE: f64 = 0.5;

/// What was judged, best first.
pub(crate) struct Verdict {
    pub(crate) judged: Vec<Judged>,
    /// Candidates, by rank of the fusion, that are judged whatever page is asked for.
    pub(crate) depth: usize,
    /// Candidates that no page of this size needs, and nobody judged.
    pub(crate) n_unjudged: usize,
}

/// Judges the fused candidates and sorts them by score.
///
/// How many depends on the query and on what is stored, and on a page only where that is beyond
/// them: a block in which many are relevant is followed by the next, so that a threshold does not
/// cut off what it would keep.
pub(crate) fn judge(
    retriever: &Retriever,
    request: &Request<'_>,
    gathered: &Gathered<'_>,
    mut fused: Vec<Fused>,
    depth: &Depth,
    timings: &mut Vec<StageTiming>,
    warnings: &mut Vec<Warning>,
) -> Result<Verdict> {
    let mut gathering = Gathering::default();
    let mut rest = fused.split_off(fused.len().min(depth.block));
    gathering.add(retriever, request, gathered, fused, warnings)?;
    if gathering.late_skipped.is_none() || gathered.semantic.late.is_none() {
        let first = &mut gathering.judged;
        let made = missing::judge(retriever, request, gathered, first, depth.n_made, warnings);
        timings.extend(made);
    }
    let mut n_relevant = gathering.n_relevant(0);
    let mut n_judged = depth.block;
    for _ in 1..MAX_BLOCKS {
        let is_rich = n_relevant as f64 >= RICH_PART * depth.block as f64;
        if !is_rich || rest.is_empty() || request.deadline.is_over() {
            break;
        }
        let next = rest.split_off(rest.len().min(depth.block));
        let block = std::mem::replace(&mut rest, next);
        let n_before = gathering.judged.len();
        gathering.add(retriever, request, gathered, block, warnings)?;
        n_relevant = gathering.n_relevant(n_before);
        n_judged += depth.block;
    }
    let n_more = depth.n_asked.saturating_sub(n_judged);
    let n_unjudged = rest.len().saturating_sub(n_more);
    if n_more > 0 && !rest.is_empty() {
        rest.truncate(n_more);
        gathering.add(retriever, request, gathered, rest, warnings)?;
    }
    let Gathering { mut judged, words_took, late_took, late_skipped } = gathering;
    let was_skipped = late_skipped.is_some();
    timings.push(StageTiming { stage: "bm25", took: words_took, skipped: None });
    let late = StageTiming { stage: "late_interaction", took: late_took, skipped: late_skipped };
    timings.push(late);
    explain(&mut judged, Stage::Bm25, |judged| Some(judged.evidence.words.bm25_share));
    sort(&mut judged);
    if !was_skipped {
        explain(&mut judged, Stage::LateInteraction, |judged| {
            judged.evidence.late.map(|_| judged.score.get())
        });
    }

    // What is judged for a page alone is not read: it would take the place of what every page gives.
    let (mut judged, for_page): (Vec<Judged>, Vec<Judged>) =
        judged.into_iter().partition(|judged| rank_of(&judged.explanation) <= n_judged);
    let begun = Instant::now();
    let question = gathered.question;
    let skipped = cross_encoder::judge(retriever, request, question, &mut judged, warnings).err();
    timings.push(StageTiming { stage: "cross_encoder", took: begun.elapsed(), skipped });
    judged.extend(for_page);
    sort(&mut judged);
    for judged in &mut judged {
        judged.explanation.chance = chance(&judged.evidence);
    }
    Ok(Verdict { judged, depth: n_judged, n_unjudged })
}

/// The blocks that were judged so far.
#[derive(Default)]
struct Gathering {
    judged: Vec<Judged>,
    words_took: Duration,
    late_took: Duration,
    late_skipped: Option<String>,
}

impl Gathering {
    /// Judges the next block.
    fn add(
        &mut self,
        retriever: &Retriever,
        request: &Request<'_>,
        gathered: &Gathered<'_>,
        block: Vec<Fused>,
        warnings: &mut Vec<Warning>,
    ) -> Result<()> {
        let begun = Instant::now();
        let (n_before, semantic) = (self.judged.len(), gathered.semantic);
        let is_late = self.late_skipped.is_none();
        let near = |block: &[Fused]| vectors::ask(retriever, request, gathered, block);
        let (judged, unlisted, tokens) = if retriever.store.is_over_a_network() {
            // None of the three waits for another, and each waits for a server.
            let asked = block.clone();
            std::thread::scope(|scope| {
                let unlisted = scope.spawn(|| near(&asked));
                let tokens = is_late
                    .then(|| scope.spawn(|| late::read(retriever, request, semantic, &asked)));
                let judged = words::judge(retriever, request, gathered, block, n_before);
                (judged, joined(unlisted), tokens.map(joined))
            })
        } else {
            let unlisted = near(&block);
            (words::judge(retriever, request, gathered, block, n_before), unlisted, None)
        };
        let mut judged = judged?;
        self.words_took += begun.elapsed();
        let begun = Instant::now();
        vectors::judge(semantic, unlisted, &mut judged, warnings);
        if is_late {
            self.late_skipped =
                late::judge(retriever, request, semantic, tokens, &mut judged, warnings);
        }
        self.judged.append(&mut judged);
        if self.late_skipped.is_some() {
            // All are compared or none is, so that no block is judged by less than another.
            self.judged.iter_mut().for_each(|judged| judged.evidence.late = None);
        }
        self.late_took += begun.elapsed();
        Ok(())
    }

    /// Counts what is relevant behind the first `n_before`.
    fn n_relevant(&self, n_before: usize) -> usize {
        let is_relevant = |judged: &&Judged| relevance(&judged.evidence).get() >= RICH_SCORE;
        self.judged[n_before..].iter().filter(is_relevant).count()
    }
}

/// Gives what a thread of this search gives, with its panic.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
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

//! Evidence by words: the candidates are read and the words of the query looked for in them.

use std::collections::{BTreeMap, BTreeSet};

use model::{Explanation, PassageId, Score, Stage, StageScore};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use store::StoredPassage;
use text::{Language, LanguageSet};

use super::{CANDIDATES_AT_ONCE, Gathered, Judged};
use crate::features::Evidence;
use crate::fuse::Fused;
use crate::question::TermsByLanguage;
use crate::scopes::each_scope;
use crate::words::{WeighedWords, WordEvidence};
use crate::{Request, Result, Retriever};

/// Reads the candidates and looks for the words of the query in them; `n_before` have a better rank.
pub(super) fn judge(
    retriever: &Retriever,
    request: &Request<'_>,
    gathered: &Gathered<'_>,
    fused: Vec<Fused>,
    n_before: usize,
) -> Result<Vec<Judged>> {
    let question = gathered.question;
    let store = &retriever.store;
    let mut passages = fetch(retriever, request, &fused)?;
    let mut wanted: Vec<BTreeSet<Language>> = vec![BTreeSet::new(); request.scopes.len()];
    for ((scope_idx, _), stored) in &passages {
        wanted[*scope_idx].insert(stored.language);
    }
    let n_scopes = request.scopes.len();
    let own: Vec<LanguageSet> =
        (0..n_scopes).map(|scope_idx| question.known.languages_of(scope_idx)).collect();
    let single = wanted.iter().flatten().map(|language| LanguageSet::from_iter([*language]));
    let sets: Vec<LanguageSet> = own.iter().copied().chain(single).collect();
    let terms = TermsByLanguage::new(question, sets.iter().copied());
    let characters = question.by_characters();
    let characters = characters.map(|own| TermsByLanguage::new(own, sets.iter().copied()));
    let weighed = each_scope(store, request.scopes, |scope_idx, scope| {
        let characters = characters.as_ref().filter(|_| question.is_by_characters(scope_idx));
        let terms = characters.unwrap_or(&terms);
        WeighedWords::new(store, scope, own[scope_idx], question, terms, &wanted[scope_idx])
    });
    let weighed = weighed.into_iter().collect::<Result<Vec<_>>>()?;
    let first_rank = u32::try_from(n_before).unwrap_or(u32::MAX).saturating_add(1);
    let candidates: Vec<(u32, Fused, StoredPassage)> = (first_rank..)
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
        .map(|(_, fused, passage)| weighed[fused.scope_idx].evidence(passage))
        .collect();
    let mut judged = Vec::with_capacity(candidates.len());
    for ((rank, fused, passage), evidence) in candidates.into_iter().zip(evidence) {
        let WordEvidence { figures, is_foreign, matches, exact, folded } = evidence;
        let scope_idx = fused.scope_idx;
        let k1 = f64::from(request.pipeline.bm25.k1);
        // BM25 has no upper end of its own; what the query could reach is one.
        let sparse = fused.words.clone().map(|seen| StageScore {
            score: weighed[fused.scope_idx].share_of(seen.score, k1),
            raw: Some(seen.score),
            ..seen
        });
        let dense = fused.vector.clone().map(|seen| StageScore {
            score: seen.score.clamp(0.0, 1.0),
            raw: Some(seen.score),
            ..seen
        });
        let rrf = StageScore { stage: Stage::Rrf, rank, score: fused.rrf, raw: None };
        let stages = [sparse, dense, Some(rrf)].into_iter().flatten().collect();
        judged.push(Judged {
            fused,
            passage,
            evidence: Evidence { words: figures, is_foreign, ..Evidence::default() },
            matches: weighed[scope_idx].found(&matches),
            explanation: Explanation { stages, exact, folded, chance: None },
            score: Score::default(),
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
    let store = &retriever.store;
    let read = each_scope(store, request.scopes, |scope_idx, scope| {
        let ids: Vec<PassageId> = fused
            .iter()
            .filter(|fused| fused.scope_idx == scope_idx)
            .map(|fused| fused.passage.clone())
            .collect();
        if ids.is_empty() { Ok(vec![]) } else { store.passages(&scope.namespace, &ids) }
    });
    for (scope_idx, read) in read.into_iter().enumerate() {
        for stored in read?.into_iter().flatten() {
            passages.insert((scope_idx, stored.id().clone()), stored);
        }
    }
    Ok(passages)
}

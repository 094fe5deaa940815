//! The order of the stages, and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use infer::{Embedder, ModelState};
use model::{Explanation, Hit, PassageId, Stage, StageScore, Warning};
use store::{PassageStore, StoredPassage};

use crate::candidates::{Gathered, by_vector, by_words};
use crate::fuse::{Fused, fuse};
use crate::question::analyse;
use crate::{Grouping, Ranked, Request, Response, Result, StageTiming, Total, rank, snippet};

/// Gives the embedder of the moment, or why there is none.
pub type EmbedderSource =
    Arc<dyn Fn() -> std::result::Result<Arc<dyn Embedder>, ModelState> + Send + Sync>;

/// Searches a store.
#[derive(Clone)]
pub struct Retriever {
    store: Arc<dyn PassageStore>,
    embedder: EmbedderSource,
}

impl Retriever {
    /// Makes a retriever over a store and an embedder that may come and go.
    pub fn new(store: Arc<dyn PassageStore>, embedder: EmbedderSource) -> Self {
        Retriever { store, embedder }
    }

    /// Gives the store.
    pub fn store(&self) -> &Arc<dyn PassageStore> {
        &self.store
    }

    /// Answers a search.
    ///
    /// Fails only when the store cannot be read by words; every other stage that fails is
    /// skipped with a warning.
    pub fn search(&self, request: &Request<'_>) -> Result<Response> {
        let mut warnings = Vec::new();
        let mut timings = Vec::new();
        let question = analyse(request.query, request.pipeline);
        let mut gathered = Gathered::default();

        let begun = Instant::now();
        by_words(&*self.store, request, &question, &mut gathered)?;
        timings.push(StageTiming { stage: "sparse", took: begun.elapsed(), skipped: None });

        let begun = Instant::now();
        let skipped = self.dense(request, &mut gathered, &mut warnings);
        timings.push(StageTiming { stage: "dense", took: begun.elapsed(), skipped });

        if gathered.is_partial {
            warnings.push(Warning::new("deadline", "the search was cut short by its deadline"));
        }
        let mut fused = fuse(&gathered, request.pipeline);
        let total = Total {
            n: fused.len(),
            is_exact: gathered.by_words.len() < request.pipeline.n_by_words,
        };
        fused.truncate(request.pipeline.n_lexical.max(request.offset + request.limit));
        let passages = self.fetch(request, &fused)?;
        let mut hits: Vec<Ranked> = fused
            .iter()
            .filter_map(|fused| {
                let passage = passages.get(&(fused.scope_idx, fused.passage.clone()))?;
                Some(ranked(request, fused, passage, &question.words))
            })
            .collect();
        if let Some(threshold) = request.threshold {
            hits.retain(|ranked| ranked.hit.score >= threshold);
        }
        if request.grouping == Grouping::Documents {
            let mut seen = std::collections::BTreeSet::new();
            hits.retain(|ranked| {
                seen.insert((ranked.hit.namespace.clone(), ranked.hit.document.clone()))
            });
        }
        let hits = hits.into_iter().skip(request.offset).take(request.limit).collect();
        Ok(Response { hits, total, warnings, timings, coverage: gathered.coverage() })
    }

    fn dense(
        &self,
        request: &Request<'_>,
        gathered: &mut Gathered,
        warnings: &mut Vec<Warning>,
    ) -> Option<String> {
        if request.pipeline.n_by_vector == 0 {
            return Some("not asked for".to_owned());
        }
        let embedder = match (self.embedder)() {
            Ok(embedder) => embedder,
            Err(state) => {
                warnings.extend(state.warning());
                return Some("no model".to_owned());
            }
        };
        match embedder.embed_query(request.query, request.deadline) {
            Ok(vector) => {
                by_vector(&*self.store, request, &vector, gathered, warnings);
                None
            }
            Err(error) => {
                let state = ModelState::from_error(&embedder.id().name, &error);
                warnings.extend(state.warning());
                Some(error.to_string())
            }
        }
    }

    fn fetch(
        &self,
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
            for stored in self.store.passages(&scope.namespace, &ids)?.into_iter().flatten() {
                passages.insert((scope_idx, stored.id().clone()), stored);
            }
        }
        Ok(passages)
    }
}

fn ranked(
    request: &Request<'_>,
    fused: &Fused,
    passage: &StoredPassage,
    words: &[text::QueryWord],
) -> Ranked {
    let rrf = StageScore { stage: Stage::Rrf, rank: 0, score: fused.rrf };
    let stages = [fused.words.clone(), fused.vector.clone(), Some(rrf)];
    let explanation =
        Explanation { stages: stages.into_iter().flatten().collect(), ..Explanation::default() };
    let namespace = request.scopes[fused.scope_idx].namespace.clone();
    let hit = Hit {
        namespace,
        document: passage.document.clone(),
        passage: fused.passage.clone(),
        score: rank::score(fused),
        explanation,
    };
    let snippet = snippet::snippet(words, &passage.passage.text);
    Ranked { hit, passage: passage.clone(), snippet }
}

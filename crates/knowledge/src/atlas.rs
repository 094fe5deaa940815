//! The first stage of a search: which collections a question is about, by their summaries.
//!
//! A summary is near to a question by the words they share and, where there is a model, by vector;
//! the two rankings are fused. The ranking decides only in which order collections are searched
//! when there are more than one search opens: none is left out for its summary, and when the time
//! is over before the last one, the answer says how many were not searched.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use model::Deadline;
use text::{Analyzer, LanguageSet, QueryWord};

use crate::direction::Direction;
use crate::object_ids::CollectionId;
use crate::objects::Collection;
use crate::summary::StoredSummary;
use crate::{Result, Service, limits};

/// The constant of reciprocal rank fusion.
const RRF_K: f64 = 60.0;

/// How long the model may take for the question; the search goes on with words afterwards.
const MODEL_WAIT: Duration = Duration::from_secs(2);

impl Service {
    /// Gives the positions of the collections, the nearest to the question first; nothing when
    /// one search opens all of them.
    pub(crate) fn rank_collections(
        &self,
        query: &str,
        collections: &[&Collection],
        deadline: &Deadline,
    ) -> Result<Option<Vec<usize>>> {
        if collections.len() <= limits::MAX_SEARCHED_COLLECTIONS {
            return Ok(None);
        }
        let summaries = self.kept_summaries(collections)?;
        let vector = match summaries.values().any(|kept| kept.embedding.is_some()) {
            true => self.vector_of(query, deadline),
            false => None,
        };
        Ok(Some(rank(query, vector.as_ref(), collections, &summaries)))
    }

    /// Embeds a question as the search after this stage does, so that it is done once.
    fn vector_of(&self, query: &str, deadline: &Deadline) -> Option<Direction> {
        let deadline = deadline.part(1.0, MODEL_WAIT);
        let embedder = self.0.vectors.embedder().get(&deadline).ok()?;
        let vector = match embedder.has_token_vectors() {
            true => embedder.embed_query_with_tokens(query, &deadline).ok()?.pooled,
            false => embedder.embed_query(query, &deadline).ok()?,
        };
        Some(Direction::new(&*embedder, &vector))
    }
}

/// Ranks collections by their summaries: those that are near, those of which nothing is known
/// yet, the rest.
fn rank(
    query: &str,
    vector: Option<&Direction>,
    collections: &[&Collection],
    summaries: &HashMap<CollectionId, StoredSummary>,
) -> Vec<usize> {
    let kept: Vec<Option<&StoredSummary>> =
        collections.iter().map(|collection| summaries.get(&collection.id)).collect();
    let by_words = ranked(&word_scores(query, collections, &kept), |score| score > 0.0);
    let by_vector: Vec<f64> = kept
        .iter()
        .map(|kept| {
            let embedding = kept.and_then(|kept| kept.embedding.as_ref());
            vector.zip(embedding).and_then(|(one, other)| one.cosine(other)).unwrap_or(f64::MIN)
        })
        .collect();
    let by_vector = ranked(&by_vector, |cosine| cosine > f64::MIN);
    let mut fused = vec![0.0; collections.len()];
    for ranking in [&by_words, &by_vector] {
        for (rank, idx) in (1_u32..).zip(ranking) {
            fused[*idx] += 1.0 / (RRF_K + f64::from(rank));
        }
    }
    // Of what has no summary yet nothing is known, so it comes before what is known to be far.
    for (fused, kept) in fused.iter_mut().zip(&kept) {
        if kept.is_none() {
            *fused += f64::MIN_POSITIVE;
        }
    }
    ranked(&fused, |_| true)
}

/// Weighs the words that a question shares with each summary.
fn word_scores(
    query: &str,
    collections: &[&Collection],
    kept: &[Option<&StoredSummary>],
) -> Vec<f64> {
    let words = Analyzer::new().analyze_query(query, LanguageSet::all());
    let terms: Vec<HashSet<String>> = collections
        .iter()
        .zip(kept)
        .map(|(collection, kept)| terms_of(collection, *kept))
        .collect();
    let has = |terms: &HashSet<String>, word: &QueryWord| {
        word.terms.iter().any(|term| terms.contains(term))
    };
    let mut scores = vec![0.0_f64; collections.len()];
    for word in &words {
        let n_with = terms.iter().filter(|terms| has(terms, word)).count();
        // A word that every summary holds, or none, says nothing about where to look.
        let weight = ((collections.len() + 1) as f64 / (n_with + 1) as f64).ln();
        for (score, terms) in scores.iter_mut().zip(&terms) {
            *score += if has(terms, word) { weight } else { 0.0 };
        }
    }
    scores
}

fn terms_of(collection: &Collection, kept: Option<&StoredSummary>) -> HashSet<String> {
    let text = format!("{}. {}", collection.name, collection.description);
    let own = Analyzer::new().analyze(&text).into_iter().map(|token| token.stem);
    let kept = kept.into_iter().flat_map(|kept| kept.keywords.iter().chain(&kept.terms).cloned());
    own.chain(kept).collect()
}

/// Gives the positions of the scores that count, the highest first.
fn ranked(scores: &[f64], counts: impl Fn(f64) -> bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).filter(|idx| counts(scores[*idx])).collect();
    order.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]).then(one.cmp(other)));
    order
}

#[cfg(test)]
mod tests {
    use model::{Clearance, TenantId, Timestamp};

    use super::*;
    use crate::KnowledgeBaseId;

    fn collection(id: usize) -> Collection {
        Collection {
            id: CollectionId::new(id.to_string()),
            knowledge_base_id: KnowledgeBaseId::new("base"),
            tenant: TenantId::local(),
            name: format!("part {id}"),
            description: String::new(),
            department: None,
            clearance: Clearance::Internal,
            shared_with: crate::Sharing::default(),
            n_documents: 1,
            n_chunks: 1,
            created_at: Timestamp(0),
            updated_at: Timestamp(0),
        }
    }

    fn summary(id: usize, word: &str, vector: Option<[f32; 2]>) -> (String, StoredSummary) {
        let mut kept = StoredSummary::empty(&collection(id), Timestamp(0));
        kept.terms = vec![word.to_owned()];
        kept.embedding = vector.map(|vector| Direction::of("test", &vector));
        (id.to_string(), kept)
    }

    fn chosen(
        query: &str,
        vector: Option<[f32; 2]>,
        summaries: Vec<(String, StoredSummary)>,
    ) -> Vec<usize> {
        let collections: Vec<Collection> = (0..20).map(collection).collect();
        let collections: Vec<&Collection> = collections.iter().collect();
        let vector = vector.map(|vector| Direction::of("test", &vector));
        let summaries =
            summaries.into_iter().map(|(id, kept)| (CollectionId::new(id), kept)).collect();
        rank(query, vector.as_ref(), &collections, &summaries)
    }

    #[test]
    fn words_and_vectors_rank_together() {
        let all = |word: &dyn Fn(usize) -> &'static str, vectors: bool| {
            (0..20)
                .map(|id| {
                    let angle = id as f32 / 20.0;
                    summary(id, word(id), vectors.then(|| [angle.cos(), angle.sin()]))
                })
                .collect::<Vec<_>>()
        };
        let word = |id: usize| if id == 7 { "bee" } else { "tree" };
        assert_eq!(chosen("bee", None, all(&word, false))[0], 7);
        // By vector alone: the nearest, though no word is shared.
        let nearest = chosen("ape", Some([1.0, 0.0]), all(&word, true));
        assert_eq!(nearest, (0..20).collect::<Vec<_>>());
        // Both: the one with the word is first, the rest by vector.
        let both = chosen("bee", Some([1.0, 0.0]), all(&word, true));
        assert_eq!((both[0], both[1], both.len()), (7, 0, 20));
    }

    #[test]
    fn what_is_unknown_comes_before_what_is_far_and_nothing_is_left_out() {
        let few = chosen("bee", None, vec![summary(3, "bee", None), summary(4, "ant", None)]);
        assert_eq!((few[0], few[19], few.len()), (3, 4, 20));
        // Vectors of another model say nothing.
        let mut other = summary(3, "ant", Some([1.0, 0.0]));
        other.1.embedding = Some(Direction::of("another", &[1.0, 0.0]));
        assert_eq!(chosen("bee", Some([1.0, 0.0]), vec![other])[19], 3);
    }
}

//! The first stage of a search: which collections a question is about, by their summaries.
//!
//! A summary is near to a question by the words they share and, where there is a model, by
//! meaning; the two rankings are fused. It only narrows where there are many collections, and
//! never to nothing: where no summary is near, all collections are searched, and a collection
//! without a summary yet is always among those that are.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use model::Deadline;
use text::{Analyzer, LanguageSet, QueryWord};

use crate::direction::Direction;
use crate::objects::Collection;
use crate::summary::KeptSummary;
use crate::{Result, Service, limits};

/// The constant of reciprocal rank fusion.
const RRF_K: f64 = 60.0;

/// How long the model may take for the question; the search goes on with words afterwards.
const MODEL_WAIT: Duration = Duration::from_secs(2);

/// Which collections are searched first, as positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Narrowed {
    /// Those to search, best first.
    pub(crate) order: Vec<usize>,
    /// All of them, best first.
    pub(crate) ranking: Vec<usize>,
}

impl Service {
    /// Chooses the collections to search; nothing when all should be.
    pub(crate) fn narrow(
        &self,
        query: &str,
        collections: &[&Collection],
        deadline: &Deadline,
    ) -> Result<Option<Narrowed>> {
        if collections.len() <= limits::ATLAS_KEEPS {
            return Ok(None);
        }
        let summaries = self.kept_summaries(collections)?;
        let vector = match summaries.values().any(|kept| kept.meaning.is_some()) {
            true => self.vector_of(query, deadline),
            false => None,
        };
        Ok(narrow(query, vector.as_ref(), collections, &summaries))
    }

    /// Embeds a question as the search after this stage does, so that it is done once.
    fn vector_of(&self, query: &str, deadline: &Deadline) -> Option<Direction> {
        let deadline = Deadline::after(MODEL_WAIT.min(deadline.remaining()));
        let embedder = self.0.vectors.embedder().get(&deadline).ok()?;
        let vector = match embedder.has_token_vectors() {
            true => embedder.embed_query_with_tokens(query, &deadline).ok()?.pooled,
            false => embedder.embed_query(query, &deadline).ok()?,
        };
        Some(Direction::new(&*embedder, &vector))
    }
}

/// Ranks collections by their summaries.
fn narrow(
    query: &str,
    vector: Option<&Direction>,
    collections: &[&Collection],
    summaries: &HashMap<String, KeptSummary>,
) -> Option<Narrowed> {
    let kept: Vec<Option<&KeptSummary>> =
        collections.iter().map(|collection| summaries.get(&collection.id)).collect();
    let by_words = ranked(&word_scores(query, collections, &kept), |score| score > 0.0);
    let by_meaning: Vec<f64> = kept
        .iter()
        .map(|kept| {
            let meaning = kept.and_then(|kept| kept.meaning.as_ref());
            vector.zip(meaning).and_then(|(one, other)| one.cosine(other)).unwrap_or(f64::MIN)
        })
        .collect();
    let by_meaning = ranked(&by_meaning, |cosine| cosine > f64::MIN);
    if by_words.is_empty() && by_meaning.is_empty() {
        return None;
    }
    let mut fused = vec![0.0; collections.len()];
    for ranking in [&by_words, &by_meaning] {
        for (rank, idx) in (1_u32..).zip(ranking) {
            fused[*idx] += 1.0 / (RRF_K + f64::from(rank));
        }
    }
    let ranking = ranked(&fused, |_| true);
    let near = ranking.iter().copied().filter(|idx| fused[*idx] > 0.0);
    let mut order: Vec<usize> = near.take(limits::ATLAS_KEEPS).collect();
    // Of what has no summary yet nothing is known, so it cannot be left out.
    let unknown = (0..collections.len()).filter(|idx| kept[*idx].is_none());
    let unknown: Vec<usize> = unknown.filter(|idx| !order.contains(idx)).collect();
    order.extend(unknown);
    (order.len() < collections.len()).then_some(Narrowed { order, ranking })
}

/// Weighs the words that a question shares with each summary.
fn word_scores(
    query: &str,
    collections: &[&Collection],
    kept: &[Option<&KeptSummary>],
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

fn terms_of(collection: &Collection, kept: Option<&KeptSummary>) -> HashSet<String> {
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

    fn collection(id: usize) -> Collection {
        Collection {
            id: id.to_string(),
            knowledge_base_id: "base".to_owned(),
            tenant: TenantId::local(),
            name: format!("part {id}"),
            description: String::new(),
            department: None,
            clearance: Clearance::Internal,
            n_documents: 1,
            n_chunks: 1,
            created_at: Timestamp(0),
            updated_at: Timestamp(0),
        }
    }

    fn summary(id: usize, word: &str, vector: Option<[f32; 2]>) -> (String, KeptSummary) {
        let mut kept = KeptSummary::empty(&collection(id), Timestamp(0));
        kept.terms = vec![word.to_owned()];
        kept.meaning = vector.map(|vector| Direction::of("test", &vector));
        (id.to_string(), kept)
    }

    fn chosen(
        query: &str,
        vector: Option<[f32; 2]>,
        summaries: Vec<(String, KeptSummary)>,
    ) -> Option<Vec<usize>> {
        let collections: Vec<Collection> = (0..20).map(collection).collect();
        let collections: Vec<&Collection> = collections.iter().collect();
        let vector = vector.map(|vector| Direction::of("test", &vector));
        let summaries = summaries.into_iter().collect();
        narrow(query, vector.as_ref(), &collections, &summaries).map(|narrowed| narrowed.order)
    }

    #[test]
    fn words_and_meaning_choose_together() {
        let all = |word: &dyn Fn(usize) -> &'static str, vectors: bool| {
            (0..20)
                .map(|id| {
                    let angle = id as f32 / 20.0;
                    summary(id, word(id), vectors.then(|| [angle.cos(), angle.sin()]))
                })
                .collect::<Vec<_>>()
        };
        let word = |id: usize| if id == 7 { "bee" } else { "tree" };
        assert_eq!(chosen("bee", None, all(&word, false)), Some(vec![7]));
        // By meaning alone: the nearest vectors, though no word is shared.
        let nearest = chosen("ape", Some([1.0, 0.0]), all(&word, true)).unwrap();
        assert_eq!(nearest, (0..limits::ATLAS_KEEPS).collect::<Vec<_>>());
        // Both: the one with the word is first, the rest by meaning.
        let both = chosen("bee", Some([1.0, 0.0]), all(&word, true)).unwrap();
        assert_eq!((both[0], both.len()), (7, limits::ATLAS_KEEPS));
        assert!(both.contains(&0));
    }

    #[test]
    fn what_is_unknown_is_never_left_out() {
        assert_eq!(chosen("bee", None, vec![]), None);
        let few = chosen("bee", None, vec![summary(3, "bee", None), summary(4, "ant", None)]);
        let few = few.unwrap();
        assert_eq!(few[0], 3);
        assert!(!few.contains(&4));
        assert_eq!(few.len(), 19);
        // Vectors of another model say nothing.
        let mut other = summary(3, "ant", Some([1.0, 0.0]));
        other.1.meaning = Some(Direction::of("another", &[1.0, 0.0]));
        assert_eq!(chosen("bee", Some([1.0, 0.0]), vec![other]), None);
    }
}

//! Meaning where letters fail: vectors for names, from whatever model the server has.

use std::sync::Arc;

use crate::entry::{Entry, EntryIdx};

/// Gives vectors for names and queries.
///
/// Vectors have unit length and one dimension for the life of the object. The same text gives
/// the same vector. Calls block; an implementation applies its own time-out and answers with
/// the reason when it cannot give vectors, upon which the lookup goes on by letters alone.
pub trait Meaning: Send + Sync + std::fmt::Debug {
    /// Gives one vector for each name, in order.
    fn embed_names(&self, names: &[&str]) -> Result<Vec<Vec<f32>>, MeaningError>;

    /// Gives the vector of a query.
    fn embed_query(&self, query: &str) -> Result<Vec<f32>, MeaningError>;
}

/// Why vectors could not be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no vectors from the embedder: {reason}")]
pub struct MeaningError {
    /// What the embedder said.
    pub reason: String,
}

/// The vectors of an index's names.
#[derive(Debug)]
pub(crate) struct NameVectors {
    pub(crate) meaning: Arc<dyn Meaning>,
    /// One vector after the other.
    pub(crate) vectors: Vec<f32>,
    pub(crate) names: Vec<(EntryIdx, String)>,
    pub(crate) n_dimensions: usize,
}

/// How far above what chance alone lifts the luckiest of the names, in standard deviations, a name
/// must stand to be near in meaning.
const LEAST_OVER_CHANCE: f32 = 1.2;

/// How many deviations above that give full trust.
const TRUST_DEVIATIONS: f32 = 3.0;

/// The range of scores that meaning alone can give: never enough to be taken without asking.
const LEAST_MEANING_SCORE: f32 = 0.55;
const MOST_MEANING_SCORE: f32 = 0.84;

/// Meaning gives at most this many entries.
const MAX_NEAREST: usize = 10;

/// Names are given to the embedder in groups of this size.
const NAMES_AT_ONCE: usize = 256;

impl NameVectors {
    /// Embeds every name and alias; gives nothing when there are none.
    pub(crate) fn of(
        entries: &[Entry],
        meaning: Arc<dyn Meaning>,
    ) -> Result<Option<Self>, MeaningError> {
        let mut names: Vec<(EntryIdx, String)> = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            let texts = entry.names.iter().map(|name| &name.text).chain(&entry.aliases);
            names.extend(texts.map(|text| (EntryIdx(at as u32), text.clone())));
        }
        let mut vectors = Vec::new();
        let mut n_dimensions = 0;
        for group in names.chunks(NAMES_AT_ONCE) {
            let texts: Vec<&str> = group.iter().map(|(_, text)| text.as_str()).collect();
            let embedded = meaning.embed_names(&texts)?;
            n_dimensions = embedded.first().map_or(0, Vec::len);
            let is_whole = embedded.len() == texts.len()
                && embedded.iter().all(|vector| vector.len() == n_dimensions);
            if !is_whole || n_dimensions == 0 {
                let reason = format!("{} vectors for {} names", embedded.len(), texts.len());
                return Err(MeaningError { reason });
            }
            embedded.iter().for_each(|vector| vectors.extend_from_slice(vector));
        }
        Ok((!names.is_empty()).then_some(NameVectors { meaning, vectors, names, n_dimensions }))
    }

    /// Gives the entries whose names stand out as near to the query, with their scores.
    ///
    /// Cosines of one model cannot be compared with another's, so a name counts by how far it
    /// stands above the mass of all names for this query.
    pub(crate) fn nearest(
        &self,
        query: &str,
    ) -> Result<Vec<(EntryIdx, String, f32)>, MeaningError> {
        let vector = self.meaning.embed_query(query)?;
        if vector.len() != self.n_dimensions || self.names.is_empty() {
            let reason = format!(
                "the query's vector has {} dimensions, the names' have {}",
                vector.len(),
                self.n_dimensions
            );
            return Err(MeaningError { reason });
        }
        let cosines: Vec<f32> = self
            .vectors
            .chunks_exact(self.n_dimensions)
            .map(|name| name.iter().zip(&vector).map(|(left, right)| left * right).sum())
            .collect();
        let n_names = cosines.len() as f32;
        let mean = cosines.iter().sum::<f32>() / n_names;
        let variance = cosines.iter().map(|cosine| (cosine - mean).powi(2)).sum::<f32>() / n_names;
        let deviation = variance.sqrt().max(f32::EPSILON);
        // The highest of so many draws from a bell curve stands about here: among more names, one
        // is nearer by chance.
        let least = (2.0 * n_names.ln()).sqrt() + LEAST_OVER_CHANCE;
        let mut near: Vec<(usize, f32)> = cosines
            .iter()
            .map(|cosine| (cosine - mean) / deviation)
            .enumerate()
            .filter(|(_, deviations)| *deviations >= least)
            .collect();
        near.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        near.truncate(MAX_NEAREST);
        let score = |deviations: f32| {
            let trust = ((deviations - least) / TRUST_DEVIATIONS).clamp(0.0, 1.0);
            LEAST_MEANING_SCORE + (MOST_MEANING_SCORE - LEAST_MEANING_SCORE) * trust
        };
        Ok(near
            .into_iter()
            .map(|(at, deviations)| {
                let (entry, name) = &self.names[at];
                (*entry, name.clone(), score(deviations))
            })
            .collect())
    }
}

//! NameEmbedder where letters fail: vectors for names, from whatever model the server has.

use std::sync::Arc;

use crate::background::{BACKGROUND, STRANGE};
use crate::entry::{Entry, EntryIdx};

/// Gives vectors for names and queries.
///
/// Vectors have unit length and one dimension for the life of the object. The same text gives
/// the same vector. Calls block; an implementation applies its own time-out and answers with
/// the reason when it cannot give vectors, upon which the lookup goes on by letters alone.
pub trait NameEmbedder: Send + Sync + std::fmt::Debug {
    /// Names the model and its version, once it is known; vectors are kept under it.
    fn id(&self) -> Option<String> {
        None
    }

    /// Gives one vector for each name, in order.
    fn embed_names(&self, names: &[&str]) -> Result<Vec<Vec<f32>>, NameEmbedderError>;

    /// Gives the vector of a query.
    fn embed_query(&self, query: &str) -> Result<Vec<f32>, NameEmbedderError>;

    /// Gives the vectors of queries that nobody waits for and that are always the same.
    fn embed_background(&self, queries: &[&str]) -> Result<Vec<Vec<f32>>, NameEmbedderError> {
        queries.iter().map(|query| self.embed_query(query)).collect()
    }
}

/// Why vectors could not be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no vectors from the embedder: {reason}")]
pub struct NameEmbedderError {
    /// What the embedder said.
    pub reason: String,
}

/// The vectors of an index's names.
#[derive(Debug)]
pub(crate) struct NameVectors {
    pub(crate) embedder: Arc<dyn NameEmbedder>,
    /// One vector after the other.
    pub(crate) vectors: Vec<f32>,
    pub(crate) names: Vec<(EntryIdx, String)>,
    pub(crate) n_dimensions: usize,
    /// What queries about nothing that a dimension holds look like, in many languages.
    background: Vec<Vec<f32>>,
    /// How far the cosines of background queries are from each name's mean.
    deviation: f32,
    /// How far above the background each name is for strange words at the mean, in deviations: some
    /// names are near to anything.
    centres: Vec<f32>,
    /// How many deviations above that names must be: more where strange words are nearer.
    least: Near,
}

/// How near to a query the names are that are nearest to it, in deviations.
#[derive(Debug, Clone, Copy)]
struct Near {
    nearest: f32,
    /// The mean of the [`SEVERAL`] nearest. What a dimension holds is near to several of its names,
    /// and junk is by chance near to one: `enseñanza` is no nearer to `Învățământ` than the
    /// likeliest strange word to some name, but near to whatever is about schools.
    several: f32,
}

impl Near {
    fn of(deviations: impl Iterator<Item = f32>) -> Self {
        let mut highest = [f32::MIN; SEVERAL];
        let mut n_names = 0;
        for deviation in deviations {
            n_names += 1;
            let place = highest.iter().position(|known| deviation > *known);
            if let Some(place) = place {
                highest[place..].rotate_right(1);
                highest[place] = deviation;
            }
        }
        let mean = highest.iter().sum::<f32>() / SEVERAL as f32;
        // Of a few names several are all.
        let several = if n_names < LEAST_FOR_SEVERAL { f32::MIN } else { mean };
        Near { nearest: highest[0], several }
    }

    fn reaches(&self, least: Near) -> bool {
        self.nearest >= least.nearest || self.several >= least.several
    }
}

/// How far above the background a name must at least be, in standard deviations, whatever strange
/// words reach: vectors that tell no strange word from another must not let everything pass.
const LEAST_DEVIATIONS: f32 = 1.0;

/// How many standard deviations above what strange words reach the nearest name must be, or the
/// mean of several. The more names a dimension has, and the more of them are proper names, the
/// nearer is some name to anything: of 5,000 institutions one is 2.5 deviations above the background
/// for any word at all.
///
/// Fitted on official names of Romanian classifications asked in the other language, and on 204
/// words for their chapters in two dozen languages, beside 191 queries about something else in
/// thirty languages, of which at most 1 % may find something. `measure registers` measures it. The
/// nearest name alone, at 2.8, let 117 of those words find their chapter over Romanian names and 154
/// over English ones; with the mean of three 143 and 174 do, with as much junk.
const ABOVE_STRANGE: Near = Near { nearest: 3.0, several: 2.2 };

/// How many names together tell that a query is about what a dimension holds.
const SEVERAL: usize = 3;

/// The fewest names among which several tell more than one.
const LEAST_FOR_SEVERAL: usize = 10;

/// The part of a query's mean deviation over all names that is taken from each of them.
const QUERY_CENTRE: f32 = 0.7;

/// How many deviations above that leave a third of the doubt. Trust grows without an end, so that
/// of two names that are both near the nearer one is first.
const TRUST_DEVIATIONS: f32 = 3.5;

/// The range of scores that vectors alone can give: never enough to be taken without asking.
const LEAST_MEANING_SCORE: f32 = 0.55;
const MOST_MEANING_SCORE: f32 = 0.84;

/// NameEmbedder gives at most this many entries.
const MAX_NEAREST: usize = 10;

/// Names are given to the embedder in groups of this size.
const NAMES_AT_ONCE: usize = 256;

impl NameVectors {
    /// Embeds every name and alias; gives nothing when there are none.
    pub(crate) fn of(
        entries: &[Entry],
        embedder: Arc<dyn NameEmbedder>,
    ) -> Result<Option<Self>, NameEmbedderError> {
        let mut names: Vec<(EntryIdx, String)> = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            let texts = entry.names.iter().map(|name| &name.text).chain(&entry.aliases);
            names.extend(texts.map(|text| (EntryIdx(at as u32), text.clone())));
        }
        let mut vectors = Vec::new();
        let mut n_dimensions = 0;
        for group in names.chunks(NAMES_AT_ONCE) {
            let texts: Vec<&str> = group.iter().map(|(_, text)| text.as_str()).collect();
            let embedded = embedder.embed_names(&texts)?;
            n_dimensions = embedded.first().map_or(0, Vec::len);
            let is_whole = embedded.len() == texts.len()
                && embedded.iter().all(|vector| vector.len() == n_dimensions);
            if !is_whole || n_dimensions == 0 {
                let reason = format!("{} vectors for {} names", embedded.len(), texts.len());
                return Err(NameEmbedderError { reason });
            }
            embedded.iter().for_each(|vector| vectors.extend_from_slice(vector));
        }
        if names.is_empty() {
            return Ok(None);
        }
        let background = embedder.embed_background(&BACKGROUND)?;
        let strange = embedder.embed_background(&STRANGE)?;
        if background.iter().chain(&strange).any(|query| query.len() != n_dimensions) {
            let reason = "queries and names have vectors of different lengths".to_owned();
            return Err(NameEmbedderError { reason });
        }
        let mut squares = 0.0_f64;
        for name in vectors.chunks_exact(n_dimensions) {
            let cosines: Vec<f32> = background.iter().map(|query| dot(name, query)).collect();
            let centre = cosines.iter().sum::<f32>() / cosines.len().max(1) as f32;
            squares += cosines.iter().map(|cosine| f64::from(cosine - centre).powi(2)).sum::<f64>();
        }
        let n_cosines = (names.len() * background.len().max(1)) as f64;
        let deviation = ((squares / n_cosines).sqrt() as f32).max(f32::EPSILON);
        let mut vectors = NameVectors {
            embedder,
            vectors,
            names,
            n_dimensions,
            background: background.into_iter().chain(strange).collect(),
            deviation,
            centres: Vec::new(),
            least: Near { nearest: LEAST_DEVIATIONS, several: LEAST_DEVIATIONS },
        };
        vectors.measure_strange();
        Ok(Some(vectors))
    }

    /// Measures how near each name is to words that mean none of them, and how near the nearest.
    fn measure_strange(&mut self) {
        // Computed twice, for the deviations of all names for all words are much memory.
        let strange = BACKGROUND.len()..self.background.len();
        let n_words = strange.len().max(1) as f32;
        let mut centres = vec![0.0; self.names.len()];
        for at in strange.clone() {
            let deviations = self.deviations(&self.background[at], Some(at));
            let each = centres.iter_mut().zip(deviations);
            each.for_each(|(centre, deviation)| *centre += deviation / n_words);
        }
        self.centres = centres;
        let reached: Vec<Near> = strange
            .map(|at| {
                let deviations = self.deviations(&self.background[at], Some(at));
                Near::of(deviations.iter().zip(&self.centres).map(|(it, centre)| it - centre))
            })
            .collect();
        let least = |part: fn(&Near) -> f32| {
            let mean = reached.iter().map(part).sum::<f32>() / n_words;
            let squares: f32 = reached.iter().map(|it| (part(it) - mean).powi(2)).sum();
            LEAST_DEVIATIONS.max(mean + part(&ABOVE_STRANGE) * (squares / n_words).sqrt())
        };
        self.least = Near { nearest: least(|it| it.nearest), several: least(|it| it.several) };
    }

    /// The part that each of these cosines has, of which the highest counts most; one may be that
    /// of the query itself, which has none.
    fn weights(&self, cosines: &[f32], own_idx: Option<usize>) -> Vec<f32> {
        let others = || (0..cosines.len()).filter(|at| Some(*at) != own_idx);
        let nearest = others().map(|at| cosines[at]).fold(f32::MIN, f32::max);
        let mut weights = vec![0.0; cosines.len()];
        for at in others() {
            weights[at] = ((cosines[at] - nearest) / self.deviation).exp();
        }
        let total: f32 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total.max(f32::EPSILON));
        weights
    }

    /// How far above the background each name is for a query, in standard deviations.
    fn deviations(&self, query: &[f32], own_idx: Option<usize>) -> Vec<f32> {
        let rest = self.without_background(query, own_idx);
        let mut deviations: Vec<f32> = self
            .vectors
            .chunks_exact(self.n_dimensions)
            .map(|name| dot(name, &rest) / self.deviation)
            .collect();
        // A query that is nearer to every name than usual says less about any one of them; but a
        // query about what the dimension holds is so as well, hence only a part of it.
        let common = QUERY_CENTRE * deviations.iter().sum::<f32>() / deviations.len() as f32;
        deviations.iter_mut().for_each(|deviations| *deviations -= common);
        deviations
    }

    /// Takes from a query what the background says in its place: the mean of background queries,
    /// of which those near to it count most.
    ///
    /// Those are the ones in its own language, and how near a name is to a query is in large part
    /// whether both are of one language: without this, names in Romanian were found by 10 % of the
    /// Chinese names of the same things, and by 78 % of the English ones.
    fn without_background(&self, query: &[f32], own_idx: Option<usize>) -> Vec<f32> {
        let cosines: Vec<f32> =
            self.background.iter().map(|background| dot(background, query)).collect();
        let mut rest = query.to_vec();
        for (part, background) in self.weights(&cosines, own_idx).iter().zip(&self.background) {
            rest.iter_mut().zip(background).for_each(|(rest, value)| *rest -= part * value);
        }
        rest
    }

    /// Gives the entries whose names are nearer to the query than to queries about anything
    /// else, with their scores.
    pub(crate) fn nearest(
        &self,
        query: &str,
    ) -> Result<Vec<(EntryIdx, String, f32)>, NameEmbedderError> {
        let vector = self.embedder.embed_query(query)?;
        if vector.len() != self.n_dimensions || self.names.is_empty() {
            let reason = format!(
                "the query's vector has {} dimensions, the names' have {}",
                vector.len(),
                self.n_dimensions
            );
            return Err(NameEmbedderError { reason });
        }
        let above: Vec<f32> = self
            .deviations(&vector, None)
            .into_iter()
            .zip(&self.centres)
            .map(|(deviations, centre)| deviations - centre)
            .collect();
        let reached = Near::of(above.iter().copied());
        if !reached.reaches(self.least) {
            return Ok(Vec::new());
        }
        let least = match reached.several > f32::MIN {
            true => self.least.nearest.min(self.least.several),
            false => self.least.nearest,
        };
        let mut near: Vec<(usize, f32)> =
            above.into_iter().enumerate().filter(|(_, above)| *above >= least).collect();
        near.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        near.truncate(MAX_NEAREST);
        let score = |deviations: f32| {
            let trust = 1.0 - (-(deviations - least) / TRUST_DEVIATIONS).exp();
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

fn dot(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

//! The fixed background that similarities are measured against.
//!
//! The vectors of one model lie in a narrow cone, and some queries and passages are near to
//! everything. A cosine therefore means little by itself. What means something is how much nearer a
//! passage is than unrelated text would be: the mean query of its language is taken off the query,
//! and what the query has in common with the mean passage off the similarity.
//!
//! The background is a fixed set of sentences of our own, never the namespace, so that a score
//! does not depend on what else is stored. For the default model its figures are shipped;
//! for another model they are made once in a process.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use infer::{Embedder, EmbedderId, TokenMatcher, TokenVectors};
use model::Deadline;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use text::Language;

use crate::focus::{focused, mean_token};
use crate::words::are_two;

/// Kind, language and text of each sentence, separated by tabs.
const SENTENCES: &str = include_str!("../data/background.tsv");

/// The figures of the default model, written by `cargo xtask fit`.
const SHIPPED: &str = include_str!("../data/background.json");

/// Models whose background is remembered; a process uses one or two.
const MAX_REMEMBERED: usize = 8;

/// Passages of each language that late interaction is compared with.
const TOKEN_PASSAGES_PER_LANGUAGE: usize = 12;

/// Queries of each language that a model is asked for whose figures are not shipped: each may be
/// a request to another server.
const FEW_QUERIES: usize = 6;

/// Languages whose sentences tell the usual deviation. The coefficients were fitted on figures in
/// this unit, so that a language that joins the background later must not move the scores of the
/// others; with a new fit, name all languages of the background here.
const FITTED_LANGUAGES: [&str; 7] = ["de", "en", "es", "fr", "ja", "ro", "zh"];

/// How long the figures of such a model may take.
const MAKING_TIME: Duration = Duration::from_secs(60);

/// The part of the mean query that is taken off a query. All of it would hold it against passages
/// that are near to many queries, which the best answers of long queries are: nDCG@10 by vector
/// alone on six judged sets in four languages and three pairs of languages is 0.800 with
/// none, 0.809 with half and 0.805 with all.
const QUERY_MEAN_PART: f32 = 0.5;

/// A query is foreign to a language when it is nearer to the mean query of another one by this part
/// of the way between the two. Of 783 judged questions in four languages none is foreign to its own
/// then, and of 646 over documents in another language 630 are, where letters and small words show
/// both languages of 427.
const FOREIGN_PART: f64 = 0.25;

static REMEMBERED: LazyLock<Mutex<HashMap<EmbedderId, Arc<Background>>>> =
    LazyLock::new(Mutex::default);

/// What unrelated text looks like to one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Background {
    /// The model.
    embedder: String,
    /// The mean vector of queries, by language.
    query_means: BTreeMap<String, Vec<f32>>,
    /// The mean token of queries, by language; none where the model has no token vectors.
    token_means: BTreeMap<String, Vec<f32>>,
    /// The deviation of the similarity between unrelated pairs, over all queries.
    deviation: f64,
    /// The same of late interaction.
    late_deviation: f64,
    /// Passages by language.
    passages: BTreeMap<String, Vec<BackgroundPassage>>,
}

/// One passage of the background, in base64.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct BackgroundPassage {
    /// The vector of length 1, one byte for each number, the largest being 127.
    vector: String,
    /// Token bits; absent where the model has none or enough passages of the language have.
    tokens: Option<String>,
}

/// What one query's similarity to unrelated passages is, in each language.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unrelated {
    /// Mean and deviation, by language.
    by_language: BTreeMap<String, (f64, f64)>,
    overall: (f64, f64),
}

impl Unrelated {
    fn of(similarities: &BTreeMap<String, Vec<f64>>, usual_deviation: f64) -> Self {
        let by_language: BTreeMap<String, (f64, f64)> = similarities
            .iter()
            .filter(|(_, values)| !values.is_empty())
            .map(|(language, values)| {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                // A dozen passages tell a deviation roughly, so half of it is the usual one.
                let own = deviation(values);
                let mixed = ((own * own + usual_deviation * usual_deviation) / 2.0).sqrt();
                (language.clone(), (mean, mixed))
            })
            .collect();
        let n = by_language.len().max(1) as f64;
        let sum = |part: fn(&(f64, f64)) -> f64| by_language.values().map(part).sum::<f64>() / n;
        let overall = (sum(|one| one.0), sum(|one| one.1).max(f64::MIN_POSITIVE));
        Unrelated { by_language, overall }
    }

    /// Gives how much nearer a passage in a language is than unrelated ones, in deviations.
    fn nearness(&self, language: &str, similarity: f64) -> f64 {
        let (mean, deviation) = self.by_language.get(language).unwrap_or(&self.overall);
        (similarity - mean) / deviation
    }
}

/// A query's vector, centred: what the store is asked with.
#[derive(Debug, Clone)]
pub(crate) struct CentredQuery {
    /// Length one.
    pub(crate) vector: Vec<f32>,
    norm: f64,
    unrelated: Unrelated,
    /// The language whose mean query is nearest.
    pub(crate) language: Option<Language>,
    foreign_to: Vec<Language>,
    /// The part of the words that only hold sentences together in that language.
    pub(crate) function_share: f64,
}

impl CentredQuery {
    /// Gives how much nearer a passage is than unrelated text of its language, in deviations of
    /// unrelated text; `cosine` is between [`CentredQuery::vector`] and the passage's vector.
    pub(crate) fn nearness(&self, language: Language, cosine: f64) -> f64 {
        self.unrelated.nearness(&language.to_string(), cosine * self.norm)
    }

    /// Tells whether the query is in another language than a passage, as the model tells: it does in
    /// a query of one word, where letters and small words show none.
    pub(crate) fn is_foreign_to(&self, language: Language) -> bool {
        self.foreign_to.contains(&language)
    }
}

impl Background {
    /// Gives the background of a model: the shipped figures, or figures made now.
    ///
    /// Fails when the embedder fails.
    pub fn of(embedder: &dyn Embedder) -> infer::Result<Arc<Background>> {
        if let Some(background) = REMEMBERED.lock().get(embedder.id()) {
            return Ok(Arc::clone(background));
        }
        let shipped: Option<Background> = serde_json::from_str(SHIPPED).ok();
        let background = match shipped {
            Some(shipped) if shipped.embedder == embedder.id().to_string() => shipped,
            _ => {
                // The one query that meets a new model first waits longer than it wanted to, so
                // that all later ones need not.
                Background::make(embedder, FEW_QUERIES, &Deadline::after(MAKING_TIME))?
            }
        };
        let background = Arc::new(background);
        let mut remembered = REMEMBERED.lock();
        if remembered.len() >= MAX_REMEMBERED {
            remembered.clear();
        }
        remembered.insert(embedder.id().clone(), Arc::clone(&background));
        Ok(background)
    }

    /// Makes the figures of a model from the sentences.
    ///
    /// Fails when the embedder fails.
    pub fn make(
        embedder: &dyn Embedder,
        n_queries_per_language: usize,
        deadline: &Deadline,
    ) -> infer::Result<Background> {
        let passages = sentences("passage", usize::MAX);
        let queries = sentences("query", n_queries_per_language);
        let texts: Vec<&str> = passages.iter().map(|(_, text)| *text).collect();
        let mut tokens: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut query_tokens: Vec<TokenVectors> = Vec::new();
        let mut mean = Vec::new();
        let (passage_vectors, query_vectors) = if embedder.has_token_vectors() {
            mean = infer::token_mean(embedder, deadline)?.to_vec();
            let embedded = embedder.embed_passages_with_tokens(&texts, deadline)?;
            for ((language, _), text) in passages.iter().zip(&embedded) {
                let own = tokens.entry((*language).to_owned()).or_default();
                if own.len() < TOKEN_PASSAGES_PER_LANGUAGE {
                    own.push(STANDARD.encode(infer::pack_tokens(&text.tokens, &mean)));
                }
            }
            let mut query_vectors = Vec::new();
            for (_, query) in &queries {
                let embedded = embedder.embed_query_with_tokens(query, deadline)?;
                query_tokens.push(embedded.tokens);
                query_vectors.push(embedded.pooled);
            }
            (embedded.into_iter().map(|text| text.pooled).collect(), query_vectors)
        } else {
            let embed = |(_, query): &(&str, &str)| embedder.embed_query(query, deadline);
            let query_vectors = queries.iter().map(embed).collect::<infer::Result<Vec<_>>>()?;
            (embedder.embed_passages(&texts, deadline)?, query_vectors)
        };
        let mut token_means: BTreeMap<String, Vec<f32>> = BTreeMap::new();
        if !query_tokens.is_empty() {
            for (language, _) in &queries {
                let is_own = |other: &&str| other == language;
                let own = queries.iter().map(|(other, _)| other).zip(&query_tokens);
                let own = own.filter(|(other, _)| is_own(other)).map(|(_, tokens)| tokens);
                token_means.entry((*language).to_owned()).or_insert_with(|| mean_token(own, &mean));
            }
        }
        let mut by_language: BTreeMap<String, Vec<BackgroundPassage>> = BTreeMap::new();
        for ((language, _), vector) in passages.iter().zip(&passage_vectors) {
            let own = by_language.entry((*language).to_owned()).or_default();
            let tokens = tokens.get(*language).and_then(|tokens| tokens.get(own.len())).cloned();
            own.push(BackgroundPassage { vector: STANDARD.encode(rounded(vector)), tokens });
        }
        let mut background = Background {
            embedder: embedder.id().to_string(),
            query_means: language_means(&queries, &query_vectors),
            token_means,
            deviation: 1.0,
            late_deviation: 1.0,
            passages: by_language,
        };
        // The usual deviation is what is left when each query's own mean is taken off.
        let is_fitted = |(language, _): &(&str, &str)| FITTED_LANGUAGES.contains(language);
        let fitted = queries.iter().zip(&query_vectors).filter(|(query, _)| is_fitted(query));
        let centred = fitted.map(|(_, vector)| background.similarities(vector).2);
        background.deviation = usual_deviation(centred);
        let fitted = queries.iter().zip(&query_tokens).filter(|(query, _)| is_fitted(query));
        let matchers: Vec<TokenMatcher> =
            fitted.filter_map(|(_, tokens)| background.matcher(tokens, &mean)).collect();
        let late = matchers.iter().map(|matcher| background.late_similarities(matcher));
        background.late_deviation = usual_deviation(late);
        Ok(background)
    }

    /// Centres a query's vector.
    pub(crate) fn centre(&self, query: &[f32]) -> CentredQuery {
        let (vector, norm, similarities) = self.similarities(query);
        let unrelated = Unrelated::of(&similarities, self.deviation);
        let (language, foreign_to) = self.languages_of(query);
        CentredQuery { vector, norm, unrelated, language, foreign_to, function_share: 0.0 }
    }

    /// Gives the language of a query, and those that it is foreign to, of those that the background
    /// has.
    fn languages_of(&self, query: &[f32]) -> (Option<Language>, Vec<Language>) {
        let direction = |vector: &[f32]| -> Vec<f32> {
            let length = dot(vector, vector).sqrt().max(f64::MIN_POSITIVE) as f32;
            vector.iter().map(|value| value / length).collect()
        };
        let query = direction(query);
        let means: Vec<(Language, Vec<f32>, f64)> = self
            .query_means
            .iter()
            .filter(|(_, mean)| mean.len() == query.len())
            .filter_map(|(code, mean)| {
                let mean = direction(mean);
                let nearness = dot(&query, &mean);
                Some((code.parse().ok()?, mean, nearness))
            })
            .collect();
        let Some((own, own_mean, nearest)) =
            means.iter().max_by(|one, other| one.2.total_cmp(&other.2))
        else {
            return (None, vec![]);
        };
        let is_foreign = |(language, mean, nearness): &&(Language, Vec<f32>, f64)| {
            let way = 1.0 - dot(own_mean, mean);
            are_two(*own, *language) && nearest - nearness > FOREIGN_PART * way
        };
        let foreign_to = means.iter().filter(is_foreign).map(|(language, ..)| *language).collect();
        (Some(*own), foreign_to)
    }

    /// Gives the direction and length of a centred query, and how similar the passages are to it.
    fn similarities(&self, query: &[f32]) -> (Vec<f32>, f64, BTreeMap<String, Vec<f64>>) {
        let norm = dot(query, query).sqrt().max(f64::MIN_POSITIVE) as f32;
        let mut centred: Vec<f32> = query.iter().map(|value| value / norm).collect();
        if let Some(usual) = self.usual_query(query) {
            let both = centred.iter_mut().zip(usual);
            both.for_each(|(value, usual)| *value -= QUERY_MEAN_PART * usual);
        }
        let norm = dot(&centred, &centred).sqrt();
        if norm <= 1e-6 {
            // A query that is nothing but background has no direction of its own.
            return (query.to_vec(), 0.0, BTreeMap::new());
        }
        centred.iter_mut().for_each(|value| *value /= norm as f32);
        let similarity = |passage: &BackgroundPassage| {
            let vector = STANDARD.decode(&passage.vector).ok()?;
            let vector: Vec<f32> =
                vector.iter().map(|byte| f32::from(i8::from_le_bytes([*byte]))).collect();
            let length = dot(&vector, &vector).sqrt().max(f64::MIN_POSITIVE);
            Some(norm * dot(&centred, &vector) / length)
        };
        let similarities = self
            .passages
            .iter()
            .map(|(language, own)| (language.clone(), own.iter().filter_map(similarity).collect()))
            .collect();
        (centred, norm, similarities)
    }

    /// Gives the mean query of the language that a query is nearest to. The model tells languages
    /// apart in a query of one word, where its letters do not.
    fn usual_query(&self, query: &[f32]) -> Option<&[f32]> {
        let nearness = |mean: &[f32]| dot(query, mean) / dot(mean, mean).sqrt();
        let means = self.query_means.values().filter(|mean| mean.len() == query.len());
        let scored = means.map(|mean| (nearness(mean), mean.as_slice()));
        scored.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, mean)| mean)
    }

    /// Prepares the tokens of a query; `mean` is the mean of all tokens of the model.
    pub(crate) fn matcher(&self, tokens: &TokenVectors, mean: &[f32]) -> Option<TokenMatcher> {
        focused(tokens, mean, self.token_means.values().map(Vec::as_slice))
    }

    /// Compares the tokens of a query with unrelated passages.
    pub(crate) fn late(&self, matcher: &TokenMatcher) -> LateBackground {
        LateBackground(Unrelated::of(&self.late_similarities(matcher), self.late_deviation))
    }

    fn late_similarities(&self, matcher: &TokenMatcher) -> BTreeMap<String, Vec<f64>> {
        let score = |passage: &BackgroundPassage| {
            matcher.score(&STANDARD.decode(passage.tokens.as_ref()?).ok()?)
        };
        self.passages
            .iter()
            .map(|(language, own)| (language.clone(), own.iter().filter_map(score).collect()))
            .collect()
    }
}

/// How near the tokens of a query are to unrelated passages in each language.
#[derive(Debug, Clone)]
pub(crate) struct LateBackground(Unrelated);

impl LateBackground {
    /// Gives how much nearer a passage in a language is than unrelated ones, in deviations.
    pub(crate) fn nearness(&self, language: Language, late: f64) -> f64 {
        self.0.nearness(&language.to_string(), late)
    }
}

/// Rounds a vector to one byte for each number.
fn rounded(vector: &[f32]) -> Vec<u8> {
    let largest = vector.iter().fold(f32::MIN_POSITIVE, |most, value| most.max(value.abs()));
    vector
        .iter()
        .flat_map(|value| ((value / largest * 127.0).round() as i8).to_le_bytes())
        .collect()
}

/// Gives the deviation within one query and language, in the mean over all of them.
fn usual_deviation(queries: impl Iterator<Item = BTreeMap<String, Vec<f64>>>) -> f64 {
    let own: Vec<f64> = queries
        .flat_map(|by_language| {
            let values = by_language.into_iter().filter(|(language, values)| {
                FITTED_LANGUAGES.contains(&language.as_str()) && values.len() > 1
            });
            values.map(|(_, values)| deviation(&values)).collect::<Vec<_>>()
        })
        .collect();
    if own.is_empty() { 1.0 } else { own.iter().sum::<f64>() / own.len() as f64 }
}

/// Gives language and text of the sentences of a kind, so many of each language.
fn sentences(kind: &str, n_per_language: usize) -> Vec<(&'static str, &'static str)> {
    let mut n_of: BTreeMap<&str, usize> = BTreeMap::new();
    let fields = SENTENCES.lines().filter_map(|line| {
        let mut fields = line.splitn(3, '\t');
        (fields.next()? == kind).then_some((fields.next()?, fields.next()?))
    });
    let mut is_wanted = |(language, _): &(&'static str, &'static str)| {
        let n = n_of.entry(language).or_default();
        *n += 1;
        *n <= n_per_language
    };
    fields.filter(|sentence| is_wanted(sentence)).collect()
}

/// Gives the mean vector of each language.
fn language_means(texts: &[(&str, &str)], vectors: &[Vec<f32>]) -> BTreeMap<String, Vec<f32>> {
    let mut sums: BTreeMap<&str, (Vec<f32>, usize)> = BTreeMap::new();
    for ((language, _), vector) in texts.iter().zip(vectors) {
        let (sum, n) = sums.entry(language).or_insert_with(|| (vec![0.0; vector.len()], 0));
        let norm = dot(vector, vector).sqrt().max(f64::MIN_POSITIVE) as f32;
        sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value / norm);
        *n += 1;
    }
    let mean = |(sum, n): (Vec<f32>, usize)| -> Vec<f32> {
        sum.into_iter().map(|value| value / n as f32).collect()
    };
    sums.into_iter().map(|(language, sum)| (language.to_owned(), mean(sum))).collect()
}

fn deviation(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    if variance > 1e-12 { variance.sqrt() } else { 1.0 }
}

fn dot(one: &[f32], other: &[f32]) -> f64 {
    one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_figures_are_whole() {
        let shipped: Background = serde_json::from_str(SHIPPED).unwrap();
        let languages: Vec<&String> = shipped.passages.keys().collect();
        assert_eq!(shipped.query_means.keys().collect::<Vec<_>>(), languages);
        assert_eq!(shipped.token_means.keys().collect::<Vec<_>>(), languages);
        let mut of_sentences: Vec<&str> =
            sentences("passage", 1).into_iter().map(|(language, _)| language).collect();
        of_sentences.sort_unstable();
        assert_eq!(languages, of_sentences);
        assert!(languages.iter().any(|language| *language == "ko"), "{languages:?}");
    }

    #[test]
    fn a_language_that_joins_later_does_not_move_the_unit_of_the_others() {
        let fitted = || BTreeMap::from([("en".to_owned(), vec![0.1, 0.3, 0.2])]);
        let mut joined = fitted();
        joined.insert("ko".to_owned(), vec![0.0, 0.9, 0.1]);
        let unit = |similarities| usual_deviation(std::iter::once(similarities));
        assert!((unit(fitted()) - unit(joined)).abs() < f64::EPSILON);
    }

    #[test]
    fn the_model_tells_the_language_of_a_query() {
        let means =
            [("en", vec![1.0, 0.0, 0.2]), ("ja", vec![0.0, 1.0, 0.2]), ("zh", vec![0.0, 0.9, 0.5])];
        let background = Background {
            embedder: "test".to_owned(),
            query_means: means.map(|(language, mean)| (language.to_owned(), mean)).into(),
            token_means: BTreeMap::new(),
            deviation: 1.0,
            late_deviation: 1.0,
            passages: BTreeMap::new(),
        };
        let foreign = |query: [f32; 3]| background.centre(&query).foreign_to;
        assert_eq!(background.centre(&[0.9, 0.1, 0.4]).language, Some(Language::English));
        assert_eq!(background.centre(&[0.1, 0.9, 0.4]).language, Some(Language::Chinese));
        assert_eq!(foreign([0.9, 0.1, 0.4]), [Language::Japanese, Language::Chinese]);
        // Chinese and Japanese count as one, and in the middle between two languages none is told.
        assert_eq!(foreign([0.1, 0.9, 0.4]), [Language::English]);
        assert!(foreign([0.52, 0.48, 0.2]).is_empty());
        // Of a language that the background does not have nothing is known.
        assert!(!background.centre(&[0.9, 0.1, 0.4]).is_foreign_to(Language::Italian));
    }

    #[test]
    fn a_query_is_centred_by_the_queries_of_its_language() {
        let means = [("en", vec![1.0, 0.0, 0.0]), ("zh", vec![0.0, 1.0, 0.0])];
        let background = Background {
            embedder: "test".to_owned(),
            query_means: means.map(|(language, mean)| (language.to_owned(), mean)).into(),
            token_means: BTreeMap::new(),
            deviation: 1.0,
            late_deviation: 1.0,
            passages: BTreeMap::new(),
        };
        let centred = background.centre(&[0.1, 0.8, 0.59]).vector;
        // Half of the Chinese mean is gone, and nothing of the English one.
        assert!(centred[1] < centred[2], "{centred:?}");
        assert!((centred[0] / centred[2] - 0.1 / 0.59).abs() < 1e-4, "{centred:?}");
    }
}

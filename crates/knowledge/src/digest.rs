//! The sentences that say most about many, without saying it twice: maximal marginal relevance
//! over the centroid. Deterministic, and in the language that most of the text is in.

use std::collections::{BTreeMap, HashMap};

use text::{Analyzer, Language, detect_language, sentences};

use crate::limits;

/// What being close to the centre counts against being unlike what is chosen already.
const RELEVANCE_WEIGHT: f64 = 0.7;

/// Sentences of a digest.
const N_SENTENCES: usize = 5;

/// Terms that tell what a collection is about.
const N_KEYWORDS: usize = 64;

/// Shorter sentences say too little, longer ones are no sentences, in characters.
const SENTENCE_CHARS: std::ops::RangeInclusive<usize> = 12..=320;

/// What a set of passages is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Digest {
    /// The sentences that say most, in the order of the text.
    pub(crate) sentences: Vec<String>,
    /// Index terms, the weightiest first.
    pub(crate) keywords: Vec<String>,
}

/// A sentence as weights of terms, of length 1.
type Vector = Vec<(usize, f64)>;

/// Makes the digest of passages.
pub(crate) fn digest<'a>(passages: impl IntoIterator<Item = &'a str>) -> Digest {
    let candidates = candidates(passages);
    let mut terms: BTreeMap<String, usize> = BTreeMap::new();
    let mut names: Vec<String> = vec![];
    let counted: Vec<HashMap<usize, f64>> = candidates
        .iter()
        .map(|(sentence, language)| {
            let mut counts = HashMap::new();
            for token in Analyzer::new().analyze_in(sentence, *language) {
                if !token.kind.is_sequential() || token.stem.chars().count() < 2 {
                    continue;
                }
                let next = terms.len();
                let term = *terms.entry(token.stem.clone()).or_insert_with(|| {
                    names.push(token.stem.clone());
                    next
                });
                *counts.entry(term).or_insert(0.0) += 1.0;
            }
            counts
        })
        .collect();
    let mut n_sentences_with = vec![0.0_f64; names.len()];
    for term in counted.iter().flat_map(HashMap::keys) {
        n_sentences_with[*term] += 1.0;
    }
    let n = candidates.len() as f64;
    let weigh = |term: usize| ((n + 1.0) / n_sentences_with[term]).ln();
    let vectors: Vec<Vector> = counted.iter().map(|counts| unit(counts, &weigh)).collect();
    let mut centre = vec![0.0; names.len()];
    for (term, weight) in vectors.iter().flatten() {
        centre[*term] += weight / n;
    }
    let mut keywords: Vec<usize> = (0..names.len()).collect();
    keywords.sort_by(|one, other| {
        centre[*other].total_cmp(&centre[*one]).then_with(|| names[*one].cmp(&names[*other]))
    });
    keywords.truncate(N_KEYWORDS);
    let mut chosen = choose(&vectors, &centre);
    chosen.sort_unstable();
    Digest {
        sentences: chosen.into_iter().map(|idx| candidates[idx].0.clone()).collect(),
        keywords: keywords.into_iter().map(|term| names[term].clone()).collect(),
    }
}

/// Takes whole sentences in the language that most of them are in.
fn candidates<'a>(passages: impl IntoIterator<Item = &'a str>) -> Vec<(String, Language)> {
    let mut all: Vec<(String, Language)> = vec![];
    let mut seen = std::collections::HashSet::new();
    for passage in passages {
        let language = detect_language(passage);
        for range in sentences(passage) {
            let sentence = passage[range].split_whitespace().collect::<Vec<_>>().join(" ");
            if SENTENCE_CHARS.contains(&sentence.chars().count()) && seen.insert(sentence.clone()) {
                all.push((sentence, language));
            }
        }
        if all.len() >= limits::MAX_SUMMARY_SENTENCES {
            break;
        }
    }
    let mut n_of: Vec<(Language, usize)> = vec![];
    for (_, language) in &all {
        match n_of.iter_mut().find(|(known, _)| known == language) {
            Some((_, n)) => *n += 1,
            None => n_of.push((*language, 1)),
        }
    }
    // The first of the most frequent ones, so that the order of passages decides a tie.
    let most = n_of.iter().map(|(_, n)| *n).max().unwrap_or(0);
    if let Some((language, _)) = n_of.iter().find(|(_, n)| *n == most) {
        all.retain(|(_, other)| other == language);
    }
    all
}

fn unit(counts: &HashMap<usize, f64>, weigh: &impl Fn(usize) -> f64) -> Vector {
    let mut vector: Vector =
        counts.iter().map(|(term, count)| (*term, (1.0 + count.ln()) * weigh(*term))).collect();
    // A fixed order makes sums, and with them ties, the same every time.
    vector.sort_by_key(|(term, _)| *term);
    let length = vector.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|(_, weight)| *weight /= length);
    }
    vector
}

fn choose(vectors: &[Vector], centre: &[f64]) -> Vec<usize> {
    let relevance: Vec<f64> = vectors
        .iter()
        .map(|vector| vector.iter().map(|(term, weight)| weight * centre[*term]).sum())
        .collect();
    let most = relevance.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut chosen: Vec<usize> = vec![];
    let mut nearest = vec![0.0_f64; vectors.len()];
    while chosen.len() < N_SENTENCES.min(vectors.len()) {
        let gain = |idx: usize| {
            RELEVANCE_WEIGHT * relevance[idx] / most - (1.0 - RELEVANCE_WEIGHT) * nearest[idx]
        };
        let best = (0..vectors.len())
            .filter(|idx| !chosen.contains(idx))
            .max_by(|one, other| gain(*one).total_cmp(&gain(*other)).then(other.cmp(one)));
        let Some(best) = best else { break };
        for (idx, vector) in vectors.iter().enumerate() {
            nearest[idx] = nearest[idx].max(cosine(vector, &vectors[best]));
        }
        chosen.push(best);
    }
    chosen
}

fn cosine(one: &Vector, other: &Vector) -> f64 {
    let (mut left, mut right, mut sum) = (0, 0, 0.0);
    while let (Some((a, x)), Some((b, y))) = (one.get(left), other.get(right)) {
        match a.cmp(b) {
            std::cmp::Ordering::Less => left += 1,
            std::cmp::Ordering::Greater => right += 1,
            std::cmp::Ordering::Equal => {
                sum += x * y;
                left += 1;
                right += 1;
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_say_what_most_is_about_and_nothing_twice() {
        let passages = [
            "Remote work is allowed on three days a week. The remote work allowance is 5000 yen.",
            "Remote work needs the consent of the manager. The cat sat on the mat.",
            "The remote work allowance is 5000 yen. Requests for remote work go to the manager.",
        ];
        let found = digest(passages);
        assert_eq!(found.sentences.len(), 5);
        assert_eq!(digest(passages), found);
        assert!(found.keywords.iter().any(|word| word.starts_with("remot")), "{found:?}");
        let unique: std::collections::BTreeSet<_> = found.sentences.iter().collect();
        assert_eq!(unique.len(), found.sentences.len());
    }

    #[test]
    fn language_of_most_of_the_text_wins() {
        let passages = [
            "リモートワーク手当は月額五千円です。申請は人事部に提出してください。",
            "副業は事前に申請し、承認を受ける必要があります。",
            "This one sentence is in English.",
        ];
        let found = digest(passages);
        assert!(found.sentences.iter().all(|sentence| !sentence.is_ascii()), "{found:?}");
        assert!(!found.sentences.is_empty());
    }

    #[test]
    fn nothing_gives_nothing() {
        assert_eq!(digest([]), Digest::default());
        assert_eq!(digest([" ", "1"]), Digest::default());
    }
}

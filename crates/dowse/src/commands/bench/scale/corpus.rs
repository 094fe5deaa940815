//! The passages that are measured with: real sentences with their real vectors.
//!
//! A passage is a run of neighbouring sentences of about 450 bytes; its vector and token bits are
//! those of its first sentence, or of its first two where there are not enough sentences. Beyond
//! the number of real ones a passage is made of sentences drawn at random, and its vector is a real
//! one moved a little, as `dowse bench store` does.

use std::path::{Path, PathBuf};

use infer::Embedder;
use model::{DocumentId, Passage, PassageId, Pointer, Span, SplitMix64};
use retrieve::eval::{Dataset, StoredVectors};
use sha2::{Digest, Sha256};
use store::Document;

use crate::print;

pub(super) const PASSAGES_PER_DOCUMENT: usize = 20;
/// Bytes of a passage, at least.
const PASSAGE_BYTES: usize = 450;
/// How far each number of a copied vector is moved, as a part of what a number is on average: as in
/// `dowse bench store`.
const MOVED: f32 = 0.3;
const TITLE_WORDS: usize = 6;
/// The attribute that one document in a hundred shares with a given other.
pub(super) const BUCKET: &str = "bucket";
/// The name under which vectors are kept between runs.
const CACHE_NAME: &str = "bench-scale";

/// Sentences, questions, and a vector for each of the first passages.
pub(super) struct Corpus {
    sentences: Vec<String>,
    vectors: Vec<Vec<f32>>,
    blobs: Vec<Vec<u8>>,
    pub(super) questions: Vec<String>,
}

impl Corpus {
    /// Reads judged sets in BEIR layout and embeds `n_real` of their sentences, or takes the
    /// vectors from an earlier run.
    pub(super) fn read(
        sets: &[PathBuf],
        n_real: usize,
        embedder: &dyn Embedder,
        cache: &Path,
    ) -> anyhow::Result<Self> {
        let (mut sentences, mut questions) = (vec![], vec![]);
        for set in sets {
            sentences.extend(store::bench::sentences(set)?);
            let mut set = Dataset::read(&set.to_string_lossy())?;
            set.queries.sort_by_key(|query| Sha256::digest(query.id.as_bytes()));
            questions.push(set.queries.into_iter().map(|query| query.text).collect::<Vec<_>>());
        }
        anyhow::ensure!(!sentences.is_empty(), "the sets have no sentences");
        let n_real = n_real.min(2 * sentences.len());
        let texts: Vec<String> = (0..n_real).map(|at| embedded(&sentences, at)).collect();
        let mut kept = StoredVectors::open(cache, embedder, CACHE_NAME)?;
        kept.embed_missing(embedder, &texts, &|n_done, n_all| {
            if n_done % 3_200 == 0 {
                print::note(format!("embedded {n_done} of {n_all} sentences"));
            }
        })?;
        let (mut vectors, mut blobs) = (vec![], vec![]);
        for text in &texts {
            let one = kept.get(text).expect("it was embedded just now");
            vectors.push(one.vector.clone());
            blobs.push(one.blob.clone());
        }
        Ok(Corpus { sentences, vectors, blobs, questions: in_turns(&questions) })
    }

    /// Gives how many passages have a vector of their own.
    pub(super) fn n_real(&self) -> usize {
        self.vectors.len()
    }

    pub(super) fn document(&self, number: usize) -> Document {
        let id = format!("docs/{number:07}.txt");
        let first = number * PASSAGES_PER_DOCUMENT;
        let passages: Vec<Passage> = (0..PASSAGES_PER_DOCUMENT)
            .map(|ordinal| {
                let text = self.text(first + ordinal);
                Passage {
                    id: passage_id(first + ordinal),
                    ordinal: ordinal as u32,
                    span: Span::new(0, text.chars().count()),
                    text,
                    pointer: Pointer::Line(ordinal as u32 * 10 + 1),
                    headings: vec![],
                }
            })
            .collect();
        let title: Vec<&str> = passages[0].text.split_whitespace().take(TITLE_WORDS).collect();
        Document {
            id: DocumentId::new(id),
            title: title.join(" "),
            attributes: [(BUCKET.to_owned(), format!("b{}", number % 100).into())].into(),
            metadata: serde_json::Value::Null,
            fingerprint: String::new(),
            passages,
        }
    }

    /// Gives the vector of a passage.
    pub(super) fn vector(&self, number: usize) -> Vec<f32> {
        let real = &self.vectors[number % self.vectors.len()];
        if number < self.vectors.len() {
            return real.clone();
        }
        let mut random = Random(SplitMix64(number as u64));
        let sum: f32 = real.iter().map(|value| value * value).sum();
        let usual = (sum / real.len().max(1) as f32).sqrt();
        real.iter().map(|value| value + random.normal() * MOVED * usual).collect()
    }

    /// Gives the token bits of a passage; those of the original for a copy.
    pub(super) fn blob(&self, number: usize) -> Vec<u8> {
        self.blobs[number % self.blobs.len()].clone()
    }

    fn text(&self, number: usize) -> String {
        let mut random = Random(SplitMix64(number as u64 ^ 0x5eed));
        let n_sentences = self.sentences.len();
        let mut text = String::new();
        for step in 0.. {
            let at = match number < self.vectors.len() {
                true => number + step,
                false => random.0.next_number() as usize,
            };
            text.push_str(&self.sentences[at % n_sentences]);
            if text.len() >= PASSAGE_BYTES {
                break;
            }
            text.push(' ');
        }
        text
    }
}

pub(super) fn passage_id(number: usize) -> PassageId {
    let (document, ordinal) = (number / PASSAGES_PER_DOCUMENT, number % PASSAGES_PER_DOCUMENT);
    PassageId::new(format!("docs/{document:07}.txt#{ordinal}"))
}

/// Gives what is embedded for a passage: one sentence, or two once every sentence was taken.
fn embedded(sentences: &[String], number: usize) -> String {
    let at = number % sentences.len();
    match number < sentences.len() {
        true => sentences[at].clone(),
        false => format!("{} {}", sentences[at], sentences[(at + 1) % sentences.len()]),
    }
}

/// Takes one of each list in turn, so that a part of the questions has some of every set.
fn in_turns(lists: &[Vec<String>]) -> Vec<String> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(|at| lists.iter().filter_map(move |list| list.get(at).cloned())).collect()
}

/// Numbers that are the same in every run.
struct Random(SplitMix64);

impl Random {
    /// Gives a number around 0 whose square is 1 on average.
    fn normal(&mut self) -> f32 {
        let mut unit = || (self.0.next_number() >> 40) as f32 / (1_u64 << 24) as f32;
        (unit() + unit() + unit() + unit() - 2.0) * 1.732
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_near_their_originals_and_texts_are_long_enough() {
        let corpus = Corpus {
            sentences: (0..50).map(|at| format!("Sentence {at} about the harbour.")).collect(),
            vectors: vec![vec![1.0, 0.0, 0.0, 1.0], vec![0.0, 1.0, 1.0, 0.0]],
            blobs: vec![vec![1], vec![2]],
            questions: vec![],
        };
        assert_eq!(corpus.vector(1), vec![0.0, 1.0, 1.0, 0.0]);
        let copy = corpus.vector(3);
        assert_eq!(copy, corpus.vector(3));
        let dot: f32 = copy.iter().zip(corpus.vector(1)).map(|(a, b)| a * b).sum();
        assert!(dot > 1.0, "{copy:?}");
        assert_eq!(corpus.blob(3), vec![2]);
        let document = corpus.document(3);
        assert_eq!(document.passages.len(), PASSAGES_PER_DOCUMENT);
        assert!(document.passages.iter().all(|passage| passage.text.len() >= PASSAGE_BYTES));
        assert_eq!(document.passages[2].id, passage_id(62));
        let turns = in_turns(&[vec!["a".into(), "b".into()], vec!["c".into()]]);
        assert_eq!(turns, ["a", "c", "b"]);
    }
}

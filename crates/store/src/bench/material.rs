//! Text and vectors to measure with, the same in every run.
//!
//! Text is either made of a vocabulary whose words are as unequally frequent as in real text
//! (Zipf), or of the sentences of a corpus in BEIR's layout, recombined. Vectors are those of real
//! sentences where the caller gives some, each moved a little to give as many as are needed;
//! otherwise they are synthetic: points around many centres that all lean the same way, as
//! embeddings do.

use std::path::Path;

use model::{DocumentId, Passage, PassageId, Pointer, Span, SplitMix64};

use crate::{Document, Result};

/// Passages of one document.
pub const PASSAGES_PER_DOCUMENT: usize = 20;
/// Documents written in one commit.
pub const DOCUMENTS_PER_BATCH: usize = 800;
/// Dimensions of the vectors.
pub const DIMENSIONS: usize = 384;
/// The attribute that one document in a hundred shares with a given other.
pub(super) const BUCKET: &str = "bucket";

const N_VOCABULARY: usize = 150_000;
const WORDS_PER_PASSAGE: usize = 80;
const N_CENTRES: u64 = 3_000;

/// How far each number of a real vector is moved, as a part of what a number is on average.
const MOVED: f32 = 0.3;

/// Makes documents, questions and vectors.
pub struct Material {
    words: Vec<String>,
    sentences: Vec<String>,
    vectors: Vec<Vec<f32>>,
}

impl Material {
    /// Takes the sentences of a corpus, or makes words up; takes real vectors, or makes them up.
    ///
    /// # Errors
    ///
    /// When the folder has no corpus.
    pub fn new(corpus: Option<&Path>, vectors: &[Vec<f32>]) -> Result<Self> {
        let sentences = corpus.map_or_else(|| Ok(vec![]), sentences)?;
        Ok(Material { sentences, vectors: vectors.to_vec(), ..Material::made_up() })
    }

    /// Makes words and vectors up.
    pub fn made_up() -> Self {
        let words = (0..N_VOCABULARY as u64).map(made_up_word).collect();
        Material { words, sentences: vec![], vectors: vec![] }
    }

    /// Says what the text is.
    pub(super) fn description(&self) -> String {
        let text = match self.sentences.len() {
            0 => format!("made-up text, Zipf over {N_VOCABULARY} words"),
            n => format!("{n} sentences of the corpus, recombined"),
        };
        match self.vectors.len() {
            0 => format!("{text}; synthetic vectors"),
            n => format!("{text}; vectors of {n} real sentences, each moved a little"),
        }
    }

    /// Makes the document of a number, the same every time.
    pub fn document(&self, number: usize) -> Document {
        let id = format!("docs/{number:07}.txt");
        let mut random = Random::new(number as u64);
        let passages = (0..PASSAGES_PER_DOCUMENT).map(|ordinal| {
            let text = self.text(&mut random);
            Passage {
                id: PassageId::new(format!("{id}#{ordinal}")),
                ordinal: ordinal as u32,
                span: Span::new(0, text.chars().count()),
                text,
                pointer: Pointer::Line(ordinal as u32 * 10 + 1),
                headings: vec![],
            }
        });
        Document {
            passages: passages.collect(),
            id: DocumentId::new(id),
            title: format!("{} {}", self.word(&mut random), self.word(&mut random)),
            attributes: [
                (BUCKET.to_owned(), format!("b{}", number % 100).into()),
                ("year".to_owned(), (2000 + number as i64 % 25).into()),
            ]
            .into(),
            metadata: serde_json::Value::Null,
            fingerprint: String::new(),
        }
    }

    /// Makes a question of three words that are together in some passage.
    pub fn question(&self, number: usize) -> String {
        self.question_of(number, 3)
    }

    /// Makes a question of so many words that are together in some passage.
    pub fn question_of(&self, number: usize, n_words: usize) -> String {
        let mut random = Random::new(number as u64 ^ 0x5eed);
        let text = self.text(&mut random);
        let words: Vec<&str> = text.split_whitespace().filter(|word| word.len() > 3).collect();
        (0..n_words)
            .filter_map(|_| words.get(random.below(words.len().max(1) as u64) as usize))
            .copied()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Gives the vector of a passage, or of a question for numbers past all passages.
    pub fn vector(&self, number: u64) -> Vec<f32> {
        let mut random = Random::new(number.wrapping_mul(0x9e37) ^ 0xfeed);
        if !self.vectors.is_empty() {
            let real = &self.vectors[random.below(self.vectors.len() as u64) as usize];
            let usual = (real.iter().map(|value| value * value).sum::<f32>()
                / real.len().max(1) as f32)
                .sqrt();
            return real.iter().map(|value| value + random.normal() * MOVED * usual).collect();
        }
        let mut centre = Random::new(random.below(N_CENTRES) ^ 0xce11);
        let mut lean = Random::new(0x1ea);
        (0..DIMENSIONS)
            .map(|_| lean.normal() + centre.normal() * 0.6 + random.normal() * 0.45)
            .collect()
    }

    fn text(&self, random: &mut Random) -> String {
        let mut text = String::with_capacity(WORDS_PER_PASSAGE * 8);
        if self.sentences.is_empty() {
            for _ in 0..WORDS_PER_PASSAGE {
                text.push_str(self.word(random));
                text.push(' ');
            }
        } else {
            while text.len() < 450 {
                text.push_str(&self.sentences[random.below(self.sentences.len() as u64) as usize]);
                text.push(' ');
            }
        }
        text.pop();
        text
    }

    /// Gives a word, the n-th most frequent one about n times as rarely as the first.
    fn word(&self, random: &mut Random) -> &str {
        let rank = (N_VOCABULARY as f64).powf(random.unit()) as usize;
        &self.words[rank.min(N_VOCABULARY - 1)]
    }
}

/// Reads the sentences of a corpus in BEIR's layout.
///
/// Fails when the folder has no `corpus.jsonl`.
pub fn sentences(corpus: &Path) -> Result<Vec<String>> {
    let mut sentences = vec![];
    for line in fs_err::read_to_string(corpus.join("corpus.jsonl"))?.lines() {
        let Ok(entry) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let text = entry["text"].as_str().unwrap_or_default();
        let cut = text.split_inclusive(['.', '。']).map(str::trim);
        sentences.extend(cut.filter(|cut| cut.len() > 20).map(str::to_owned));
    }
    Ok(sentences)
}

fn made_up_word(number: u64) -> String {
    const SYLLABLES: [&str; 16] = [
        "ka", "lo", "mi", "ner", "to", "su", "ra", "vel", "pi", "don", "ga", "hu", "be", "stra",
        "che", "fo",
    ];
    let mut word = String::new();
    let mut rest = number + 16;
    while rest > 0 {
        word.push_str(SYLLABLES[(rest % 16) as usize]);
        rest /= 16;
    }
    word
}

/// Numbers that are the same in every run.
pub(super) struct Random(SplitMix64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        let mut numbers = SplitMix64(seed);
        numbers.next_number();
        Random(numbers)
    }

    fn next(&mut self) -> u64 {
        self.0.next_number()
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0.below(end)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Gives a number around 0 whose square is 1 on average; the sum of a few is near enough to
    /// the bell curve here.
    fn normal(&mut self) -> f32 {
        ((self.unit() + self.unit() + self.unit() + self.unit() - 2.0) * 1.732) as f32
    }
}

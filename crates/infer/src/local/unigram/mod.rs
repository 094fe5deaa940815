//! Text to token ids, by the unigram vocabulary inside an E5S1 container.
//!
//! The text is normalised, cut into words at spaces, and each word is divided into the pieces
//! whose scores add up highest. Marks such as `</s>` inside a text are plain characters: only
//! this file adds the marks, so a document cannot forge them.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::container::Vocabulary;

/// Is for a space before a word.
const SPACE_MARK: char = '\u{2581}';
/// What an unknown character costs, below the lowest score of the vocabulary.
const UNKNOWN_PENALTY: f32 = 10.0;
/// A word longer than this is divided in parts of this length, so that no text costs more than
/// its length times the longest piece.
const MAX_WORD_CHARS: usize = 4096;

/// A tokenizer. Safe to share between threads.
#[derive(Debug)]
pub(crate) struct Unigram {
    vocabulary: Vocabulary,
    /// Piece ids by hash of the piece, open addressing; `EMPTY` where there is none.
    table: Vec<u32>,
    /// A bit by hash for every beginning of a longer piece. A bit may be set by chance, which only
    /// costs a look; without it nearly every look at a Chinese or Japanese text is in vain, since
    /// its words are as long as its sentences.
    beginnings: Vec<u64>,
    longest_piece_bytes: usize,
    unknown_score: f32,
}

const EMPTY: u32 = u32::MAX;

/// Bits for each piece: of pieces of three characters a fifth of the bits is set.
const BITS_PER_PIECE: usize = 16;

/// The tokens of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Tokens {
    /// Ids, with the marks at both ends.
    pub(crate) ids: Vec<u32>,
    /// How many ids at the start belong to the mark and the prefix.
    pub(crate) n_before_text: usize,
    /// Whether the text had more tokens than were allowed.
    pub(crate) is_truncated: bool,
}

impl Unigram {
    /// Makes a tokenizer of a vocabulary.
    pub(crate) fn new(vocabulary: Vocabulary) -> Self {
        let n_pieces = vocabulary.scores.len();
        let table = vec![EMPTY; (n_pieces * 2).next_power_of_two()];
        let lowest = vocabulary.scores.iter().copied().fold(0.0, f32::min);
        let n_bits = (n_pieces * BITS_PER_PIECE).next_power_of_two().max(64);
        let mut tokenizer = Unigram {
            table,
            beginnings: vec![0; n_bits / 64],
            longest_piece_bytes: 0,
            unknown_score: lowest - UNKNOWN_PENALTY,
            vocabulary,
        };
        for id in 0..n_pieces as u32 {
            if !tokenizer.is_mark(id) {
                tokenizer.insert(id);
            }
        }
        tokenizer
    }

    /// Divides a prefix and a text into at most `max_tokens` tokens, the marks included.
    pub(crate) fn encode(&self, prefix: &str, text: &str, max_tokens: usize) -> Tokens {
        let room = max_tokens.max(2) - 2;
        let mut ids = vec![self.vocabulary.begin];
        let whole = format!("{prefix}{text}");
        self.divide(whole.trim(), room.saturating_add(1), &mut ids);
        let mut prefix_ids = Vec::new();
        if !prefix.trim().is_empty() {
            self.divide(prefix.trim(), room, &mut prefix_ids);
        }
        let is_truncated = ids.len() > room + 1;
        ids.truncate(room + 1);
        ids.push(self.vocabulary.end);
        // Words are divided one by one, so the tokens of the prefix are a prefix of the tokens.
        let n_before_text = (1 + prefix_ids.len()).min(ids.len() - 1);
        Tokens { ids, n_before_text, is_truncated }
    }

    /// Appends the tokens of a text, and stops when `max_tokens` were appended.
    fn divide(&self, text: &str, max_tokens: usize, ids: &mut Vec<u32>) {
        let end = ids.len().saturating_add(max_tokens);
        let text = self.normalise(text);
        let mut word = String::new();
        let mut n_chars = 0;
        let mut best = Vec::new();
        // The text begins with a space in any case, and runs of spaces count as one.
        let mut is_after_space = true;
        word.push(SPACE_MARK);
        for char in text.chars() {
            if char == ' ' {
                if !is_after_space {
                    self.divide_word(&word, &mut best, ids);
                    word.clear();
                    word.push(SPACE_MARK);
                    n_chars = 0;
                }
                is_after_space = true;
            } else {
                if n_chars >= MAX_WORD_CHARS {
                    self.divide_word(&word, &mut best, ids);
                    word.clear();
                    n_chars = 0;
                }
                word.push(char);
                n_chars += 1;
                is_after_space = false;
            }
            if ids.len() >= end {
                ids.truncate(end);
                return;
            }
        }
        self.divide_word(&word, &mut best, ids);
        ids.truncate(end);
    }

    /// Divides one word by the best sum of scores.
    fn divide_word(&self, word: &str, best: &mut Vec<Step>, ids: &mut Vec<u32>) {
        let bytes = word.as_bytes();
        best.clear();
        best.resize(bytes.len() + 1, Step::UNREACHED);
        best[0].score = 0.0;
        for (start, char) in word.char_indices() {
            let score_here = best[start].score;
            let after_char = start + char.len_utf8();
            let unknown = score_here + self.unknown_score;
            if unknown > best[after_char].score {
                best[after_char] =
                    Step { score: unknown, from: start, id: self.vocabulary.unknown };
            }
            let longest = bytes.len().min(start + self.longest_piece_bytes);
            let mut hash = Hash::new();
            for end in start + 1..=longest {
                hash.add(bytes[end - 1]);
                if !word.is_char_boundary(end) {
                    continue;
                }
                if let Some(id) = self.find(hash, &bytes[start..end]) {
                    let score = score_here + self.vocabulary.scores[id as usize];
                    if score > best[end].score {
                        best[end] = Step { score, from: start, id };
                    }
                }
                if !self.may_begin(hash) {
                    break;
                }
            }
        }
        let first = ids.len();
        let mut at = bytes.len();
        while at > 0 {
            let step = best[at];
            // Neighbouring unknown characters are one unknown token.
            let repeats_unknown = step.id == self.vocabulary.unknown
                && ids.len() > first
                && ids.last() == Some(&step.id);
            if !repeats_unknown {
                ids.push(step.id);
            }
            at = step.from;
        }
        ids[first..].reverse();
    }

    /// Brings characters to the form that the vocabulary knows.
    fn normalise<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let composed = match is_nfc_quick(text.chars()) {
            IsNormalized::Yes => Cow::Borrowed(text),
            IsNormalized::No | IsNormalized::Maybe => Cow::Owned(text.nfc().collect()),
        };
        let is_plain = composed.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        if is_plain {
            return composed;
        }
        let mut normalised = String::with_capacity(composed.len());
        for char in composed.chars() {
            match self.replacement(char) {
                Some(replacement) => normalised.push_str(replacement),
                None => normalised.push(char),
            }
        }
        Cow::Owned(normalised)
    }

    fn replacement(&self, char: char) -> Option<&str> {
        let replacements = &self.vocabulary.replacements;
        let at = replacements.binary_search_by_key(&char, |(from, _)| *from).ok()?;
        Some(&replacements[at].1)
    }

    /// Marks are in the vocabulary as pieces, but text must never be read as one.
    fn is_mark(&self, id: u32) -> bool {
        let vocabulary = &self.vocabulary;
        [vocabulary.begin, vocabulary.end, vocabulary.padding, vocabulary.unknown].contains(&id)
            || self.piece(id) == b"<mask>"
    }

    fn piece(&self, id: u32) -> &[u8] {
        let offsets = &self.vocabulary.offsets;
        let id = id as usize;
        &self.vocabulary.blob[offsets[id] as usize..offsets[id + 1] as usize]
    }

    fn insert(&mut self, id: u32) {
        let piece = self.piece(id);
        if piece.is_empty() {
            return;
        }
        let n_bytes = piece.len();
        let mut hash = Hash::new();
        let mut beginnings = Vec::with_capacity(n_bytes);
        for byte in piece {
            // Only whole characters are looked at.
            if byte & 0xc0 != 0x80 {
                beginnings.push(hash);
            }
            hash.add(*byte);
        }
        if self.find(hash, piece).is_some() {
            return;
        }
        let n_bits = self.beginnings.len() * 64;
        for beginning in beginnings.iter().skip(1) {
            let bit = beginning.slot(n_bits - 1);
            self.beginnings[bit / 64] |= 1 << (bit % 64);
        }
        let mask = self.table.len() - 1;
        let mut slot = hash.slot(mask);
        while self.table[slot] != EMPTY {
            slot = (slot + 1) & mask;
        }
        self.table[slot] = id;
        self.longest_piece_bytes = self.longest_piece_bytes.max(n_bytes);
    }

    /// Tells whether a piece may be longer than what was hashed so far.
    fn may_begin(&self, hash: Hash) -> bool {
        let bit = hash.slot(self.beginnings.len() * 64 - 1);
        self.beginnings[bit / 64] & 1 << (bit % 64) != 0
    }

    fn find(&self, hash: Hash, bytes: &[u8]) -> Option<u32> {
        let mask = self.table.len() - 1;
        let mut slot = hash.slot(mask);
        loop {
            let id = self.table[slot];
            if id == EMPTY {
                return None;
            }
            if self.piece(id) == bytes {
                return Some(id);
            }
            slot = (slot + 1) & mask;
        }
    }
}

/// The best way to reach a place in a word.
#[derive(Debug, Clone, Copy)]
struct Step {
    score: f32,
    from: usize,
    id: u32,
}

impl Step {
    const UNREACHED: Step = Step { score: f32::NEG_INFINITY, from: 0, id: 0 };
}

/// A hash that grows byte by byte (FNV-1a), so that every prefix of a word costs one step.
#[derive(Debug, Clone, Copy)]
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    #[inline]
    fn add(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    /// The low bits of the hash are weak, so the high ones are mixed in.
    #[inline]
    fn slot(self, mask: usize) -> usize {
        (self.0 ^ (self.0 >> 29)) as usize & mask
    }
}

#[cfg(test)]
mod tests;

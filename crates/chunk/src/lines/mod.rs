//! The cutter for long strings of JSON: windows of characters, aligned to lines.
//!
//! A chunk ends after the last line break in its window; where the window has none, after a
//! sentence or a word; where it has none of these, at the window's end. The next chunk starts an
//! overlap earlier, moved back to the start of that line, and always after the start of the one
//! before. Whitespace-only pieces are left out.

use std::ops::Range;

use model::Span;

use crate::cursor::Cursor;
use crate::{Error, Result};

/// Strings shorter than this are not cut at all, unless configured.
pub const DEFAULT_CHUNK_THRESHOLD_CHARS: usize = 10_000;

/// How long strings are cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinesConfig {
    /// The most characters of a chunk.
    pub chunk_chars: usize,
    /// How many characters two neighbours share, before the start is moved back to a line.
    pub overlap_chars: usize,
    /// The most characters of a text.
    pub max_chars: usize,
    /// The most chunks of a text.
    pub max_chunks: usize,
}

impl LinesConfig {
    /// Gives the contract's figures: 1,000 characters, overlap 100, at most 500,000 characters
    /// and 600 chunks.
    pub fn standard() -> Self {
        LinesConfig { chunk_chars: 1000, overlap_chars: 100, max_chars: 500_000, max_chunks: 600 }
    }
}

/// A stretch of a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The text at the span.
    pub text: String,
    /// Where it is, in characters.
    pub span: Span,
    /// Where it is, in bytes.
    pub bytes: Range<usize>,
}

/// Cuts a text into chunks aligned to lines.
///
/// Fails when the text is longer than `max_chars` or gives more than `max_chunks` chunks.
///
/// ```
/// let config = chunk::LinesConfig { chunk_chars: 12, overlap_chars: 4, ..chunk::LinesConfig::standard() };
/// let chunks = chunk::cut_lines("one two\nthree\nfour five six\n", &config).unwrap();
/// let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
/// assert_eq!(texts, ["one two\n", "three\n", "four five ", "five six\n"]);
/// ```
pub fn cut_lines(text: &str, config: &LinesConfig) -> Result<Vec<Chunk>> {
    let n_chars = text.chars().count();
    if n_chars > config.max_chars {
        return Err(Error::TooLong { n_chars, max_chars: config.max_chars });
    }
    let mut chunks = Vec::new();
    let mut start = Cursor::default();
    let mut end = chunk_end(text, start, config);
    while start.byte < text.len() {
        let piece = text.get(start.byte..end.byte).unwrap_or_default();
        if !piece.trim().is_empty() {
            if chunks.len() == config.max_chunks {
                return Err(Error::TooManyChunks { max_chunks: config.max_chunks });
            }
            chunks.push(Chunk {
                text: piece.to_owned(),
                span: Span::new(start.char, end.char),
                bytes: start.byte..end.byte,
            });
        }
        let previous_end = end;
        if previous_end.byte >= text.len() {
            break;
        }
        start = next_start(text, start, previous_end, config);
        end = chunk_end(text, start, config);
        // A start moved far back can give a chunk that says nothing new.
        if end <= previous_end {
            start = previous_end;
            end = chunk_end(text, start, config);
        }
    }
    Ok(chunks)
}

fn chunk_end(text: &str, start: Cursor, config: &LinesConfig) -> Cursor {
    let window_end = start.forward(text, config.chunk_chars.max(1));
    if window_end.byte == text.len() {
        return window_end;
    }
    let window = text.get(start.byte..window_end.byte).unwrap_or_default();
    if let Some(at) = window.rfind('\n') {
        return start.advance_to(text, start.byte + at + 1);
    }
    // A cut inside the overlap would give a chunk that the next one repeats whole.
    let floor = start.forward(text, config.overlap_chars.min(config.chunk_chars / 2));
    let sentence_end = text::sentences(window)
        .map(|sentence| start.byte + sentence.end)
        .take_while(|end| *end < window_end.byte)
        .filter(|end| *end > floor.byte)
        .last();
    let word_end = || {
        let at = window.rfind(char::is_whitespace)?;
        let space = window.get(at..)?.chars().next()?;
        Some(start.byte + at + space.len_utf8()).filter(|end| *end > floor.byte)
    };
    match sentence_end.or_else(word_end) {
        Some(end) => start.advance_to(text, end),
        None => window_end.off_cluster(text, start),
    }
}

fn next_start(text: &str, start: Cursor, end: Cursor, config: &LinesConfig) -> Cursor {
    // Half a chunk is the most that can be shared without cutting everything many times.
    let overlapped = end.back(text, config.overlap_chars.min(config.chunk_chars / 2));
    if overlapped <= start {
        return end;
    }
    // Only back to this chunk's start: a line that starts before it cannot move the next one.
    let shared = text.get(start.byte..overlapped.byte).unwrap_or_default();
    if let Some(at) = shared.rfind('\n') {
        return overlapped.retreat_to(text, start.byte + at + 1);
    }
    let is_line_long = !text.get(start.byte..end.byte).unwrap_or_default().ends_with('\n');
    if !is_line_long {
        return end;
    }
    // Inside one long line the overlap starts at a word, as far back as the overlap is long.
    let floor = overlapped.back(text, config.overlap_chars).max(start);
    let head = text.get(floor.byte..overlapped.byte).unwrap_or_default();
    let word_start = head.rfind(char::is_whitespace).and_then(|at| {
        let space = head.get(at..)?.chars().next()?;
        Some(floor.byte + at + space.len_utf8())
    });
    match word_start {
        Some(byte) if byte > start.byte => overlapped.retreat_to(text, byte),
        _ => overlapped.off_cluster(text, start),
    }
}

#[cfg(test)]
mod tests;

//! Redaction of a piece of a text that looks at more than the piece.
//!
//! A private thing that reaches over the edge of the piece is a mark in it, whole: reading a text
//! in pieces of any size gives nothing that reading it at once does not give.

use std::ops::Range;

use super::{Redaction, find_private, written};

/// How much of the source is looked at on each side of a piece, in characters: more than the
/// longest private thing that is found, a private key of 16,384 bits.
pub const REDACTION_CONTEXT_CHARS: usize = 16_384;

/// Redacts the part of `source` at `window` (bytes), looking at all of `source`.
///
/// Pieces are given in places of `source`, cut to the window.
///
/// ```
/// let source = "Write to ana@example.org today";
/// assert_eq!(text::redact_window(source, 13..17).text, "[email]");
/// assert_eq!(text::redact_window(source, 0..13).text, "Write to [email]");
/// ```
pub fn redact_window(source: &str, window: Range<usize>) -> Redaction {
    let start = floor(source, window.start);
    let end = floor(source, window.end).max(start);
    let pieces = find_private(source)
        .into_iter()
        .filter_map(|mut piece| {
            piece.bytes = piece.bytes.start.max(start)..piece.bytes.end.min(end);
            (piece.bytes.start < piece.bytes.end).then_some(piece)
        })
        .collect();
    written(source, start..end, pieces)
}

/// A piece of a source, by what is around it there.
#[derive(Debug, Clone, Copy, Default)]
pub struct PieceContext<'a> {
    /// The line of headings of the table that the piece is in, where one of its columns holds
    /// secrets and the line is further away than `before` reaches.
    pub heading: Option<&'a str>,
    /// The characters directly before it.
    pub before: &'a str,
    /// The characters directly after it.
    pub after: &'a str,
}

/// Redacts a piece of a source, looking at what is around it.
///
/// ```
/// let context = text::PieceContext { before: "Write to ana@ex", after: ".org", heading: None };
/// assert_eq!(text::redact_piece("ample", context).text, "[email]");
/// ```
pub fn redact_piece(piece: &str, context: PieceContext<'_>) -> Redaction {
    let PieceContext { heading, before, after } = context;
    let (heading, before) = match heading {
        None => (String::new(), before),
        // Half a row would end the table.
        Some(heading) => {
            (format!("{heading}\n"), before.split_once('\n').map_or(before, |(_, rows)| rows))
        }
    };
    let source = [heading.as_str(), before, piece, after].concat();
    let start = heading.len() + before.len();
    redact_window(&source, start..start + piece.len())
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Gives the first `n_chars` characters of a text, or fewer where that would divide something
/// private.
pub fn cut_outside_private(text: &str, n_chars: usize) -> &str {
    let Some((cut, _)) = text.char_indices().nth(n_chars) else { return text };
    let divided = find_private(text)
        .into_iter()
        .find(|piece| (piece.bytes.start + 1..piece.bytes.end).contains(&cut));
    text.get(..divided.map_or(cut, |piece| piece.bytes.start)).unwrap_or_default()
}

/// Moves the edges of a window (characters) so that neither divides something private: the
/// start to where it begins, the end to where it begins.
pub fn window_outside_private(text: &str, window: Range<usize>) -> Range<usize> {
    let pieces = find_private(text);
    if pieces.is_empty() {
        return window;
    }
    let moved = |n_chars: usize| {
        let Some((at, _)) = text.char_indices().nth(n_chars) else { return n_chars };
        let divided =
            pieces.iter().find(|piece| (piece.bytes.start + 1..piece.bytes.end).contains(&at));
        divided.map_or(n_chars, |piece| {
            text.get(..piece.bytes.start).unwrap_or_default().chars().count()
        })
    };
    let start = moved(window.start);
    start..moved(window.end).max(start)
}

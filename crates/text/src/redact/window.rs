//! Redaction of a piece of a text that looks at more than the piece.
//!
//! A private thing that reaches over the edge of the piece is a mark in it, whole: reading a text
//! in pieces of any size gives nothing that reading it at once does not give.

use std::ops::Range;

use super::table_cuts::EDGE;
use super::{PrivatePiece, Redaction, columns, find_private, without_overlaps, written};

/// How much of the source is looked at on each side of a piece, in characters: more than the
/// longest private thing that is found, a private key of 16,384 bits.
pub const REDACTION_CONTEXT_CHARS: usize = 16_384;

/// What is between two passages of one text where blank space was left out: a line may end there.
pub const PASSAGE_EDGE: char = EDGE;

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
    cut_to(source, window, find_private(source))
}

fn cut_to(source: &str, window: Range<usize>, pieces: Vec<PrivatePiece>) -> Redaction {
    let start = floor(source, window.start);
    let end = floor(source, window.end).max(start);
    let pieces = pieces
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
    /// The characters directly before it. [`PASSAGE_EDGE`] is where two passages meet and it is
    /// not known whether a line ends.
    pub before: &'a str,
    /// The characters directly after it, likewise.
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
    let around = [before, piece, after].concat();
    let window = before.len()..before.len() + piece.len();
    // A passage ends there: a line does, unless it is one of a table.
    let source = around.replace(EDGE, "\n");
    let mut pieces = find_private(&source);
    if let Some(heading) = heading {
        let lines =
            columns::Lines { text: &around, is_begin: before.is_empty(), is_end: after.is_empty() };
        columns::find_below(heading, &lines, &mut pieces);
        pieces = without_overlaps(pieces);
    }
    cut_to(&source, window, pieces)
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

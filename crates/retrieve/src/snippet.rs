//! The best window of a passage for the query.

use model::Span;
use text::{Analyzer, QueryWord, Scratch, detect_language};

use crate::Snippet;

/// The longest window, in characters.
const MAX_CHARS: usize = 400;

/// Cuts the window with the most matches.
pub(crate) fn snippet(words: &[QueryWord], passage: &str) -> Snippet {
    let language = detect_language(passage);
    let found = Analyzer::new().matches(words, passage, language, &mut Scratch::new());
    let first = found.first().map_or(0, |found| found.chars.start);
    let start = first.saturating_sub(MAX_CHARS / 4);
    let text: String = passage.chars().skip(start).take(MAX_CHARS).collect();
    let end = start + text.chars().count();
    let matches = found
        .iter()
        .filter(|found| found.chars.start >= start && found.chars.end <= end)
        .map(|found| Span::new(found.chars.start - start, found.chars.end - start))
        .collect();
    Snippet { text, span: Span::new(start, end), matches }
}

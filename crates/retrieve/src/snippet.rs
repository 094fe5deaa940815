//! The best window of a passage for the query: whole sentences around the words that count.

use std::collections::BTreeSet;
use std::ops::Range;

use model::Span;
use text::Match;

use crate::Snippet;

/// The longest window, in characters.
pub(crate) const MAX_CHARS: usize = 400;

/// Cuts the window of whole sentences that holds the most different words of the query, the
/// earliest of equals. A sentence that is longer than a window is cut around its words.
pub(crate) fn snippet(found: &[Match], passage: &str) -> Snippet {
    let sentences = sentence_spans(passage);
    let n_chars = sentences.last().map_or(0, |last| last.end);
    let best = best_window(&sentences, found).unwrap_or(0..n_chars.min(MAX_CHARS));
    let window = if best.end - best.start > MAX_CHARS { around(&best, found) } else { best };
    // An edge inside something private would show half of it, which nobody recognises.
    let window = text::window_outside_private(passage, window);
    let text: String = passage.chars().skip(window.start).take(window.end - window.start).collect();
    let trimmed = text.trim_end();
    let start = window.start + (trimmed.chars().count() - trimmed.trim_start().chars().count());
    let text = trimmed.trim_start().to_owned();
    let end = start + text.chars().count();
    let mut matches: Vec<Span> = found
        .iter()
        .filter(|found| found.chars.start >= start && found.chars.end <= end)
        .map(|found| Span::new(found.chars.start - start, found.chars.end - start))
        .collect();
    merge(&mut matches);
    Snippet { text, span: Span::new(start, end), matches }
}

/// Gives the sentences as ranges of characters that cover the passage.
fn sentence_spans(passage: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let (mut byte_at, mut char_at) = (0, 0);
    for sentence in text::sentences(passage) {
        let end =
            char_at + passage.get(byte_at..sentence.end).map_or(0, |text| text.chars().count());
        spans.push(char_at..end);
        (byte_at, char_at) = (sentence.end, end);
    }
    spans
}

fn best_window(sentences: &[Range<usize>], found: &[Match]) -> Option<Range<usize>> {
    let mut best: Option<((usize, usize), Range<usize>)> = None;
    for (first, sentence) in sentences.iter().enumerate() {
        let mut end = sentence.end;
        for next in &sentences[first + 1..] {
            if next.end - sentence.start > MAX_CHARS {
                break;
            }
            end = next.end;
        }
        let window = sentence.start..end;
        let inside = found
            .iter()
            .filter(|found| found.chars.start >= window.start && found.chars.end <= window.end);
        let words: BTreeSet<usize> = inside.clone().map(|found| found.word_idx).collect();
        let worth = (words.len(), inside.count());
        if best.as_ref().is_none_or(|(most, _)| worth > *most) {
            best = Some((worth, window));
        }
    }
    best.map(|(_, window)| window)
}

/// Cuts a window out of one long sentence, beginning a little before its first match.
fn around(sentence: &Range<usize>, found: &[Match]) -> Range<usize> {
    let first = found
        .iter()
        .map(|found| found.chars.start)
        .find(|start| sentence.contains(start))
        .unwrap_or(sentence.start);
    let start = first.saturating_sub(MAX_CHARS / 4).max(sentence.start);
    let start = start.min(sentence.end.saturating_sub(MAX_CHARS));
    start..(start + MAX_CHARS).min(sentence.end)
}

/// Joins spans that overlap, as the pairs of characters of one word do.
fn merge(spans: &mut Vec<Span>) {
    spans.sort_by_key(|span| (span.start, span.end));
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans.drain(..) {
        match merged.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    *spans = merged;
}

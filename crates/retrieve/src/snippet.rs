//! The best window of a passage for the query: whole sentences around the words that count.

use std::collections::BTreeMap;
use std::ops::Range;

use model::Span;

use crate::Snippet;

/// The longest window, in characters.
pub(crate) const MAX_CHARS: usize = 400;

/// A word that is longer than this is cut where a window ends.
const MAX_WORD_CHARS: usize = 40;

/// A word of the query in a passage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WordMatch {
    /// The position in the list of query words.
    pub(crate) word_idx: usize,
    /// Where it is in the passage, in characters.
    pub(crate) chars: Span,
    /// What the word is worth; a rare one more than one that is everywhere.
    pub(crate) worth: f64,
}

/// Cuts the window of whole sentences that is worth most to the query, the earliest of equals: each
/// word counts once, by its worth. A sentence that is longer than a window is cut around its words.
pub(crate) fn snippet(found: &[WordMatch], passage: &str) -> Snippet {
    let chars: Vec<char> = passage.chars().collect();
    let sentences = sentence_spans(passage);
    let n_chars = sentences.last().map_or(0, |last| last.end);
    let best = best_window(&sentences, found).unwrap_or(0..n_chars.min(MAX_CHARS));
    let window = if best.end - best.start > MAX_CHARS {
        at_words(&chars, around(&best, found), found)
    } else {
        best
    };
    // An edge inside something private would show half of it, which nobody recognises.
    let window = text::window_outside_private(passage, window);
    let text: String = chars.iter().skip(window.start).take(window.end - window.start).collect();
    let trimmed = text.trim_end();
    let start = window.start + (trimmed.chars().count() - trimmed.trim_start().chars().count());
    let text = trimmed.trim_start().to_owned();
    let end = start + text.chars().count();
    let focus = best_line(&chars, &(start..end), found) - start;
    let mut matches: Vec<Span> = inside(found, &(start..end))
        .map(|found| Span::new(found.chars.start - start, found.chars.end - start))
        .collect();
    merge(&mut matches);
    Snippet { text, span: Span::new(start, end), focus, matches }
}

/// Gives the words that are wholly inside a window.
fn inside<'a>(
    found: &'a [WordMatch],
    window: &Range<usize>,
) -> impl Iterator<Item = &'a WordMatch> {
    let (start, end) = (window.start, window.end);
    found.iter().filter(move |found| found.chars.start >= start && found.chars.end <= end)
}

/// Adds up what is inside a window: every word once, and a little for each time it comes again.
fn worth(found: &[WordMatch], window: &Range<usize>) -> f64 {
    let mut words: BTreeMap<usize, f64> = BTreeMap::new();
    let mut n_times = 0_u32;
    for found in inside(found, window) {
        words.insert(found.word_idx, found.worth + SMALL);
        n_times += 1;
    }
    words.values().sum::<f64>() + f64::from(n_times) * SMALL * SMALL
}

/// What every word is worth at least, so that one that says nothing is better than none.
const SMALL: f64 = 1e-3;

/// Gives the first word of the line that is worth most inside a window, the earliest of equals; the
/// window's start when it has none.
fn best_line(chars: &[char], window: &Range<usize>, found: &[WordMatch]) -> usize {
    let mut best = (0.0, window.start);
    let mut start = window.start;
    while start < window.end {
        let line = chars.get(start..window.end).unwrap_or_default();
        let end = line.iter().position(|char| *char == '\n').map_or(window.end, |at| start + at);
        let worth = worth(found, &(start..end));
        if worth > best.0
            && let Some(first) = inside(found, &(start..end)).next()
        {
            best = (worth, first.chars.start);
        }
        start = end + 1;
    }
    best.1
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

fn best_window(sentences: &[Range<usize>], found: &[WordMatch]) -> Option<Range<usize>> {
    let mut best: Option<(f64, Range<usize>)> = None;
    for (first, sentence) in sentences.iter().enumerate() {
        let mut end = sentence.end;
        for next in &sentences[first + 1..] {
            if next.end - sentence.start > MAX_CHARS {
                break;
            }
            end = next.end;
        }
        let window = sentence.start..end;
        let worth = worth(found, &window);
        if best.as_ref().is_none_or(|(most, _)| worth > *most) {
            best = Some((worth, window));
        }
    }
    best.map(|(_, window)| window)
}

/// Cuts the window out of one long sentence that is worth most, beginning a little before a match.
fn around(sentence: &Range<usize>, found: &[WordMatch]) -> Range<usize> {
    let window_at = |first: usize| {
        let start = first.saturating_sub(MAX_CHARS / 4).max(sentence.start);
        let start = start.min(sentence.end.saturating_sub(MAX_CHARS));
        start..(start + MAX_CHARS).min(sentence.end)
    };
    let mut best = (0.0, window_at(sentence.start));
    for found_here in inside(found, sentence) {
        let window = window_at(found_here.chars.start);
        let worth = worth(found, &window);
        if worth > best.0 {
            best = (worth, window);
        }
    }
    best.1
}

/// Moves the edges of a window off the words that they cut, unless these are words that were asked
/// for, or no words: scripts without spaces are cut anywhere.
fn at_words(chars: &[char], window: Range<usize>, found: &[WordMatch]) -> Range<usize> {
    let is_cut = |at: usize| {
        let is_part = |at: usize| {
            chars.get(at).is_some_and(|char| char.is_alphanumeric() && !text::is_ideograph(*char))
        };
        at > 0 && is_part(at - 1) && is_part(at)
    };
    let (mut start, mut end) = (window.start, window.end);
    if is_cut(start) {
        let ahead = (start + 1..end).take(MAX_WORD_CHARS).find(|at| !is_cut(*at));
        start = ahead.unwrap_or(start);
    }
    if is_cut(end) {
        let back = (start + 1..end).rev().take(MAX_WORD_CHARS).find(|at| !is_cut(*at));
        end = back.unwrap_or(end);
    }
    let n_inside = |window: Range<usize>| inside(found, &window).count();
    if n_inside(start..end) < n_inside(window.clone()) { window } else { start..end }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Finds words in a text; each is worth as much as it has letters.
    fn found(words: &[&str], text: &str) -> Vec<WordMatch> {
        let mut all = Vec::new();
        for (word_idx, word) in words.iter().enumerate() {
            for (at, _) in text.match_indices(word) {
                let start = text[..at].chars().count();
                let end = start + word.chars().count();
                all.push(WordMatch {
                    word_idx,
                    chars: Span::new(start, end),
                    worth: word.len() as f64,
                });
            }
        }
        all.sort_by_key(|found| found.chars.start);
        all
    }

    /// The first line with any part of `item7` was taken for the hit, and the word cut off.
    #[test]
    fn the_line_with_the_whole_word_is_the_one_that_is_pointed_at() {
        let text: String = (0..40).map(|n| format!("let item{n}x = {n};\n")).collect();
        for n in 0..40 {
            let word = format!("item{n}x ");
            let shown = snippet(&found(&[&word, "item", "let", "x"], &text), &text);
            assert!(shown.text.contains(&word), "{n}: {}", shown.text);
            let chars: Vec<char> = shown.text.chars().collect();
            let line: String =
                chars[shown.focus..].iter().take_while(|char| **char != '\n').collect();
            assert!(line.contains(&format!(" = {n};")), "{n}: {line}");
        }
    }

    #[test]
    fn a_long_sentence_is_cut_between_words() {
        let text = "granite meadow lantern ".repeat(60) + "needle" + &" harbour saddle".repeat(60);
        let shown = snippet(&found(&["needle"], &text), &text);
        assert!(shown.text.contains("needle"));
        let words = ["granite", "meadow", "lantern", "needle", "harbour", "saddle"];
        assert!(shown.text.split(' ').all(|word| words.contains(&word)), "{}", shown.text);
    }

    proptest! {
        #[test]
        fn a_window_is_a_part_of_the_passage_with_its_matches(
            text in "[ab\\n .漢é]{0,900}",
            words in prop::collection::vec("[ab漢é]{1,3}", 0..4),
        ) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let found = found(&words, &text);
            let shown = snippet(&found, &text);
            let chars: Vec<char> = text.chars().collect();
            let at_span: String = chars[shown.span.start..shown.span.end].iter().collect();
            prop_assert_eq!(&at_span, &shown.text);
            prop_assert!(shown.span.len() <= MAX_CHARS);
            prop_assert!(shown.focus <= shown.span.len());
            // Something that was found is shown.
            prop_assert!(found.is_empty() || !shown.matches.is_empty());
        }
    }
}

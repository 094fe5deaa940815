//! Text from sources with the words of a query marked in it. The text stays text: marks are
//! elements around pieces of it, and everything between is escaped.

use std::ops::Range;

use maud::{Markup, html};
use text::{Analyzer, LanguageSet, Scratch};

/// Characters of a text that a result shows.
const WINDOW_CHARS: usize = 320;

/// Words shorter than this are marked only where they are equal.
const MIN_STEM_CHARS: usize = 4;

/// Characters before the first word that was found, where a text is cut.
const BEFORE_CHARS: usize = 60;

/// Marks the words of `query` in a text: in any form under which the index finds them, or with the
/// same beginning.
pub(crate) fn marked(text: &str, query: &str) -> Markup {
    let mut pieces: Vec<(bool, &str)> = Vec::new();
    let mut done = 0;
    for Range { start, end } in joined(found(text, query)) {
        pieces.push((false, &text[done..start]));
        pieces.push((true, &text[start..end]));
        done = end;
    }
    pieces.push((false, &text[done..]));
    html! {
        @for (is_marked, piece) in pieces {
            @if is_marked { mark { (piece) } } @else { (piece) }
        }
    }
}

/// Joins ranges that touch or overlap, in their order: in scripts without spaces each character is
/// found by itself, and a word of them gets one mark.
fn joined(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            Some(_) | None => joined.push(range),
        }
    }
    joined
}

/// Counts the words of a text that a query asks for.
pub(crate) fn n_found(text: &str, query: &str) -> usize {
    found(text, query).len()
}

/// Gives the words of a text that a query asks for, in bytes, in their order.
fn found(text: &str, query: &str) -> Vec<Range<usize>> {
    let sought: Vec<String> = words(query)
        .map(|(start, end)| text::fold(&query[start..end]))
        .filter(|word| !word.is_empty())
        .collect();
    if sought.is_empty() {
        return Vec::new();
    }
    let analyzer = Analyzer::new();
    let asked = analyzer.analyze_query(query, LanguageSet::all());
    let language = text::detect_language(text);
    let matches = analyzer.matches(&asked, text, language, &mut Scratch::new());
    let mut is_matched = vec![false; text.chars().count()];
    for span in matches.into_iter().map(|found| found.chars) {
        let end = span.end.min(is_matched.len());
        is_matched[span.start.min(end)..end].fill(true);
    }
    let (mut n_bytes, mut n_chars) = (0, 0);
    let mut found = Vec::new();
    for (start, end) in words(text) {
        n_chars += text[n_bytes..start].chars().count();
        let n_own = text[start..end].chars().count();
        let is_found = is_matched[n_chars..n_chars + n_own].iter().any(|is_matched| *is_matched);
        if is_found || sought.iter().any(|word| is_same(word, &text[start..end])) {
            found.push(start..end);
        }
        (n_bytes, n_chars) = (end, n_chars + n_own);
    }
    found
}

/// Gives extracted text without the marks of its headings, for a snippet on one line: a heading
/// ends with a point in the middle of the line, so that it does not run into what follows.
pub(crate) fn as_prose(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    while let Some(line) = lines.next() {
        let heading = line.trim_start().trim_start_matches('#');
        let n_marks = line.trim_start().len() - heading.len();
        if (1..=6).contains(&n_marks) && heading.starts_with(' ') {
            prose.push_str(heading.trim());
            prose.push_str(if lines.peek().is_some() { " ·" } else { "" });
        } else {
            prose.push_str(line);
        }
        prose.push('\n');
    }
    prose
}

/// Gives the part of a text that has most of the query's words, on one line, with marks where it
/// was cut; the first of the words is near its beginning, since the end may not be seen.
pub(crate) fn window(text: &str, query: &str) -> String {
    let found = found(text, query);
    let pieces: Vec<&str> = text.split_whitespace().collect();
    let mut next = found.iter().peekable();
    let is_sought: Vec<bool> = pieces
        .iter()
        .map(|piece| {
            let end = piece.as_ptr() as usize - text.as_ptr() as usize + piece.len();
            let mut is_sought = false;
            while next.next_if(|range| range.start < end).is_some() {
                is_sought = true;
            }
            is_sought
        })
        .collect();
    let lengths: Vec<usize> = pieces.iter().map(|piece| piece.chars().count() + 1).collect();
    let (mut best, mut best_count) = (0..pieces.len().min(1), 0);
    let (mut end, mut n_chars, mut count) = (0, 0, 0);
    for start in 0..pieces.len() {
        while end < pieces.len() && (end == start || n_chars + lengths[end] <= WINDOW_CHARS) {
            n_chars += lengths[end];
            count += usize::from(is_sought[end]);
            end += 1;
        }
        if count > best_count || (best_count == 0 && start == 0) {
            (best, best_count) = (start..end, count);
        }
        n_chars -= lengths[start];
        count -= usize::from(is_sought[start]);
    }
    let best = from_first(best, &is_sought, &lengths);
    let before = if best.start > 0 { "… " } else { "" };
    let after = if best.end < pieces.len() { " …" } else { "" };
    let shown = pieces[best].join(" ");
    let shown: String = shown.chars().take(2 * WINDOW_CHARS).collect();
    format!("{before}{shown}{after}")
}

/// Moves a window on so that it begins a few words before the first that is sought; none of those
/// in it is lost.
fn from_first(window: Range<usize>, is_sought: &[bool], lengths: &[usize]) -> Range<usize> {
    let Some(first) = window.clone().find(|at| is_sought[*at]) else { return window };
    let (mut start, mut n_before) = (first, 0);
    while start > window.start && n_before + lengths[start - 1] <= BEFORE_CHARS {
        start -= 1;
        n_before += lengths[start];
    }
    // What is near the beginning of the text is shown from there.
    if window.start == 0 && lengths[..start].iter().sum::<usize>() <= BEFORE_CHARS {
        start = 0;
    }
    let (mut end, mut n_chars) = (start, 0);
    while end < lengths.len() && (end < window.end || n_chars + lengths[end] <= WINDOW_CHARS) {
        n_chars += lengths[end];
        end += 1;
    }
    start..end
}

fn is_same(sought: &str, word: &str) -> bool {
    let word = text::fold(word);
    let shorter = sought.chars().count().min(word.chars().count());
    word == *sought
        || (shorter >= MIN_STEM_CHARS
            && (word.starts_with(sought) || sought.starts_with(word.as_str())))
}

/// The spans of words: letters and digits; of scripts without spaces, each character.
fn words(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        while let Some((start, char)) = chars.next() {
            if !char.is_alphanumeric() {
                continue;
            }
            let mut end = start + char.len_utf8();
            if is_spaceless(char) {
                return Some((start, end));
            }
            while let Some((next, char)) =
                chars.next_if(|(_, char)| char.is_alphanumeric() && !is_spaceless(*char))
            {
                end = next + char.len_utf8();
            }
            return Some((start, end));
        }
        None
    })
}

fn is_spaceless(char: char) -> bool {
    matches!(u32::from(char), 0x2E80..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, query: &str, expected: &str) {
        assert_eq!(marked(text, query).0, expected);
    }

    #[test]
    fn words_are_marked_and_nothing_is_markup() {
        check("Remote work", "remote", "<mark>Remote</mark> work");
        check("<b>work</b> & more", "work", "&lt;b&gt;<mark>work</mark>&lt;/b&gt; &amp; more");
        check("școală", "scoala", "<mark>școală</mark>");
        check("calibrated twice", "calibrate", "<mark>calibrated</mark> twice");
        check("it was calibrated", "calibration", "it was <mark>calibrated</mark>");
        check(
            "Primăria a publicat contractele",
            "contractelor",
            "Primăria a publicat <mark>contractele</mark>",
        );
        check("works", "or", "works");
        check("東京都", "京", "東<mark>京</mark>都");
        check("nothing", "", "nothing");
        check("", "x", "");
    }

    #[test]
    fn neighbours_have_one_mark() {
        check("東京都", "東京", "<mark>東京</mark>都");
        check("リモートワークの規則", "リモートワーク", "<mark>リモートワーク</mark>の規則");
        check("remote work", "remote work", "<mark>remote</mark> <mark>work</mark>");
        assert_eq!(joined(vec![0..2, 2..4, 3..5, 3..4, 6..7]), [0..5, 6..7]);
        assert!(joined(Vec::new()).is_empty());
    }

    #[test]
    fn headings_lose_their_marks_and_nothing_else_does() {
        let check = |text: &str, expected: &str| assert_eq!(window(&as_prose(text), ""), expected);
        check("# Remote work\n\nUp to three days.\n## Who", "Remote work · Up to three days. Who");
        check("## Only", "Only");
        check("a # b\n#hash\n####### seven", "a # b #hash ####### seven");
        check("", "");
    }

    #[test]
    fn the_window_has_most_of_the_words() {
        let text =
            format!("{} remote work allowance here {}", "far ".repeat(200), "off ".repeat(200));
        let shown = window(&text, "remote work allowance");
        assert!(shown.contains("remote work allowance") && shown.chars().count() < 340, "{shown}");
        assert!(shown.starts_with('…') && shown.ends_with('…'));
        assert_eq!(window("a\n\nb", "x"), "a b");
        assert_eq!(window("", "x"), "");
        assert!(window(&"長".repeat(5_000), "長").chars().count() <= 2 * WINDOW_CHARS + 4);
    }

    #[test]
    fn a_word_far_into_a_text_is_at_the_beginning_of_its_window() {
        for n_before in [0, 3, 20, 79, 80, 81, 500] {
            let text = format!("{}calibrated again {}", "far ".repeat(n_before), "off ".repeat(99));
            let shown = window(&text, "calibration");
            let at = shown.find("calibrated").expect("the word is shown");
            assert!(at <= 2 * BEFORE_CHARS + 8, "{n_before}: {shown}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_text_stays_the_same(text in "\\PC{0,60}", query in "\\PC{0,20}") {
            let markup = marked(&text, &query).0;
            let plain = markup.replace("<mark>", "").replace("</mark>", "");
            proptest::prop_assert_eq!(plain, html! { (text) }.0);
        }
    }
}

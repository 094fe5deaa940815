//! Text from sources with the words of a query marked in it. The text stays text: marks are
//! elements around pieces of it, and everything between is escaped.

use maud::{Markup, html};

/// Characters of a text that a result shows.
const WINDOW_CHARS: usize = 320;

/// Words shorter than this are marked only where they are equal.
const MIN_STEM_CHARS: usize = 4;

/// Marks the words of `query` in a text: equal after folding, or with the same beginning.
pub(crate) fn marked(text: &str, query: &str) -> Markup {
    let sought: Vec<String> = words(query)
        .map(|(start, end)| text::fold(&query[start..end]))
        .filter(|word| !word.is_empty())
        .collect();
    let mut pieces: Vec<(bool, &str)> = Vec::new();
    let mut done = 0;
    for (start, end) in words(text) {
        if sought.iter().any(|word| is_same(word, &text[start..end])) {
            pieces.push((false, &text[done..start]));
            pieces.push((true, &text[start..end]));
            done = end;
        }
    }
    pieces.push((false, &text[done..]));
    html! {
        @for (is_marked, piece) in pieces {
            @if is_marked { mark { (piece) } } @else { (piece) }
        }
    }
}

/// Gives the part of a text that has most of the query's words, on one line, with marks where it
/// was cut.
pub(crate) fn window(text: &str, query: &str) -> String {
    let sought: Vec<String> =
        words(query).map(|(start, end)| text::fold(&query[start..end])).collect();
    let pieces: Vec<&str> = text.split_whitespace().collect();
    let is_sought: Vec<bool> = pieces
        .iter()
        .map(|piece| {
            words(piece)
                .any(|(start, end)| sought.iter().any(|word| is_same(word, &piece[start..end])))
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
    let before = if best.start > 0 { "… " } else { "" };
    let after = if best.end < pieces.len() { " …" } else { "" };
    let shown = pieces[best].join(" ");
    let shown: String = shown.chars().take(2 * WINDOW_CHARS).collect();
    format!("{before}{shown}{after}")
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
        check("works", "or", "works");
        check("東京都", "京", "東<mark>京</mark>都");
        check("nothing", "", "nothing");
        check("", "x", "");
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

    proptest::proptest! {
        #[test]
        fn the_text_stays_the_same(text in "\\PC{0,60}", query in "\\PC{0,20}") {
            let markup = marked(&text, &query).0;
            let plain = markup.replace("<mark>", "").replace("</mark>", "");
            proptest::prop_assert_eq!(plain, html! { (text) }.0);
        }
    }
}

//! Text from sources with the words of a query marked in it. The text stays text: marks are
//! elements around pieces of it, and everything between is escaped.

use maud::{Markup, html};

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

    proptest::proptest! {
        #[test]
        fn the_text_stays_the_same(text in "\\PC{0,60}", query in "\\PC{0,20}") {
            let markup = marked(&text, &query).0;
            let plain = markup.replace("<mark>", "").replace("</mark>", "");
            proptest::prop_assert_eq!(plain, html! { (text) }.0);
        }
    }
}

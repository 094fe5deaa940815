//! Characters that turn the direction of what follows, held where they stand.
//!
//! A name may hold U+202E and so show its end as another one: `rtl…gnp.exe.md` reads
//! `rtldm.exe.png`. Each of these characters is put into an element of its own, at whose end its
//! effect ends, and which shows that it is there; the text of the page, and what is copied from it,
//! stays as it is.

use std::borrow::Cow;

/// Elements that hold no other elements: the character is replaced there, as it is only shown.
const SHOWN_ALONE: [&str; 3] = ["title", "option", "svg"];

/// Elements whose text is sent back or run, and stays as it is.
const LEFT_ALONE: [&str; 3] = ["textarea", "script", "style"];

/// Embeddings, overrides and isolates, and their ends. Single marks (U+200E, U+200F, U+061C) turn
/// nothing that follows, and texts of right-to-left scripts need them.
fn is_control(char: char) -> bool {
    matches!(char, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// What is written in the place of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WrittenAs {
    Text,
    ShownAlone,
    LeftAlone,
}

/// Holds the characters of a page that turn the direction. `page` is HTML in which `<` and `>` are
/// those of tags alone, as everything else is escaped.
pub(super) fn contained(page: &str) -> Cow<'_, str> {
    if !page.contains(is_control) {
        return Cow::Borrowed(page);
    }
    let mut written = String::with_capacity(page.len() + 256);
    let mut within: Option<(&str, WrittenAs)> = None;
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let (before, tag) = rest.split_at(start);
        write_text(before, within.map_or(WrittenAs::Text, |(_, place)| place), &mut written);
        let (tag, after) = tag.split_at(tag.find('>').map_or(tag.len(), |end| end + 1));
        written.push_str(tag);
        within = match (within, tag.strip_prefix("</")) {
            (Some((name, _)), Some(end)) if name_of(end) == name => None,
            (None, None) => place_of(name_of(&tag[1..])),
            (within, _) => within,
        };
        rest = after;
    }
    write_text(rest, WrittenAs::Text, &mut written);
    Cow::Owned(written)
}

fn name_of(tag: &str) -> &str {
    tag.split(|char: char| !char.is_ascii_alphanumeric()).next().unwrap_or_default()
}

fn place_of(name: &str) -> Option<(&str, WrittenAs)> {
    if SHOWN_ALONE.contains(&name) {
        Some((name, WrittenAs::ShownAlone))
    } else if LEFT_ALONE.contains(&name) {
        Some((name, WrittenAs::LeftAlone))
    } else {
        None
    }
}

fn write_text(text: &str, place: WrittenAs, written: &mut String) {
    if place == WrittenAs::LeftAlone {
        written.push_str(text);
        return;
    }
    for char in text.chars() {
        if !is_control(char) {
            written.push(char);
        } else if place == WrittenAs::ShownAlone {
            written.push(char::REPLACEMENT_CHARACTER);
        } else {
            let code = u32::from(char);
            written
                .push_str(&format!("<bdi class=\"turn\" data-code=\"U+{code:04X}\">{char}</bdi>"));
        }
    }
}

#[cfg(test)]
mod tests {
    use maud::html;

    use super::*;

    #[test]
    fn a_turn_ends_where_it_stands() {
        let page = html! { h1 title="a\u{202E}b" { "rtl\u{202E}gnp.md" } p { "after" } }.0;
        assert_eq!(
            contained(&page),
            "<h1 title=\"a\u{202E}b\">rtl<bdi class=\"turn\" data-code=\"U+202E\">\u{202E}</bdi>gnp.md</h1><p>after</p>"
        );
        assert!(matches!(contained("<p>plain سياسة \u{200F}</p>"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_holds_no_elements_gets_none() {
        let page = "<title>\u{2066}x</title><svg><text>\u{202E}</text></svg><option value=\"x\">\u{202D}</option>";
        assert_eq!(
            contained(page),
            "<title>\u{FFFD}x</title><svg><text>\u{FFFD}</text></svg><option value=\"x\">\u{FFFD}</option>"
        );
        let form = "<textarea name=\"x\">\u{202E}</textarea>";
        assert_eq!(contained(form), form, "what is sent back stays");
    }

    proptest::proptest! {
        /// The text of a page is what it was, and no character that turns stands outside of its
        /// own element.
        #[test]
        fn the_text_stays(pieces in proptest::collection::vec("[a<&\"\u{202A}-\u{202E}\u{2066}-\u{2069}ع]{0,6}", 0..6)) {
            let page = html! { @for piece in &pieces { p { (piece) b { (piece) } } } }.0;
            let shown = contained(&page).into_owned();
            let mut plain = shown.replace("</bdi>", "");
            while let Some(start) = plain.find("<bdi") {
                let end = start + plain[start..].find('>').unwrap();
                plain.replace_range(start..=end, "");
            }
            proptest::prop_assert_eq!(plain, page);
            for (at, char) in shown.char_indices().filter(|(_, char)| is_control(*char)) {
                proptest::prop_assert!(shown[..at].ends_with("\">"), "{}", shown);
                proptest::prop_assert!(shown[at + char.len_utf8()..].starts_with("</bdi>"));
            }
        }
    }
}

//! The marks of inline Markdown taken out of a text: emphasis, links, pictures, code spans,
//! HTML tags, escapes and entities. One pass, no nesting is followed.

/// A tag or a link target longer than this is text after all.
const MAX_MARK_BYTES: usize = 2048;

pub(crate) fn without_marks(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let after = rest.get(char.len_utf8()..).unwrap_or_default();
        rest = match char {
            '\\' => match after.chars().next() {
                Some(escaped) if escaped.is_ascii_punctuation() => {
                    plain.push(escaped);
                    after.get(1..).unwrap_or_default()
                }
                _ => {
                    plain.push('\\');
                    after
                }
            },
            '`' => after.trim_start_matches('`'),
            '*' => {
                let unmarked = after.trim_start_matches('*');
                let stands_free =
                    plain.ends_with([' ', '\n']) | plain.is_empty() && unmarked.starts_with(' ');
                if stands_free {
                    plain.push('*');
                }
                unmarked
            }
            '_' => {
                let unmarked = after.trim_start_matches('_');
                let joins_words = plain.ends_with(char::is_alphanumeric)
                    && unmarked.starts_with(char::is_alphanumeric);
                if joins_words {
                    plain.push('_');
                }
                unmarked
            }
            '~' if after.starts_with('~') => after.trim_start_matches('~'),
            '!' if after.starts_with('[') => after,
            '[' => after,
            ']' => without_target(after, &mut plain),
            '<' => without_tag(after, &mut plain),
            '&' => without_entity(after, &mut plain),
            _ => {
                plain.push(char);
                after
            }
        };
    }
    plain
}

/// Skips the target after a link's text.
fn without_target<'a>(after: &'a str, plain: &mut String) -> &'a str {
    let (open, close) = match after.chars().next() {
        Some('(') => ('(', ')'),
        Some('[') => ('[', ']'),
        _ => return after,
    };
    let mut depth = 0_usize;
    for (at, char) in after.char_indices().take(MAX_MARK_BYTES) {
        if char == open {
            depth += 1;
        } else if char == close {
            depth -= 1;
            if depth == 0 {
                return after.get(at + 1..).unwrap_or_default();
            }
        } else if char == '\n' && open == '[' {
            break;
        }
    }
    plain.push(' ');
    after
}

fn without_tag<'a>(after: &'a str, plain: &mut String) -> &'a str {
    if let Some(comment) = after.strip_prefix("!--") {
        return comment.split_once("-->").map_or("", |(_, rest)| rest);
    }
    let is_tag = after.starts_with(|char: char| char.is_ascii_alphabetic() || char == '/');
    let end = after.bytes().take(MAX_MARK_BYTES).position(|byte| byte == b'>');
    let Some(end) = end.filter(|_| is_tag) else {
        plain.push('<');
        return after;
    };
    let inside = after.get(..end).unwrap_or_default();
    if inside.contains("://") && !inside.contains([' ', '=']) || inside.contains('@') {
        plain.push_str(inside.trim_start_matches("mailto:"));
    } else if inside.contains('<') {
        plain.push('<');
        return after;
    } else if ["br", "/p", "/td", "/th", "/li", "/div", "/tr"]
        .iter()
        .any(|tag| inside.to_ascii_lowercase().starts_with(tag))
    {
        plain.push(' ');
    }
    after.get(end + 1..).unwrap_or_default()
}

fn without_entity<'a>(after: &'a str, plain: &mut String) -> &'a str {
    let end = after.bytes().take(32).position(|byte| byte == b';');
    let resolved = end.and_then(|end| {
        let name = after.get(..end)?;
        if let Some(number) = name.strip_prefix('#') {
            let number = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok(),
                None => number.parse().ok(),
            };
            return Some((number.and_then(char::from_u32)?.to_string(), end));
        }
        quick_xml::escape::resolve_html5_entity(name).map(|text| (text.to_owned(), end))
    });
    match resolved {
        Some((text, end)) => {
            plain.push_str(&text);
            after.get(end + 1..).unwrap_or_default()
        }
        None => {
            plain.push('&');
            after
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(marked: &str, plain: &str) {
        assert_eq!(without_marks(marked), plain);
    }

    #[test]
    fn marks_go_and_words_stay() {
        check("**bold** and _slanted_ `code`", "bold and slanted code");
        check("[the text](http://a.b/c_(d)) after", "the text after");
        check("![a picture](a.png)", "a picture");
        check("snake_case_name stays", "snake_case_name stays");
        check("2 * 3 = 6", "2 * 3 = 6");
        check("a \\*star\\*", "a *star*");
        check("&amp; &copy; &#233; &unknown; R&D", "& © é &unknown; R&D");
        check("<b>bold</b> <https://a.b> x < y", "bold https://a.b x < y");
        check("one <!-- unseen --> two", "one  two");
    }
}

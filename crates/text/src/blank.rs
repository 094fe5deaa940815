//! Text that says nothing.

/// Tells whether nothing of a text can be seen: spaces of any width, line ends, and characters
/// that only steer how others are shown.
///
/// ```
/// assert!(text::is_blank(" \u{3000}\u{200b}\n"));
/// assert!(!text::is_blank("a"));
/// ```
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|char| char.is_whitespace() || char.is_control() || is_invisible(char))
}

/// Tells whether a character takes no ink and is no space for Unicode: joiners, marks of
/// direction, fillers, variation selectors, tags.
///
/// ```
/// assert!(text::is_invisible('\u{3164}') && !text::is_invisible(' '));
/// ```
pub fn is_invisible(char: char) -> bool {
    matches!(
        char,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d159}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_blank() {
        for blank in
            ["", " ", "\n\t", "\u{3000}", "\u{a0}", "\u{200b}", "\u{feff} \u{2060}", "\u{3164}"]
        {
            assert!(is_blank(blank), "{blank:?}");
        }
        for seen in ["a", " 一 ", "\u{200b}x", "-", "?", "👩\u{200d}🚀"] {
            assert!(!is_blank(seen), "{seen:?}");
        }
    }
}

//! Takes stretches of Han, kana, hangul and Thai apart: every character and every pair of
//! neighbours, so that any substring of two or more characters is found as it is typed.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use crate::fold::{self, is_ignorable};

/// One normalised character with its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) exact: char,
    pub(crate) folded: char,
    pub(crate) bytes: Range<usize>,
    pub(crate) chars: Range<usize>,
}

/// Normalises a run, keeping for each character where it came from.
///
/// Half-width kana take the voicing mark that follows them, so the span of `ﾊﾟ` is two
/// characters; a squared word such as `㌔` gives several characters with the same span.
/// `units` is cleared first.
pub(crate) fn normalise(run: &str, byte_start: usize, char_start: usize, units: &mut Vec<Unit>) {
    units.clear();
    let mut chars = run.char_indices().enumerate().peekable();
    while let Some((char_idx, (offset, first))) = chars.next() {
        if is_ignorable(first) {
            continue;
        }
        let mut byte_end = offset + first.len_utf8();
        let mut char_end = char_idx + 1;
        while let Some((idx, (at, mark))) =
            chars.next_if(|(_, (_, next))| is_voicing_mark(*next) || is_conjoining(first, *next))
        {
            byte_end = at + mark.len_utf8();
            char_end = idx + 1;
        }
        let bytes = byte_start + offset..byte_start + byte_end;
        let chars = char_start + char_idx..char_start + char_end;
        let Some(source) = run.get(offset..byte_end) else { continue };
        if char_end == char_idx + 1 && is_plain(first) {
            let folded = fold::fold_kana(first);
            units.push(Unit { exact: first, folded, bytes, chars });
            continue;
        }
        for exact in source.nfkc().flat_map(char::to_lowercase) {
            let folded = fold::fold_kana(exact);
            units.push(Unit { exact, folded, bytes: bytes.clone(), chars: chars.clone() });
        }
    }
}

/// Characters that NFKC leaves alone, by far the most frequent ones.
fn is_plain(char: char) -> bool {
    matches!(char, '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fe}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}')
}

fn is_voicing_mark(char: char) -> bool {
    matches!(char, '\u{3099}' | '\u{309a}' | '\u{ff9e}' | '\u{ff9f}')
}

/// Hangul written in conjoining letters composes into syllables.
fn is_conjoining(first: char, next: char) -> bool {
    matches!(first, '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7a3}')
        && matches!(next, '\u{1160}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7fb}')
}

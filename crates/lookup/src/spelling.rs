//! What counts as the same spelling of a name.
//!
//! `spell` keeps the letters a person wrote (case and cedilla aside); `fold` also drops the
//! diacritics. Both are idempotent. How words are cut from a name stands in `token.rs`.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Gives the lower-case spelling with ș and ț in their comma form, composed.
pub(crate) fn spell(text: &str) -> String {
    text.nfc().flat_map(char::to_lowercase).map(comma_below).nfc().collect()
}

/// Gives the spelling without diacritics, with letters that do not decompose written out.
pub(crate) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for char in text.nfkd().filter(|char| !is_combining_mark(*char)) {
        for lower in char.to_lowercase().filter(|char| !is_combining_mark(*char)) {
            match lower {
                'đ' | 'ð' => folded.push('d'),
                'ł' => folded.push('l'),
                'ø' => folded.push('o'),
                'ı' => folded.push('i'),
                'ß' => folded.push_str("ss"),
                'æ' => folded.push_str("ae"),
                'œ' => folded.push_str("oe"),
                'þ' => folded.push_str("th"),
                other => folded.push(other),
            }
        }
    }
    folded
}

fn comma_below(char: char) -> char {
    match char {
        'ş' => 'ș',
        'ţ' => 'ț',
        other => other,
    }
}

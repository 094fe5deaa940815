//! Text as PostgreSQL takes it: the character U+0000, which it refuses, is spelt with two others.
//!
//! The spelling keeps the order of texts and what is a prefix of what, so that listings and ranges
//! of ids are those of the original texts.

use std::borrow::Cow;

const MARK: char = '\u{1}';

pub(crate) fn spell(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| byte <= 1) {
        return Cow::Borrowed(text);
    }
    let mut spelt = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        match char {
            '\0' => spelt.extend([MARK, '0']),
            MARK => spelt.extend([MARK, '1']),
            other => spelt.push(other),
        }
    }
    Cow::Owned(spelt)
}

/// Gives the text back.
pub(crate) fn read(spelt: String) -> String {
    if !spelt.contains(MARK) {
        return spelt;
    }
    let mut text = String::with_capacity(spelt.len());
    let mut chars = spelt.chars();
    while let Some(char) = chars.next() {
        match char {
            MARK => text.push(if chars.next() == Some('0') { '\0' } else { MARK }),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn spelling_keeps_texts_their_order_and_their_prefixes(
            one in "[\\x00-\\x03a-c]{0,6}", other in "[\\x00-\\x03a-c]{0,6}",
        ) {
            let (a, b) = (spell(&one).into_owned(), spell(&other).into_owned());
            prop_assert!(!a.contains('\0'));
            prop_assert_eq!(read(a.clone()), one.clone());
            prop_assert_eq!(a.cmp(&b), one.cmp(&other));
            prop_assert_eq!(a.starts_with(&b), one.starts_with(&other));
        }
    }
}

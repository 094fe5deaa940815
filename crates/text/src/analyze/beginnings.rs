//! The first two letters of the terms that are looked for: most words of a text need no more than
//! that to be passed over.

use crate::analyze::query::QueryWord;

/// The letters `a` to `z`.
const N_LETTERS: usize = 26;

/// Which pairs of first letters some term has.
#[derive(Debug)]
pub(crate) struct Beginnings {
    /// For each first letter, a bit for each second one.
    seconds: [u32; N_LETTERS],
}

impl Beginnings {
    /// Notes how the terms begin.
    pub(crate) fn of(words: &[QueryWord]) -> Self {
        let mut seconds = [0; N_LETTERS];
        for term in words.iter().flat_map(|word| &word.terms) {
            let mut letters = term.bytes().map(letter);
            let Some(Some(first)) = letters.next() else { continue };
            // A term of one letter, or with a sign behind it, meets every second letter.
            seconds[first] |= letters.next().flatten().map_or(u32::MAX, |second| 1 << second);
        }
        Beginnings { seconds }
    }

    /// Tells whether a word as it is written can have one of the terms as its stem, in a language
    /// whose stemmer keeps the first letters; the others are read word by word.
    pub(crate) fn may_match(&self, word: &str) -> bool {
        let bytes = word.as_bytes();
        let (Some(first), Some(second)) = (bytes.first(), bytes.get(1)) else { return true };
        match (letter(*first), letter(*second)) {
            (Some(first), Some(second)) => self.seconds[first] & (1 << second) != 0,
            _ => true,
        }
    }
}

/// Gives the place of a Latin letter, capital or not. `y` is `i` here, since stemmers change one
/// into the other (`dying`, `die`).
fn letter(byte: u8) -> Option<usize> {
    let lower = byte.to_ascii_lowercase();
    let lower = if lower == b'y' { b'i' } else { lower };
    lower.is_ascii_lowercase().then(|| usize::from(lower - b'a'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::analyze::analyzer::{Analyzer, Scratch};
    use crate::analyze::matches::WantedWords;
    use crate::language::Language;

    const LANGUAGES: [Language; 12] = [
        Language::English,
        Language::German,
        Language::French,
        Language::Spanish,
        Language::Italian,
        Language::Portuguese,
        Language::Romanian,
        Language::Swedish,
        Language::Dutch,
        Language::Irish,
        Language::Indonesian,
        Language::Japanese,
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_word_is_found_by_its_own_terms_in_every_language(
            word in "[a-zA-Z]{1,3}[a-zäșßéy']{0,9}",
            language in prop::sample::select(&LANGUAGES[..]),
        ) {
            let analyzer = Analyzer::new();
            let mut scratch = Scratch::new();
            let query = analyzer.analyze_query(&word, crate::LanguageSet::all());
            let text = format!("zq {word} zq");
            let mut expected = Vec::new();
            analyzer.visit(&text, language, &mut scratch, |token| {
                let words = query.iter().enumerate();
                let matching = words.filter(|(_, word)| word.terms.iter().any(|term| term == token.stem));
                expected.extend(matching.map(|(idx, _)| (idx, token.chars)));
            });
            let (found, n_tokens) =
                analyzer.matches_and_length(&WantedWords::of(&query), &text, language, &mut scratch);
            let found: Vec<_> = found.iter().map(|found| (found.word_idx, found.chars)).collect();
            prop_assert_eq!(found, expected);
            let mut n_all = 0;
            analyzer.visit(&text, language, &mut scratch, |_| n_all += 1);
            prop_assert_eq!(n_tokens, n_all);
        }
    }
}

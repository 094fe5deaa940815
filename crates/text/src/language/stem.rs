//! Which stemmer a word gets, by its own script first and the language of its text second.
//!
//! Stemmers see folded words (fold, then stem): forms typed without diacritics then meet the
//! forms written with them.

use frostem::{Algorithm, Stemmer};

use crate::language::Language;

/// Words longer than this are identifiers or noise, and Snowball's cost grows with length.
const MAX_STEMMED_BYTES: usize = 64;
/// Words shorter than this are left alone: their endings are not endings.
const MIN_STEMMED_CHARS: usize = 3;

/// The script of a word, as far as stemming cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    /// Latin letters.
    Latin,
    /// Cyrillic letters.
    Cyrillic,
    /// Greek letters.
    Greek,
    /// Armenian letters.
    Armenian,
    /// Arabic letters.
    Arabic,
    /// Hebrew letters.
    Hebrew,
    Devanagari,
    Tamil,
    /// Digits, symbols, scripts without a stemmer.
    Other,
}

/// Gives the script of a folded word by its first letter; words with digits have none.
pub(crate) fn script_of_word(folded: &str) -> Script {
    let Some(first) = folded.chars().next() else { return Script::Other };
    if folded.bytes().any(|byte| byte.is_ascii_digit()) {
        return Script::Other;
    }
    match first {
        'a'..='z' => Script::Latin,
        '\u{370}'..='\u{3ff}' => Script::Greek,
        '\u{400}'..='\u{52f}' => Script::Cyrillic,
        '\u{530}'..='\u{58f}' => Script::Armenian,
        '\u{590}'..='\u{5ff}' => Script::Hebrew,
        '\u{600}'..='\u{6ff}' => Script::Arabic,
        '\u{900}'..='\u{97f}' => Script::Devanagari,
        '\u{b80}'..='\u{bff}' => Script::Tamil,
        _ => Script::Other,
    }
}

/// Gives the language whose stemmer a word gets when it is in a text of `language`.
///
/// A word in a script that the text's language does not use gets the stemmer that is most likely
/// for its script: an English product name in a Japanese text is stemmed as English.
pub(crate) fn stemming_language(script: Script, language: Language) -> Option<Language> {
    let (own, usual): (&[Language], Option<Language>) = match script {
        Script::Latin => {
            return match algorithm(language) {
                Some(_) if writes_latin(language) => Some(language),
                _ if language == Language::Vietnamese => None,
                _ => Some(Language::English),
            };
        }
        Script::Cyrillic => (
            &[Language::Russian, Language::Serbian, Language::Ukrainian, Language::Bulgarian],
            Some(Language::Russian),
        ),
        Script::Greek => (&[], Some(Language::Greek)),
        Script::Armenian => (&[], Some(Language::Armenian)),
        Script::Arabic => (&[Language::Persian], Some(Language::Arabic)),
        Script::Hebrew => (&[Language::Yiddish], None),
        Script::Devanagari => (&[Language::Nepali], Some(Language::Hindi)),
        Script::Tamil => (&[], Some(Language::Tamil)),
        Script::Other => (&[], None),
    };
    let chosen = if own.contains(&language) { Some(language) } else { usual };
    chosen.filter(|language| algorithm(*language).is_some())
}

/// Appends the stem of a folded word; the word itself where the language has no stemmer.
pub(crate) fn push_stem(folded: &str, language: Option<Language>, stem: &mut String) {
    let algorithm = language.and_then(algorithm);
    let too_short = folded.chars().nth(MIN_STEMMED_CHARS - 1).is_none();
    match algorithm {
        Some(algorithm) if folded.len() <= MAX_STEMMED_BYTES && !too_short => {
            let stemmed = Stemmer::new(algorithm).stem(folded);
            // A stemmer that eats the whole word would make all such words equal.
            stem.push_str(if stemmed.is_empty() { folded } else { &stemmed });
        }
        _ => stem.push_str(folded),
    }
}

/// Tells whether stemming leaves the first two Latin letters of a word as they are, in a text of
/// this language, but for `y` and `i`. Some stemmers take prefixes off or write letters anew.
pub(crate) fn keeps_beginnings(language: Language) -> bool {
    match stemming_language(Script::Latin, language) {
        None => true,
        Some(language) => matches!(
            language,
            Language::English
                | Language::French
                | Language::Spanish
                | Language::Italian
                | Language::Portuguese
                | Language::Romanian
                | Language::Swedish
                | Language::Danish
                | Language::Norwegian
        ),
    }
}

fn writes_latin(language: Language) -> bool {
    !matches!(
        language,
        Language::Russian
            | Language::Greek
            | Language::Armenian
            | Language::Arabic
            | Language::Persian
            | Language::Yiddish
            | Language::Hindi
            | Language::Nepali
            | Language::Tamil
    )
}

fn algorithm(language: Language) -> Option<Algorithm> {
    Some(match language {
        Language::English => Algorithm::English,
        Language::Romanian => Algorithm::Romanian,
        Language::French => Algorithm::French,
        Language::German => Algorithm::German,
        Language::Spanish => Algorithm::Spanish,
        Language::Italian => Algorithm::Italian,
        Language::Portuguese => Algorithm::Portuguese,
        Language::Dutch => Algorithm::Dutch,
        Language::Swedish => Algorithm::Swedish,
        Language::Danish => Algorithm::Danish,
        Language::Norwegian => Algorithm::Norwegian,
        Language::Finnish => Algorithm::Finnish,
        Language::Estonian => Algorithm::Estonian,
        Language::Hungarian => Algorithm::Hungarian,
        Language::Turkish => Algorithm::Turkish,
        Language::Polish => Algorithm::Polish,
        Language::Czech => Algorithm::Czech,
        Language::Lithuanian => Algorithm::Lithuanian,
        Language::Catalan => Algorithm::Catalan,
        Language::Basque => Algorithm::Basque,
        Language::Irish => Algorithm::Irish,
        Language::Indonesian => Algorithm::Indonesian,
        Language::Esperanto => Algorithm::Esperanto,
        Language::Serbian => Algorithm::Serbian,
        Language::Russian => Algorithm::Russian,
        Language::Greek => Algorithm::Greek,
        Language::Armenian => Algorithm::Armenian,
        Language::Arabic => Algorithm::Arabic,
        Language::Persian => Algorithm::Persian,
        Language::Yiddish => Algorithm::Yiddish,
        Language::Hindi => Algorithm::Hindi,
        Language::Nepali => Algorithm::Nepali,
        Language::Tamil => Algorithm::Tamil,
        Language::Unknown
        | Language::Ukrainian
        | Language::Bulgarian
        | Language::Hebrew
        | Language::Vietnamese
        | Language::Japanese
        | Language::Chinese
        | Language::Korean
        | Language::Thai => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::LanguageSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]

        #[test]
        fn stemmers_that_keep_beginnings_do(
            beginning in "[a-z]{2}",
            middle in "[a-z]{0,4}",
            ending in prop::sample::select(&["", "ing", "ed", "s", "ly", "ying", "y", "ied", "en",
                "er", "lor", "ului", "amente", "ci", "ssa", "ban", "lar", "ego", "oj", "hoz"][..]),
        ) {
            let word = format!("{beginning}{middle}{ending}");
            for language in LanguageSet::all().iter().filter(|one| keeps_beginnings(*one)) {
                let mut stem = String::new();
                let stemmer = stemming_language(script_of_word(&word), language);
                push_stem(&word, stemmer, &mut stem);
                let start = |text: &str| text.replace('y', "i").chars().take(2).collect::<String>();
                let is_kept = start(&word).starts_with(&start(&stem));
                prop_assert!(is_kept, "{:?}: {} gives {}", language, word, stem);
            }
        }
    }
}

//! Names of places, people and institutions as people type them.
//!
//! Beyond [`crate::fold`], names differ in their punctuation (`TG. OCNA`, `Târgu-Ocna`), in
//! abbreviations, and, in Romanian, in orthography: the letter `â` was written `î` from 1953 to
//! 1993, so `CÂLNIC` and `CÎLNIC` are one village, and lists without diacritics carry `CILNIC`.

use crate::fold;

/// Gives a name folded, with hyphens, points, slashes and quotation marks as single spaces.
///
/// ```
/// assert_eq!(text::fold_name("TÂRGU-OCNA"), "targu ocna");
/// assert_eq!(text::fold_name(" Sf. Gheorghe (CV) "), "sf gheorghe cv");
/// ```
pub fn fold_name(name: &str) -> String {
    words_only(&fold::fold(name))
}

/// Gives the key under which both Romanian orthographies of a name are the same.
///
/// `â` and `î` both become `i`, and the forms of *sunt* become *sint*; the rest is as
/// [`fold_name`] has it. A name without diacritics keeps its letters, so compare it under this
/// key and under [`fold_name`], or look for it under [`old_orthography_variants`].
///
/// ```
/// assert_eq!(text::old_orthography_key("CÂLNIC"), text::old_orthography_key("COMUNA CÎLNIC")[7..]);
/// assert_eq!(text::old_orthography_key("sunt"), text::old_orthography_key("sînt"));
/// ```
pub fn old_orthography_key(name: &str) -> String {
    let exact = fold::exact(name);
    let with_i: String =
        exact.chars().map(|char| if matches!(char, 'â' | 'î') { 'i' } else { char }).collect();
    let folded = fold_name(&with_i);
    if !folded.contains("sunt") {
        return folded;
    }
    let words: Vec<String> = folded
        .split(' ')
        .map(|word| match word.strip_prefix("sunt") {
            Some(ending) if matches!(ending, "" | "em" | "eti") => format!("sint{ending}"),
            _ => word.to_owned(),
        })
        .collect();
    words.join(" ")
}

/// Most spellings that [`old_orthography_variants`] gives.
pub const MAX_ORTHOGRAPHY_VARIANTS: usize = 16;

/// Gives the spellings that a folded name may have in the other orthography: inner letters `a`
/// and `i` exchanged, one at a time, then all at once; the name itself is not among them.
///
/// Without diacritics nobody can tell an `a` that was `â` from one that was not, so all are
/// tried; a list that holds the result confirms it.
///
/// ```
/// assert!(text::old_orthography_variants("calnic").contains(&"cilnic".to_owned()));
/// assert!(text::old_orthography_variants("cilnic").contains(&"calnic".to_owned()));
/// ```
pub fn old_orthography_variants(folded: &str) -> Vec<String> {
    let letters: Vec<char> = folded.chars().collect();
    let is_inner = |idx: usize| {
        let at = |idx: usize| letters.get(idx).is_some_and(|char| char.is_alphabetic());
        idx > 0 && at(idx - 1) && at(idx + 1)
    };
    let mut variants: Vec<String> = Vec::new();
    let mut push = |variant: String| {
        let is_new = variant != folded && !variants.contains(&variant);
        if is_new && variants.len() < MAX_ORTHOGRAPHY_VARIANTS {
            variants.push(variant);
        }
    };
    for (from, to) in [('a', 'i'), ('i', 'a')] {
        let exchange = |chosen: Option<usize>| -> String {
            let exchanged = letters.iter().enumerate().map(|(idx, char)| {
                let is_chosen = chosen.is_none_or(|chosen| chosen == idx);
                if *char == from && is_inner(idx) && is_chosen { to } else { *char }
            });
            exchanged.collect()
        };
        for (idx, char) in letters.iter().enumerate() {
            if *char == from && is_inner(idx) {
                push(exchange(Some(idx)));
            }
        }
        push(exchange(None));
    }
    variants
}

/// Tells whether a word can be a short form of another: `tg` of `targu`, `sf` of `sfantu`,
/// `jud` of `judetul`. Both are folded; the short form has at least two letters.
///
/// The letters of the short form appear in the same order in the long one, the first at its
/// start; a single run of letters (a prefix) or consonants only.
///
/// ```
/// assert!(text::is_abbreviation("tg", "targu"));
/// assert!(text::is_abbreviation("jud", "judetul"));
/// assert!(!text::is_abbreviation("to", "targu"));
/// ```
pub fn is_abbreviation(short: &str, long: &str) -> bool {
    let n_short = short.chars().count();
    if n_short < 2 || n_short >= long.chars().count() {
        return false;
    }
    if long.starts_with(short) {
        return true;
    }
    let is_vowel = |char: char| matches!(char, 'a' | 'e' | 'i' | 'o' | 'u');
    let mut rest = long.chars();
    let starts_alike = short.chars().next() == rest.next();
    starts_alike
        && short.chars().skip(1).all(|char| !is_vowel(char) && rest.any(|other| other == char))
}

fn words_only(folded: &str) -> String {
    let mut words = String::with_capacity(folded.len());
    for word in folded.split(|char: char| !is_name_char(char)).filter(|word| !word.is_empty()) {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    words
}

fn is_name_char(char: char) -> bool {
    char.is_alphanumeric() || unicode_normalization::char::is_combining_mark(char)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn punctuation_is_space() {
        assert_eq!(fold_name("TG. OCNA"), "tg ocna");
        assert_eq!(fold_name("Şcoala „Ion Creangă”, nr. 5"), "scoala ion creanga nr 5");
        assert_eq!(fold_name("  "), "");
        assert_eq!(fold_name("Cluj–Napoca"), "cluj napoca");
    }

    #[test]
    fn old_orthography() {
        assert_eq!(old_orthography_key("Câmpulung"), old_orthography_key("Cîmpulung"));
        assert_eq!(old_orthography_key("Târgu Mureş"), old_orthography_key("Tîrgu-Mureș"));
        assert_eq!(old_orthography_key("România"), "rominia");
        assert_eq!(old_orthography_key("suntem"), "sintem");
        assert_eq!(old_orthography_key("suntetic"), "suntetic");
        assert!(old_orthography_variants("targu jiu").contains(&"tirgu jiu".to_owned()));
        assert!(old_orthography_variants("").is_empty());
    }

    #[test]
    fn short_forms() {
        assert!(is_abbreviation("tg", "tirgu"));
        assert!(is_abbreviation("sf", "sfantu"));
        assert!(is_abbreviation("mun", "municipiul"));
        assert!(!is_abbreviation("targu", "tg"));
        assert!(!is_abbreviation("t", "targu"));
        assert!(!is_abbreviation("cluj", "cluj"));
    }

    proptest! {
        #[test]
        fn folding_a_name_twice_is_folding_it_once(name in "\\PC{0,30}") {
            let once = fold_name(&name);
            prop_assert_eq!(fold_name(&once), once.clone());
            prop_assert!(old_orthography_variants(&once).len() <= MAX_ORTHOGRAPHY_VARIANTS);
        }
    }
}

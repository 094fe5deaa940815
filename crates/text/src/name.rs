//! Short forms of words in names of places and institutions, as people type them.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_forms() {
        assert!(is_abbreviation("tg", "tirgu"));
        assert!(is_abbreviation("sf", "sfantu"));
        assert!(is_abbreviation("mun", "municipiul"));
        assert!(!is_abbreviation("targu", "tg"));
        assert!(!is_abbreviation("t", "targu"));
        assert!(!is_abbreviation("cluj", "cluj"));
    }
}

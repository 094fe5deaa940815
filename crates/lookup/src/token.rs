//! Names cut into words, each with the forms in which it can be met again.
//!
//! A word is a run of letters and digits; dots, hyphens and apostrophes separate words, and a
//! dot after a short word marks it as an abbreviation. Romanian wrote î where it now writes â,
//! so a word also knows its old form, and a loose skeleton in which the two cannot be told
//! apart, for queries that lost their diacritics.

use text::fold;

use crate::spelling::spell;
use crate::words::{Nature, nature};

/// Words after this many are not looked at: no name has them, and a hostile query could.
pub(crate) const MAX_TOKENS: usize = 48;

/// Characters of a query or name after this many are not looked at.
pub(crate) const MAX_NAME_CHARS: usize = 512;

/// What separates the parts of a query: a name, where it lies, what it is.
const SEPARATORS: [char; 11] = [',', ';', ':', '(', ')', '[', ']', '/', '|', '\n', '\t'];

/// The longest dotted word that is taken for an abbreviation.
const MAX_ABBREVIATION_CHARS: usize = 5;

/// One word of a name or query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// Lower case, diacritics kept.
    pub(crate) spelled: String,
    /// Without diacritics.
    pub(crate) folded: String,
    /// Whether a dot followed, as in `Tg.`.
    pub(crate) dotted: bool,
    /// Whether a comma or a bracket followed: what comes then is another part of the query.
    pub(crate) ends_part: bool,
}

impl Token {
    /// Makes a word without diacritics.
    pub(crate) fn plain(folded: &str) -> Self {
        let (spelled, folded) = (folded.to_owned(), folded.to_owned());
        Token { spelled, folded, dotted: false, ends_part: false }
    }
}

/// Cuts a text into words.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let clipped: String = text.chars().take(MAX_NAME_CHARS).collect();
    let spelled = spell(&clipped);
    let mut tokens: Vec<Token> = Vec::new();
    let mut word = String::new();
    for char in spelled.chars().chain([' ']) {
        if char.is_alphanumeric() || is_mark(char) {
            word.push(char);
            continue;
        }
        let ends_part = SEPARATORS.contains(&char);
        if word.is_empty() {
            if let Some(last) = tokens.last_mut().filter(|_| ends_part) {
                last.ends_part = true;
            }
            continue;
        }
        let folded = fold(&word);
        let dotted = char == '.'
            && word.chars().count() <= MAX_ABBREVIATION_CHARS
            && word.chars().all(char::is_alphabetic);
        if !folded.is_empty() {
            tokens.push(Token { spelled: std::mem::take(&mut word), folded, dotted, ends_part });
        }
        word.clear();
        if tokens.len() == MAX_TOKENS {
            break;
        }
    }
    tokens
}

/// Gives the words of a text that say something: neither the kind of a thing nor what joins words,
/// in lower case; all of them where none says more.
pub fn plain_words(text: &str) -> Vec<String> {
    let all = tokens(text);
    let is_plain = |token: &&Token| nature(&token.folded) == Nature::Plain;
    let mut plain: Vec<&Token> = all.iter().filter(is_plain).collect();
    if plain.is_empty() {
        plain = all.iter().collect();
    }
    plain.into_iter().map(|token| token.spelled.clone()).collect()
}

/// Gives a name as it is compared: two names with the same result are the same name but for case,
/// diacritics and punctuation.
pub fn folded(name: &str) -> String {
    folded_name(&tokens(name))
}

/// Joins the folded words with single spaces: two names with the same result are the same name
/// but for case, diacritics and punctuation.
pub(crate) fn folded_name(tokens: &[Token]) -> String {
    join(tokens.iter().map(|token| token.folded.as_str()))
}

/// Joins the spelled words with single spaces.
pub(crate) fn spelled_name(tokens: &[Token]) -> String {
    join(tokens.iter().map(|token| token.spelled.as_str()))
}

/// Gives the word in the orthography before 1993 (`câmp` as `cimp`, `sunt` as `sint`), when it
/// differs from the folded form.
pub(crate) fn old_form(token: &Token) -> Option<String> {
    match token.folded.as_str() {
        "sunt" => return Some("sint".to_owned()),
        "suntem" => return Some("sintem".to_owned()),
        "sunteti" => return Some("sinteti".to_owned()),
        _ => {}
    }
    token.spelled.contains('â').then(|| fold(&token.spelled.replace('â', "î")))
}

/// Gives the word in the orthography since 1993 (`cîmp` as `camp`), when it was written in the old
/// one: an inner `î`.
pub(crate) fn new_form(token: &Token) -> Option<String> {
    let last = token.spelled.chars().count().saturating_sub(1);
    let new: String = token
        .spelled
        .chars()
        .enumerate()
        .map(|(at, char)| if char == 'î' && at > 0 && at < last { 'â' } else { char })
        .collect();
    (new != token.spelled).then(|| fold(&new))
}

/// Gives the skeleton in which inner `a` and `i` cannot be told apart, since text without
/// diacritics shows â as `a` in the new orthography and as `i` in the old one.
pub(crate) fn skeleton(folded: &str) -> String {
    let last = folded.chars().count().saturating_sub(1);
    folded
        .chars()
        .enumerate()
        .map(|(at, char)| if char == 'a' && at > 0 && at < last { 'i' } else { char })
        .collect()
}

/// Tells whether `short` abbreviates `long`: the same first letter, and the rest in order.
pub(crate) fn abbreviates(short: &str, long: &str) -> bool {
    let mut letters = long.chars();
    let starts_alike = short.chars().next() == long.chars().next();
    starts_alike
        && short.len() < long.len()
        && short.chars().all(|letter| letters.any(|other| other == letter))
}

/// Scripts such as Devanagari write vowels as marks: they belong to the word.
fn is_mark(char: char) -> bool {
    unicode_normalization::char::is_combining_mark(char)
}

fn join<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut joined = String::new();
    for word in words {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(folded_name(&tokens(text)), expected);
    }

    #[test]
    fn names_fold_to_words() {
        check("JUDEȚUL CLUJ", "judetul cluj");
        check("JUDEŢUL  Cluj-Napoca", "judetul cluj napoca");
        check("TG.OCNA", "tg ocna");
        check("C.A. Rosetti", "c a rosetti");
        check("  ", "");
        check("Łódź — Straße", "lodz strasse");
    }

    #[test]
    fn cedilla_and_comma_are_one_spelling() {
        assert_eq!(tokens("Ţăndărei Şiş"), tokens("ȚĂNDĂREI ȘIȘ"));
    }

    #[test]
    fn old_orthography_is_found_from_the_new_one() {
        let old = |text: &str| old_form(&tokens(text)[0]);
        assert_eq!(old("CÂLNIC").as_deref(), Some("cilnic"));
        assert_eq!(old("Căpâlna").as_deref(), Some("capilna"));
        assert_eq!(old("sunt").as_deref(), Some("sint"));
        assert_eq!(old("Cluj"), None);
        assert_eq!(skeleton("calnic"), skeleton("cilnic"));
        assert_ne!(skeleton("ana"), skeleton("ani"));
    }

    #[test]
    fn abbreviations_keep_the_order_of_letters() {
        assert!(abbreviates("tg", "targu"));
        assert!(abbreviates("v", "vlad"));
        assert!(!abbreviates("gt", "targu"));
        assert!(!abbreviates("targu", "targu"));
    }
}

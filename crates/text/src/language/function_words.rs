//! How much a word of a query says about what is wanted: function words say little.
//!
//! A list of rare words is not enough to know this. In a rule book of ten documents `about` or
//! `について` may be rarer than the subject itself, and a query that holds nothing else must not
//! find anything with confidence. So the weight is a property of the word alone, the same for
//! every index, and rarity is multiplied in later.

use crate::analyze::{QueryWord, TokenKind};
use crate::language::{Language, stop_words};

/// What a function word counts against a content word.
const FUNCTION: f64 = 0.12;
/// What a pair of characters counts of which one belongs to a function word.
const HALF_FUNCTION: f64 = 0.45;
/// What a compound counts beside its parts, which say the same once more.
const COMPOUND: f64 = 0.5;

/// Gives how much a word says about what is wanted, over 0 and up to 1. `language` is the one that
/// the query is in.
///
/// ```
/// use text::{Analyzer, Language, LanguageSet, content_weight};
///
/// let words = Analyzer::new().analyze_query("about castles", LanguageSet::all());
/// assert!(content_weight(&words[0], Language::English) < 0.2);
/// assert_eq!(content_weight(&words[1], Language::English), 1.0);
/// ```
pub fn content_weight(word: &QueryWord, language: Language) -> f64 {
    match word.kind {
        TokenKind::Compound => COMPOUND,
        TokenKind::Word | TokenKind::Part => match is_function_word(&word.folded, language) {
            true => FUNCTION,
            false => 1.0,
        },
        TokenKind::Bigram | TokenKind::Character => {
            let n_chars = word.exact.chars().count().max(1);
            let n_function = word.exact.chars().filter(|char| is_function_char(*char)).count();
            match n_chars - n_function.min(n_chars) {
                0 => FUNCTION,
                n_content if n_content < n_chars => HALF_FUNCTION,
                _ => 1.0,
            }
        }
    }
}

/// Tells whether a folded word only holds sentences of a language together.
pub fn is_function_word(folded: &str, language: Language) -> bool {
    let is_listed =
        stop_words::languages_of(folded).is_some_and(|languages| languages.contains(language));
    let more = if language == Language::English {
        ENGLISH
    } else if language == Language::Romanian {
        ROMANIAN
    } else {
        ""
    };
    is_listed || more.split_ascii_whitespace().any(|word| word == folded)
}

/// Words of English questions and requests that the short list of detection leaves out.
const ENGLISH: &str = "a an am i me us him her them she he whom whose did doing done being having \
    could should may might must shall just also only very so such some no nor not own same other \
    another both few most many much between during before after above below again further then \
    once here because until while against through up down out off over under too one ones \
    please tell explain describe show give find list know interested want like get make use used \
    using any anything something please let article articles information etc e.g i.e s t m re";

/// Words of Romanian questions and requests that the short list of detection leaves out.
const ROMANIAN: &str = "cine cand cati cate cata carui carei caror oare vreau vrea rog spune \
    spuneti explica care ce la pana peste sub spre decat doar foarte tot toate toti alt alta alte \
    altii ii il le li ne va vor voi vom as ar ati este e esti fie fiind avea avut aveti avem \
    a ai cel cea ea el noi voi ele dintre dintr intr printr asa astfel atunci acolo aici \
    acestea acesti aceste acea acel acela aceea despre vreo vreun niste s l m i o";

/// Tells whether a character of a script without spaces mostly belongs to function words:
/// hiragana (particles, endings, `について`) and the Chinese particles and question words.
fn is_function_char(char: char) -> bool {
    matches!(char, 'ぁ'..='ゖ') || CHINESE.contains(char)
}

const CHINESE: &str = "的了是在和与與及或吗嗎呢吧啊么麼什甚哪谁誰怎几幾为為何如请請问問被把从從\
    于於这這那其之而且但就都也还還很到由以所并並個个些多少沒没";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Analyzer, LanguageSet, detect_language};

    /// Gives the words of a query that count in full.
    fn content(query: &str) -> Vec<String> {
        let words = Analyzer::new().analyze_query(query, LanguageSet::all());
        let language = detect_language(query);
        let is_full = |word: &QueryWord| content_weight(word, language) >= 1.0;
        words.into_iter().filter(is_full).map(|word| word.exact).collect()
    }

    #[test]
    fn function_words_count_little_in_every_language() {
        assert_eq!(content("what is the budget of the town"), ["budget", "town"]);
        assert_eq!(
            content("care este bugetul orașului și cine îl aprobă"),
            ["bugetul", "orașului", "aprobă"]
        );
        assert_eq!(content("副業について"), ["副", "副業", "業"]);
        assert_eq!(content("什么是预算"), ["预", "预算", "算"]);
        assert!(content("the of and").is_empty());
        assert!(content("とはなんですか").is_empty());
    }

    #[test]
    fn a_function_word_of_another_language_is_a_word() {
        assert!(is_function_word("die", Language::German));
        assert!(!is_function_word("die", Language::English));
    }
}

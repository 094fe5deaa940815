//! How much a word of a query says about what is wanted: function words say little.
//!
//! A list of rare words is not enough to know this. In a rule book of ten documents `about` or
//! `について` may be rarer than the subject itself, and a query that holds nothing else must not
//! find anything with confidence. So the weight is a property of the word alone, the same for
//! every index, and rarity is multiplied in later.

use std::collections::HashSet;
use std::sync::OnceLock;

use crate::analyze::{QueryWord, TokenKind};
use crate::fold;
use crate::language::function_lists::FUNCTION_WORDS;
use crate::language::{Language, LanguageSet, is_small_word_of};

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
        TokenKind::Private => 1.0,
        TokenKind::Compound => COMPOUND,
        TokenKind::Word | TokenKind::Part => match is_function(word, language) {
            true => FUNCTION,
            false => 1.0,
        },
        TokenKind::Character if KOREAN.contains(word.exact.as_str()) => FUNCTION,
        TokenKind::Bigram if HAN_PAIRS.contains(&word.exact.as_str()) => FUNCTION,
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
    is_small_word_of(folded, language)
        || LISTED.get(&language).is_some_and(|words| words.folded.contains(folded))
}

/// Tells the same of a word in any language: one that is never a slip of the keys.
pub fn is_function_word_anywhere(folded: &str) -> bool {
    crate::language::stop_words::languages_of(folded).is_some()
        || FUNCTION_WORDS.iter().any(|(language, _)| {
            LISTED.get(language).is_some_and(|words| words.folded.contains(folded))
        })
}

/// Gives the first of some languages in which the words of a query are function words all. `care`
/// is one in Romanian, and over Romanian documents nothing else is meant.
pub fn function_language(words: &[QueryWord], languages: LanguageSet) -> Option<Language> {
    let is_all = |language: &Language| words.iter().all(|word| is_function(word, *language));
    let is_plain = words.iter().all(|word| word.kind == TokenKind::Word);
    (is_plain && !words.is_empty()).then(|| languages.iter().find(is_all)).flatten()
}

/// Tells the same of a word as it was typed: marks that tell words apart count where people write
/// them. `får` is Swedish for may and `far` is a father; in Vietnamese, where some leave them out,
/// `chó` is a dog and `cho` is for.
fn is_function(word: &QueryWord, language: Language) -> bool {
    let has_marks = word.exact != word.folded;
    let is_told = MARKED.contains(&language) || language == Language::Vietnamese && has_marks;
    if !is_told {
        return is_function_word(&word.folded, language);
    }
    let is_listed = LISTED.get(&language).is_some_and(|words| words.exact.contains(&word.exact));
    is_listed || language != Language::Vietnamese && is_small_word_of(&word.folded, language)
}

/// Languages whose marked letters are letters of their own, which nobody leaves out.
const MARKED: [Language; 5] = [
    Language::Swedish,
    Language::Danish,
    Language::Norwegian,
    Language::Finnish,
    Language::Estonian,
];

/// The words of one language.
#[derive(Default)]
struct Words {
    exact: HashSet<String>,
    folded: HashSet<String>,
}

static LISTED: Listed = Listed([const { OnceLock::new() }; FUNCTION_WORDS.len()]);

/// The words of each language of the table, made when it is first asked about: all of them were a
/// twelfth of what a command does for a search.
struct Listed([OnceLock<Words>; FUNCTION_WORDS.len()]);

impl Listed {
    fn get(&self, language: &Language) -> Option<&Words> {
        let mut listed = FUNCTION_WORDS.iter().zip(&self.0);
        let ((_, words), known) = listed.find(|((listed, _), _)| listed == language)?;
        Some(known.get_or_init(|| {
            let exact: HashSet<String> = words.split_whitespace().map(crate::exact).collect();
            let folded = exact.iter().map(|word| fold(word)).collect();
            Words { exact, folded }
        }))
    }
}

/// Tells whether a character of a script without spaces mostly belongs to function words:
/// hiragana (particles, endings, `について`) and the Chinese particles and question words.
fn is_function_char(char: char) -> bool {
    matches!(char, 'ぁ'..='ゖ') || CHINESE.contains(char)
}

const CHINESE: &str = "的了是在和与與及或吗嗎呢吧啊么麼什甚哪谁誰怎几幾为為何如请請问問被把从從\
    于於这這那其之而且但就都也还還很到由以所并並個个些多少沒没";

/// Pairs that only ask, of which one character alone may belong to a subject: `可` is in `许可`, and
/// `時` in `時計`.
const HAN_PAIRS: [&str; 31] = [
    "可以", "可否", "能否", "能不", "不能", "是否", "不是", "应该", "應該", "有没", "没有", "有沒",
    "沒有", "要不", "不要", "行吗", "行嗎", "会不", "么办", "麼辦", "哪里", "哪裡", "时候", "時候",
    "么时", "麼時", "是不", "何時", "何処", "知り", "教え",
];

/// Korean particles, which say nothing by themselves. Inside a word the same syllables do (`은행`),
/// so that only a lone one is taken for a particle.
const KOREAN: &str = "은는이가을를의에도로와과만";

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
        assert_eq!(content("wo darf ich auf dem Gelände rauchen"), ["gelände", "rauchen"]);
        assert_eq!(
            content("qui est-ce qui paie les cours de formation"),
            ["paie", "cours", "formation"]
        );
        assert_eq!(content("cuándo puedo recoger los libros"), ["recoger", "libros"]);
        assert_eq!(
            content("quando posso ritirare i libri della biblioteca"),
            ["ritirare", "libri", "biblioteca"]
        );
        assert_eq!(content("副業について"), ["副", "副業", "業"]);
        assert_eq!(content("什么是预算"), ["预", "预算", "算"]);
        assert!(content("the of and").is_empty());
        assert!(content("とはなんですか").is_empty());
        assert!(content("은").is_empty());
        assert!(!content("은행").is_empty());
    }

    /// `可以吗`, `有没有` and `何時` scored over 0.6 over a dozen rules, one of which has the pair.
    #[test]
    fn a_pair_that_only_asks_says_nothing() {
        for query in ["可以吗", "有没有", "要不要", "行吗", "怎么办", "何時", "知りたい"]
        {
            let words = Analyzer::new().analyze_query(query, LanguageSet::all());
            let mut pairs = words.iter().filter(|word| word.kind == TokenKind::Bigram);
            assert!(
                pairs.all(|word| content_weight(word, Language::Chinese) == FUNCTION),
                "{query}"
            );
        }
        assert_eq!(content("许可"), ["许", "许可", "可"]);
        assert_eq!(content("時計"), ["時", "時計", "計"]);
    }

    /// `die` found any rule of a German book with 0.89, and `cat` counted as a Romanian particle.
    #[test]
    fn what_a_query_does_not_show_the_documents_tell() {
        let check = |query: &str, documents: &[Language], expected: &[&str]| {
            let languages = LanguageSet::from_iter(documents.iter().copied());
            let language = crate::query_language(query, languages);
            let words = Analyzer::new().analyze_query(query, languages);
            let is_full = |word: &&QueryWord| content_weight(word, language) >= 1.0;
            let full: Vec<&str> = words.iter().filter(is_full).map(|word| &*word.exact).collect();
            assert_eq!(full, expected, "{query} over {documents:?}");
        };
        let (english, german, romanian) = (Language::English, Language::German, Language::Romanian);
        check("die", &[german], &[]);
        check("die", &[english, german], &[]);
        check("die", &[english], &["die"]);
        check("was ist", &[german], &[]);
        check("de la", &[romanian], &[]);
        check("is a cat allowed", &[english], &["cat", "allowed"]);
        check("cat", &[english], &["cat"]);
        check("cat costa", &[romanian], &["costa"]);
        check("my radiator is cold", &[romanian], &["radiator", "cold"]);
        check("wo rauchen", &[german], &["rauchen"]);
    }

    /// `får jag`, `czy można` and `μπορώ να` found one of five rules with over 0.9.
    #[test]
    fn questions_without_a_subject_have_no_content_in_any_language() {
        let content = |query: &str, language: Language| -> Vec<String> {
            let words = Analyzer::new().analyze_query(query, LanguageSet::all());
            let is_full = |word: &QueryWord| content_weight(word, language) >= 1.0;
            words.into_iter().filter(is_full).map(|word| word.exact).collect()
        };
        for (language, query) in [
            (Language::Romanian, "unde pot să"),
            (Language::Swedish, "får jag"),
            (Language::Danish, "hvordan må jeg"),
            (Language::Norwegian, "hvor kan jeg"),
            (Language::Finnish, "saanko minä"),
            (Language::Estonian, "kas ma võin"),
            (Language::Hungarian, "hogyan lehet"),
            (Language::Turkish, "ne yapmalıyım"),
            (Language::Polish, "co to jest czy można"),
            (Language::Czech, "kde mohu"),
            (Language::Lithuanian, "ar galiu"),
            (Language::Catalan, "com puc"),
            (Language::Indonesian, "bagaimana saya bisa"),
            (Language::Vietnamese, "tôi có thể làm thế nào"),
            (Language::Vietnamese, "o dau"),
            (Language::Russian, "могу ли я что такое"),
            (Language::Ukrainian, "чи можу я"),
            (Language::Bulgarian, "къде мога да"),
            (Language::Serbian, "gde mogu da"),
            (Language::Greek, "πού μπορώ να"),
            (Language::Arabic, "هل يمكنني أين"),
            (Language::Persian, "آیا می توانم"),
            (Language::Hebrew, "האם אפשר"),
            (Language::Hindi, "मैं कैसे"),
        ] {
            assert_eq!(content(query, language), [""; 0], "{query}");
        }
        assert_eq!(content("могу ли я взять собаку", Language::Russian), ["взять", "собаку"]);
        assert_eq!(content("czy mogę mieć psa", Language::Polish), ["psa"]);
        assert_eq!(content("får jag besöka min far", Language::Swedish), ["besöka", "far"]);
        assert_eq!(content("tôi có thể nuôi chó không", Language::Vietnamese), ["nuôi", "chó"]);
        assert_eq!(content("μπορώ να έχω σκύλο", Language::Greek), ["σκύλο"]);
    }

    #[test]
    fn a_function_word_of_another_language_is_a_word() {
        assert!(is_function_word("die", Language::German));
        assert!(!is_function_word("die", Language::English));
    }
}

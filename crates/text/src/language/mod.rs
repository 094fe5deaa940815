//! Languages: which ones the analyser knows, which script each uses, which one a text is in.

mod detect;
mod function_lists;
mod function_words;
mod set;
mod stem;
mod stop_words;

pub use detect::{detect_language, query_language, shown_language};
pub use function_words::{
    content_weight, function_language, is_function_word, is_function_word_anywhere,
};
pub use set::{Language, LanguageSet, UnknownLanguage};
pub(crate) use stem::{keeps_beginnings, push_stem, script_of_word, stemming_language};

/// Tells whether a folded word is one of the small ones that a language is told by: it says
/// nothing about what a text is about.
pub fn is_small_word(folded: &str) -> bool {
    stop_words::languages_of(folded).is_some()
}

/// Tells whether a folded word is one of the small ones of a language. Many are words of their own
/// in another: a `van` is hired in English, and Dutch for `of`.
pub fn is_small_word_of(folded: &str, language: Language) -> bool {
    stop_words::languages_of(folded).is_some_and(|languages| languages.contains(language))
}

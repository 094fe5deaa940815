//! Languages: which ones the analyser knows, which script each uses, which one a text is in.

mod detect;
mod set;
mod stem;
mod stop_words;

pub use detect::{detect_language, shown_language};
pub use set::{Language, LanguageSet, UnknownLanguage};
pub(crate) use stem::{push_stem, script_of_word, stemming_language};

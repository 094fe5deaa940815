//! What counts as the same word, sentence, secret or number, in any language.
#![doc(test(attr(deny(warnings))))]

mod analyze;
mod fold;
mod language;

mod budget;
mod redact;

pub use analyze::{
    Analyzer, MAX_WORD_BYTES, Match, QueryWord, Scratch, Token, TokenKind, TokenRef,
};
pub use budget::count_tokens;
pub use fold::{exact, fold};
pub use language::{Language, LanguageSet, UnknownLanguage, detect_language};
pub use redact::{Redaction, redact};

//! What counts as the same word, sentence, secret or number, in any language.
#![doc(test(attr(deny(warnings))))]

mod analyze;
mod fold;
mod language;

mod name;
mod nearest;
mod trigram;

mod budget;
mod sentence;

mod long_vowel;
mod query_filters;
mod redact;

pub use analyze::{
    Analyzer, MAX_WORD_BYTES, Match, QueryWord, Scratch, Token, TokenKind, TokenRef,
};
pub use budget::count_tokens;
pub use fold::{exact, fold};
pub use language::{Language, LanguageSet, UnknownLanguage, detect_language};
pub use long_vowel::repair_long_vowels;
pub use name::{
    MAX_ORTHOGRAPHY_VARIANTS, fold_name, is_abbreviation, old_orthography_key,
    old_orthography_variants,
};
pub use nearest::nearest;
pub use query_filters::{MAX_FILTERED_QUERY_CHARS, QueryFilters, query_filters};
pub use redact::{PrivateKind, PrivatePiece, Redaction, find_private, redact};
pub use sentence::sentences;
pub use trigram::{Trigram, shared_trigrams, trigram_similarity, trigrams, trigrams_of_folded};

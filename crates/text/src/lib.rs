//! What counts as the same word, sentence, secret or number, in any language.
//!
//! Everything that is indexed and everything that is asked goes through one [`Analyzer`]. It
//! gives each word in three spellings: exactly as written, folded (no case, no diacritics, no
//! width), and folded and stemmed. An index keeps the exact and the stemmed one, so that an exact
//! spelling can rank first and a careless one is still found. Scripts without spaces are cut
//! into characters and pairs of them, identifiers and codes into their parts.
//!
//! **Stemming never depends on guessing the language of a query.** The index stems a document in
//! the one language it seems to be in; a query is stemmed in *every* language of the index, and
//! the distinct stems are alternatives of the word ([`Analyzer::analyze_query`]). A wrong guess
//! on either side can cost an inflected form, never the word itself.
//!
//! Around the analyser are the other things that need to know what a word is: [`sentences`],
//! [`trigrams`], names ([`is_abbreviation`]), "did you mean" ([`nearest`]),
//! token budgets ([`count_tokens`]), filters said in words ([`query_filters`]), repair of OCR
//! text ([`repair_long_vowels`]) and redaction ([`redact`]).
//!
//! All of it is pure: text in, values out, no clock and no files, no panic on any input, time
//! that grows with the text and not faster.
//!
//! ```
//! use text::{Analyzer, Language, LanguageSet};
//!
//! let analyzer = Analyzer::new();
//! let document = analyzer.analyze("Primăria a publicat contractele din 2021.");
//! let languages = LanguageSet::from_iter([Language::Romanian, Language::English]);
//! let query = analyzer.analyze_query("contractelor primariei", languages);
//! for word in &query {
//!     assert!(document.iter().any(|token| word.terms.contains(&token.stem)), "{}", word.exact);
//! }
//! ```
#![doc(test(attr(deny(warnings))))]

mod analyze;
mod fold;
mod language;

mod name;
mod nearest;
mod negation;
mod tokens;
mod trigram;

mod blank;
mod budget;
mod sentence;

mod long_vowel;
mod markdown;
mod query_filters;
mod redact;
mod written_years;

pub mod bench;

pub use analyze::{
    Analyzer, MAX_WORD_BYTES, Match, QueryWord, Scratch, Token, TokenKind, TokenRef, WantedWords,
    is_ideograph,
};
pub use blank::{is_blank, is_invisible};
pub use budget::Budget;
pub use fold::{composed, exact, fold, is_equivalent, without_signs};
pub use language::{
    Language, LanguageSet, UnknownLanguage, content_weight, detect_language, function_language,
    is_function_word, is_function_word_anywhere, is_small_word, is_small_word_of, query_language,
    shown_language,
};
pub use long_vowel::repair_long_vowels;
pub use markdown::{Defuser, defuse_markdown, escape_markdown};
pub use name::is_abbreviation;
pub use nearest::{nearest, nearest_with_likeness};
pub use negation::is_denied;
pub use query_filters::{
    MAX_FILTERED_QUERY_CHARS, QueryFilters, denies_filter, extensions_named, query_filters,
    year_bounds,
};
pub use redact::{
    Ended, JsonHeadings, LateNames, PASSAGE_EDGE, PieceContext, PrivateKind, PrivatePiece,
    REDACTION_CONTEXT_CHARS, Redaction, SecretTable, Verdict, context_before, cut_outside_private,
    find_private, hide_keys, is_secret_heading, is_secret_name, redact, redact_piece,
    redact_window, secret_tables, window_outside_private,
};
pub use sentence::sentences;
pub use tokens::count_tokens;
pub use trigram::{Trigram, shared_trigrams, trigram_similarity, trigrams, trigrams_of_folded};
pub use written_years::written_years;

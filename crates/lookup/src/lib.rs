//! Names and codes in, ranked values out: the engine under `search_filters`.
//!
//! An [`Index`] holds one dimension in memory: every name, alias, code and value of its entries.
//! A lookup goes from the certain to the vague: the value itself, a code in any spelling, the
//! whole name, words of a name (whatever the case, the diacritics, the orthography, the
//! abbreviation or one slip of the hand), and, with an embedder, names that mean the same. All
//! of them end in one calibrated score, and noise ends in nothing.
//!
//! The work is done per distinct word, not per name: a query word is compared with the
//! vocabulary once, and only the names that hold a fitting word are scored. The crate does no
//! I/O, and leaves files, permissions and the shape of answers to `filters`.
//!
//! ```
//! use lookup::{Entry, Index, Name, Request};
//!
//! let county = |value: &str, name: &str| Entry {
//!     value: value.to_owned(),
//!     names: vec![Name { locale: None, text: name.to_owned() }],
//!     ..Entry::default()
//! };
//! let index = Index::build(vec![
//!     county("123", "JUDEȚUL CLUJ"),
//!     county("124", "MUNICIPIUL CLUJ-NAPOCA"),
//! ]);
//! let request = Request { text: "cluj", locale: None, hint: None, limit: 5 };
//! let answer = index.lookup(&request);
//! assert_eq!(index.entry(answer.matches[0].entry).value, "123");
//! assert!(answer.matches[0].score.get() > 0.9);
//!
//! let junk = Request { text: "quixotic", ..request };
//! assert!(index.lookup(&junk).matches.is_empty());
//! ```
#![doc(test(attr(deny(warnings))))]

mod entry;
mod error;

mod spelling;
mod token;
mod trigram;
mod typo;
mod words;

mod code;
mod evidence;
mod expansion;
mod vocabulary;

mod background;
mod embedder;
mod index;
mod name_embedder;
mod saved;

mod candidates;
mod query;
mod score;
mod search;
mod short_names;
mod weights;

#[cfg(test)]
mod tests;

pub use code::canonical as canonical_code;
pub use embedder::ModelNameEmbedder;
pub use entry::{Answer, Entry, EntryIdx, How, Match, Name, Request};
pub use error::{Error, Result};
pub use index::Index;
pub use name_embedder::{NameEmbedder, NameEmbedderError};
pub use saved::CachedNameEmbedder;
pub use search::{MAX_MATCHES, is_same_language};
pub use token::{folded, plain_words};
pub use trigram::similarity;
pub use weights::LEAST_SCORE;

//! The analyser: one way to cut text into words, for the index and for the query.

mod analyzer;
mod matches;
mod query;
mod token;

mod beginnings;
mod compound;
mod forms;
mod hidden;
mod ideographs;
mod scan;

#[cfg(test)]
mod tests;

pub use analyzer::{Analyzer, Scratch};
pub use matches::{Match, WantedWords};
pub use query::QueryWord;
pub use scan::MAX_WORD_BYTES;
pub use scan::is_ideograph;
pub use token::{Token, TokenKind, TokenRef};

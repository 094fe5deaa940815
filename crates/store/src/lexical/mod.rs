//! The full-text index of a namespace: derived from the catalogue, searched with our own BM25.

mod index;
mod packed;
mod schema;

mod filter;
mod lists;
mod search;

pub(crate) use index::{Entry, LexicalIndex, LexicalView};

//! The full-text index of a namespace: derived from the catalogue, searched with our own BM25.

mod ahead;
mod directory;
mod index;
mod packed;
mod schema;

mod count;
mod cursor;
mod filter;
mod lists;
mod phrases;
mod search;
mod visit;

pub(crate) use index::{Entry, LexicalIndex, LexicalView};

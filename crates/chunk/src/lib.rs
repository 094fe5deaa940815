//! Cuts documents into passages whose spans point exactly into the source.
//!
//! Two cutters, for two kinds of text. [`cut_lines`] serves long strings inside JSON: fixed
//! windows of characters, cut after line breaks, with an overlap that starts at a line.
//! [`cut_prose`] serves documents: sentences in the rules of their language, headings kept with
//! what follows, tables and code in one piece where they fit, and the place in the source (page,
//! slide, line) kept for every passage.
//!
//! Both promise the same laws. Every character that is not blank is in some chunk; the text
//! at a chunk's span is the chunk; spans count characters and never split one; cutting ends, in
//! time that grows with the text and not faster.
//!
//! ```
//! use model::{Block, BlockKind, Pointer};
//!
//! let blocks = vec![
//!     Block::new("Budget", Pointer::Page(1), BlockKind::Heading(1)),
//!     Block::new("The town spends on schools. Roads come second.", Pointer::Page(1), BlockKind::Paragraph),
//!     Block::new("Next year is unknown.", Pointer::Page(2), BlockKind::Paragraph),
//! ];
//! let pieces = chunk::cut_prose(blocks, &chunk::ProseConfig::standard());
//! assert_eq!(pieces.len(), 2);
//! assert!(pieces[0].text.starts_with("Budget\n\nThe town"));
//! assert_eq!(pieces[1].pointer, Pointer::Page(2));
//! assert_eq!(pieces[1].headings, ["Budget"]);
//! ```
#![doc(test(attr(deny(warnings))))]

mod lines;
mod prose;

mod cursor;
mod error;

pub use error::{Error, Result};
pub use lines::{Chunk, DEFAULT_CHUNK_THRESHOLD_CHARS, LinesConfig, cut_lines};
pub use prose::{Piece, ProseConfig, cut_prose};

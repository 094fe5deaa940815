//! PDF: pages drawn by operators, read back as paragraphs.
//!
//! Read by a parser of our own, since speed, limits and the mending of damaged files all need
//! control of every step: objects are read when a page asks for them, references are followed a
//! limited number of steps, and a file whose table is of no use is searched for its objects.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a value can be of ten kinds and is nearly always asked for one of them"
)]

mod lexer;
mod object;

mod crypt;
mod file;
mod filters;
mod xref;

mod cmap;
mod embedded;
mod font;
mod glyph_names;
mod shifted;
mod simple_font;
mod widths;

mod bidi;
mod content;
mod layout;
mod page;

mod document;

pub(crate) use document::read;

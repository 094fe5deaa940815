//! JSON documents of any size, read once from front to back with bounded memory.
//!
//! [`Walk`] gives the nodes of a document one by one, each with its RFC 6901 pointer and its
//! place in bytes. It holds one buffer of input, the text of one string up to a limit, and one
//! small frame for each container that is open; nothing recurses, so that no document can
//! exhaust the stack. What RFC 8259 leaves open is decided here: duplicate keys and escapes of
//! half a surrogate pair are refused with their position, numbers keep their digits.

mod error;
mod input;
mod marks;
mod strings;
mod walk;

pub mod pointer;

#[cfg(test)]
mod tests;

pub use error::{JsonError, Position, Problem};
pub use walk::{Event, Kind, Summary, Walk};

pub(crate) use marks::{Mark, Marks, SPACING, key_of};
pub(crate) use walk::check;

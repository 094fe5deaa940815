//! Nodes of a JSON file, by RFC 6901 and as people write them: `/a/b/3`, `a.b[3]`, `$.a.b[3]`.
//!
//! The index has a line for each value with its keys (`a.b: value`), in the order of the file,
//! and the exact pointer of the first value of every block. Elements of lists have no numbers in
//! their lines: they are counted from the start of their block.

mod forms;
mod node;

mod elements;
mod lines;

pub(super) use forms::named;
pub(super) use node::node;

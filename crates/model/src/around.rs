//! The source around a piece of text that leaves.

/// What is in the source before and after a string of an answer, so that private things that
/// reach over its edges are recognised. It never leaves by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// Where the string is in the answer, as a JSON pointer.
    pub at: String,
    /// The name of the member or column that holds it, where it has one: the value of `password`
    /// is private whatever it looks like.
    pub name: Option<String>,
    /// The characters directly before it.
    pub before: String,
    /// The characters directly after it.
    pub after: String,
}

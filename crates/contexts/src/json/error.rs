//! Why a document is no JSON, and where.

use std::fmt;

/// A place in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Bytes before it.
    pub byte: u64,
    /// The line, from 1.
    pub line: u64,
    /// The character in its line, from 1.
    pub column: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {} (byte {})", self.line, self.column, self.byte)
    }
}

/// What is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It breaks off.
    #[error("the document ends where {expected} is expected")]
    Ended {
        /// What should have come.
        expected: &'static str,
    },
    /// A character that cannot be here.
    #[error("found `{}` where {expected} is expected", found.escape_debug())]
    Unexpected {
        /// The character.
        found: char,
        /// What should have come.
        expected: &'static str,
    },
    /// Bytes that are no UTF-8.
    #[error("the bytes are not UTF-8")]
    NotUtf8,
    /// A control character inside a string.
    #[error("the control character U+{code:04X} must be escaped in a string")]
    Control {
        /// That of Unicode.
        code: u8,
    },
    /// An escape that JSON does not have.
    #[error("`\\{}` is not an escape of JSON", found.escape_debug())]
    BadEscape {
        /// The character after the backslash.
        found: char,
    },
    /// Half of a surrogate pair: no text can hold it.
    #[error("`\\u{unit:04x}` is half of a surrogate pair, which stands for no character")]
    LoneSurrogate {
        /// The code unit.
        unit: u16,
    },
    /// A key that its object has already: a pointer to it would name two values.
    #[error("the key `{key}` occurs twice in the same object")]
    DuplicateKey {
        /// The key, or its beginning.
        key: String,
    },
    /// Containers inside containers.
    #[error("the document nests deeper than `{allowed}` levels")]
    TooDeep {
        /// How many levels are allowed.
        allowed: usize,
    },
    /// A key that nobody would write; it is not read on.
    #[error("a key has more than `{allowed}` bytes")]
    KeyTooLong {
        /// How many bytes are allowed.
        allowed: usize,
    },
    /// A number with too many digits.
    #[error("a number has more than `{allowed}` digits")]
    NumberTooLong {
        /// How many digits are allowed.
        allowed: usize,
    },
    /// More keys in the objects that are open than can be remembered.
    #[error("the objects that are open here have more than `{allowed}` keys")]
    TooManyKeys {
        /// How many keys are allowed.
        allowed: usize,
    },
}

/// Why a document could not be read.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// It is no JSON, or JSON that cannot be taken exactly.
    #[error("{problem} at {position}")]
    Invalid {
        /// What is wrong.
        problem: Problem,
        /// Where.
        position: Position,
    },
    /// Its bytes could not be read.
    #[error("the document could not be read")]
    Read(#[from] std::io::Error),
}

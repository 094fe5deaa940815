//! The stable names of what can go less than perfectly while reading, besides the errors.
//!
//! Codes of errors that become warnings are in [`crate::Error::code`]. Programs may rely on
//! every code; messages may change.

/// The content is of another kind than the name says; the content was believed.
pub const EXTENSION_MISMATCH: &str = "extension_mismatch";
/// The document was read to its end and holds no text (a scan, pictures only, an empty sheet).
pub const NO_TEXT: &str = "no_text";
/// Some bytes are no characters in the encoding; they are as U+FFFD.
pub const BAD_CHARACTERS: &str = "bad_characters";
/// The document was damaged and was read as far as it could be repaired.
pub const REPAIRED: &str = "repaired";
/// Entities that the document defines were not expanded.
pub const ENTITIES_NOT_EXPANDED: &str = "entities_not_expanded";
/// A file inside an archive or message was left out; the message says which and why.
pub const INNER_SKIPPED: &str = "inner_skipped";
/// Some characters of a font could not be mapped to Unicode and are missing.
pub const UNMAPPED_FONT: &str = "unmapped_font";

/// A tag of a page has more attributes than are read; the rest were passed over.
pub const ATTRIBUTES_LEFT_OUT: &str = "attributes_left_out";

/// Every code that [`crate::extract`] and [`crate::Pool`] can give, for reference pages.
pub const ALL: [&str; 23] = [
    "empty_file",
    "encrypted",
    "broken",
    "unsupported_format",
    "parser_panicked",
    "worker_died",
    "worker_unavailable",
    "unreadable",
    "input_cap",
    "time_cap",
    "memory_cap",
    "output_cap",
    "nesting_cap",
    "expansion_cap",
    "entries_cap",
    EXTENSION_MISMATCH,
    NO_TEXT,
    BAD_CHARACTERS,
    REPAIRED,
    ENTITIES_NOT_EXPANDED,
    INNER_SKIPPED,
    UNMAPPED_FONT,
    ATTRIBUTES_LEFT_OUT,
];

//! How much one document may cost. Every limit has a name here, and a warning of that name.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The limits on reading one document.
///
/// [`Caps::standard`] is right for one person on one machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// The largest file that is read at all.
    pub input_bytes: u64,
    /// The longest time; a worker that takes longer is killed.
    pub time: Duration,
    /// The most memory a worker may hold; more ends it.
    pub memory_bytes: u64,
    /// The longest text, in bytes of UTF-8.
    pub output_bytes: usize,
    /// How deep elements of a document may be nested before a reader stops.
    pub nesting: usize,
    /// How deep archives and attachments may be inside each other.
    pub archive_depth: usize,
    /// How many times larger than the file its unpacked content may be, once it is over
    /// [`Caps::EXPANSION_FREE_BYTES`].
    pub expansion_ratio: u64,
    /// The most bytes that may be unpacked from one file.
    pub expanded_bytes: u64,
    /// The most files that are looked at inside one archive.
    pub entries: usize,
}

impl Caps {
    /// Content that unpacks to less than this is never called a bomb, whatever its ratio.
    pub const EXPANSION_FREE_BYTES: u64 = 16 << 20;

    /// The limits used where nothing else is configured.
    pub const fn standard() -> Self {
        Caps {
            input_bytes: 256 << 20,
            time: Duration::from_secs(30),
            memory_bytes: 2 << 30,
            output_bytes: 32 << 20,
            nesting: 512,
            archive_depth: 4,
            expansion_ratio: 200,
            expanded_bytes: 1 << 30,
            entries: 10_000,
        }
    }
}

impl Default for Caps {
    fn default() -> Self {
        Caps::standard()
    }
}

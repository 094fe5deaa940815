//! How much memory the embedded engine may take, and how it opens.

use crate::Verify;

/// Whether a data folder may be written by who opens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It is made where it is missing, and belongs to this process alone.
    Write,
    /// Nothing is written there, not even a lock: for one of another user, or on a disk that cannot
    /// be written. What is there is seen as it is. Nothing is upgraded and no index follows, and
    /// every change is refused with [`crate::Error::ReadOnly`].
    Read,
}

/// The bounds of the embedded engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Namespaces whose indexes stay open; the one used longest ago is closed for another.
    pub max_open_namespaces: usize,
    /// Namespaces that keep a writer with its buffer open.
    pub max_open_writers: usize,
    /// Words buffered by one writer before they go to disk, in bytes.
    pub writer_bytes: usize,
    /// Pages of the catalogue that each of its connections keeps in memory, in bytes.
    pub catalogue_cache_bytes: usize,
    /// How much of the catalogue's file is mapped rather than read, in bytes. A map of a file that
    /// somebody cuts off ends the process, so that it is for those that look something up and end:
    /// reading a thousand pages one by one is a fifth of the time of such a command.
    pub catalogue_map_bytes: u64,
    /// Connections that read the catalogue side by side.
    pub max_readers: usize,
    /// Filters whose result is kept for each commit of a namespace.
    pub max_cached_filters: usize,
    /// When files are compared with their checksums.
    pub verify: Verify,
    /// Whether the folder may be written.
    pub access: Access,
}

impl Config {
    /// The bounds that suit one machine with a few gigabytes.
    pub fn for_one_machine() -> Self {
        Config {
            max_open_namespaces: 256,
            max_open_writers: 4,
            writer_bytes: 16 * 1024 * 1024,
            catalogue_cache_bytes: 16 * 1024 * 1024,
            catalogue_map_bytes: 0,
            max_readers: 8,
            max_cached_filters: 16,
            verify: Verify::AtOpening,
            access: Access::Write,
        }
    }
}

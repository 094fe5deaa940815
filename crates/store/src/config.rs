//! How much memory the embedded engine may take, and how it opens.

use crate::Verify;

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
    /// Connections that read the catalogue side by side.
    pub max_readers: usize,
    /// Filters whose result is kept for each commit of a namespace.
    pub max_cached_filters: usize,
    /// When files are compared with their checksums.
    pub verify: Verify,
}

impl Config {
    /// The bounds that suit one machine with a few gigabytes.
    pub fn for_one_machine() -> Self {
        Config {
            max_open_namespaces: 256,
            max_open_writers: 4,
            writer_bytes: 64 * 1024 * 1024,
            catalogue_cache_bytes: 16 * 1024 * 1024,
            max_readers: 8,
            max_cached_filters: 16,
            verify: Verify::AtOpening,
        }
    }
}

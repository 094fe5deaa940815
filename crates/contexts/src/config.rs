//! The `[contexts]` section of the configuration.

use chunk::{DEFAULT_CHUNK_THRESHOLD_CHARS, LinesConfig};
use serde::Deserialize;

/// Names the way in which strings are taken, alone or together; another one makes indexes anew.
const SHORT_STRINGS_VERSION: &str = "short4";

/// How documents are taken in and how their long strings are cut.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContextsConfig {
    /// Strings of at least this many characters are indexed.
    pub chunk_threshold_chars: usize,
    /// The most characters of a chunk.
    pub chunk_chars: usize,
    /// How many characters two neighbouring chunks share.
    pub overlap_chars: usize,
    /// The most characters of one string; a longer one is an error in `last_error`.
    pub max_node_chars: usize,
    /// The most chunks of one string; one that gives more is an error in `last_error`.
    pub max_node_chunks: usize,
    /// The largest document, in bytes.
    pub max_document_bytes: u64,
}

impl Default for ContextsConfig {
    fn default() -> Self {
        let lines = LinesConfig::standard();
        ContextsConfig {
            chunk_threshold_chars: DEFAULT_CHUNK_THRESHOLD_CHARS,
            chunk_chars: lines.chunk_chars,
            overlap_chars: lines.overlap_chars,
            max_node_chars: lines.max_chars,
            max_node_chunks: lines.max_chunks,
            max_document_bytes: 512 << 20,
        }
    }
}

impl ContextsConfig {
    /// Says what cannot work, if anything.
    pub fn problem(&self) -> Option<String> {
        if self.chunk_chars == 0 || self.chunk_threshold_chars == 0 {
            let problem = "`contexts.chunk_chars` and `contexts.chunk_threshold_chars` must be \
                           at least 1";
            return Some(problem.to_owned());
        }
        (self.overlap_chars >= self.chunk_chars).then(|| {
            format!(
                "`contexts.overlap_chars` is `{}`, it must be less than `chunk_chars`, `{}`",
                self.overlap_chars, self.chunk_chars
            )
        })
    }

    pub(crate) fn lines(&self) -> LinesConfig {
        LinesConfig {
            chunk_chars: self.chunk_chars,
            overlap_chars: self.overlap_chars,
            max_chars: self.max_node_chars,
            max_chunks: self.max_node_chunks,
        }
    }

    /// Names the way of cutting; chunks that were cut in another are cut anew.
    pub(crate) fn cut_name(&self) -> String {
        format!("{}/{}", self.chunk_chars, self.overlap_chars)
    }

    /// Names everything that decides which chunks there are.
    pub(crate) fn settings_name(&self) -> String {
        format!(
            "{}/{}/{}/{}/{SHORT_STRINGS_VERSION}",
            self.chunk_threshold_chars,
            self.cut_name(),
            self.max_node_chars,
            self.max_node_chunks
        )
    }
}

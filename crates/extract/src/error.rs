//! Why a document, or a part of it, could not be read.
//!
//! A bad document is data, not a failure: [`crate::extract`] turns every one of these into a
//! warning with the code that [`Error::code`] names, and keeps what was read before it.

use std::time::Duration;

use model::ReadOutcome;

use crate::Format;

/// The result of reading a part of a document.
pub type Result<T> = std::result::Result<T, Error>;

/// A limit of [`crate::Caps`] that a document ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cap {
    /// The file is larger than `input_bytes`.
    Input,
    /// Reading took longer than `time`.
    Time,
    /// Reading needed more than `memory_bytes`.
    Memory,
    /// The text is longer than `output_bytes`.
    Output,
    /// Elements or archives are nested deeper than `nesting`.
    Nesting,
    /// Unpacking gives more than `expansion_ratio` or `expanded_bytes` allow.
    Expansion,
    /// An archive holds more than `entries` files.
    Entries,
}

impl Cap {
    /// Gives the stable code of the warning that names the cap.
    pub fn code(self) -> &'static str {
        match self {
            Cap::Input => "input_cap",
            Cap::Time => "time_cap",
            Cap::Memory => "memory_cap",
            Cap::Output => "output_cap",
            Cap::Nesting => "nesting_cap",
            Cap::Expansion => "expansion_cap",
            Cap::Entries => "entries_cap",
        }
    }
}

/// What stopped a reader.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The document holds nothing.
    #[error("the file is empty")]
    Empty,
    /// A password is needed.
    #[error("the {format} document is encrypted: a copy without a password can be read")]
    Encrypted {
        /// What the document is.
        format: Format,
    },
    /// The bytes do not follow the format.
    #[error("the {format} document is damaged: {detail}")]
    Broken {
        /// What the document claims to be.
        format: Format,
        /// What was wrong, with the place where it is known.
        detail: String,
    },
    /// A picture: it is found by its name alone until something reads the words in it.
    #[error("{what} holds no text that can be read")]
    Image {
        /// The kind of picture.
        what: &'static str,
    },
    /// Nothing here reads the format.
    #[error("{what} holds no text that can be read")]
    Unsupported {
        /// The kind of file.
        what: &'static str,
    },
    /// A limit was reached; what came before it is kept.
    #[error("stopped at the limit of {limit}: what follows is not indexed")]
    Capped {
        /// The limit.
        cap: Cap,
        /// The limit in words, such as `64 MiB of text`.
        limit: String,
    },
    /// A reader failed in a way it should not.
    #[error("the reader of {format} failed: {detail}")]
    Panicked {
        /// What was being read.
        format: Format,
        /// The panic's message.
        detail: String,
    },
    /// A worker process died while it read the document.
    #[error("the worker that read the file died: {status}")]
    WorkerDied {
        /// How the process ended.
        status: String,
    },
    /// A worker process did not answer in time and was killed.
    #[error("the worker that read the file was killed after {after:?}")]
    WorkerKilled {
        /// How long it was given.
        after: Duration,
    },
    /// A worker process could not be started.
    #[error("cannot start the worker `{program}`")]
    Spawn {
        /// The executable.
        program: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file could not be read from disk.
    #[error("cannot read the file")]
    Read {
        /// Why; names the path.
        #[source]
        source: std::io::Error,
    },
}

impl Error {
    /// Gives the stable code of the warning that this becomes.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Empty => "empty_file",
            Error::Encrypted { .. } => "encrypted",
            Error::Broken { .. } => "broken",
            Error::Image { .. } | Error::Unsupported { .. } => "unsupported_format",
            Error::Capped { cap, .. } => cap.code(),
            Error::Panicked { .. } => "parser_panicked",
            Error::WorkerDied { .. } => "worker_died",
            Error::WorkerKilled { .. } => Cap::Time.code(),
            Error::Spawn { .. } => "worker_unavailable",
            Error::Read { .. } => "unreadable",
        }
    }

    /// Gives what becomes of a document from which this kept all text away.
    pub fn outcome(&self) -> ReadOutcome {
        match self {
            Error::Empty => ReadOutcome::Empty,
            Error::Encrypted { .. } => ReadOutcome::Encrypted,
            Error::Broken { .. } => ReadOutcome::Broken,
            Error::Image { .. } => ReadOutcome::Image,
            Error::Unsupported { .. } => ReadOutcome::Unsupported,
            Error::Capped { .. } | Error::WorkerKilled { .. } => ReadOutcome::TooLarge,
            Error::Panicked { .. } | Error::WorkerDied { .. } | Error::Spawn { .. } => {
                ReadOutcome::Failed
            }
            Error::Read { .. } => ReadOutcome::Unreadable,
        }
    }

    /// Makes a [`Error::Broken`] from anything that can be shown.
    pub(crate) fn broken(format: Format, detail: impl std::fmt::Display) -> Self {
        Error::Broken { format, detail: detail.to_string() }
    }

    /// Tells whether the whole run must stop, not only the part that was being read.
    pub(crate) fn stops_everything(&self) -> bool {
        matches!(
            self,
            Error::Capped { cap: Cap::Time | Cap::Memory | Cap::Output | Cap::Expansion, .. }
        )
    }
}

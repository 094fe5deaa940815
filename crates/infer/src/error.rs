//! What can go wrong between a text and its vector. Sorted by who can fix it.

use std::path::PathBuf;

/// The result of this crate's calls.
pub type Result<T> = std::result::Result<T, Error>;

/// A failed inference, or a model that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum Error {
    // The caller can fix these.
    /// The deadline was over before the work was done.
    #[error("out of time while {doing}: {n_done} of {n_asked} done")]
    OutOfTime {
        /// The work that was cut off.
        doing: &'static str,
        /// How much was finished.
        n_done: usize,
        /// How much was asked for.
        n_asked: usize,
    },

    /// This embedder gives one vector for a text, not one for each token.
    #[error("`{embedder}` gives no token vectors; late interaction needs a local model")]
    NoTokenVectors {
        /// The embedder's id.
        embedder: String,
    },

    /// Nothing is known under this name.
    #[error(
        "unknown model `{received}`: expected {}, or a folder with `tokenizer.json` and `model.onnx` or `model.safetensors`",
        known.join(", ")
    )]
    UnknownModel {
        /// The name that was given.
        received: String,
        /// The names that are known, in backticks.
        known: Vec<String>,
    },

    // The operator can fix these.
    /// The model's files are not there.
    #[error("model `{model}` is not in `{}`; hint: run `dowse models pull {model}`", folder.display())]
    ModelMissing {
        /// The model's name.
        model: String,
        /// Where it was looked for.
        folder: PathBuf,
    },

    /// The files of a model are not those that were got.
    #[error("model `{model}` cannot be used: {problem}; hint: run `dowse models pull {model}`")]
    DamagedModel {
        /// The model's name.
        model: String,
        /// What is wrong with which file.
        problem: String,
    },

    /// A file of the model is damaged, or is none that this program reads.
    #[error("cannot use model file `{}`: {problem}", path.display())]
    BadModelFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },

    /// A file does not have the sum that it must have.
    #[error("`{}` has sha256 `{received}`, expected `{expected}`", path.display())]
    WrongChecksum {
        /// The file.
        path: PathBuf,
        /// The sum that was published.
        expected: String,
        /// The sum of the file.
        received: String,
    },

    /// The model could not be had from any of its sources.
    #[error("cannot pull model `{model}`: {}", attempts.join("; "))]
    CannotPull {
        /// The model's name.
        model: String,
        /// What was tried, and how each attempt ended.
        attempts: Vec<String>,
    },

    /// A child program failed.
    #[error("`{program}` failed ({status}): {said}")]
    ChildFailed {
        /// The program's name.
        program: String,
        /// How it ended.
        status: String,
        /// The end of what it wrote.
        said: String,
    },

    /// A provider answered with something that makes no sense.
    #[error("`{provider}` gave an unusable answer: {problem}")]
    BadAnswer {
        /// The provider and model.
        provider: String,
        /// What is wrong with the answer.
        problem: String,
    },

    /// A provider could not be reached, or refused.
    #[error("provider `{provider}` failed")]
    Provider {
        /// The provider and model.
        provider: String,
        /// The cause.
        #[source]
        source: net::Error,
    },

    /// A file could not be read or written.
    #[error("cannot read or write a model file")]
    File {
        /// The cause; it names the path.
        #[from]
        source: std::io::Error,
    },

    // These are ours to mend.
    /// The inference engine failed on a model that it had accepted.
    #[error("`{model}` failed while running: {problem}")]
    Runtime {
        model: String,
        /// What the engine said.
        problem: String,
    },
}

impl Error {
    /// Tells whether the same call may succeed a moment later.
    pub fn is_passing(&self) -> bool {
        match self {
            Error::OutOfTime { .. } => true,
            Error::Provider { source, .. } => source.is_passing(),
            Error::NoTokenVectors { .. }
            | Error::UnknownModel { .. }
            | Error::ModelMissing { .. }
            | Error::DamagedModel { .. }
            | Error::BadModelFile { .. }
            | Error::WrongChecksum { .. }
            | Error::CannotPull { .. }
            | Error::ChildFailed { .. }
            | Error::BadAnswer { .. }
            | Error::File { .. }
            | Error::Runtime { .. } => false,
        }
    }
}

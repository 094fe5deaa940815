//! What can go wrong on the write path as a whole. A bad document is not an error: it is a
//! warning in the report.

/// The result of every call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum Error {
    // The caller can fix these.
    /// No job has this id.
    #[error("unknown job `{id}`")]
    UnknownJob {
        /// The id that was asked for.
        id: String,
    },
    /// No runner was given for this kind of job.
    #[error("no runner for jobs of kind `{kind}`")]
    UnknownKind { kind: String },
    /// Too many jobs wait already.
    #[error("`{allowed}` jobs wait already; try again when some are done")]
    QueueFull {
        /// The limit.
        allowed: usize,
    },
    /// Someone else changes the same objects.
    #[error("the object is being changed by someone else")]
    Busy,
    /// Another server has taken a job over, or it has ended there.
    #[error("job `{id}` is run by another server by now")]
    JobLost {
        /// The job.
        id: String,
    },
    /// The work was stopped before its end.
    #[error("cancelled")]
    Cancelled,

    // The operator can fix these.
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] store::Error),
    /// The embedder failed.
    #[error("the embedder failed")]
    Embedder(#[from] infer::Error),
    /// The system refuses to tell about changes in a folder.
    #[error("the system does not tell about changes")]
    Watch(#[source] notify::Error),
    /// A thread could not be started.
    #[error("cannot start a thread")]
    Thread(#[source] std::io::Error),
}

impl Error {
    /// Tells whether the system has no watches left for more folders.
    pub fn has_no_watches_left(&self) -> bool {
        matches!(self, Error::Watch(error) if matches!(error.kind, notify::ErrorKind::MaxFilesWatch))
    }
}

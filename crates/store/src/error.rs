//! What can go wrong in the store, sorted by who can fix it.

use std::path::PathBuf;

use model::{DocumentId, NamespaceId, PassageId};

use crate::Manifest;

/// The result of every call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum Error {
    // The caller can fix these.
    /// No namespace has this id.
    #[error("unknown namespace `{namespace}`")]
    UnknownNamespace {
        /// The id that was asked for.
        namespace: NamespaceId,
    },
    /// The namespace was made with another analyser, embedder or format.
    #[error(
        "namespace `{namespace}` was indexed with {stored} but {wanted} is configured; re-index it, or configure what it was made with"
    )]
    ManifestMismatch {
        namespace: NamespaceId,
        /// What the namespace was made with.
        stored: Box<Manifest>,
        /// What the caller has.
        wanted: Box<Manifest>,
    },
    /// Vectors were given or asked for where the namespace has no vector space.
    #[error("namespace `{namespace}` keeps no vectors; name an embedder in its manifest first")]
    NoVectorSpace { namespace: NamespaceId },
    /// A vector does not have the length that the namespace keeps.
    #[error("a vector has `{received}` dimensions, namespace `{namespace}` keeps `{expected}`")]
    WrongDimensions {
        namespace: NamespaceId,
        /// The length that was given.
        received: usize,
        /// The length that fits.
        expected: usize,
    },
    /// A vector holds something that is not a finite number, or nothing but zeros.
    #[error(
        "the vector of passage `{passage}` has no direction: it holds NaN, infinity or only zeros"
    )]
    BadVector {
        /// The passage, or `query`.
        passage: PassageId,
    },
    /// Two passages of one namespace have the same id.
    #[error(
        "passage id `{passage}` of document `{document}` is taken by another passage of the namespace"
    )]
    DuplicatePassage {
        /// The document that was being written.
        document: DocumentId,
        /// The id that occurs twice.
        passage: PassageId,
    },
    /// Something is larger than a named limit.
    #[error("{what} is `{received}`, the limit is `{allowed}`")]
    TooLarge {
        /// What was measured.
        what: &'static str,
        /// Its size.
        received: usize,
        /// The limit.
        allowed: usize,
    },
    /// A row was changed by someone else since it was read, or exists though it should not.
    #[error("`{kind}` `{id}` changed meanwhile: expected version `{expected}`, found `{found}`")]
    Conflict {
        /// The kind of the object.
        kind: String,
        id: String,
        /// The version that the caller had; 0 means that it should not exist.
        expected: u64,
        /// The version that is there; 0 means that it does not exist.
        found: u64,
    },
    /// A row that a change requires is not there.
    #[error("there is no `{kind}` `{id}`: it was deleted meanwhile")]
    MissingObject {
        /// The kind of the object.
        kind: String,
        id: String,
    },
    /// A row of the catalogue cannot be read as the type that was asked for.
    #[error("`{kind}` `{id}` does not have the expected shape")]
    BadObject {
        /// The kind of the object.
        kind: String,
        id: String,
        /// What the reader said.
        #[source]
        source: serde_json::Error,
    },

    // The operator can fix these.
    /// Another process has the folder open.
    #[error(
        "`{}` is in use by another process; stop it, or give this one its own `data_dir`",
        path.display()
    )]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// Something would be overwritten.
    #[error("`{}` exists already; name a path that is free", path.display())]
    AlreadyThere {
        /// What exists.
        path: PathBuf,
    },
    /// A catalogue that something was to be put into holds something else.
    #[error("the catalogue is not empty: what comes would be mixed with what it holds")]
    NotEmpty,
    /// The folder cannot be written.
    #[error("`{}` cannot be written; name a `data_dir` that can be, or do this as its owner", path.display())]
    ReadOnly {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The folder was written by an earlier version of the program, and may only be read.
    #[error("`{}` has format `{found}`, which is upgraded to `{known}` before it is read; run `dowse status` as its owner once", path.display())]
    FormatTooOld {
        /// The file that says so.
        path: PathBuf,
        /// The format of the folder.
        found: u32,
        /// The format that is read here.
        known: u32,
    },
    /// Whoever wrote the folder did not close it, and it may only be read.
    #[error("`{}` has changes that only a user who may write there can apply; run `dowse status` as its owner once", path.display())]
    LogUnread {
        /// The file that has them.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: Option<rusqlite::Error>,
    },
    /// The folder was written by a later version of the program.
    #[error("`{}` has format `{found}`, this program knows up to `{known}`; use a newer program", path.display())]
    FormatTooNew {
        /// The file that says so.
        path: PathBuf,
        /// The format of the folder.
        found: u32,
        /// The newest format known here.
        known: u32,
    },
    /// The disk is full; what was acknowledged before is safe.
    #[error(
        "no space left while writing {what}; free some on the disk of `data_dir`, writing goes on by itself then"
    )]
    DiskFull {
        /// What was being written.
        what: &'static str,
        /// What the system said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The store was closed because the process ends; nothing was written.
    #[error("the store is closed: the server is stopping; try again when it runs again")]
    Closed,
    /// The change is in the catalogue, but a derived index could not follow yet.
    ///
    /// Nothing is lost: the next write or the next start catches up.
    #[error(
        "namespace `{namespace}` is stored but not searchable yet: its index could not be written"
    )]
    IndexBehind {
        namespace: NamespaceId,
        /// Why the index could not follow.
        #[source]
        source: Box<Error>,
    },
    /// The catalogue of a folder is gone, is another one, or has lost its last changes.
    #[error(
        "`{}` {reason}; restore the latest backup into an empty `data_dir`, or remove `catalogue.mark` and `namespaces` next to it to go on with what is left", path.display()
    )]
    CatalogueLost {
        /// The catalogue.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A restore of the folder was stopped before it had a catalogue: what is there is a part.
    #[error(
        "a restore into `{}` did not end, or is still under way; run it again: `dowse restore FILE` with the same backup makes the folder whole; or remove `{}` and what else is in that `data_dir` to begin with nothing", folder.display(), file.display()
    )]
    RestoreUnfinished {
        folder: PathBuf,
        /// The file that says so.
        file: PathBuf,
    },
    /// The catalogue cannot be read.
    #[error(
        "the catalogue is damaged: {reason}; restore the latest backup into an empty `data_dir`"
    )]
    CatalogueDamaged {
        /// What is wrong with it.
        reason: String,
        /// What the database said.
        #[source]
        source: Option<rusqlite::Error>,
    },
    /// An index has read further than the catalogue goes: the catalogue has lost changes.
    #[error(
        "the catalogue ends at change `{last}` of namespace number `{number}`, an index had read up to `{seen}`: the catalogue has lost data; restore the latest backup, or run a check with repair to go on with what is left"
    )]
    CatalogueBehind {
        /// The number of the namespace.
        number: u32,
        /// The last change that the index has seen.
        seen: u64,
        /// The last change that the catalogue has.
        last: u64,
    },
    /// The settings of a catalogue elsewhere cannot be used.
    #[error("the settings of the catalogue cannot be used: {reason}")]
    CatalogueSettings {
        /// What is wrong with them.
        reason: String,
    },
    /// A catalogue elsewhere cannot be reached, or takes no changes now.
    #[error("the catalogue cannot be reached: {reason}; it is tried again with every call")]
    CatalogueUnavailable {
        /// What was said, or not answered.
        reason: String,
    },
    /// A copy of a catalogue is not what it was made from.
    #[error("the copy of {what} differs: `{found}` instead of `{expected}`")]
    CopyDiffers {
        /// The part.
        what: String,
        /// What the original has.
        expected: String,
        /// What the copy has.
        found: String,
    },
    /// The settings of an engine elsewhere cannot be used.
    #[error("the settings of {engine} cannot be used: {reason}")]
    EngineSettings {
        engine: &'static str,
        /// What is wrong with them.
        reason: String,
    },
    /// An engine elsewhere did not answer in time.
    #[error(
        "{engine} did not answer a {what} request in time; check the network and the address that `[store]` names"
    )]
    EngineTimeout {
        engine: &'static str,
        /// What was asked.
        what: &'static str,
    },
    /// An engine elsewhere cannot be reached, or is too busy.
    #[error(
        "{engine} cannot be reached for a {what} request: {reason}; check the network and the address that `[store]` names"
    )]
    EngineUnavailable {
        engine: &'static str,
        /// What was asked.
        what: &'static str,
        /// What it said.
        reason: String,
    },
    /// An engine elsewhere has lost what the catalogue says it has.
    #[error(
        "{engine} has no such namespace for a {what}; run a check with repair to fill it again"
    )]
    EngineMissing {
        engine: &'static str,
        /// What was asked.
        what: &'static str,
    },
    /// An engine elsewhere refused a request: the key is wrong, or we asked for the impossible.
    #[error("{engine} refused a request with status `{status}`: {reason}")]
    EngineRefused {
        engine: &'static str,
        status: u16,
        /// What it said.
        reason: String,
    },
    /// The operating system refused a file operation.
    #[error("cannot read or write the store")]
    Io(#[source] std::io::Error),

    // We have to mend these.
    /// The catalogue refused a statement.
    #[error("the catalogue failed")]
    Catalogue(#[source] rusqlite::Error),
    /// A catalogue elsewhere refused a statement.
    #[error("the catalogue refused a statement with code `{code}`: {reason}")]
    CatalogueRefused {
        /// The code of the database.
        code: String,
        /// What it said.
        reason: String,
    },
    /// The full-text index failed.
    #[error("the full-text index failed")]
    Lexical(#[source] tantivy::TantivyError),
    /// A file of a derived index is damaged; it can be rebuilt from the catalogue.
    #[error("`{}` is damaged: {reason}; run a check with repair to rebuild it", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A failpoint of a test fired.
    #[error("failpoint `{name}` fired")]
    Failpoint { name: &'static str },
}

impl Error {
    /// Tells whether a derived index is damaged, so that a rebuild from the catalogue helps.
    pub fn is_damage(&self) -> bool {
        matches!(self, Error::Damaged { .. } | Error::Lexical(_))
    }
}

impl Error {
    /// Tells whether the disk is full, here or under an index that could not follow.
    pub fn is_disk_full(&self) -> bool {
        if let Error::IndexBehind { source, .. } = self {
            return source.is_disk_full();
        }
        matches!(self, Error::DiskFull { .. })
    }

    /// Tells whether SQLite could not make a file that it needs, as on a full disk.
    pub(crate) fn may_be_disk_full(&self) -> bool {
        use rusqlite::ErrorCode;
        let Error::Catalogue(error) = self else { return false };
        matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen)
        )
    }

    /// Tells whether a catalogue elsewhere cannot be reached now, so that the same call may go
    /// through later.
    pub fn is_catalogue_away(&self) -> bool {
        if let Error::IndexBehind { source, .. } = self {
            return source.is_catalogue_away();
        }
        matches!(self, Error::CatalogueUnavailable { .. })
    }

    /// Tells whether an engine elsewhere did not do what was asked, so that asking it something
    /// else at once is of no use.
    pub fn is_engine_away(&self) -> bool {
        matches!(
            self,
            Error::EngineTimeout { .. }
                | Error::EngineUnavailable { .. }
                | Error::EngineMissing { .. }
                | Error::EngineRefused { .. }
        )
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => {
                Error::DiskFull { what: "the catalogue", source: Box::new(error) }
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Error::CatalogueDamaged { reason: error.to_string(), source: Some(error) }
            }
            _ => Error::Catalogue(error),
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        let is_full = matches!(
            error.kind(),
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded
        );
        if is_full {
            return Error::DiskFull { what: "a file", source: Box::new(error) };
        }
        Error::Io(error)
    }
}

impl From<tantivy::TantivyError> for Error {
    fn from(error: tantivy::TantivyError) -> Self {
        use tantivy::TantivyError;
        use tantivy::directory::error::OpenWriteError;
        let cause = if let TantivyError::IoError(cause) = &error {
            Some(cause)
        } else if let TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. }) =
            &error
        {
            Some(io_error)
        } else {
            None
        };
        if cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::StorageFull) {
            return Error::DiskFull { what: "the full-text index", source: Box::new(error) };
        }
        Error::Lexical(error)
    }
}

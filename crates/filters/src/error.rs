//! What can go wrong, sorted by who can fix it: the caller, the operator, us.

use std::path::PathBuf;

use crate::postgres::Failure;

/// The errors of this crate.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum Error {
    /// The caller named no category.
    #[error("category is required: expected one of {}", list(.allowed))]
    CategoryRequired {
        /// Categories the caller may use.
        allowed: Vec<String>,
    },
    /// The caller named a category that does not exist for them.
    #[error("category is unknown: received `{received}`, expected one of {}", list(.allowed))]
    UnknownCategory {
        /// What was given.
        received: String,
        /// Categories the caller may use.
        allowed: Vec<String>,
    },
    /// The caller gave nothing to look up.
    #[error("query is required: give a name, a part of one, or a code, such as `Cluj` or `20.30`")]
    QueryRequired,
    /// The query is no query.
    #[error("query is too long: received {n_chars} characters, at most {most} are allowed")]
    QueryTooLong {
        /// Its length.
        n_chars: usize,
        /// The limit.
        most: usize,
    },
    /// The limit is no usable number.
    #[error("limit must be a whole number between 1 and {most}: received `{received}`")]
    BadLimit {
        /// What was given.
        received: String,
        /// The limit of the limit.
        most: usize,
    },
    /// An argument has the wrong type.
    #[error("{name} must be {expected}: received `{received}`")]
    BadArgument {
        /// The argument.
        name: String,
        /// What it should be.
        expected: &'static str,
        /// What was given.
        received: String,
    },
    /// A batch is empty or too large.
    #[error("queries must hold between 1 and {most} lookups: received {n_received}")]
    BadBatch {
        /// How many were given.
        n_received: usize,
        /// The limit.
        most: usize,
    },
    /// A part of a request is missing.
    #[error("{name} is required")]
    Required {
        /// The part.
        name: String,
    },
    /// There are too many or too few of something.
    #[error("{name} must hold between {least} and {most} {unit}: received {n_received}")]
    OutOfRange {
        /// The part of the request.
        name: String,
        /// How many there are.
        n_received: usize,
        least: usize,
        most: usize,
        unit: &'static str,
    },
    /// A period does not have the form of its type.
    #[error(
        "{name} must be a period of type {period_type} such as `{example}`: received `{received}`"
    )]
    BadPeriod {
        /// The part of the request.
        name: String,
        /// The type asked for.
        period_type: &'static str,
        /// A period of that type.
        example: &'static str,
        /// What was given.
        received: String,
    },
    /// An interval ends before it starts.
    #[error("{name} must start before it ends: received start `{start}` and end `{end}`")]
    IntervalReversed {
        /// The part of the request.
        name: String,
        start: String,
        end: String,
    },
    /// A prefix does not end in a dot.
    #[error("{name} must end in a dot: received `{received}`, write `{received}.`")]
    PrefixWithoutDot {
        /// The part of the request.
        name: String,
        /// What was given.
        received: String,
    },
    /// The facts do not have what a filter or unit needs.
    #[error("{name} is not available on this server: {reason}")]
    NotAvailable {
        /// The part of the request.
        name: String,
        /// Why.
        reason: &'static str,
    },
    /// An object does not exist for the caller.
    #[error("{kind} `{id}` was not found")]
    NotFound {
        /// What was asked for.
        kind: &'static str,
        id: String,
    },

    /// Two dimensions have one name.
    #[error("category `{category}` is configured twice")]
    DuplicateCategory { category: String },
    /// A column that the configuration names is not in the source.
    #[error(
        "dimension `{category}` names column `{column}`, which `{origin}` does not have: it has {}",
        list(.available)
    )]
    MissingColumn {
        /// The dimension.
        category: String,
        column: String,
        /// The file or table.
        origin: String,
        /// Columns that exist.
        available: Vec<String>,
    },
    /// The columns of the facts name a dimension that is not configured.
    #[error(
        "`[charts.columns] dimensions` names `{category}`, which is not a category of `[[dimensions]]`: there are {}",
        list(.available)
    )]
    NoSuchDimension {
        /// What was written.
        category: String,
        /// Categories that exist.
        available: Vec<String>,
    },
    /// A configuration that says too little or too much.
    #[error("dimension `{category}`: {problem}")]
    BadDimension {
        /// The dimension.
        category: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// A file of an unknown kind.
    #[error(
        "cannot read `{origin}`: expected .csv, .tsv, .json, .jsonl, .parquet or postgres://…#TABLE"
    )]
    UnknownSource {
        /// The source as configured.
        origin: String,
    },
    /// A file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file or table cannot be read as rows.
    #[error("cannot read `{origin}`")]
    Columns {
        /// The source.
        origin: String,
        /// Why.
        #[source]
        source: columns::Error,
    },
    /// A database cannot be asked.
    #[error("cannot ask `{origin}`")]
    Database {
        /// The database, without user and password.
        origin: String,
        /// Why.
        #[source]
        source: Failure,
    },
    /// A source was away when the server started, and has not come back yet.
    #[error(
        "UNAVAILABLE: category `{category}` cannot be searched now, since its source cannot be used ({reason}); it is tried again by itself, call again in a moment"
    )]
    Away {
        /// The dimension.
        category: String,
        /// What was said when it was tried.
        reason: String,
    },
    /// The facts under charts could not be read, and are tried again.
    #[error(
        "UNAVAILABLE: charts of these facts cannot be made now, since their source cannot be used ({reason}); it is tried again by itself, call again in a moment"
    )]
    FactsAway {
        /// What was said when it was tried.
        reason: String,
    },
    /// The catalogue that keeps charts for several servers did not do what was asked.
    #[error("Failed to connect to api-admin service")]
    Store(#[from] store::Error),
    /// A source is larger than this server takes.
    #[error("`{origin}` holds more than {most} {unit}")]
    TooLarge {
        /// The source.
        origin: String,
        /// The limit.
        most: usize,
        unit: &'static str,
    },
}

/// The result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Tells whether the caller can fix it by asking differently.
    pub fn is_callers(&self) -> bool {
        match self {
            Error::CategoryRequired { .. }
            | Error::UnknownCategory { .. }
            | Error::QueryRequired
            | Error::QueryTooLong { .. }
            | Error::BadLimit { .. }
            | Error::BadArgument { .. }
            | Error::BadBatch { .. }
            | Error::Required { .. }
            | Error::OutOfRange { .. }
            | Error::BadPeriod { .. }
            | Error::IntervalReversed { .. }
            | Error::PrefixWithoutDot { .. }
            | Error::NotAvailable { .. }
            | Error::NotFound { .. } => true,
            Error::DuplicateCategory { .. }
            | Error::MissingColumn { .. }
            | Error::NoSuchDimension { .. }
            | Error::BadDimension { .. }
            | Error::UnknownSource { .. }
            | Error::Read { .. }
            | Error::Columns { .. }
            | Error::Database { .. }
            | Error::Away { .. }
            | Error::FactsAway { .. }
            | Error::Store(_)
            | Error::TooLarge { .. } => false,
        }
    }

    /// Tells whether a source is away and may come back by itself.
    pub fn is_away(&self) -> bool {
        if let Error::Columns { source, .. } = self {
            return source.is_away();
        }
        if let Error::Database { source, .. } = self {
            return source.is_away();
        }
        // A column that the source does not have may come back with its next state.
        matches!(
            self,
            Error::Away { .. }
                | Error::FactsAway { .. }
                | Error::Read { .. }
                | Error::MissingColumn { .. }
        )
    }

    /// Tells whether a database did not answer in time.
    pub fn is_timed_out(&self) -> bool {
        matches!(self, Error::Database { source: Failure::TimedOut, .. })
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

//! What can go wrong between a source and an answer, by who can fix it.

use std::path::PathBuf;

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a table could not be read or queried.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum Error {
    // The caller's to fix.
    /// A column that the table does not have.
    #[error("unknown column `{column}`: expected one of {}", listed(.known))]
    UnknownColumn {
        /// The name that was asked for.
        column: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// A test that makes no sense for the column's type.
    #[error("column `{column}` holds {kind}, which cannot be tested for {test}")]
    WrongTest {
        /// By the name that the schema gives it.
        column: String,
        /// What it holds.
        kind: &'static str,
        /// What was asked.
        test: &'static str,
    },
    /// A measure that makes no sense for the column's type.
    #[error("`{op}` takes numbers, and `{column}` holds {kind}: allowed are {allowed}")]
    WrongMeasure {
        /// The measure.
        op: String,
        column: String,
        /// What it holds.
        kind: &'static str,
        /// What it can be measured by.
        allowed: &'static str,
    },
    /// A figure that the database cannot hold while it computes it.
    #[error(
        "a sum is beyond 1.7e308, which is more than a number holds: leave such rows out with `filters`"
    )]
    Overflow,
    /// A series over more points than are worth sending.
    #[error("a series by {bucket} has {n_points} points, at most {limit} are allowed")]
    TooManyPoints {
        /// The size of a bucket.
        bucket: String,
        /// How many points there would be.
        n_points: u64,
        /// The most that are taken.
        limit: usize,
    },
    /// More groups than are formed.
    #[error(
        "the groups are more than {limit}: group by fewer or wider fields, or filter more narrowly"
    )]
    TooManyGroups {
        /// The most that are taken.
        limit: usize,
    },
    /// Tables that a lookup cannot bring together.
    #[error(
        "`{source_name}` cannot look columns up in `{other}`: both must be files, or tables of one database with the same address"
    )]
    Apart {
        /// The table.
        source_name: String,
        /// The table that it would look up.
        other: String,
    },
    /// A time zone that does not exist.
    #[error(
        "unknown time zone `{received}`: expected an IANA name such as `UTC`, `Europe/Bucharest` or `America/New_York`"
    )]
    UnknownZone {
        /// The name that was given.
        received: String,
    },
    /// A width that makes no ranges.
    #[error("`{received}` is not a width: expected a number above 0")]
    BadWidth {
        /// The width that was given.
        received: f64,
    },
    /// A measure without the column that it needs.
    #[error("`{op}` needs a field to measure; only `count` goes without one")]
    NoMeasuredColumn {
        /// The measure.
        op: String,
    },
    /// More columns to sort by than are compared.
    #[error("rows are sorted by at most {limit} fields, received {received}")]
    TooManySorts {
        /// How many were given.
        received: usize,
        /// The most that are taken.
        limit: usize,
    },
    /// The deadline passed before the scan ended.
    #[error("the query did not finish in time")]
    TimedOut,

    // The operator's to fix.
    /// The source's name says no format that is read.
    #[error(
        "cannot tell the format of `{source_name}`: expected .csv, .tsv, .json, .jsonl, .ndjson, .parquet, .xlsx, .xlsm, .xlsb, .xls, .ods, a folder of such files, `sqlite:PATH#TABLE` or `postgres://…#TABLE`"
    )]
    UnknownFormat {
        /// The source as configured, without a password.
        source_name: String,
    },
    /// A database source that does not name its table.
    #[error("source `{source_name}` names no table: expected `…#TABLE`")]
    NoTableName {
        /// The source as configured, without a password.
        source_name: String,
    },
    /// A table that a database does not have, or that may not be read.
    #[error("`{source_name}` is not a table that can be read there: there are {}", listed(.known))]
    NoSuchTable {
        /// The source as configured, without a password.
        source_name: String,
        /// Those that can be read.
        known: Vec<String>,
    },
    /// A condition on values that redaction hides, in a database that has too many of them.
    #[error(
        "column `{column}`: more than {limit} of its values that pass hold private pieces, which no condition may tell: filter by another column first, or ask for less of this one"
    )]
    TooPrivate {
        /// By the name that the schema gives it.
        column: String,
        /// How many values are looked at.
        limit: usize,
    },
    /// A source without a header, or a folder without files.
    #[error("`{source_name}` is empty: it has no rows and names no columns")]
    Empty {
        /// The file, folder or table of a database that the configuration names.
        source_name: String,
    },
    /// A column of the schema that the source does not have.
    #[error("`{source_name}` has no column `{column}`: it has {}", listed(.known))]
    MissingColumn {
        /// The file, folder or table of a database that the configuration names.
        source_name: String,
        /// The column of the schema.
        column: String,
        /// The columns of the source.
        known: Vec<String>,
    },
    /// A column of a database whose type does not give what the schema asks.
    #[error(
        "column `{column}` of `{source_name}` has type `{found}`, which cannot be read as {kind}"
    )]
    UnfitColumn {
        /// The file, folder or table of a database that the configuration names.
        source_name: String,
        /// By the name that the schema gives it.
        column: String,
        /// Its type in the source.
        found: String,
        /// What the schema asks.
        kind: &'static str,
    },
    /// A schema that asks for what the engine cannot do.
    #[error("column `{column}` of `{source_name}`: {reason}")]
    Unsupported {
        /// The file, folder or table of a database that the configuration names.
        source_name: String,
        /// By the name that the schema gives it.
        column: String,
        /// Why not.
        reason: &'static str,
    },
    /// A source over a limit.
    #[error("`{}` has {size} {unit}, at most {limit} are read", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How much of it there is, in `unit`.
        size: u64,
        /// What is counted.
        unit: &'static str,
        /// The most that are taken.
        limit: u64,
    },
    /// A file whose bytes are not what its name says.
    #[error("cannot read `{}`: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that changed again and again while it was read.
    #[error("`{}` changes while it is read", path.display())]
    Unsettled {
        /// The file.
        path: PathBuf,
    },
    /// A file or folder that does not exist.
    #[error("`{}` does not exist: fix the path in its `source`, or put the file there", path.display())]
    NotThere {
        /// The file.
        path: PathBuf,
    },
    /// A file that this process may not look at.
    #[error("`{}` cannot be read by this user", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What the file system says.
        #[source]
        cause: std::io::Error,
    },
    /// The file system refused.
    #[error("cannot read or write a table")]
    Io(#[from] std::io::Error),
    /// An Arrow file could not be written or read.
    #[error("cannot use the column file `{}`", path.display())]
    Arrow {
        /// The file.
        path: PathBuf,
        /// What the library says.
        #[source]
        cause: arrow_schema::ArrowError,
    },
    /// A Parquet file could not be read.
    #[error("cannot read the Parquet file `{}`", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the library says.
        #[source]
        cause: parquet::errors::ParquetError,
    },
    /// SQLite refused.
    #[error("cannot query `{source_name}`")]
    Sqlite {
        /// The file, folder or table of a database that the configuration names.
        source_name: String,
        /// What the library says.
        #[source]
        cause: rusqlite::Error,
    },
    /// PostgreSQL refused.
    #[error("cannot query `{source_name}`")]
    Postgres {
        /// The source, without a password.
        source_name: String,
        /// What the library says.
        #[source]
        cause: tokio_postgres::Error,
    },
    /// The address of a PostgreSQL that cannot be used.
    #[error("cannot use `{source_name}`: {cause}")]
    BadAddress {
        /// The source, without a password.
        source_name: String,
        /// What the library says.
        #[source]
        cause: net::PostgresError,
    },
    /// A source that could not be opened and is tried again later.
    #[error("`{source_name}` is unavailable: {reason}")]
    Unavailable {
        /// The source, without a password.
        source_name: String,
        /// Why it could not be opened.
        reason: String,
    },
    /// PostgreSQL has no connection to give.
    #[error("no connection to `{source_name}` within the time limit")]
    Unreachable {
        /// The source, without a password.
        source_name: String,
    },
}

impl Error {
    /// Tells whether the caller can repair the call; otherwise the source or the server is at
    /// fault.
    pub fn is_callers(&self) -> bool {
        matches!(
            self,
            Error::UnknownColumn { .. }
                | Error::WrongTest { .. }
                | Error::WrongMeasure { .. }
                | Error::Overflow
                | Error::TooManyPoints { .. }
                | Error::TooManyGroups { .. }
                | Error::UnknownZone { .. }
                | Error::BadWidth { .. }
                | Error::NoMeasuredColumn { .. }
                | Error::TooManySorts { .. }
                | Error::TooPrivate { .. }
        )
    }
}

impl Error {
    /// Tells whether the source is at fault and may come back by itself, so that waiting helps:
    /// it is away, or it is not what the schema says. A configuration that can never be right is
    /// not among these.
    pub fn is_away(&self) -> bool {
        match self {
            Error::NotThere { .. } | Error::Refused { .. } => true,
            Error::Io(_) | Error::Unavailable { .. } | Error::Unreachable { .. } => true,
            // The server's own answers are not about being away, except when it shuts down or
            // has no connection left.
            Error::Postgres { cause, .. } => {
                cause.code().is_none_or(|code| is_of_source(code.code()))
            }
            Error::Sqlite { cause, .. } => matches!(
                cause.sqlite_error_code(),
                Some(
                    rusqlite::ErrorCode::CannotOpen
                        | rusqlite::ErrorCode::NotADatabase
                        | rusqlite::ErrorCode::DatabaseCorrupt
                        | rusqlite::ErrorCode::DatabaseBusy
                        | rusqlite::ErrorCode::PermissionDenied
                        | rusqlite::ErrorCode::SystemIoFailure
                )
            ),
            // Whoever owns the source can mend it: a renamed column comes back.
            Error::Empty { .. } | Error::MissingColumn { .. } | Error::UnfitColumn { .. } => true,
            Error::Unsupported { .. } | Error::NoSuchTable { .. } => true,
            Error::Unsettled { .. } | Error::Malformed { .. } | Error::TooLarge { .. } => true,
            Error::Parquet { .. } | Error::Arrow { .. } => true,
            Error::UnknownColumn { .. }
            | Error::WrongTest { .. }
            | Error::WrongMeasure { .. }
            | Error::Overflow
            | Error::TooManyPoints { .. }
            | Error::TooManyGroups { .. }
            | Error::UnknownZone { .. }
            | Error::BadWidth { .. }
            | Error::NoMeasuredColumn { .. }
            | Error::TooManySorts { .. }
            | Error::TooPrivate { .. }
            | Error::TimedOut
            | Error::Apart { .. }
            | Error::UnknownFormat { .. }
            | Error::NoTableName { .. }
            | Error::BadAddress { .. } => false,
        }
    }
}

/// Tells by PostgreSQL's code whether the database is away or has other tables, columns, rights or
/// extensions than the configuration says.
pub fn is_of_source(code: &str) -> bool {
    const CODES: [&str; 5] = ["53300", "42P01", "42703", "42501", "42883"];
    const CLASSES: [&str; 3] = ["57P", "28", "3D"];
    CODES.contains(&code) || CLASSES.iter().any(|class| code.starts_with(class))
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

//! What can go wrong, each with the code that an agent sees.

/// The result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a table could not be described or queried.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum Error {
    // The caller's to fix.
    /// An argument, filter, sort or series that names nothing there is.
    #[error("unknown {what} `{received}`: expected {}{}", listed(.allowed), meant(.did_you_mean))]
    UnknownName {
        /// What kind of name it should be.
        what: &'static str,
        /// The name that was given.
        received: String,
        /// The names that exist.
        allowed: Vec<String>,
        /// The one that was probably meant.
        did_you_mean: Option<String>,
    },
    /// A value outside a closed list.
    #[error("`{field}` does not take `{received}`: expected {}{}", listed(.allowed), meant(.did_you_mean))]
    NotAllowed {
        /// The filter or argument.
        field: String,
        /// The value that was given.
        received: String,
        /// The values that are taken.
        allowed: Vec<String>,
        /// The one that was probably meant.
        did_you_mean: Option<String>,
    },
    /// A value of the wrong type.
    #[error("`{field}` takes {expected}, received `{received}`")]
    WrongType {
        /// The filter or argument.
        field: String,
        /// What is taken.
        expected: String,
        /// What was given, as JSON.
        received: String,
    },
    /// A number outside its bounds.
    #[error("`{field}` is `{received}`, it must be {expected}")]
    OutOfBounds {
        /// The argument.
        field: String,
        /// What was given.
        received: String,
        /// The bounds.
        expected: String,
    },
    /// A range that nothing can lie in.
    #[error(
        "the range of `{field}` is empty: its start `{start}` is greater than its end `{end}`; swap them"
    )]
    EmptyRange {
        /// The filter.
        field: String,
        start: String,
        end: String,
    },
    /// A query that the table cannot answer as it stands.
    #[error("{cause}")]
    BadQuery {
        /// What the engine says.
        cause: columns::Error,
    },
    /// Arguments that do not fit the schema of the tool.
    #[error("{problem}")]
    BadArguments {
        /// What is wrong, and what is allowed.
        problem: String,
    },
    /// A part of an aggregate that cannot be meant.
    #[error("{problem}")]
    BadAggregate {
        /// What is wrong, what is allowed, what to do.
        problem: String,
    },
    /// A view was asked without a value that it needs.
    #[error("the parameter `{name}` is required: give {expected}")]
    MissingParameter {
        /// The parameter.
        name: String,
        /// What it takes.
        expected: &'static str,
    },
    /// A continuation token that this call did not give.
    #[error("the cursor is not one that this query returned: leave `cursor` out to start again")]
    BadCursor,
    /// Several tables are served, and the call names none.
    #[error("`table` is required, since several tables are served: expected {}", listed(.allowed))]
    TableRequired {
        /// The tables of this caller.
        allowed: Vec<String>,
    },
    /// No such table for this caller.
    #[error("unknown table `{received}`: expected {}{}", listed(.allowed), meant(.did_you_mean))]
    UnknownTable {
        /// The name that was given.
        received: String,
        /// The tables of this caller.
        allowed: Vec<String>,
        /// The one that was probably meant.
        did_you_mean: Option<String>,
    },
    /// The answer did not come in time.
    #[error("the query did not finish within its time limit: filter more narrowly")]
    TimedOut,

    // The operator's to fix.
    /// A schema that contradicts itself.
    #[error("table `{table}`, field `{field}`: {problem}")]
    BadSchema {
        table: String,
        field: String,
        /// What is wrong.
        problem: String,
    },
    /// A saved view that cannot be asked.
    #[error("view `{view}`: {problem}")]
    BadView {
        view: String,
        /// What is wrong.
        problem: String,
    },
    /// Two tables of one name.
    #[error("two tables are named `{table}`")]
    DuplicateTable {
        /// The name.
        table: String,
    },
    /// The source of a table cannot be used.
    #[error("table `{table}` is unavailable: its source could not be read")]
    Source {
        table: String,
        #[source]
        cause: columns::Error,
    },
    /// The catalogue that keeps links for several servers did not do what was asked.
    #[error("Failed to connect to api-admin service")]
    Links(#[from] store::Error),
    /// A mounted program's own function failed.
    #[error("the data of table `{table}` is unavailable")]
    GetData {
        table: String,
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// Gives the code that an agent sees.
    pub fn code(&self) -> &'static str {
        match self {
            Error::UnknownName { .. }
            | Error::NotAllowed { .. }
            | Error::WrongType { .. }
            | Error::OutOfBounds { .. }
            | Error::EmptyRange { .. }
            | Error::BadQuery { .. }
            | Error::BadArguments { .. }
            | Error::BadAggregate { .. }
            | Error::BadCursor
            | Error::MissingParameter { .. }
            | Error::TableRequired { .. } => "BAD_REQUEST",
            Error::UnknownTable { .. } => "NOT_FOUND",
            Error::TimedOut => "TIMEOUT",
            Error::Source { cause, .. } if cause.is_away() => "UNAVAILABLE",
            Error::Links(cause) if cause.is_catalogue_away() => "UNAVAILABLE",
            Error::BadSchema { .. }
            | Error::BadView { .. }
            | Error::DuplicateTable { .. }
            | Error::Source { .. }
            | Error::Links(_)
            | Error::GetData { .. } => "INTERNAL",
        }
    }

    /// Says that a value is of another type; shows the beginning of what was received.
    pub fn wrong_type(field: &str, expected: &str, received: &dyn std::fmt::Display) -> Self {
        const SHOWN_CHARS: usize = 200;
        Error::WrongType {
            field: field.to_owned(),
            expected: expected.to_owned(),
            received: received.to_string().chars().take(SHOWN_CHARS).collect(),
        }
    }

    /// Says that a name is none of those that exist, and which was probably meant.
    pub fn unknown_name<N: AsRef<str>>(what: &'static str, received: &str, allowed: &[N]) -> Self {
        let allowed = owned(allowed);
        let did_you_mean = did_you_mean(received, &allowed);
        Error::UnknownName { what, received: received.to_owned(), allowed, did_you_mean }
    }

    /// Says that a value is outside its closed list, and which was probably meant.
    pub fn not_allowed<N: AsRef<str>>(field: &str, received: &str, allowed: &[N]) -> Self {
        let allowed = owned(allowed);
        let did_you_mean = did_you_mean(received, &allowed);
        let (field, received) = (field.to_owned(), received.to_owned());
        Error::NotAllowed { field, received, allowed, did_you_mean }
    }

    pub(crate) fn of_source(table: &str, cause: columns::Error) -> Self {
        if matches!(cause, columns::Error::TimedOut) {
            return Error::TimedOut;
        }
        if cause.is_callers() {
            return Error::BadQuery { cause };
        }
        Error::Source { table: table.to_owned(), cause }
    }
}

/// Finds the name that was probably meant.
pub(crate) fn did_you_mean(received: &str, allowed: &[String]) -> Option<String> {
    const MIN_LIKENESS: f64 = 0.75;
    let received = received.to_lowercase();
    allowed
        .iter()
        .map(|name| (columns::likeness(&received, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= MIN_LIKENESS)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, name)| name.clone())
}

fn owned<N: AsRef<str>>(names: &[N]) -> Vec<String> {
    names.iter().map(|name| name.as_ref().to_owned()).collect()
}

fn listed(names: &[String]) -> String {
    const SHOWN: usize = 50;
    if names.is_empty() {
        return "none: this table has nothing that could be meant".to_owned();
    }
    let mut shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN {
        shown.push(format!("… {} more", names.len() - SHOWN));
    }
    format!("one of {}", shown.join(", "))
}

fn meant(name: &Option<String>) -> String {
    name.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

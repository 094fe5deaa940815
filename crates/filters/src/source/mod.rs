//! Where the entries of a dimension come from: files and tables, all read into one [`Table`].

mod table;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use columns::{ColumnSpec, Dataset, Kind, Query, TableSpec};
use model::Deadline;

use crate::{Error, Result};

pub(crate) use table::Table;

/// The largest file of entries that is read, in bytes.
pub const MAX_SOURCE_BYTES: u64 = 1 << 30;

/// The most rows of one dimension.
pub const MAX_ROWS: usize = 5_000_000;

/// A table of a database is read again after this time: it cannot say that it changed.
const DATABASE_REFRESH: Duration = Duration::from_secs(300);

/// How long reading a table of a database may take.
const DATABASE_LIMIT: Duration = Duration::from_secs(120);

/// Rows of a database that are read at once.
const PAGE_ROWS: usize = 10_000;

/// A source named by the configuration.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    File(PathBuf),
    /// `postgres://…#TABLE` or `sqlite:PATH#TABLE`.
    Database {
        name: String,
        folder: PathBuf,
        opened: Instant,
    },
}

impl Source {
    /// Reads the name of a source; relative paths start at `folder`.
    pub(crate) fn parse(folder: &Path, name: &str) -> Self {
        if is_database(name) {
            return Source::Database {
                name: name.to_owned(),
                folder: folder.to_owned(),
                opened: Instant::now(),
            };
        }
        Source::File(folder.join(name))
    }

    /// Reads all rows; of a database only the columns named.
    pub(crate) fn read(&self, columns: &[String]) -> Result<Table> {
        match self {
            Source::File(path) => read_file(path),
            Source::Database { name, folder, .. } => read_database(name, folder, columns),
        }
    }

    /// Gives what changes when the source does, or nothing where that cannot be told.
    pub(crate) fn version(&self) -> Option<Version> {
        match self {
            Source::File(path) => {
                let metadata = fs_err::metadata(path).ok()?;
                Some(Version::File { n_bytes: metadata.len(), modified: metadata.modified().ok() })
            }
            Source::Database { opened, .. } => {
                Some(Version::Age(opened.elapsed().as_secs() / DATABASE_REFRESH.as_secs()))
            }
        }
    }
}

/// The state of a source, as far as it can be told without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Version {
    File { n_bytes: u64, modified: Option<std::time::SystemTime> },
    Age(u64),
}

/// Tells whether a source is a table of a database.
pub(crate) fn is_database(name: &str) -> bool {
    ["postgres://", "postgresql://", "sqlite:"].iter().any(|scheme| name.starts_with(scheme))
}

/// Reads the named columns of a table of a database, page by page.
fn read_database(name: &str, folder: &Path, columns: &[String]) -> Result<Table> {
    let origin = name.split('@').next_back().unwrap_or(name).to_owned();
    let failed = |source| Error::Columns { origin: origin.clone(), source };
    let specs = columns.iter().map(|column| ColumnSpec::new(column, Kind::Text)).collect();
    let table = columns::open(name, TableSpec::of(specs), folder, folder).map_err(failed)?;
    let deadline = Deadline::after(DATABASE_LIMIT);
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut query = Query::first(PAGE_ROWS, columns.to_vec());
    loop {
        let answer = table.query(&query, &deadline).map_err(failed)?;
        let is_last = answer.rows.len() < PAGE_ROWS;
        let cell = |value: &columns::Value| match value.as_str() {
            Some(text) => text.trim().to_owned(),
            None if *value == columns::Value::Null => String::new(),
            None => value.to_json().to_string(),
        };
        rows.extend(answer.rows.iter().map(|row| row.iter().map(cell).collect()));
        if rows.len() > MAX_ROWS {
            return Err(Error::TooLarge { origin, most: MAX_ROWS, unit: "rows" });
        }
        if is_last || answer.next.is_none() {
            break;
        }
        query.after = answer.next;
    }
    Ok(Table { columns: columns.to_vec(), rows })
}

/// Reads a file with every cell as text: codes keep their zeros and ids their digits.
pub(crate) fn read_file(path: &Path) -> Result<Table> {
    let origin = path.display().to_string();
    if columns::Format::of(path).is_none() {
        return Err(Error::UnknownSource { origin });
    }
    let n_bytes = columns::stat(path)
        .map_err(|source| Error::Columns { origin: origin.clone(), source })?
        .len();
    if n_bytes > MAX_SOURCE_BYTES {
        return Err(Error::TooLarge { origin, most: MAX_SOURCE_BYTES as usize, unit: "bytes" });
    }
    let dataset = Dataset::read(path, &TableSpec::all_text())
        .map_err(|source| Error::Columns { origin: origin.clone(), source })?;
    if dataset.n_rows() > MAX_ROWS {
        return Err(Error::TooLarge { origin, most: MAX_ROWS, unit: "rows" });
    }
    Ok(Table::from(&dataset))
}

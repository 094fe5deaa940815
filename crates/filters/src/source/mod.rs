//! Where the entries of a dimension come from: files and tables, all read into one [`Table`].

mod table;

use std::path::{Path, PathBuf};

use columns::{Dataset, TableSpec};

use crate::{Error, Result};

pub(crate) use table::Table;

/// The largest file of entries that is read, in bytes.
pub const MAX_SOURCE_BYTES: u64 = 1 << 30;

/// The most rows of one dimension.
pub const MAX_ROWS: usize = 5_000_000;

/// A source named by the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    File(PathBuf),
}

impl Source {
    /// Reads the name of a source; relative paths start at `folder`.
    pub(crate) fn parse(folder: &Path, name: &str) -> Result<Self> {
        Ok(Source::File(folder.join(name)))
    }

    /// Reads all rows.
    pub(crate) fn read(&self) -> Result<Table> {
        match self {
            Source::File(path) => read_file(path),
        }
    }

    /// Gives what changes when the source does, or nothing where that cannot be told cheaply.
    pub(crate) fn version(&self) -> Option<Version> {
        match self {
            Source::File(path) => {
                let metadata = fs_err::metadata(path).ok()?;
                Some(Version { n_bytes: metadata.len(), modified: metadata.modified().ok() })
            }
        }
    }
}

/// The state of a file, as far as its folder tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    n_bytes: u64,
    modified: Option<std::time::SystemTime>,
}

/// Reads a file with every cell as text: codes keep their zeros and ids their digits.
pub(crate) fn read_file(path: &Path) -> Result<Table> {
    let origin = path.display().to_string();
    if columns::Format::of(path).is_none() {
        return Err(Error::UnknownSource { origin });
    }
    let n_bytes = fs_err::metadata(path)
        .map_err(|source| Error::Read { path: path.to_owned(), source })?
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

//! What a table is drafted from: a file, a folder, a sheet, or a table of a database.

use std::path::{Path, PathBuf};

use columns::{
    DatabaseColumn, Dataset, Format, TableSpec, is_sqlite, postgres_sample, postgres_tables,
    sheets_of, sqlite_sample, sqlite_tables,
};

use crate::{Error, Result};

/// Rows of a table of a database that are looked at.
pub(super) const SAMPLED_ROWS: usize = 20_000;

pub(super) struct Drafted {
    path: PathBuf,
    part: FilePart,
    /// What the types of a database say of its columns.
    known: Vec<DatabaseColumn>,
}

/// A table of a source: a file may hold several.
enum FilePart {
    Whole,
    Sheet(String),
    /// A table of a SQLite file.
    Sqlite(String),
    /// A table of the PostgreSQL database of which the path is the address.
    Postgres(String),
}

impl Drafted {
    pub(super) fn of(path: &Path) -> Self {
        let text = path.to_string_lossy();
        let named = text.rsplit_once('#').filter(|(_, name)| !name.is_empty());
        let of = |path: &str, part| Drafted { path: PathBuf::from(path), part, known: Vec::new() };
        match named {
            Some((url, table)) if is_postgres(url) => of(url, FilePart::Postgres(table.to_owned())),
            Some((file, table)) if file.starts_with("sqlite:") => {
                of(&file["sqlite:".len()..], FilePart::Sqlite(table.to_owned()))
            }
            Some((book, sheet))
                if Format::of(Path::new(book)) == Some(Format::Workbook) && !path.exists() =>
            {
                of(book, FilePart::Sheet(sheet.to_owned()))
            }
            _ => of(&text, FilePart::Whole),
        }
    }

    /// Gives the sources that a name means: itself, the sheets of a workbook or the tables of a
    /// database.
    pub(super) fn parts(path: &Path) -> Result<Vec<PathBuf>> {
        let drafted = Drafted::of(path);
        let whole = vec![path.to_owned()];
        if !matches!(drafted.part, FilePart::Whole) || path.is_dir() {
            return Ok(whole);
        }
        let text = path.to_string_lossy();
        let file = text.strip_prefix("sqlite:").unwrap_or(&text);
        let (names, prefix) = if is_postgres(&text) {
            (postgres_tables(&text), "")
        } else if is_sqlite(Path::new(file)) {
            (sqlite_tables(Path::new(file)), "sqlite:")
        } else if Format::of(path) == Some(Format::Workbook) {
            match sheets_of(path) {
                Ok(sheets) if sheets.len() < 2 => return Ok(whole),
                sheets => (sheets, ""),
            }
        } else {
            return Ok(whole);
        };
        let names = names.map_err(|cause| Error::Source { table: drafted.name(), cause })?;
        if names.is_empty() {
            let problem = "there is no table that can be read".to_owned();
            return Err(Error::BadSchema { table: drafted.name(), field: "*".to_owned(), problem });
        }
        let base = file.trim_end_matches('#');
        Ok(names.iter().map(|name| PathBuf::from(format!("{prefix}{base}#{name}"))).collect())
    }

    /// Names the table: after the sheet or the table, or after the file.
    pub(super) fn name(&self) -> String {
        match &self.part {
            FilePart::Whole => {
                let stem =
                    self.path.file_stem().filter(|_| !is_postgres(&self.path.to_string_lossy()));
                stem.map_or_else(|| "table".to_owned(), |stem| stem.to_string_lossy().into_owned())
            }
            FilePart::Sheet(name) | FilePart::Sqlite(name) => name.clone(),
            // Without the schema that it may be in.
            FilePart::Postgres(name) => name.rsplit('.').next().unwrap_or(name).to_owned(),
        }
    }

    /// Tells whether a database answers for it.
    pub(super) fn is_in_database(&self) -> bool {
        matches!(self.part, FilePart::Sqlite(_) | FilePart::Postgres(_))
    }

    /// Gives what the type of a column says, where it has one.
    pub(super) fn known(&self, column: &str) -> Option<&DatabaseColumn> {
        self.known.iter().find(|known| known.name == column)
    }

    /// Reads every column as text.
    pub(super) fn read_as_text(&mut self) -> columns::Result<Dataset> {
        if let FilePart::Postgres(table) = &self.part {
            let url = self.path.to_string_lossy();
            let sample = postgres_sample(&url, table, &TableSpec::all_text(), SAMPLED_ROWS)?;
            self.known = sample.columns;
            return Ok(sample.dataset);
        }
        self.read(TableSpec::all_text())
    }

    pub(super) fn read(&self, spec: TableSpec) -> columns::Result<Dataset> {
        match &self.part {
            FilePart::Whole => Dataset::read(&self.path, &spec),
            FilePart::Sheet(sheet) => {
                Dataset::read(&self.path, &TableSpec { sheet: Some(sheet.clone()), ..spec })
            }
            FilePart::Sqlite(table) => sqlite_sample(&self.path, table, &spec, SAMPLED_ROWS),
            FilePart::Postgres(table) => {
                let url = self.path.to_string_lossy();
                postgres_sample(&url, table, &spec, SAMPLED_ROWS).map(|sample| sample.dataset)
            }
        }
    }
}

fn is_postgres(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

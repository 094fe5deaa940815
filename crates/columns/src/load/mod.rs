//! From a source to columns: one file for each format, one builder for all.

mod above_header;
mod arrow_cells;
mod builder;
mod csv;
mod decode;
mod header;
mod intern;
mod json;
mod lists;
mod merged;
mod nested;
mod parquet;
mod record;
mod report;
mod sheet_cells;
mod typed;
mod workbook;

#[cfg(test)]
mod parquet_tests;

use std::path::{Path, PathBuf};

use builder::ColumnBuilder;
pub(crate) use builder::Points;
pub(crate) use csv::cut_at_boundary;
pub(crate) use intern::Raw;
pub(crate) use lists::Items;
pub use report::{LoadReport, Misfit, MissingInFiles, MissingKeys, NAMED_MISFITS, RepeatedKeys};
pub(crate) use typed::{is_rounded_to, number_of, value_of};
pub use workbook::sheets_of;

use crate::{Column, ColumnSpec, Error, Kind, Result, TableSpec};

/// The most rows that one table holds.
pub const MAX_ROWS: usize = i32::MAX as usize;
/// The longest cell that is kept; what is behind is cut and counted.
pub const MAX_CELL_BYTES: usize = 1 << 20;
/// The largest file that is read.
pub const MAX_SOURCE_BYTES: u64 = 16 << 30;
/// The most columns a source may have.
pub const MAX_COLUMNS: usize = 4096;

/// The formats of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Delimited text with a header.
    Csv,
    /// The same, delimited by tabs.
    Tsv,
    /// An array of objects.
    Json,
    /// One object on each line.
    JsonLines,
    /// Apache Parquet.
    Parquet,
    /// A workbook of Excel or OpenDocument; one of its sheets.
    Workbook,
}

impl Format {
    /// Tells the format from a file's name.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "csv" => Some(Format::Csv),
            "tsv" | "tab" => Some(Format::Tsv),
            "json" => Some(Format::Json),
            "jsonl" | "ndjson" => Some(Format::JsonLines),
            "parquet" => Some(Format::Parquet),
            "xlsx" | "xlsm" | "xls" | "xlsb" | "ods" => Some(Format::Workbook),
            _ => None,
        }
    }
}

/// The most files of a folder.
pub(crate) const MAX_FILES: usize = 10_000;

/// Reads a whole file, or every file of a folder, into columns.
pub(crate) fn read_file(path: &Path, spec: &TableSpec) -> Result<(Vec<Column>, LoadReport)> {
    let mut table = TableBuilder::new(path, spec);
    let is_folder = stat(path)?.is_dir();
    if is_folder {
        table.is_folder = true;
        for file in files_of(path)? {
            table.source_name = file.display().to_string();
            read_into(&file, spec, &mut table)?;
        }
        table.check_folder(path)?;
    } else {
        read_into(path, spec, &mut table)?;
    }
    Ok(table.finish())
}

/// Looks at a source. What is wrong is said of the file, not of the call that found out.
///
/// # Errors
///
/// When it is not there, or may not be looked at.
pub fn stat(path: &Path) -> Result<std::fs::Metadata> {
    fs_err::metadata(path).map_err(|error| {
        let (path, kind) = (path.to_owned(), error.kind());
        match kind == std::io::ErrorKind::NotFound {
            true => Error::NotThere { path },
            false => Error::Refused { path, cause: kind.into() },
        }
    })
}

/// Gives the files of a folder that hold rows, in the order of their names. Folders inside and
/// hidden files are left out.
pub(crate) fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        let is_hidden =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !is_hidden && path.is_file() && Format::of(&path).is_some() {
            files.push(path);
        }
        if files.len() > MAX_FILES {
            return Err(Error::TooLarge {
                path: folder.to_owned(),
                size: files.len() as u64,
                unit: "files",
                limit: MAX_FILES as u64,
            });
        }
    }
    files.sort();
    Ok(files)
}

fn read_into(path: &Path, spec: &TableSpec, table: &mut TableBuilder) -> Result<()> {
    let format = Format::of(path)
        .ok_or_else(|| Error::UnknownFormat { source_name: path.display().to_string() })?;
    let size = stat(path)?.len();
    if size > MAX_SOURCE_BYTES {
        return Err(Error::TooLarge {
            path: path.to_owned(),
            size,
            unit: "bytes",
            limit: MAX_SOURCE_BYTES,
        });
    }
    match format {
        Format::Csv => csv::read(path, spec, table),
        Format::Tsv => {
            let spec =
                TableSpec { delimiter: Some(spec.delimiter.unwrap_or('\t')), ..spec.clone() };
            csv::read(path, &spec, table)
        }
        Format::Json => json::read_json(path, table),
        Format::JsonLines => json::read_lines(path, table),
        Format::Parquet => parquet::read(path, table),
        Format::Workbook => workbook::read(path, spec, table),
    }
}

/// Collects the columns of a file while it is read.
pub(crate) struct TableBuilder {
    source_name: String,
    spec: TableSpec,
    pub(crate) columns: Vec<ColumnBuilder>,
    n_source_columns: usize,
    /// The line of each row, where it is not simply the row's number.
    lines: Vec<u64>,
    n_rows: usize,
    report: LoadReport,
    /// Whether several files make the table: what one of them lacks is null there.
    is_folder: bool,
    /// Files of a folder that hold something, so far.
    n_files: u64,
}

/// The place of a column that a file of a folder does not have.
pub(crate) const NO_PLACE: usize = usize::MAX;

impl TableBuilder {
    pub(crate) fn new(path: &Path, spec: &TableSpec) -> Self {
        TableBuilder {
            source_name: path.display().to_string(),
            spec: spec.clone(),
            columns: Vec::new(),
            n_source_columns: 0,
            lines: Vec::new(),
            n_rows: 0,
            report: LoadReport::default(),
            is_folder: false,
            n_files: 0,
        }
    }

    /// Takes the names of the source's columns, and gives the place of each wanted one;
    /// [`NO_PLACE`] where a file of a folder lacks it.
    pub(crate) fn start(&mut self, header: &[String]) -> Result<Vec<usize>> {
        if header.len() > MAX_COLUMNS {
            return Err(Error::TooLarge {
                path: self.source_name.clone().into(),
                size: header.len() as u64,
                unit: "columns",
                limit: MAX_COLUMNS as u64,
            });
        }
        self.n_source_columns = header.len();
        if header.is_empty() && !self.is_folder && !self.spec.columns.is_empty() {
            return Err(Error::Empty { source_name: self.source_name.clone() });
        }
        let is_started = !self.columns.is_empty();
        if !is_started {
            let wanted: Vec<ColumnSpec> = match self.spec.columns.is_empty() {
                true => header.iter().map(|name| ColumnSpec::new(name, Kind::Text)).collect(),
                false => self.spec.columns.clone(),
            };
            for column in wanted {
                self.columns.push(ColumnBuilder::new(column, &self.spec.null_values));
            }
        } else if self.spec.columns.is_empty() {
            self.add_later_columns(header);
        }
        let mut places = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            let name = &column.spec().source_name;
            match header.iter().position(|known| known == name) {
                Some(place) => places.push(place),
                None if self.is_folder => places.push(NO_PLACE),
                None => {
                    return Err(Error::MissingColumn {
                        source_name: self.source_name.clone(),
                        column: name.clone(),
                        known: header.to_vec(),
                    });
                }
            }
        }
        // A file without anything in it lacks nothing.
        if self.is_folder && !header.is_empty() {
            self.note_missing(&places);
        }
        Ok(places)
    }

    /// Takes the columns that only a later file of a folder has: they are null above.
    fn add_later_columns(&mut self, header: &[String]) {
        for name in header {
            let is_known = self.columns.iter().any(|column| column.spec().source_name == *name);
            if is_known {
                continue;
            }
            let spec = ColumnSpec::new(name, Kind::Text);
            let mut column = ColumnBuilder::new(spec, &self.spec.null_values);
            for _ in 0..self.n_rows {
                column.push_null();
            }
            if self.n_files > 0 {
                let missing = MissingInFiles { column: name.clone(), n_files: self.n_files };
                self.report.missing_in_files.push(missing);
            }
            self.columns.push(column);
        }
    }

    fn note_missing(&mut self, places: &[usize]) {
        self.n_files += 1;
        let missing = self.columns.iter().zip(places).filter(|(_, place)| **place == NO_PLACE);
        for (column, _) in missing {
            let name = &column.spec().name;
            let known = &mut self.report.missing_in_files;
            match known.iter_mut().find(|missing| missing.column == *name) {
                Some(missing) => missing.n_files += 1,
                None => known.push(MissingInFiles { column: name.clone(), n_files: 1 }),
            }
        }
    }

    /// Checks that a folder has files, and every column of the schema in one of them.
    fn check_folder(&self, folder: &Path) -> Result<()> {
        if self.spec.columns.is_empty() {
            return Ok(());
        }
        if self.columns.is_empty() {
            return Err(Error::Empty { source_name: folder.display().to_string() });
        }
        let missing = &self.report.missing_in_files;
        let nowhere = missing.iter().find(|missing| missing.n_files == self.n_files);
        let nowhere = nowhere.and_then(|missing| {
            self.spec.columns.iter().find(|column| column.name == missing.column)
        });
        let Some(column) = nowhere else { return Ok(()) };
        let is_missing =
            |column: &&ColumnSpec| missing.iter().any(|missing| missing.column == column.name);
        let known = self.spec.columns.iter().filter(|column| !is_missing(column));
        Err(Error::MissingColumn {
            source_name: folder.display().to_string(),
            column: column.source_name.clone(),
            known: known.map(|column| column.source_name.clone()).collect(),
        })
    }

    pub(crate) fn n_source_columns(&self) -> usize {
        self.n_source_columns
    }

    /// Starts a row that is on a line.
    pub(crate) fn line(&mut self, line: u64) {
        self.lines.push(line);
        self.n_rows += 1;
    }

    /// Starts rows whose line is their number.
    pub(crate) fn rows(&mut self, n_rows: usize) {
        if !self.lines.is_empty() {
            self.lines.extend(1..=n_rows as u64);
        }
        self.n_rows += n_rows;
    }

    /// Remembers that text was not UTF-8.
    pub(crate) fn encoding(&mut self, name: &str) {
        self.report.encoding = Some(name.to_owned());
    }

    /// Remembers the member of an object that holds the rows.
    pub(crate) fn rows_of(&mut self, member: String) {
        self.report.rows_of = Some(member);
    }

    /// Remembers that a row above the header was passed over, where it held something.
    pub(crate) fn above_header(&mut self, has_text: bool) {
        self.report.n_above_header += u64::from(has_text);
    }

    /// Remembers that an empty cell has the value of the merged cell that it is part of.
    pub(crate) fn merged_cell(&mut self) {
        self.report.n_merged_cells += 1;
    }

    /// Remembers that a cell holds a formula and not what it gives.
    pub(crate) fn not_computed(&mut self, column: usize) {
        let name = self.columns[column].spec().name.clone();
        *self.report.not_computed_by_column.entry(name).or_default() += 1;
    }

    /// Remembers that every cell of a column was between quotes.
    pub(crate) fn always_quoted(&mut self, column: usize) {
        let name = self.columns[column].spec().name.clone();
        if !self.report.quoted_columns.contains(&name) {
            self.report.quoted_columns.push(name);
        }
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(crate) fn misfit(&mut self, row: usize, misfit: Misfit) {
        self.report.add_misfit(row, misfit);
    }

    pub(crate) fn count_not_utf8(&mut self, was_utf8: bool) {
        self.report.n_not_utf8 += u64::from(!was_utf8);
    }

    /// Cuts a cell that is longer than cells may be.
    pub(crate) fn cut<'a>(&mut self, text: &'a str) -> &'a str {
        let cut = csv::cut_at_boundary(text);
        self.report.n_cut_cells += u64::from(cut.len() < text.len());
        cut
    }

    pub(crate) fn finish(mut self) -> (Vec<Column>, LoadReport) {
        let lines = self.lines;
        let report = &mut self.report;
        let line_of = |row: usize| lines.get(row).copied().unwrap_or(row as u64 + 1);
        let columns =
            self.columns.into_iter().map(|column| column.finish(report, line_of)).collect();
        report.close(self.n_rows);
        (columns, self.report)
    }
}

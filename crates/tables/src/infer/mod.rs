//! Drafts the configuration of a table from a file: types, closed lists, ranges and moments are
//! recognised; a person reads it over.

mod codes;
mod dates;
mod draft;
mod numbers;

use std::path::{Path, PathBuf};

use columns::{
    Column, ColumnSpec, Dataset, DateOrder, DecimalMark, Format, Kind, LoadReport, NULL_WORDS,
    TableSpec, parse_moment, sheets_of,
};

use crate::config::{Epoch, Field, Fields, TableConfig};
use crate::{Error, Result};
use codes::{has_shape_of_code, is_code, names_code};
use dates::{Digits, date_order, moments_in_digits};
use numbers::{Written, written};

pub use draft::to_toml;

#[cfg(test)]
mod tests;

/// The most values that make a closed list.
const MAX_LITERALS: usize = 20;
/// A closed list repeats each value at least this often on average.
const MIN_REPEATS: usize = 4;
/// Numbers with at most this many values are filtered by membership.
const MAX_MEMBERS: usize = 25;
/// How much of a column must read as a type for the column to be of that type.
const MIN_FITTING: f64 = 0.95;

/// Rows of a table of a database that are looked at.
const SAMPLED_ROWS: usize = 20_000;

/// Drafts the TOML of a `[[tables]]` entry for a file, a folder of files, a sheet of a workbook
/// (`book.xlsx#SHEET`), or a table of a SQLite file (`sqlite:PATH#TABLE`); a workbook with several
/// sheets gives one entry for each that holds rows.
///
/// Fails when the file cannot be read or has no columns.
pub fn infer(path: &Path) -> Result<String> {
    let drafted = Drafted::of(path);
    let sheets = drafted.sheets()?;
    let [_, _, ..] = sheets.as_slice() else {
        return draft_of(path);
    };
    let named = |sheet: &String| PathBuf::from(format!("{}#{sheet}", path.display()));
    let drafts: Result<Vec<String>> = sheets.iter().map(|sheet| draft_of(&named(sheet))).collect();
    Ok(drafts?.join("\n"))
}

fn draft_of(path: &Path) -> Result<String> {
    let (config, notes, report) = infer_with_report(path)?;
    let n_above = report.n_above_header;
    let above = (n_above > 0).then(|| {
        let rows = if n_above == 1 { "row" } else { "rows" };
        format!("{n_above} {rows} above the names of the columns, passed over")
    });
    // The first row would be lost as names.
    let has_values_for_names = config.fields.0.iter().all(|(name, _)| is_numeric(name));
    let nameless = has_values_for_names.then(|| {
        "AMBIGUOUS: the first row is numbers and was read as the names of the columns; add a row \
         of names if it is a row of values"
            .to_owned()
    });
    let remarks: Vec<String> = above.into_iter().chain(nameless).collect();
    let remark = (!remarks.is_empty()).then(|| remarks.join("\n# "));
    Ok(to_toml(&config, &notes, remark.as_deref()))
}

/// Drafts the configuration of a table for a file, with a remark for each field.
pub fn infer_config(path: &Path) -> Result<(TableConfig, Vec<String>)> {
    infer_with_report(path).map(|(config, notes, _)| (config, notes))
}

fn infer_with_report(path: &Path) -> Result<(TableConfig, Vec<String>, LoadReport)> {
    let drafted = Drafted::of(path);
    let name = drafted.name();
    let failed = |cause| Error::Source { table: name.clone(), cause };
    let as_text = drafted.read(TableSpec::all_text()).map_err(failed)?;
    let evidence = Evidence::of(&as_text);
    let mut fields = Vec::new();
    let mut notes = Vec::new();
    for column in as_text.all_columns() {
        let guess = guess(&drafted, column, as_text.n_rows(), &evidence).map_err(failed)?;
        fields.push((column.name().to_owned(), guess.field));
        let missing = as_text.report().missing_in_files.iter();
        let missing = missing.filter(|missing| missing.column == column.name());
        let missing: String =
            missing.map(|missing| format!("; not in {} of the files", missing.n_files)).collect();
        notes.push(format!("{}{missing}", guess.note));
    }
    if fields.is_empty() {
        return Err(Error::BadSchema {
            table: name,
            field: "*".to_owned(),
            problem: "the file has no columns".to_owned(),
        });
    }
    let n_rows = match as_text.n_rows() {
        SAMPLED_ROWS if drafted.is_in_database() => format!("{SAMPLED_ROWS} rows or more"),
        n_rows => format!("{n_rows} rows"),
    };
    let config = TableConfig {
        source: path.display().to_string(),
        description: Some(format!("{n_rows} of {name}")),
        name,
        allow: model::Access::everyone(),
        null_values: Vec::new(),
        delimiter: None,
        fields: Fields(fields),
        relations: Vec::new(),
    };
    let report = as_text.report().clone();
    Ok((config, notes, report))
}

struct Drafted {
    path: PathBuf,
    part: Part,
}

/// What of a file.
enum Part {
    Whole,
    Sheet(String),
    /// A table of a SQLite file.
    Table(String),
}

impl Drafted {
    fn of(path: &Path) -> Self {
        let text = path.to_string_lossy();
        if let Some((file, table)) =
            text.strip_prefix("sqlite:").and_then(|rest| rest.rsplit_once('#'))
        {
            return Drafted { path: PathBuf::from(file), part: Part::Table(table.to_owned()) };
        }
        let named = text.rsplit_once('#').filter(|(book, sheet)| {
            Format::of(Path::new(book)) == Some(Format::Workbook) && !sheet.is_empty()
        });
        match named.filter(|_| !path.exists()) {
            Some((book, sheet)) => {
                Drafted { path: PathBuf::from(book), part: Part::Sheet(sheet.to_owned()) }
            }
            None => Drafted { path: path.to_owned(), part: Part::Whole },
        }
    }

    /// Names the table: after the sheet or the table, or after the file.
    fn name(&self) -> String {
        let stem = || self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        match &self.part {
            Part::Whole => stem().unwrap_or_else(|| "table".to_owned()),
            Part::Sheet(name) | Part::Table(name) => name.clone(),
        }
    }

    /// Tells whether a database answers for it, which has neither lists nor dates that are
    /// written as three numbers.
    fn is_in_database(&self) -> bool {
        matches!(self.part, Part::Table(_))
    }

    /// Gives the sheets that are meant: the one that is named, or all of a workbook.
    fn sheets(&self) -> Result<Vec<String>> {
        let is_whole = matches!(self.part, Part::Whole);
        let is_book = is_whole && Format::of(&self.path) == Some(Format::Workbook);
        if !is_book || self.path.is_dir() {
            return Ok(Vec::new());
        }
        sheets_of(&self.path).map_err(|cause| Error::Source { table: self.name(), cause })
    }

    fn read(&self, spec: TableSpec) -> columns::Result<Dataset> {
        match &self.part {
            Part::Whole => Dataset::read(&self.path, &spec),
            Part::Sheet(sheet) => {
                Dataset::read(&self.path, &TableSpec { sheet: Some(sheet.clone()), ..spec })
            }
            Part::Table(table) => columns::sqlite_sample(&self.path, table, &spec, SAMPLED_ROWS),
        }
    }
}

struct Guess {
    field: Field,
    note: String,
}

/// What one column says about the others.
struct Evidence {
    /// The mark of decimals that some column can only have.
    mark: Option<DecimalMark>,
    /// Columns whose digits are between quotes, while other numbers are not.
    quoted: Vec<String>,
}

impl Evidence {
    fn of(as_text: &Dataset) -> Self {
        let quoted = &as_text.report().quoted_columns;
        let is_quoted = |column: &Column| quoted.iter().any(|name| name == column.name());
        let mut mark = None;
        let mut has_bare_numbers = false;
        for column in as_text.all_columns() {
            let texts = texts_of(column);
            has_bare_numbers |=
                !is_quoted(column) && !texts.is_empty() && texts.iter().all(|it| is_numeric(it));
            let told = written(&texts).filter(|it| !it.is_ambiguous);
            let told = told.filter(|it| it.mark == DecimalMark::Comma);
            mark = mark.or(told.map(|it| it.mark));
        }
        let quoted = if has_bare_numbers { quoted.clone() } else { Vec::new() };
        Evidence { mark, quoted }
    }
}

fn texts_of(column: &Column) -> Vec<String> {
    column
        .distinct_values()
        .filter_map(|value| value.as_str().map(str::to_owned))
        .filter(|text| !NULL_WORDS.contains(&text.trim()))
        .collect()
}

fn guess(
    drafted: &Drafted,
    column: &Column,
    n_rows: usize,
    evidence: &Evidence,
) -> columns::Result<Guess> {
    let texts = texts_of(column);
    if texts.is_empty() {
        return Ok(Guess { field: Field::string(), note: "no values".to_owned() });
    }
    let fits = |is_fit: &dyn Fn(&str) -> bool| {
        let n_fit = texts.iter().filter(|text| is_fit(text)).count();
        !texts.is_empty() && n_fit as f64 >= texts.len() as f64 * MIN_FITTING
    };
    let lower: Vec<String> = texts.iter().map(|text| text.trim().to_ascii_lowercase()).collect();
    let is_boolean = PAIRS
        .iter()
        .any(|pair| !lower.is_empty() && lower.iter().all(|text| pair.contains(&text.as_str())));
    if is_boolean {
        let mut words = lower;
        words.sort_unstable();
        words.dedup();
        return Ok(Guess { field: Field::boolean(), note: words.join(" or ") });
    }
    if !drafted.is_in_database() && is_list(&texts) {
        let (item, note) = if has_number_lists(&texts) {
            (Field::number(), "lists of numbers")
        } else {
            (Field::string(), "lists")
        };
        let mut field = Field::any_of(item);
        field.separator = Some(';');
        return Ok(Guess { field, note: note.to_owned() });
    }
    // Quotes around digits say that they are a text. Around `1,5` or `$1,234` they are needed.
    let is_quoted = evidence.quoted.iter().any(|name| name == column.name())
        && texts.iter().all(|text| is_numeric(text));
    let has_codes = is_quoted
        || names_code(column.name())
        || texts.iter().any(|text| is_code(text))
        || has_shape_of_code(column.name(), &texts, n_rows);
    let is_number =
        !has_codes && fits(&|text| text.trim().parse::<f64>().is_ok_and(f64::is_finite));
    if is_number && let Some(digits) = moments_in_digits(column.name(), &texts) {
        let mut spec = ColumnSpec::new(column.name(), Kind::Timestamp);
        let mut field = Field::range(Field::timestamp());
        match digits {
            Digits::Date if drafted.is_in_database() => {}
            Digits::Date => {
                spec.date_order = Some(DateOrder::Ymd);
                field.date_order = spec.date_order;
            }
            Digits::Since1970(epoch) => {
                spec.epoch = epoch;
                field.epoch = Some(epoch);
            }
        }
        if field.epoch.is_some() || field.date_order.is_some() {
            let note = extremes(&typed_column(drafted, spec)?, "timestamp");
            return Ok(Guess { field, note });
        }
    }
    // Digits alone are no date, however many: they may be a postal code or a telephone number.
    let is_moment =
        !is_number && fits(&|text| !is_numeric(text) && parse_moment(text, Epoch::Ms).is_some());
    let typed = |kind| typed_column(drafted, ColumnSpec::new(column.name(), kind));
    if !is_number
        && !is_moment
        && !drafted.is_in_database()
        && let Some((order, doubt)) = date_order(&texts)
    {
        let mut spec = ColumnSpec::new(column.name(), Kind::Timestamp);
        spec.date_order = Some(order);
        let note = format!("{}{doubt}", extremes(&typed_column(drafted, spec)?, "timestamp"));
        let mut field = Field::range(Field::timestamp());
        field.date_order = Some(order);
        return Ok(Guess { field, note });
    }
    // Plain numbers are plain; where a few are not, what reads more of them is right.
    let n_plain = texts.iter().filter(|text| is_numeric(text)).count();
    if !is_moment
        && !has_codes
        && n_plain < texts.len()
        && let Some(written) = written(&texts).filter(|written| written.n_fitting > n_plain)
    {
        return written_number(drafted, column, written, evidence);
    }
    if is_moment {
        let typed = typed(Kind::Timestamp)?;
        let note = extremes(&typed, "timestamp");
        return Ok(Guess { field: Field::range(Field::timestamp()), note });
    }
    if is_number {
        let typed = typed(Kind::Number)?;
        let note = extremes(&typed, "number");
        let is_member = texts.len() <= MAX_MEMBERS && texts.iter().all(|text| !text.contains('.'));
        let field =
            if is_member { Field::any_of(Field::number()) } else { Field::range(Field::number()) };
        return Ok(Guess { field, note });
    }
    let is_closed = !texts.is_empty()
        && texts.len() <= MAX_LITERALS
        && texts.len() * MIN_REPEATS <= n_rows
        && texts.iter().all(|text| text.chars().count() <= 60 && !text.contains('\n'));
    if is_closed {
        // The list is of the column's own values, words like `NA` and the empty text among them.
        let values: Vec<String> = column
            .distinct_values()
            .filter_map(|value| value.as_str().map(str::to_owned))
            .collect();
        let note = format!("{} different values", values.len());
        return Ok(Guess { field: Field::any_of(Field::string_literal(values)), note });
    }
    Ok(Guess { field: Field::string(), note: format!("{} different texts", column.n_distinct()) })
}

/// Pairs of words that are true and false; `0` and `1` are numbers.
const PAIRS: [[&str; 2]; 4] = [["true", "false"], ["yes", "no"], ["y", "n"], ["t", "f"]];

fn is_numeric(text: &str) -> bool {
    text.trim().parse::<f64>().is_ok()
}

fn is_list(texts: &[String]) -> bool {
    !texts.is_empty()
        && texts.iter().all(|text| {
            text.starts_with('[')
                && serde_json::from_str::<Vec<serde_json::Value>>(text)
                    .is_ok_and(|items| items.iter().all(|item| !item.is_object()))
        })
}

/// Tells whether all items of lists are numbers, and there are some.
fn has_number_lists(texts: &[String]) -> bool {
    let lists = texts.iter().map(|text| serde_json::from_str::<Vec<serde_json::Value>>(text));
    let mut items = lists.flatten().flatten().peekable();
    items.peek().is_some() && items.all(|item| item.is_number())
}

/// Drafts a column of numbers that are written as people write them.
fn written_number(
    drafted: &Drafted,
    column: &Column,
    written: Written,
    evidence: &Evidence,
) -> columns::Result<Guess> {
    let (mark, doubt) = match (written.is_ambiguous, evidence.mark) {
        (true, Some(mark)) => (mark, ""),
        (true, None) => (
            written.mark,
            "; AMBIGUOUS: `,` is read as a separator of thousands, set decimal = \",\" for decimals",
        ),
        (false, _) => (written.mark, ""),
    };
    let mut spec = ColumnSpec::new(column.name(), Kind::Number);
    spec.decimal = Some(mark);
    let note = format!("{}{doubt}", extremes(&typed_column(drafted, spec)?, "number"));
    let mut field = Field::range(Field::number());
    field.decimal = Some(mark);
    field.unit = written.unit;
    Ok(Guess { field, note })
}

fn typed_column(drafted: &Drafted, spec: ColumnSpec) -> columns::Result<Dataset> {
    drafted.read(TableSpec::of(vec![spec]))
}

fn extremes(typed: &Dataset, what: &str) -> String {
    let column = &typed.all_columns()[0];
    let lowest = column.distinct_values().next();
    let highest = column.distinct_values().last();
    let unfit = match typed.report().n_misfits {
        0 => String::new(),
        1 => "; 1 cell does not fit".to_owned(),
        n_misfits => format!("; {n_misfits} cells do not fit"),
    };
    let rounded = match typed.report().n_rounded {
        0 => String::new(),
        n_rounded => {
            format!(
                "; {n_rounded} with more digits than a number keeps, type = \"string\" keeps them"
            )
        }
    };
    match (lowest, highest) {
        (Some(lowest), Some(highest)) => {
            let (lowest, highest) = (lowest.to_row_json(), highest.to_row_json());
            format!("{what}, {lowest} to {highest}{unfit}{rounded}")
        }
        _ => format!("{what}{unfit}{rounded}"),
    }
}

//! Drafts the configuration of a table from a file: types, closed lists, ranges and moments are
//! recognised; a person reads it over.

mod codes;
mod database;
mod dates;
mod draft;
mod drafted;
mod numbers;
mod rows;

use std::path::Path;

use columns::{
    Column, ColumnSpec, Dataset, DateOrder, DecimalMark, FLAG_WORDS, NULL_WORDS, TableSpec, Value,
    parse_moment,
};

use crate::config::{Epoch, Field, Fields, TableConfig};
use crate::schema::column_spec;
use crate::{Error, Result};
use codes::{has_shape_of_code, is_code, names_code};
use dates::{Digits, Order, date_order, doubt_of_years, moments_in_digits, says_version};
use drafted::Drafted;
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

/// Drafts the TOML of a `[[tables]]` entry for a file, a folder of files, a sheet of a workbook
/// (`book.xlsx#SHEET`), a table of a SQLite file (`sqlite:PATH#TABLE`) or one of PostgreSQL
/// (`postgres://…#TABLE`). A workbook with several sheets gives one entry for each that holds rows,
/// and a database whose table is not named one for each of its tables.
///
/// Fails when the source cannot be read or has no columns.
pub fn infer(path: &Path) -> Result<String> {
    let parts = Drafted::parts(path)?;
    let drafts: Result<Vec<String>> = parts.iter().map(|part| draft_of(part)).collect();
    Ok(drafts?.join("\n"))
}

fn draft_of(path: &Path) -> Result<String> {
    let (config, notes, as_text) = infer_with_text(path)?;
    let report = as_text.report();
    let n_above = report.n_above_header;
    let above = (n_above > 0).then(|| {
        let rows = if n_above == 1 { "row" } else { "rows" };
        format!("{n_above} {rows} above the names of the columns, passed over")
    });
    // The first row would be lost as names.
    let nameless = rows::has_values_for_names(&config, &as_text).then(|| {
        let looks = match config.fields.0.iter().all(|(name, _)| is_numeric(name)) {
            true => "is numbers",
            false => "looks like values",
        };
        format!(
            "AMBIGUOUS: the first row {looks} and was read as the names of the columns; add a row \
             of names if it is a row of values"
        )
    });
    let total = rows::total_at_the_end(&as_text).map(|word| {
        format!(
            "AMBIGUOUS: the last row says `{word}`: if it is the sum of the others, take it out of \
             the file or filter it"
        )
    });
    let member = report
        .rows_of
        .as_ref()
        .map(|member| format!("the rows are the items of `{member}`, no more is read"));
    let encoding =
        report.encoding.as_ref().map(|encoding| format!("read as {encoding}, not UTF-8"));
    // Of text read as text no cell is unfit, so these are rows.
    let broken = (report.n_misfits > 0).then(|| {
        let n_rows = report.n_misfits;
        let rows = if n_rows == 1 { "row is" } else { "rows are" };
        format!(
            "{n_rows} {rows} broken, with more or fewer cells than there are columns or a quote \
             that is never closed"
        )
    });
    let merged = (report.n_merged_cells > 0).then(|| {
        let n_cells = report.n_merged_cells;
        let cells = if n_cells == 1 { "cell is" } else { "cells are" };
        format!("{n_cells} empty {cells} part of merged ones and read as their value")
    });
    let remarks: Vec<String> = above
        .into_iter()
        .chain(merged)
        .chain(member)
        .chain(encoding)
        .chain(nameless)
        .chain(total)
        .chain(broken)
        .collect();
    let remark = (!remarks.is_empty()).then(|| remarks.join("\n# "));
    Ok(to_toml(&config, &notes, remark.as_deref()))
}

/// Drafts the configuration of a table for a file, with a remark for each field.
pub fn infer_config(path: &Path) -> Result<(TableConfig, Vec<String>)> {
    infer_with_text(path).map(|(config, notes, _)| (config, notes))
}

/// Drafts the configuration, with the remarks and the rows as text.
fn infer_with_text(path: &Path) -> Result<(TableConfig, Vec<String>, Dataset)> {
    let mut drafted = Drafted::of(path);
    let name = drafted.name();
    let failed = |cause| Error::Source { table: name.clone(), cause };
    let as_text = drafted.read_as_text().map_err(failed)?;
    let evidence = Evidence::of(&as_text);
    let columns = as_text.all_columns().iter();
    let guesses: Vec<(&str, Guess)> = columns
        .map(|column| (column.name(), guess(&drafted, column, as_text.n_rows(), &evidence)))
        .collect();
    // One more look at the source, for all columns of it: a wide file would be read for each.
    let measured = guesses.iter().filter(|(_, guess)| matches!(guess.note, Note::Extremes { .. }));
    let measured: Vec<ColumnSpec> =
        measured.map(|(name, guess)| column_spec(name, &guess.field)).collect();
    let typed = match measured.is_empty() {
        true => None,
        false => Some(drafted.read(TableSpec::of(measured)).map_err(failed)?),
    };
    let mut fields = Vec::new();
    let mut notes = Vec::new();
    for (name, guess) in guesses {
        let missing = as_text.report().missing_in_files.iter();
        let missing = missing.filter(|missing| missing.column == name);
        let missing: String =
            missing.map(|missing| format!("; not in {} of the files", missing.n_files)).collect();
        let not_computed = as_text.report().not_computed_by_column.get(name);
        let not_computed = not_computed.map_or_else(String::new, |n_cells| {
            let formulas = if *n_cells == 1 { "formula" } else { "formulas" };
            format!(
                "; {n_cells} {formulas} without a result: open and save the file in a \
                     spreadsheet program"
            )
        });
        let guess = match &typed {
            Some(typed) if is_mostly_unfit(typed, name) => {
                let column = column_named(&as_text, name);
                column.map_or(guess, |column| text(column, &texts_of(column), as_text.n_rows()))
            }
            _ => guess,
        };
        let note = match (guess.note, &typed) {
            (Note::Said(note), _) => note,
            (Note::Extremes { what, doubt }, Some(typed)) => {
                format!("{}{doubt}", extremes(typed, name, what))
            }
            (Note::Extremes { what, doubt }, None) => format!("{what}{doubt}"),
        };
        notes.push(format!("{note}{missing}{not_computed}"));
        fields.push((name.to_owned(), guess.field));
    }
    if fields.is_empty() {
        return Err(Error::BadSchema {
            table: name,
            field: "*".to_owned(),
            problem: "the file has no columns".to_owned(),
        });
    }
    let n_rows = match as_text.n_rows() {
        drafted::SAMPLED_ROWS if drafted.is_in_database() => {
            format!("{} rows or more", drafted::SAMPLED_ROWS)
        }
        1 => "1 row".to_owned(),
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
    Ok((config, notes, as_text))
}

/// The share of a column's cells that may not fit: few different values may be most of the cells.
const MOST_UNFIT: f64 = 0.5;

/// Tells whether so many cells of a column are not of its drafted type that it is none.
fn is_mostly_unfit(typed: &Dataset, name: &str) -> bool {
    let Some(n_unfit) = typed.report().misfits_by_column.get(name) else { return false };
    let Some(column) = column_named(typed, name) else { return false };
    let n_fit = (0..typed.n_rows()).filter(|row| column.value(*row) != Value::Null).count();
    *n_unfit as f64 > MOST_UNFIT * (n_fit as f64 + *n_unfit as f64)
}

fn column_named<'d>(dataset: &'d Dataset, name: &str) -> Option<&'d Column> {
    dataset.all_columns().iter().find(|column| column.name() == name)
}

struct Guess {
    field: Field,
    note: Note,
}

/// What a guess rests on.
enum Note {
    Said(String),
    /// The lowest and the highest value, and what is in doubt.
    Extremes {
        what: &'static str,
        doubt: String,
    },
}

impl Guess {
    fn said(field: Field, note: impl Into<String>) -> Self {
        Guess { field, note: Note::Said(note.into()) }
    }

    fn measured(field: Field, what: &'static str) -> Self {
        Guess { field, note: Note::Extremes { what, doubt: String::new() } }
    }

    fn in_doubt(self, doubt: impl Into<String>) -> Self {
        match self.note {
            Note::Extremes { what, .. } => {
                Guess { note: Note::Extremes { what, doubt: doubt.into() }, ..self }
            }
            Note::Said(note) => {
                let note = Note::Said(format!("{note}{}", doubt.into()));
                Guess { note, ..self }
            }
        }
    }
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

fn guess(drafted: &Drafted, column: &Column, n_rows: usize, evidence: &Evidence) -> Guess {
    let texts = texts_of(column);
    if let Some(known) = drafted.known(column.name()) {
        return database::guess(known, column, &texts, n_rows);
    }
    if texts.is_empty() {
        return Guess::said(Field::string(), "no values");
    }
    let fits = |is_fit: &dyn Fn(&str) -> bool| {
        let n_fit = texts.iter().filter(|text| is_fit(text)).count();
        !texts.is_empty() && n_fit as f64 >= texts.len() as f64 * MIN_FITTING
    };
    if let Some(words) = flag_words(&texts) {
        return Guess::said(Field::boolean(), words.join(" or "));
    }
    if is_list(&texts) {
        let (item, note) = if has_number_lists(&texts) {
            (Field::number(), "lists of numbers")
        } else {
            (Field::string(), "lists")
        };
        let mut field = Field::any_of(item);
        field.separator = Some(';');
        return Guess::said(field, note);
    }
    // Quotes around digits say that they are a text. Around `1,5` or `$1,234` they are needed.
    let is_quoted = evidence.quoted.iter().any(|name| name == column.name())
        && texts.iter().all(|text| is_numeric(text));
    let has_codes = is_quoted
        || names_code(column.name())
        || texts.iter().any(|text| is_code(text))
        || has_shape_of_code(column.name(), &texts, n_rows);
    // Infinities are no numbers of a table and no reason to take the others for text.
    let is_finite = |text: &String| text.trim().parse::<f64>().is_ok_and(f64::is_finite);
    let is_number = !has_codes && fits(&is_numeric) && texts.iter().any(is_finite);
    if is_number && let Some(digits) = moments_in_digits(column.name(), &texts) {
        let mut field = Field::range(Field::timestamp());
        match digits {
            Digits::Date => field.date_order = Some(DateOrder::Ymd),
            Digits::Since1970(epoch) => field.epoch = Some(epoch),
        }
        return Guess::measured(field, "timestamp");
    }
    // Digits alone are no date, however many: they may be a postal code or a telephone number.
    let is_moment = !is_number
        && !says_version(column.name())
        && fits(&|text| !is_numeric(text) && parse_moment(text, Epoch::Ms).is_some());
    if !is_number
        && !is_moment
        && let Some(order) = date_order(column.name(), &texts)
    {
        let (order, doubt) = match order {
            Order::Known(order, doubt) => (order, doubt),
            Order::Unknown(doubt) => return text(column, &texts, n_rows).in_doubt(doubt),
        };
        let mut field = Field::range(Field::timestamp());
        field.date_order = Some(order);
        return Guess::measured(field, "timestamp").in_doubt(doubt);
    }
    // Plain numbers are plain; where a few are not, what reads more of them is right.
    let n_plain = texts.iter().filter(|text| is_numeric(text)).count();
    if !is_moment
        && !has_codes
        && n_plain < texts.len()
        && let Some(written) = written(&texts).filter(|written| written.n_fitting > n_plain)
    {
        return written_number(written, evidence);
    }
    if is_moment {
        let guess = Guess::measured(Field::range(Field::timestamp()), "timestamp");
        return guess.in_doubt(doubt_of_years(&texts));
    }
    if is_number && numbers::may_be_thousands(&texts) {
        // Another column has decimals behind a comma, so the point is none of decimals here.
        if evidence.mark == Some(DecimalMark::Comma) {
            let mut field = Field::range(Field::number());
            field.decimal = evidence.mark;
            return Guess::measured(field, "number");
        }
        return number(&texts).in_doubt(
            "; AMBIGUOUS: `.` is read as the mark of decimals, set decimal = \",\" where it \
             separates thousands",
        );
    }
    if is_number {
        return number(&texts);
    }
    text(column, &texts, n_rows)
}

/// Drafts a column of plain numbers.
fn number(texts: &[String]) -> Guess {
    let is_member = texts.len() <= MAX_MEMBERS && texts.iter().all(|text| !text.contains('.'));
    let field =
        if is_member { Field::any_of(Field::number()) } else { Field::range(Field::number()) };
    Guess::measured(field, "number")
}

/// Drafts a column of texts: a closed list where they are few and come again.
fn text(column: &Column, texts: &[String], n_rows: usize) -> Guess {
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
        return Guess::said(Field::any_of(Field::string_literal(values)), note);
    }
    Guess::said(Field::string(), format!("{} different texts", column.n_distinct()))
}

/// Gives the words of a column that holds nothing but those for true and false; `0` and `1` are
/// numbers.
fn flag_words(texts: &[String]) -> Option<Vec<String>> {
    let mut words: Vec<String> = texts.iter().map(|text| text.trim().to_lowercase()).collect();
    words.sort_unstable();
    words.dedup();
    let is_pair = |pair: &&[&str; 2]| words.iter().all(|word| pair.contains(&word.as_str()));
    let pair = FLAG_WORDS.iter().find(is_pair)?;
    // A letter alone may be anything's, and `ja` is a language as well.
    let is_sure = words.len() > 1 || matches!(pair[0], "true" | "yes") && words[0].len() > 1;
    is_sure.then_some(words)
}

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
    let mut items = lists.flatten().flatten().filter(|item| !item.is_null()).peekable();
    items.peek().is_some() && items.all(|item| item.is_number())
}

/// Drafts a column of numbers that are written as people write them.
fn written_number(written: Written, evidence: &Evidence) -> Guess {
    let (mark, doubt) = match (written.is_ambiguous, evidence.mark) {
        (true, Some(mark)) => (mark, "; the mark of decimals is that of other columns"),
        (true, None) => (
            written.mark,
            "; AMBIGUOUS: `,` is read as a separator of thousands, set decimal = \",\" for decimals",
        ),
        (false, _) => (written.mark, ""),
    };
    let mut field = Field::range(Field::number());
    field.decimal = Some(mark);
    field.unit = written.unit;
    Guess::measured(field, "number").in_doubt(doubt)
}

/// Writes the ends of a column that was read by its draft, and what of it did not fit.
fn extremes(typed: &Dataset, name: &str, what: &str) -> String {
    let column = column_named(typed, name);
    let lowest = column.and_then(|column| column.distinct_values().next());
    let highest = column.and_then(|column| column.distinct_values().last());
    let report = typed.report();
    let unfit = match report.misfits_by_column.get(name) {
        None => String::new(),
        Some(1) => "; 1 cell does not fit".to_owned(),
        Some(n_misfits) => format!("; {n_misfits} cells do not fit"),
    };
    let rounded = report.rounded_by_column.get(name).map_or_else(String::new, |n_rounded| {
        format!("; {n_rounded} with more digits than a number keeps, type = \"string\" keeps them")
    });
    match (lowest, highest) {
        (Some(lowest), Some(highest)) => {
            let shown = |value: &Value| {
                if let Value::Decimal(number) = value {
                    return number.to_string();
                }
                value.to_row_json().to_string()
            };
            let (lowest, highest) = (shown(&lowest), shown(&highest));
            format!("{what}, {lowest} to {highest}{unfit}{rounded}")
        }
        _ => format!("{what}{unfit}{rounded}"),
    }
}

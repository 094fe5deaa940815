//! Drafts the configuration of a table from a file: types, closed lists, ranges and moments are
//! recognised; a person reads it over.

use std::path::{Path, PathBuf};

use columns::{
    Column, ColumnSpec, Dataset, DateOrder, Format, Kind, NULL_WORDS, TableSpec, parse_moment,
    three_numbers,
};

use crate::config::{Epoch, Field, FieldType, Fields, TableConfig};
use crate::{Error, Result};

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
/// (`book.xlsx#SHEET`), or a table of a SQLite file (`sqlite:PATH#TABLE`).
///
/// Fails when the file cannot be read or has no columns.
pub fn infer(path: &Path) -> Result<String> {
    let (config, notes) = infer_config(path)?;
    Ok(to_toml(&config, &notes))
}

/// Drafts the configuration of a table for a file, with a remark for each field.
pub fn infer_config(path: &Path) -> Result<(TableConfig, Vec<String>)> {
    let drafted = Drafted::of(path);
    let name = drafted.name();
    let failed = |cause| Error::Source { table: name.clone(), cause };
    let as_text = drafted.read(TableSpec::all_text()).map_err(failed)?;
    let mut fields = Vec::new();
    let mut notes = Vec::new();
    for column in as_text.all_columns() {
        let guess = guess(&drafted, column, as_text.n_rows()).map_err(failed)?;
        fields.push((column.name().to_owned(), guess.field));
        notes.push(guess.note);
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
    Ok((config, notes))
}

/// What is drafted from.
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

fn guess(drafted: &Drafted, column: &Column, n_rows: usize) -> columns::Result<Guess> {
    let texts: Vec<String> = column
        .distinct_values()
        .filter_map(|value| value.as_str().map(str::to_owned))
        .filter(|text| !NULL_WORDS.contains(&text.trim()))
        .collect();
    let fits = |is_fit: &dyn Fn(&str) -> bool| {
        let n_fit = texts.iter().filter(|text| is_fit(text)).count();
        !texts.is_empty() && n_fit as f64 >= texts.len() as f64 * MIN_FITTING
    };
    let lower: Vec<String> = texts.iter().map(|text| text.trim().to_ascii_lowercase()).collect();
    let is_boolean = PAIRS
        .iter()
        .any(|pair| !lower.is_empty() && lower.iter().all(|text| pair.contains(&text.as_str())));
    if is_boolean {
        return Ok(Guess { field: Field::boolean(), note: lower.join(" or ") });
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
    let has_codes = names_code(column.name()) || texts.iter().any(|text| is_code(text));
    let is_number =
        !has_codes && fits(&|text| text.trim().parse::<f64>().is_ok_and(f64::is_finite));
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
        let note = format!("{} different values", texts.len());
        // The list is of the column's own values, words like `NA` among them.
        let values: Vec<String> = column
            .distinct_values()
            .filter_map(|value| value.as_str().map(str::to_owned))
            .filter(|text| !text.is_empty())
            .collect();
        return Ok(Guess { field: Field::any_of(Field::string_literal(values)), note });
    }
    Ok(Guess { field: Field::string(), note: format!("{} different texts", column.n_distinct()) })
}

/// Pairs of words that are true and false; `0` and `1` are numbers.
const PAIRS: [[&str; 2]; 4] = [["true", "false"], ["yes", "no"], ["y", "n"], ["t", "f"]];

/// Parts of names whose digits name something and are not counted.
const CODE_NAMES: [&str; 17] = [
    "zip",
    "postal",
    "postcode",
    "phone",
    "telephone",
    "tel",
    "mobile",
    "fax",
    "iban",
    "ssn",
    "isbn",
    "sku",
    "uuid",
    "guid",
    "cui",
    "cif",
    "id",
];

/// Tells whether a column's name says that its digits are a code.
fn names_code(name: &str) -> bool {
    let spaced: String = name
        .chars()
        .flat_map(|char| {
            let starts_word = char.is_uppercase();
            starts_word.then_some(' ').into_iter().chain([char])
        })
        .collect();
    let words: Vec<String> = spaced
        .split(|char: char| !char.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| !word.is_empty())
        .collect();
    let joined = words.concat();
    CODE_NAMES.contains(&joined.as_str())
        || words.iter().any(|word| CODE_NAMES.contains(&word.as_str()))
}

/// A leading zero or plus, or more digits than a number keeps, marks a code or a telephone
/// number, which arithmetic would damage.
fn is_code(text: &str) -> bool {
    let digits = text.trim().trim_start_matches('-');
    let is_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    text.starts_with('+')
        || (digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0."))
        || (is_digits && digits.len() > 18)
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
    let mut items = lists.flatten().flatten().peekable();
    items.peek().is_some() && items.all(|item| item.is_number())
}

/// Finds what comes first in dates of three numbers, and says when it cannot be known.
fn date_order(texts: &[String]) -> Option<(DateOrder, &'static str)> {
    let dates: Vec<(i8, i8)> = texts
        .iter()
        .filter_map(|text| three_numbers(text))
        .map(|(first, second, _, _)| (first, second))
        .collect();
    let is_date = !texts.is_empty() && dates.len() as f64 >= texts.len() as f64 * MIN_FITTING;
    if !is_date {
        return None;
    }
    let has_day_first = dates.iter().any(|(first, _)| *first > 12);
    let has_month_first = dates.iter().any(|(_, second)| *second > 12);
    match (has_day_first, has_month_first) {
        (true, true) => None,
        (true, false) => Some((DateOrder::Dmy, "")),
        (false, true) => Some((DateOrder::Mdy, "")),
        (false, false) => Some((
            DateOrder::Dmy,
            "; AMBIGUOUS: read as day/month/year, set date_order = \"mdy\" for month/day/year",
        )),
    }
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
        n_misfits => format!("; {n_misfits} cells do not fit"),
    };
    match (lowest, highest) {
        (Some(lowest), Some(highest)) => {
            format!("{what}, {} to {}{unfit}", lowest.to_row_json(), highest.to_row_json())
        }
        _ => format!("{what}{unfit}"),
    }
}

/// Writes the TOML of a `[[tables]]` entry, with a remark behind each field.
pub fn to_toml(config: &TableConfig, notes: &[String]) -> String {
    let mut toml = format!(
        "[[tables]]\nname = {}\nsource = {}\n",
        quoted(&config.name),
        quoted(&config.source)
    );
    if let Some(description) = &config.description {
        toml.push_str(&format!("description = {}\n", quoted(description)));
    }
    toml.push_str("[tables.fields]\n");
    for ((name, field), note) in config.fields.0.iter().zip(notes) {
        toml.push_str(&format!(
            "{} = {} # {}\n",
            key(name),
            inline(field),
            note.replace(['\n', '\r'], " ")
        ));
    }
    toml
}

fn inline(field: &Field) -> String {
    let mut parts = vec![format!("type = \"{}\"", field.field_type.as_str())];
    if let Some(items) = &field.items {
        parts.push(format!("items = {}", inline(items)));
    }
    if field.field_type == FieldType::StringLiteral {
        let values: Vec<String> = field.values.iter().map(|value| quoted(value)).collect();
        parts.push(format!("values = [{}]", values.join(", ")));
    }
    if let Some(operator) = field.operator {
        let name = match operator {
            crate::Operator::In => "in",
            crate::Operator::Range => "range",
        };
        parts.push(format!("match = \"{name}\""));
    }
    if let Some(separator) = field.separator {
        parts.push(format!("separator = {}", quoted(&separator.to_string())));
    }
    if let Some(order) = field.date_order {
        let name = match order {
            DateOrder::Dmy => "dmy",
            DateOrder::Mdy => "mdy",
        };
        parts.push(format!("date_order = \"{name}\""));
    }
    format!("{{ {} }}", parts.join(", "))
}

fn key(name: &str) -> String {
    let is_bare = !name.is_empty()
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_' || char == '-');
    if is_bare { name.to_owned() } else { quoted(name) }
}

/// JSON's escapes are TOML's, except for the ones above the basic plane, which stay as they are.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

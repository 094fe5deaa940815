//! Drafts the configuration of a table from a file: types, closed lists, ranges and moments are
//! recognised; a person reads it over.

use std::path::Path;

use columns::{Column, Dataset, Kind, TableSpec, parse_moment};
use columns::{ColumnSpec, NULL_WORDS};

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

/// Drafts the TOML of a `[[tables]]` entry for a file.
///
/// Fails when the file cannot be read or has no columns.
pub fn infer(path: &Path) -> Result<String> {
    let (config, notes) = infer_config(path)?;
    Ok(to_toml(&config, &notes))
}

/// Drafts the configuration of a table for a file, with a remark for each field.
pub fn infer_config(path: &Path) -> Result<(TableConfig, Vec<String>)> {
    let name = path.file_stem().map_or_else(|| "table".into(), |stem| stem.to_string_lossy());
    let name = name.to_string();
    let failed = |cause| Error::Source { table: name.clone(), cause };
    let as_text = Dataset::read(path, &TableSpec::all_text()).map_err(failed)?;
    let mut fields = Vec::new();
    let mut notes = Vec::new();
    for column in as_text.all_columns() {
        let guess = guess(path, column, as_text.n_rows()).map_err(failed)?;
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
    let config = TableConfig {
        source: path.display().to_string(),
        description: Some(format!("{} rows of {name}", as_text.n_rows())),
        name,
        allow: model::Access::everyone(),
        null_values: Vec::new(),
        delimiter: None,
        fields: Fields(fields),
    };
    Ok((config, notes))
}

struct Guess {
    field: Field,
    note: String,
}

fn guess(path: &Path, column: &Column, n_rows: usize) -> columns::Result<Guess> {
    let texts: Vec<String> = column
        .distinct_values()
        .filter_map(|value| value.as_str().map(str::to_owned))
        .filter(|text| !NULL_WORDS.contains(&text.trim()))
        .collect();
    let fits = |is_fit: &dyn Fn(&str) -> bool| {
        let n_fit = texts.iter().filter(|text| is_fit(text)).count();
        !texts.is_empty() && n_fit as f64 >= texts.len() as f64 * MIN_FITTING
    };
    let is_boolean = !texts.is_empty()
        && texts.iter().all(|text| matches!(text.to_ascii_lowercase().as_str(), "true" | "false"));
    // A leading zero or plus marks a code or a telephone number, which arithmetic would damage.
    let is_code = |text: &str| {
        let digits = text.trim_start_matches('-');
        text.starts_with('+')
            || (digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0."))
    };
    let has_codes = texts.iter().any(|text| is_code(text));
    let is_number =
        !has_codes && fits(&|text| text.trim().parse::<f64>().is_ok_and(f64::is_finite));
    let is_moment = !is_number && fits(&|text| parse_moment(text, Epoch::Ms).is_some());
    let typed = |kind| typed_column(path, column.name(), kind);
    if is_boolean {
        return Ok(Guess { field: Field::boolean(), note: "true or false".to_owned() });
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

fn typed_column(path: &Path, name: &str, kind: Kind) -> columns::Result<Dataset> {
    Dataset::read(path, &TableSpec::of(vec![ColumnSpec::new(name, kind)]))
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

fn to_toml(config: &TableConfig, notes: &[String]) -> String {
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

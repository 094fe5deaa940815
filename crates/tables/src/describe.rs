//! What is in a table: how many rows, and the figures of each column.

use std::time::{Duration, Instant};

use columns::{Answer, Query, Value};
use model::{Deadline, Warning};

use crate::config::{Field, FieldType};
use crate::figures::LONG_NUMBERS;
use crate::private::private_kind;
use crate::response::{FacetRow, shown};
use crate::schema::{is_redacted, leaf};
use crate::secret::MARK;
use crate::served_table::ServedTable;
use crate::{Error, Result, Schema};

/// How many frequent values of a field are named.
pub const MAX_TOP_VALUES: usize = 12;
/// How many values outside a closed list are named.
const NAMED_UNKNOWN_VALUES: usize = 10;
/// How many values of a closed list are looked at.
const MAX_LITERALS_SEEN: usize = 1000;

/// What is in a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// All rows.
    pub total: u64,
    /// The figures of each column, in the order of the schema.
    pub columns: Vec<ColumnFigures>,
    /// What went less than perfectly.
    pub warnings: Vec<Warning>,
}

/// The range, the distinct values and the empty cells of one field.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnFigures {
    /// The field.
    pub name: String,
    /// Different values.
    pub n_values: u64,
    /// Rows without a value.
    pub n_null: u64,
    /// The lowest and the highest value, for numbers and timestamps.
    pub range: Option<(Value, Value)>,
    /// The most frequent values, at most [`MAX_TOP_VALUES`]; none where single values say little
    /// or are private.
    pub top: Option<Vec<FacetRow>>,
    /// The range or the most frequent values in a few words; none where they are private.
    pub in_brief: Option<String>,
}

/// Describes a table with figures from its data.
pub(crate) fn describe(table: &ServedTable, deadline: &Deadline) -> Result<Description> {
    let schema = &table.schema;
    let answer = figures(table, deadline)?;
    let mut warnings = load_warnings(table, None, deadline);
    let mut columns = Vec::new();
    for ((name, field), facet) in schema.columns().zip(&answer.facets) {
        let mark = table.identifier_mark(name, deadline)?;
        columns.push(column_figures(name, field, facet, mark.is_some()));
        warnings.extend(unknown_values(schema, name, facet));
    }
    if let Some(staleness) = table.engine.staleness() {
        warnings.push(Warning::new("stale_data", staleness));
    }
    Ok(Description { total: answer.total, columns, warnings })
}

/// Gives the figures of a field; nothing of the values of identifiers leaves, and no end of a range
/// that is one by itself.
fn column_figures(
    name: &str,
    field: &Field,
    facet: &columns::Facet,
    is_identifier: bool,
) -> ColumnFigures {
    let without = facet.rows.iter().filter(|row| row.value == Value::Null);
    let is_secret = is_identifier;
    let ends = || facet.min.iter().chain(&facet.max);
    let is_range_private =
        is_secret || is_redacted(field) && ends().any(|end| private_kind(end).is_some());
    let is_listed = !is_secret
        && (facet.n_values <= MAX_TOP_VALUES as u64
            || !matches!(leaf(field).field_type, FieldType::Number | FieldType::Timestamp));
    let top = facet.rows.iter().take(MAX_TOP_VALUES);
    let marked = |value: &Value| {
        let kind = private_kind(value).filter(|_| is_redacted(field));
        kind.map_or_else(|| shown(value), |kind| Value::Text(kind.mark().to_owned()))
    };
    let top = top.map(|row| FacetRow { value: marked(&row.value), total: row.total });
    ColumnFigures {
        name: name.to_owned(),
        n_values: facet.n_values,
        n_null: without.map(|row| row.total).sum(),
        range: facet.min.clone().zip(facet.max.clone()).filter(|_| !is_range_private),
        top: is_listed.then(|| top.collect()),
        in_brief: if is_range_private { None } else { brief_figures(facet) },
    }
}

/// Asks for the facets of every field over the whole table.
fn figures(table: &ServedTable, deadline: &Deadline) -> Result<Answer> {
    let query = Query {
        facets: table.schema.column_names(),
        facet_rows: MAX_LITERALS_SEEN,
        ..Query::first(0, Vec::new())
    };
    table
        .engine
        .query(&query, deadline)
        .map_err(|cause| Error::of_source(&table.schema.name, cause))
}

/// How many frequent values of a field a brief description names.
const BRIEF_VALUES: usize = 6;
/// The most characters of those values.
const BRIEF_CHARS: usize = 40;

/// The range of numbers and moments, or the most frequent texts.
fn brief_figures(facet: &columns::Facet) -> Option<String> {
    if let (Some(min), Some(max)) = (&facet.min, &facet.max) {
        let shown = |value: &Value| match value {
            Value::Timestamp(millis) => columns::to_iso(*millis)[..10].to_owned(),
            other @ (Value::Null
            | Value::Text(_)
            | Value::Integer(_)
            | Value::Real(_)
            | Value::Decimal(_)
            | Value::Boolean(_)
            | Value::List(_)) => other.to_json().to_string(),
        };
        return Some(format!("{}..{}", shown(min), shown(max)));
    }
    let mut texts = Vec::new();
    let mut n_chars = 0;
    for text in facet.rows.iter().filter_map(|row| row.value.as_str()).take(BRIEF_VALUES) {
        n_chars += text.chars().count();
        if n_chars > BRIEF_CHARS {
            break;
        }
        texts.push(text);
    }
    if texts.is_empty() {
        return None;
    }
    let more = if facet.n_values > texts.len() as u64 {
        format!(", … {} values", facet.n_values)
    } else {
        String::new()
    };
    Some(format!("{}{more}", texts.join(", ")))
}

/// Says what of the source does not fit, or that it could not be looked at. Of the fields that an
/// answer uses, where they are given: what is wrong elsewhere is no matter of this answer, and
/// `describe_schema` says all of it.
pub(crate) fn load_warnings(
    table: &ServedTable,
    used: Option<&[String]>,
    deadline: &Deadline,
) -> Vec<Warning> {
    let is_used = |name: &str| used.is_none_or(|used| used.iter().any(|known| known == name));
    let report = match table.engine.load_report(deadline) {
        Ok(report) => report,
        Err(error) => {
            let message = format!(
                "rows were not checked against the schema, so cells that do not fit it are shown \
                 as null and not counted: {error}"
            );
            return vec![Warning::new("rows_not_checked", message)];
        }
    };
    let is_shown = |name: &str| table.schema.field(name).is_some();
    let mut warnings = Vec::new();
    for repeated in &report.repeated_keys {
        let (keys, it) = match repeated.n_keys {
            1 => ("key is", "it"),
            _ => ("keys are", "them"),
        };
        let message = format!(
            "{} {keys} in several rows of `{}`, so nothing is looked up by {it}",
            repeated.n_keys, repeated.table
        );
        warnings.push(Warning::new("repeated_keys", message));
    }
    for missing in report.missing_keys.iter().filter(|_| used.is_none()) {
        let (keys, it) = match missing.n_keys {
            1 => ("key is", "it"),
            _ => ("keys are", "them"),
        };
        let rows = if missing.n_rows == 1 { "row" } else { "rows" };
        let message = format!(
            "{} {keys} in no row of `{}`: what is looked up by {it} is null in {} {rows}",
            missing.n_keys, missing.table, missing.n_rows
        );
        warnings.push(Warning::new("missing_keys", message));
    }
    let of_columns: u64 = report.misfits_by_column.values().sum();
    let of_rows = report.n_misfits.saturating_sub(of_columns);
    let of_used: u64 = report
        .misfits_by_column
        .iter()
        .filter(|(name, _)| is_used(name))
        .map(|(_, n_misfits)| *n_misfits)
        .sum();
    if of_used + of_rows > 0 {
        let named: Vec<String> = report
            .misfits
            .iter()
            // A key that is hidden is read by the engine and has no name for anybody else.
            .filter(|misfit| {
                misfit.column.as_deref().is_none_or(|name| is_shown(name) && is_used(name))
            })
            .map(|misfit| {
                let place = match (&misfit.key, misfit.line) {
                    (Some(key), _) => Some(format!("row {key}")),
                    (None, 0) => None,
                    (None, line) => Some(format!("line {line}")),
                };
                let places: Vec<String> = place.into_iter().chain(misfit.column.clone()).collect();
                format!("{}: {}", places.join(", "), misfit.problem)
            })
            .collect();
        let first =
            if named.is_empty() { String::new() } else { format!(" First: {}", named.join("; ")) };
        let message = if of_used < of_columns {
            let cells =
                if of_used == 1 { "cell of these fields does" } else { "cells of these fields do" };
            format!("{of_used} {cells} not fit the schema and read as null.{first}")
        } else {
            let rows = if report.n_rows == 1 { "row does" } else { "rows do" };
            let cells = if report.n_misfits == 1 { "unfit cell is" } else { "unfit cells are" };
            format!(
                "{} of {} {rows} not fit the schema; {} {cells} null.{first}",
                report.n_misfit_rows, report.n_rows, report.n_misfits,
            )
        };
        warnings.push(Warning::new("rows_do_not_fit", message));
    }
    if report.n_not_utf8 > 0 {
        let message = format!(
            "{} cells are not UTF-8; their bad bytes are shown as U+FFFD",
            report.n_not_utf8
        );
        warnings.push(Warning::new("not_utf8", message));
    }
    for missing in report.missing_in_files.iter().filter(|missing| is_used(&missing.column)) {
        let files = if missing.n_files == 1 { "file has" } else { "files have" };
        let message = format!(
            "{} {files} no column `{}`: it is null in their rows",
            missing.n_files, missing.column
        );
        warnings.push(Warning::new("column_missing_in_files", message));
    }
    if let Some(encoding) = report.encoding.as_ref().filter(|_| used.is_none()) {
        let message = format!("the source is not UTF-8; it was read as {encoding}");
        warnings.push(Warning::new("encoding", message));
    }
    let rounded = report.rounded_by_column.iter();
    let rounded: Vec<(&String, u64)> = rounded
        .filter(|(name, _)| is_used(name) && is_shown(name))
        .map(|(name, n_rounded)| (name, *n_rounded))
        .collect();
    let n_rounded: u64 = rounded.iter().map(|(_, n_rounded)| n_rounded).sum();
    if n_rounded > 0 {
        let fields: Vec<String> = rounded.iter().map(|(name, _)| format!("`{name}`")).collect();
        let message = format!(
            "{n_rounded} different numbers of {} have more digits than are kept and were rounded; \
             a field of type `string` keeps them",
            fields.join(", ")
        );
        warnings.push(Warning::new("numbers_rounded", message));
    }
    let long = report.long_decimals.keys().filter(|name| is_used(name) && is_shown(name));
    let long: Vec<String> = long.map(|name| format!("`{name}`")).collect();
    if !long.is_empty() {
        let message = format!(
            "{} has numbers with more digits than readers of JSON keep: those are text, with all \
             their digits, and filters take them as text; `series` rounds them",
            long.join(", ")
        );
        warnings.push(Warning::new(LONG_NUMBERS, message));
    }
    if report.n_nulls_in_lists > 0 {
        let nulls = n_of(report.n_nulls_in_lists, "null", "nulls");
        let message = format!("{nulls} inside of lists left out");
        warnings.push(Warning::new("list_nulls", message));
    }
    if report.n_repeated_in_lists > 0 {
        let message = format!(
            "{} repeated in one list, kept once",
            n_of(report.n_repeated_in_lists, "value was", "values were")
        );
        warnings.push(Warning::new("list_values_once", message));
    }
    if report.n_merged_cells > 0 && used.is_none() {
        let cells = match report.n_merged_cells {
            1 => "1 empty cell is part of a merged one and has its value".to_owned(),
            n_cells => {
                format!("{n_cells} empty cells are part of merged ones and have their value")
            }
        };
        warnings.push(Warning::new("merged_cells", cells));
    }
    let not_computed = report.not_computed_by_column.iter();
    for (name, n_cells) in not_computed.filter(|(name, _)| is_used(name) && is_shown(name)) {
        let message = format!(
            "{} of `{name}` without a result, read as null: a spreadsheet program computes them \
             when the file is opened and saved there",
            n_of(*n_cells, "formula", "formulas")
        );
        warnings.push(Warning::new("formulas_not_computed", message));
    }
    if report.n_cut_cells > 0 {
        let message = format!("{} cells of the source were too long and cut", report.n_cut_cells);
        warnings.push(Warning::new("source_cells_cut", message));
    }
    warnings
}

fn n_of(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Says which values of the used fields their closed lists do not hold. What was found is kept a
/// while, since it takes a look at every row.
pub(crate) fn stranger_warnings(
    table: &ServedTable,
    used: &[String],
    deadline: &Deadline,
) -> Vec<Warning> {
    let is_closed = |name: &String| {
        table
            .schema
            .field(name)
            .is_some_and(|field| leaf(field).field_type == FieldType::StringLiteral)
    };
    let closed: Vec<String> = table.schema.column_names().into_iter().filter(is_closed).collect();
    if !closed.iter().any(|name| used.contains(name)) {
        return Vec::new();
    }
    let mut known = table.unknown_values.lock();
    let is_fresh = known.as_ref().is_some_and(|(at, _)| at.elapsed() < UNKNOWN_VALUES_LIFETIME);
    if !is_fresh {
        let query =
            Query { facets: closed, facet_rows: MAX_LITERALS_SEEN, ..Query::first(0, Vec::new()) };
        // The answer is there; what is outside its lists is not worth its failure.
        let Ok(answer) = table.engine.query(&query, deadline) else { return Vec::new() };
        let found = answer.facets.iter().filter_map(|facet| {
            Some((facet.column.clone(), unknown_values(&table.schema, &facet.column, facet)?))
        });
        *known = Some((Instant::now(), found.collect()));
    }
    let found = known.iter().flat_map(|(_, found)| found);
    found.filter(|(name, _)| used.contains(name)).map(|(_, warning)| warning.clone()).collect()
}

/// How long it is remembered which values are outside closed lists.
const UNKNOWN_VALUES_LIFETIME: Duration = Duration::from_secs(60);

/// Says which values a closed list does not hold.
fn unknown_values(schema: &Schema, name: &str, facet: &columns::Facet) -> Option<Warning> {
    let field = leaf(schema.field(name)?);
    if field.field_type != FieldType::StringLiteral {
        return None;
    }
    let outside: Vec<&columns::FacetRow> = facet
        .rows
        .iter()
        .filter(|row| {
            row.value.as_str().is_some_and(|text| !field.values.iter().any(|v| v == text))
        })
        .collect();
    if outside.is_empty() {
        return None;
    }
    let n_rows: u64 = outside.iter().map(|row| row.total).sum();
    let named: Vec<String> = outside
        .iter()
        .take(NAMED_UNKNOWN_VALUES)
        .filter_map(|row| row.value.as_str())
        .map(|text| match (schema.is_secret(name), schema.is_redacted(name)) {
            (true, _) => format!("`{MARK}`"),
            (false, true) => format!("`{}`", text::redact(text).text),
            (false, false) => format!("`{text}`"),
        })
        .collect();
    let rows = if n_rows == 1 { "row has" } else { "rows have" };
    let message = format!(
        "{n_rows} {rows} a {name} outside the allowed values: {}{}",
        named.join(", "),
        if outside.len() > NAMED_UNKNOWN_VALUES { ", …" } else { "" }
    );
    Some(Warning::new("values_outside_enum", message))
}

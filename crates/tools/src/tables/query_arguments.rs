//! The arguments of `query_table` and `describe_schema`, from JSON: a call's or a saved view's.

use serde_json::{Map, Value};
use tables::{
    Bucket, DEFAULT_PAGE, Error, Format, Formulas, MAX_PAGE_SIZE, QueryRequest, Result,
    SeriesRequest, SortRequest,
};

/// The furthest that reading goes into a cell, in characters: behind the end of any.
const MAX_OFFSET: u64 = u32::MAX as u64;

/// The arguments that are known, in the order of the schema.
const ARGUMENTS: [&str; 13] = [
    "table",
    "filters",
    "page",
    "pageSize",
    "format",
    "sort",
    "columns",
    "facets",
    "time_zone",
    "cursor",
    "series",
    "offset",
    "defuseFormulas",
];

/// Reads the arguments of `query_table`, one by one so that each mistake is named.
pub fn query_request(arguments: &Value) -> Result<QueryRequest> {
    let mut request = QueryRequest::default();
    let empty = Map::new();
    let arguments = match arguments.as_object() {
        Some(arguments) => arguments,
        None if arguments.is_null() => &empty,
        None => return Err(Error::wrong_type("arguments", "an object", arguments)),
    };
    let mut has_page = false;
    for (name, value) in arguments {
        // A null stands for an argument that was left out: some clients send all of them.
        if value.is_null() && ARGUMENTS.contains(&name.as_str()) {
            continue;
        }
        match name.as_str() {
            "table" => request.table = Some(text(name, value)?),
            "filters" => {
                let filters = value.as_object();
                request.filters =
                    filters.ok_or_else(|| Error::wrong_type(name, "an object", value))?.clone();
            }
            "page" => {
                request.page = whole_number(name, value, 1, u64::from(u32::MAX))?;
                has_page = true;
            }
            "pageSize" => request.page_size = whole_number(name, value, 1, MAX_PAGE_SIZE)?,
            "format" => request.format = format(value)?,
            "sort" => request.sort = sort(value)?,
            "columns" => request.columns = Some(names(name, value)?),
            "facets" => request.facets = Some(names(name, value)?),
            "time_zone" => request.time_zone = Some(text(name, value)?),
            "cursor" => request.cursor = Some(text(name, value)?),
            "series" => request.series = Some(series(value)?),
            "offset" => {
                request.offset = whole_number(name, value, 0, MAX_OFFSET)? as usize;
            }
            "defuseFormulas" => {
                let is_on = value
                    .as_bool()
                    .ok_or_else(|| Error::wrong_type(name, "true or false", value))?;
                request.formulas = if is_on { Formulas::Defused } else { Formulas::Kept };
            }
            unknown => return Err(Error::unknown_name("argument", unknown, &ARGUMENTS)),
        }
    }
    if request.cursor.is_some() && has_page && request.page != DEFAULT_PAGE {
        return Err(Error::OutOfBounds {
            field: "page".to_owned(),
            received: request.page.to_string(),
            expected: "left out when `cursor` is given".to_owned(),
        });
    }
    Ok(request)
}

/// Reads the arguments of `describe_schema`.
pub(super) fn describe_table_name(arguments: &Value) -> Result<Option<String>> {
    if arguments.is_null() {
        return Ok(None);
    }
    let object = arguments
        .as_object()
        .ok_or_else(|| Error::wrong_type("arguments", "an object", arguments))?;
    let mut table = None;
    for (name, value) in object {
        match name.as_str() {
            "table" if value.is_null() => {}
            "table" => table = Some(text(name, value)?),
            unknown => return Err(Error::unknown_name("argument", unknown, &["table"])),
        }
    }
    Ok(table)
}

/// Reads one `{id, desc}`, or a list of them; a field's name alone sorts upwards.
fn sort(value: &Value) -> Result<Vec<SortRequest>> {
    let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    list.iter().map(SortRequest::try_from).collect()
}

/// Reads a list of names, or one.
fn names(field: &str, value: &Value) -> Result<Vec<String>> {
    let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    list.iter().map(|name| text(field, name)).collect()
}

fn format(value: &Value) -> Result<Format> {
    let name = text("format", value)?;
    Format::ALL
        .into_iter()
        .find(|format| format.as_str() == name)
        .ok_or_else(|| Error::not_allowed("format", &name, &Format::ALL.map(Format::as_str)))
}

fn series(value: &Value) -> Result<SeriesRequest> {
    let expected = "`{field, bucket, sum}`";
    let object = value.as_object().ok_or_else(|| Error::wrong_type("series", expected, value))?;
    let mut field = None;
    let mut bucket = None;
    let mut sum = None;
    for (name, value) in object {
        match name.as_str() {
            "field" => field = Some(text("series.field", value)?),
            "bucket" if value.is_null() => {}
            "bucket" => {
                let name = text("series.bucket", value)?;
                let known = Bucket::ALL.into_iter().find(|bucket| bucket.as_str() == name);
                bucket = Some(known.ok_or_else(|| {
                    Error::not_allowed("series.bucket", &name, &Bucket::ALL.map(Bucket::as_str))
                })?);
            }
            "sum" if value.is_null() => {}
            "sum" => sum = Some(text("series.sum", value)?),
            unknown => {
                return Err(Error::unknown_name(
                    "key of series",
                    unknown,
                    &["field", "bucket", "sum"],
                ));
            }
        }
    }
    let field =
        field.ok_or_else(|| Error::wrong_type("series", "`{field, …}` with a `field`", value))?;
    Ok(SeriesRequest { field, bucket, sum })
}

fn text(field: &str, value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| Error::wrong_type(field, "a string", value))
}

/// Takes `3` and `3.0`: some clients know only one kind of number.
fn whole_number(field: &str, value: &Value, low: u64, high: u64) -> Result<u64> {
    let number = value.as_f64().ok_or_else(|| Error::wrong_type(field, "an integer", value))?;
    let is_whole = number.fract() == 0.0;
    if !is_whole || number < low as f64 || number > high as f64 {
        return Err(Error::OutOfBounds {
            field: field.to_owned(),
            received: value.to_string(),
            expected: format!("an integer from {low} to {high}"),
        });
    }
    Ok(number as u64)
}

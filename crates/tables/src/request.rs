//! The arguments of `query_table`, checked one by one so that each mistake is named.

use columns::{Bucket, Direction};
use serde_json::{Map, Value, json};

use crate::error::did_you_mean;
use crate::{Error, Result, Schema, TableHandler};

/// The page that is given when none is asked for.
pub const DEFAULT_PAGE: u64 = 1;
/// The rows of a page when the call does not say.
pub const DEFAULT_PAGE_SIZE: u64 = 50;
/// The most rows of a page.
pub const MAX_PAGE_SIZE: u64 = 500;

/// The furthest that reading goes into a cell, in characters: behind the end of any.
const MAX_OFFSET: u64 = u32::MAX as u64;

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Rows and their total.
    #[default]
    Json,
    /// Rows, their total, and facets.
    Stats,
    /// A GitHub table and the total.
    Markdown,
    /// RFC 4180 text and the total.
    Csv,
}

impl Format {
    /// Every format, in the order of the schema.
    pub const ALL: [Format; 4] = [Format::Json, Format::Stats, Format::Markdown, Format::Csv];

    /// Gives the name used in calls.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Stats => "stats",
            Format::Markdown => "markdown",
            Format::Csv => "csv",
        }
    }
}

/// What is done to CSV cells that a spreadsheet would run as a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Formulas {
    /// They stay as they are.
    #[default]
    Kept,
    /// An apostrophe is before them.
    Defused,
}

/// The order that a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortRequest {
    /// The field.
    pub id: String,
    /// Which end comes first.
    pub direction: Direction,
}

/// The picture over time that a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesRequest {
    /// A timestamp field.
    pub field: String,
    /// The width of a point; chosen by the table without one.
    pub bucket: Option<Bucket>,
    /// The number field to add up; rows are counted without one.
    pub sum: Option<String>,
}

/// A call of `query_table`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryRequest {
    /// The table, where several are served.
    pub table: Option<String>,
    /// Filters by field, as the call gave them.
    pub filters: Map<String, Value>,
    /// The page, from 1.
    pub page: u64,
    /// Rows of a page.
    pub page_size: u64,
    /// How the answer is written.
    pub format: Format,
    /// The order of rows, most significant first.
    pub sort: Vec<SortRequest>,
    /// The fields of a row, in this order; all without it.
    pub columns: Option<Vec<String>>,
    /// The fields whose values are counted; all of them with `stats` and without this.
    pub facets: Option<Vec<String>>,
    /// The time zone of dates in filters; UTC without one.
    pub time_zone: Option<String>,
    /// The continuation token of the page before; takes the place of `page`.
    pub cursor: Option<String>,
    /// A picture over time.
    pub series: Option<SeriesRequest>,
    /// What happens to formulas in CSV.
    pub formulas: Formulas,
    /// Characters of long cells that are skipped: `next_offset` of the answer before.
    pub offset: usize,
    /// Rows that one answer holds, where that is fewer than the page; `next` goes on behind them.
    pub max_rows: Option<u64>,
}

impl Default for QueryRequest {
    fn default() -> Self {
        QueryRequest {
            table: None,
            filters: Map::new(),
            page: DEFAULT_PAGE,
            page_size: DEFAULT_PAGE_SIZE,
            format: Format::default(),
            sort: Vec::new(),
            columns: None,
            facets: None,
            time_zone: None,
            cursor: None,
            series: None,
            formulas: Formulas::default(),
            offset: 0,
            max_rows: None,
        }
    }
}

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

impl QueryRequest {
    /// Reads the arguments of a call.
    pub fn from_json(arguments: &Value) -> Result<Self> {
        let mut request = QueryRequest::default();
        let empty = Map::new();
        let arguments = match arguments.as_object() {
            Some(arguments) => arguments,
            None if arguments.is_null() => &empty,
            None => return Err(wrong_type("arguments", "an object", arguments)),
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
                        filters.ok_or_else(|| wrong_type(name, "an object", value))?.clone();
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
                    let is_on =
                        value.as_bool().ok_or_else(|| wrong_type(name, "true or false", value))?;
                    request.formulas = if is_on { Formulas::Defused } else { Formulas::Kept };
                }
                unknown => return Err(unknown_name("argument", unknown, &ARGUMENTS)),
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
}

/// Gives the JSON Schema of the arguments of `query_table` for one table, or for several, which
/// are then named in `table`.
pub fn query_input_schema(schemas: &[&Schema]) -> Value {
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    let filters = match schemas {
        [schema] => schema.filters_json_schema(),
        schemas => {
            let names: Vec<&str> = schemas.iter().map(|schema| schema.name.as_str()).collect();
            properties.insert("table".to_owned(), json!({ "type": "string", "enum": names }));
            required.push("table");
            json!({
                "type": "object",
                "description": "Filters of the table by field name; describe_schema lists them."
            })
        }
    };
    properties.insert("filters".to_owned(), filters);
    properties.insert("page".to_owned(), json!({ "type": "integer", "minimum": 1, "default": 1 }));
    properties.insert(
        "pageSize".to_owned(),
        json!({ "type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE, "default": DEFAULT_PAGE_SIZE }),
    );
    let formats: Vec<&str> = Format::ALL.into_iter().map(Format::as_str).collect();
    properties.insert(
        "format".to_owned(),
        json!({ "type": "string", "enum": formats, "default": "json" }),
    );
    let mut sort_id = json!({ "type": "string" });
    if let [schema] = schemas {
        sort_id["enum"] = schema.column_names().into();
    }
    let one_sort = json!({
        "type": "object",
        "properties": { "id": sort_id, "desc": { "type": "boolean", "default": false } },
        "required": ["id"],
        "additionalProperties": false
    });
    properties.insert(
        "sort".to_owned(),
        json!({ "anyOf": [one_sort, { "type": "array", "items": one_sort }] }),
    );
    let listed =
        |what: &str| json!({ "type": "array", "items": { "type": "string" }, "description": what });
    properties.insert("columns".to_owned(), listed("fields of a row; default all"));
    properties.insert("facets".to_owned(), listed("fields to count; default all with stats"));
    properties.insert(
        "time_zone".to_owned(),
        json!({ "type": "string", "description": "IANA zone of dates in filters; default UTC" }),
    );
    properties.insert(
        "cursor".to_owned(),
        json!({ "type": "string", "description": "`next` of the page before; instead of page" }),
    );
    let buckets: Vec<&str> = Bucket::ALL.into_iter().map(Bucket::as_str).collect();
    properties.insert(
        "series".to_owned(),
        json!({
            "type": "object",
            "description": "Count, or sum of a number field, by time",
            "properties": {
                "field": { "type": "string" },
                "bucket": { "type": "string", "enum": buckets },
                "sum": { "type": "string" }
            },
            "required": ["field"],
            "additionalProperties": false
        }),
    );
    properties.insert(
        "offset".to_owned(),
        json!({ "type": "integer", "minimum": 0, "description": "`next_offset`: read on in long cells" }),
    );
    properties.insert(
        "defuseFormulas".to_owned(),
        json!({ "type": "boolean", "default": false, "description": "csv: make =, +, -, @ cells safe for spreadsheets" }),
    );
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false
    });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

/// Gives a schema of `query_table` that takes every form of a filter: the table itself checks
/// each against its field.
pub fn lenient_input_schema(mut shown: Value) -> Value {
    shown["properties"]["filters"] = json!({ "type": "object" });
    shown
}

/// Gives the JSON Schema of `query_table` over a mounted program's data, without what such a
/// program cannot be asked for: continuation tokens, series, and counts that it does not make.
pub fn handler_input_schema(handler: &TableHandler) -> Value {
    let mut input = query_input_schema(&[handler.schema()]);
    if let Some(properties) = input["properties"].as_object_mut() {
        properties.shift_remove("cursor");
        properties.shift_remove("series");
        if !handler.has_facets() {
            properties.shift_remove("facets");
            let formats = Format::ALL.into_iter().filter(|format| *format != Format::Stats);
            properties["format"]["enum"] = formats.map(Format::as_str).collect();
        }
    }
    input
}

/// Gives the JSON Schema of the arguments of `describe_schema`.
pub fn describe_input_schema(schemas: &[&Schema]) -> Value {
    match schemas {
        [_] => json!({ "type": "object", "properties": {}, "additionalProperties": false }),
        schemas => {
            let names: Vec<&str> = schemas.iter().map(|schema| schema.name.as_str()).collect();
            json!({
                "type": "object",
                "properties": { "table": { "type": "string", "enum": names } },
                "required": ["table"],
                "additionalProperties": false
            })
        }
    }
}

/// Reads the arguments of `describe_schema`.
pub fn describe_table_name(arguments: &Value) -> Result<Option<String>> {
    if arguments.is_null() {
        return Ok(None);
    }
    let object =
        arguments.as_object().ok_or_else(|| wrong_type("arguments", "an object", arguments))?;
    let mut table = None;
    for (name, value) in object {
        match name.as_str() {
            "table" if value.is_null() => {}
            "table" => table = Some(text(name, value)?),
            unknown => return Err(unknown_name("argument", unknown, &["table"])),
        }
    }
    Ok(table)
}

/// Reads one `{id, desc}`, or a list of them; a field's name alone sorts upwards.
pub(crate) fn sort(value: &Value) -> Result<Vec<SortRequest>> {
    match value {
        Value::Array(list) => list.iter().map(one_sort).collect(),
        one @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)) => Ok(vec![one_sort(one)?]),
    }
}

fn one_sort(value: &Value) -> Result<SortRequest> {
    if let Value::String(id) = value {
        return Ok(SortRequest { id: id.clone(), direction: Direction::Ascending });
    }
    let object = value.as_object().ok_or_else(|| wrong_type("sort", "`{id, desc}`", value))?;
    let mut id = None;
    let mut direction = Direction::Ascending;
    for (name, value) in object {
        match name.as_str() {
            "id" => id = Some(text("sort.id", value)?),
            "desc" if value.is_null() => {}
            "desc" => {
                let is_descending = value
                    .as_bool()
                    .ok_or_else(|| wrong_type("sort.desc", "true or false", value))?;
                direction =
                    if is_descending { Direction::Descending } else { Direction::Ascending };
            }
            unknown => return Err(unknown_name("key of sort", unknown, &["id", "desc"])),
        }
    }
    let id = id.ok_or_else(|| wrong_type("sort", "`{id, desc}` with an `id`", value))?;
    Ok(SortRequest { id, direction })
}

pub(crate) fn wrong_type(field: &str, expected: &str, received: &Value) -> Error {
    const SHOWN_CHARS: usize = 200;
    Error::WrongType {
        field: field.to_owned(),
        expected: expected.to_owned(),
        received: received.to_string().chars().take(SHOWN_CHARS).collect(),
    }
}

pub(crate) fn unknown_name<N: AsRef<str>>(
    what: &'static str,
    received: &str,
    allowed: &[N],
) -> Error {
    let allowed: Vec<String> = allowed.iter().map(|name| name.as_ref().to_owned()).collect();
    let did_you_mean = did_you_mean(received, &allowed);
    Error::UnknownName { what, received: received.to_owned(), allowed, did_you_mean }
}

/// Reads a list of names, or one.
fn names(field: &str, value: &Value) -> Result<Vec<String>> {
    match value {
        Value::Array(list) => list.iter().map(|name| text(field, name)).collect(),
        one @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)) => Ok(vec![text(field, one)?]),
    }
}

fn format(value: &Value) -> Result<Format> {
    let name = text("format", value)?;
    Format::ALL
        .into_iter()
        .find(|format| format.as_str() == name)
        .ok_or_else(|| not_allowed("format", name, Format::ALL.into_iter().map(Format::as_str)))
}

fn series(value: &Value) -> Result<SeriesRequest> {
    let expected = "`{field, bucket, sum}`";
    let object = value.as_object().ok_or_else(|| wrong_type("series", expected, value))?;
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
                    not_allowed("series.bucket", name, Bucket::ALL.into_iter().map(Bucket::as_str))
                })?);
            }
            "sum" if value.is_null() => {}
            "sum" => sum = Some(text("series.sum", value)?),
            unknown => {
                return Err(unknown_name("key of series", unknown, &["field", "bucket", "sum"]));
            }
        }
    }
    let field = field.ok_or_else(|| wrong_type("series", "`{field, …}` with a `field`", value))?;
    Ok(SeriesRequest { field, bucket, sum })
}

fn not_allowed(
    field: &str,
    received: String,
    allowed: impl Iterator<Item = &'static str>,
) -> Error {
    let allowed: Vec<String> = allowed.map(str::to_owned).collect();
    let did_you_mean = did_you_mean(&received, &allowed);
    Error::NotAllowed { field: field.to_owned(), received, allowed, did_you_mean }
}

fn text(field: &str, value: &Value) -> Result<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| wrong_type(field, "a string", value))
}

/// Takes `3` and `3.0`: some clients know only one kind of number.
fn whole_number(field: &str, value: &Value, low: u64, high: u64) -> Result<u64> {
    let number = value.as_f64().ok_or_else(|| wrong_type(field, "an integer", value))?;
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

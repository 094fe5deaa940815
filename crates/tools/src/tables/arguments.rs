//! The arguments of this family's tools: structs that derive their schemas, and the requests that
//! they become. What depends on the tables that a caller sees (`table`, `filters`, names of
//! fields) is added to a schema in [`super::schemas`].

use std::sync::LazyLock;

use filters::charts::ChartType;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tables::{
    AggregateRequest, Bucket, Calendar, DEFAULT_GROUPS, DEFAULT_PAGE, DEFAULT_PAGE_SIZE, Direction,
    Error, ExportFormat, Filters, Format, Formulas, GroupRequest, MAX_GROUPINGS, MAX_GROUPS,
    MAX_MEASURES, MAX_PAGE_SIZE, MeasureRequest, Op, QueryRequest, Result, SeriesRequest,
    SortRequest,
};

use super::schemas::without;
use crate::{InputSchema, Spec, accept};

/// The furthest that paging and reading go, behind the end of any table and cell.
const FURTHEST: u64 = u32::MAX as u64;

/// The most characters of a chart's title or description.
const MAX_TEXT_CHARS: usize = 500;

/// What an agent is told of filters where the fields of the table are not listed.
const FILTERS: &str = "as in query_table: {field: value} or {field: {eq, not, in, contains, \
                       starts_with, min, max, is_null}}";

/// The measures, by the names that calls use.
const OPS: [(&str, Op); 10] = [
    ("count", Op::Count),
    ("count_distinct", Op::CountDistinct),
    ("sum", Op::Sum),
    ("avg", Op::Avg),
    ("min", Op::Min),
    ("max", Op::Max),
    ("median", Op::Percentile(50)),
    ("p90", Op::Percentile(90)),
    ("p95", Op::Percentile(95)),
    ("p99", Op::Percentile(99)),
];

/// Arguments of `query_table`.
#[derive(Deserialize, JsonSchema)]
pub(super) struct QueryArguments {
    table: Option<String>,
    #[schemars(with = "Option<Map<String, Value>>")]
    filters: Option<Filters>,
    #[serde(default = "default_page")]
    #[schemars(range(min = 1))]
    page: u64,
    #[serde(rename = "pageSize", default = "default_page_size")]
    #[schemars(range(min = 1, max = MAX_PAGE_SIZE))]
    page_size: u64,
    #[serde(default = "default_format")]
    #[schemars(extend("enum" = Format::ALL.map(Format::as_str)))]
    format: String,
    sort: Option<OneOrMany<SortArgument>>,
    /// fields of a row; default all
    columns: Option<Vec<String>>,
    /// fields to count; default all with stats
    facets: Option<Vec<String>>,
    /// IANA zone of dates in filters and of series; default UTC
    time_zone: Option<String>,
    /// `next` of the page before; instead of page
    cursor: Option<String>,
    /// Count, or sum of a number field, by time
    series: Option<SeriesArgument>,
    /// `next_offset`: read on in long cells
    offset: Option<u64>,
    /// csv: make =, +, -, @ cells safe for spreadsheets
    #[serde(rename = "defuseFormulas", default)]
    defuse_formulas: bool,
    /// also give a link to a file with all matching rows
    #[schemars(extend("enum" = ExportFormat::ALL.map(ExportFormat::as_str)))]
    pub(super) export: Option<String>,
}

/// Arguments of `aggregate_table`.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AggregateArguments {
    #[schemars(with = "Option<Map<String, Value>>", description = FILTERS)]
    filters: Option<Filters>,
    #[schemars(length(max = MAX_GROUPINGS))]
    group_by: Option<Vec<GroupArgument>>,
    #[schemars(length(max = MAX_MEASURES))]
    measures: Option<Vec<MeasureArgument>>,
    /// {measure: {min, max, …}}
    #[schemars(with = "Option<Map<String, Value>>")]
    having: Option<Filters>,
    sort: Option<Vec<SortArgument>>,
    #[schemars(range(min = 1, max = MAX_GROUPS), extend("default" = DEFAULT_GROUPS))]
    limit: Option<usize>,
    /// IANA zone; default UTC
    time_zone: Option<String>,
    /// `next` of the answer before
    cursor: Option<String>,
    /// `next_offset`: read on in long values
    #[schemars(range(max = FURTHEST))]
    offset: Option<u64>,
    table: Option<String>,
}

/// Arguments of `chart_table`.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ChartArguments {
    #[serde(flatten)]
    pub(super) aggregate: AggregateArguments,
    /// the heading
    #[schemars(length(min = 1, max = MAX_TEXT_CHARS))]
    pub(super) title: String,
    /// what it shows
    #[schemars(length(max = MAX_TEXT_CHARS))]
    pub(super) description: Option<String>,
    #[schemars(with = "Option<String>", extend("enum" = ["line", "bar", "area", "pie"], "default" = "bar"))]
    pub(super) chart_type: Option<ChartType>,
    /// also give the chart as a PNG image
    pub(super) image: Option<bool>,
}

/// Arguments of `describe_schema`.
#[derive(Deserialize, JsonSchema)]
pub(super) struct DescribeArguments {
    pub(super) table: Option<String>,
    /// also operators, counts of values, examples
    pub(super) detail: Option<bool>,
    /// `next` of the answer before
    pub(super) cursor: Option<String>,
}

// One value where a list is expected is a list of one. A doc comment would be sent to agents.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum SortArgument {
    // A saved view may give the name alone, which sorts upwards.
    #[schemars(skip)]
    Field(String),
    Sort {
        id: String,
        desc: Option<bool>,
    },
}

#[derive(Deserialize, JsonSchema)]
struct SeriesArgument {
    field: String,
    #[schemars(extend("enum" = Bucket::ALL.map(Bucket::as_str)))]
    bucket: Option<String>,
    sum: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum GroupArgument {
    Field(String),
    Bucket {
        field: String,
        #[schemars(extend("enum" = Calendar::ALL.map(Calendar::as_str)))]
        bucket: Option<String>,
        time_zone: Option<String>,
        #[schemars(extend("exclusiveMinimum" = 0))]
        width: Option<f64>,
    },
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum MeasureArgument {
    #[schemars(extend("enum" = ["count"]))]
    Op(String),
    Measure {
        #[schemars(extend("enum" = OPS.map(|(name, _)| name)))]
        op: String,
        field: Option<String>,
        #[serde(rename = "as")]
        name: Option<String>,
    },
}

fn default_page() -> u64 {
    DEFAULT_PAGE
}

fn default_page_size() -> u64 {
    DEFAULT_PAGE_SIZE
}

fn default_format() -> String {
    Format::default().as_str().to_owned()
}

/// Reads the arguments of `query_table` where no registry has looked at them: those of a saved
/// view, of a command or of a mounted program.
///
/// Fails with the sentence that a call gets.
pub fn query_request(arguments: &Value) -> Result<QueryRequest> {
    static SPEC: LazyLock<Spec> = LazyLock::new(|| unserved::<QueryArguments>("query_table"));
    read::<QueryArguments>(&SPEC, arguments)?.into_request()
}

/// The same for `aggregate_table`.
pub(super) fn aggregate_request(arguments: &Value) -> Result<AggregateRequest> {
    static SPEC: LazyLock<Spec> =
        LazyLock::new(|| unserved::<AggregateArguments>("aggregate_table"));
    read::<AggregateArguments>(&SPEC, arguments)?.into_request()
}

/// Describes a tool by the types of its arguments alone: names of fields and tables are judged
/// by the table, and an order may be a name.
fn unserved<T: JsonSchema>(name: &str) -> Spec {
    let mut schema = without(InputSchema::of::<T>(), &["export"]);
    schema["properties"]["filters"] = json!({ "type": "object" });
    schema["properties"]["sort"] = json!({});
    Spec::read_only(name, name, "").with_input(schema)
}

fn read<T: DeserializeOwned>(spec: &Spec, arguments: &Value) -> Result<T> {
    let arguments = match arguments {
        Value::Object(arguments) => arguments.clone(),
        Value::Null => Map::new(),
        other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            return Err(Error::wrong_type("arguments", "an object", other));
        }
    };
    let accepted = accept(spec, arguments)
        .map_err(|refused| Error::BadArguments { problem: refused.message })?;
    from_accepted(accepted.arguments)
}

/// Reads arguments that were held against the schema of the tool.
///
/// Fails where a schema cannot say what is wrong: an order of another form.
pub(super) fn from_accepted<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Error::BadArguments { problem: format!("arguments do not fit: {error}") })
}

impl QueryArguments {
    /// Makes the request.
    ///
    /// Fails when two arguments exclude each other.
    pub(super) fn into_request(self) -> Result<QueryRequest> {
        if self.cursor.is_some() && self.page != DEFAULT_PAGE {
            return Err(Error::OutOfBounds {
                field: "page".to_owned(),
                received: self.page.to_string(),
                expected: "left out when `cursor` is given".to_owned(),
            });
        }
        let format = Format::ALL.into_iter().find(|format| format.as_str() == self.format);
        let all = Format::ALL.map(Format::as_str);
        Ok(QueryRequest {
            table: self.table,
            filters: self.filters.unwrap_or_default(),
            page: within("page", 1, self.page)?,
            page_size: self.page_size,
            format: format.ok_or_else(|| Error::not_allowed("format", &self.format, &all))?,
            sort: sort_requests(OneOrMany::into_vec(self.sort)),
            columns: self.columns,
            facets: self.facets,
            time_zone: self.time_zone,
            cursor: self.cursor,
            series: self.series.map(SeriesArgument::into_request).transpose()?,
            formulas: if self.defuse_formulas { Formulas::Defused } else { Formulas::Kept },
            offset: within("offset", 0, self.offset.unwrap_or(0))? as usize,
            max_rows: None,
        })
    }
}

impl AggregateArguments {
    /// Makes the request.
    ///
    /// Fails when a bucket or a measure is none.
    pub(super) fn into_request(self) -> Result<AggregateRequest> {
        let groups = self.group_by.unwrap_or_default().into_iter();
        let measures = self.measures.unwrap_or_default().into_iter();
        Ok(AggregateRequest {
            table: self.table,
            filters: self.filters.unwrap_or_default(),
            group_by: groups.map(GroupArgument::into_request).collect::<Result<_>>()?,
            measures: measures.map(MeasureArgument::into_request).collect::<Result<_>>()?,
            having: self.having.unwrap_or_default(),
            sort: sort_requests(self.sort.unwrap_or_default()),
            limit: self.limit,
            time_zone: self.time_zone,
            offset: within("offset", 0, self.offset.unwrap_or(0))? as usize,
            cursor: self.cursor,
        })
    }
}

impl<T> OneOrMany<T> {
    fn into_vec(list: Option<Self>) -> Vec<T> {
        match list {
            None => Vec::new(),
            Some(OneOrMany::One(one)) => vec![one],
            Some(OneOrMany::Many(many)) => many,
        }
    }
}

impl SeriesArgument {
    fn into_request(self) -> Result<SeriesRequest> {
        let bucket = self.bucket.map(|name| {
            let known = Bucket::ALL.into_iter().find(|bucket| bucket.as_str() == name);
            let all = Bucket::ALL.map(Bucket::as_str);
            known.ok_or_else(|| Error::not_allowed("series.bucket", &name, &all))
        });
        Ok(SeriesRequest { field: self.field, bucket: bucket.transpose()?, sum: self.sum })
    }
}

impl GroupArgument {
    fn into_request(self) -> Result<GroupRequest> {
        Ok(match self {
            GroupArgument::Field(field) => GroupRequest { field, ..GroupRequest::default() },
            GroupArgument::Bucket { field, bucket, time_zone, width } => {
                let bucket = bucket.map(|name| {
                    let all = Calendar::ALL.map(Calendar::as_str);
                    name.parse().map_err(|()| Error::not_allowed("bucket", &name, &all))
                });
                GroupRequest { field, bucket: bucket.transpose()?, time_zone, width }
            }
        })
    }
}

impl MeasureArgument {
    fn into_request(self) -> Result<MeasureRequest> {
        let (op, field, name) = match self {
            MeasureArgument::Op(op) => (op, None, None),
            MeasureArgument::Measure { op, field, name } => (op, field, name),
        };
        let known = OPS.iter().find(|(name, _)| *name == op).map(|(_, op)| *op);
        let all = OPS.map(|(name, _)| name);
        let op = known.ok_or_else(|| Error::not_allowed("op", &op, &all))?;
        Ok(MeasureRequest { op, field, name })
    }
}

fn sort_requests(arguments: Vec<SortArgument>) -> Vec<SortRequest> {
    let request = |argument| {
        let (id, is_descending) = match argument {
            // `-year` is how many interfaces write it; no field has such a name.
            SortArgument::Field(id) | SortArgument::Sort { id, desc: None } => {
                match id.strip_prefix('-') {
                    Some(field) => (field.to_owned(), true),
                    None => (id, false),
                }
            }
            SortArgument::Sort { id, desc } => (id, desc.unwrap_or(false)),
        };
        let direction = if is_descending { Direction::Descending } else { Direction::Ascending };
        SortRequest { id, direction }
    };
    arguments.into_iter().map(request).collect()
}

fn within(field: &str, least: u64, received: u64) -> Result<u64> {
    if (least..=FURTHEST).contains(&received) {
        return Ok(received);
    }
    Err(Error::OutOfBounds {
        field: field.to_owned(),
        received: received.to_string(),
        expected: format!("an integer from {least} to {FURTHEST}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dash_before_a_field_sorts_downwards() {
        let sorted = |argument: Value| {
            let argument: SortArgument = serde_json::from_value(argument).unwrap();
            let request = sort_requests(vec![argument]).remove(0);
            (request.id, request.direction)
        };
        use Direction::{Ascending, Descending};
        assert_eq!(sorted(json!("year")), ("year".to_owned(), Ascending));
        assert_eq!(sorted(json!("-year")), ("year".to_owned(), Descending));
        assert_eq!(sorted(json!({ "id": "-year" })), ("year".to_owned(), Descending));
        assert_eq!(sorted(json!({ "id": "year", "desc": true })), ("year".to_owned(), Descending));
    }
}

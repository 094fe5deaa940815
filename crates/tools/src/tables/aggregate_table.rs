//! `aggregate_table`: counts, sums, means and percentiles of groups of rows, without SQL.

use std::sync::Arc;

use model::Caller;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tables::{
    AggregateRequest, AggregateResponse, Calendar, DEFAULT_GROUPS, Direction, GroupRequest,
    MAX_GROUPINGS, MAX_GROUPS, MAX_MEASURES, MeasureRequest, Op, Schema, Service, SortRequest,
};

use super::answer::{ADVICE, error, names, schemas};
use super::query_table::with_table;
use crate::paging::{Filled, fill, position};
use crate::per_caller::PerCaller;
use crate::{Answer, Call, Spec, Tool, ToolError};

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

/// The tool.
pub struct AggregateTable {
    service: Service,
    specs: PerCaller,
}

impl AggregateTable {
    /// Aggregates the tables of a service.
    pub fn new(service: Service) -> Self {
        AggregateTable { service, specs: PerCaller::default() }
    }
}

#[derive(Deserialize)]
struct Arguments {
    table: Option<String>,
    filters: Option<Map<String, Value>>,
    group_by: Option<OneOrMany<GroupArgument>>,
    measures: Option<OneOrMany<MeasureArgument>>,
    having: Option<Map<String, Value>>,
    sort: Option<OneOrMany<SortArgument>>,
    limit: Option<usize>,
    time_zone: Option<String>,
    cursor: Option<String>,
}

/// One value where a list is expected is a list of one.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    Many(Vec<T>),
    One(T),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum GroupArgument {
    Field(String),
    Bucket { field: String, bucket: Option<String>, time_zone: Option<String>, width: Option<f64> },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum MeasureArgument {
    Op(String),
    Measure {
        op: String,
        field: Option<String>,
        #[serde(rename = "as")]
        name: Option<String>,
    },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SortArgument {
    Field(String),
    Sort { id: String, desc: Option<bool> },
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

impl Tool for AggregateTable {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        self.specs.get(names(&self.service, caller), |names| {
            aggregate_table_spec(&schemas(&self.service, names))
        })
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let arguments: Arguments = call.parse()?;
        let begin = position(arguments.cursor.as_deref())?;
        let request = request(arguments)?;
        let response = self
            .service
            .aggregate(call.caller, &request, call.deadline)
            .map_err(|cause| error(&cause))?;
        let mut value = Answer::of(&to_json(&response))?.value;
        let rows = value["rows"].as_array_mut().map(std::mem::take).unwrap_or_default();
        let rest: Vec<Value> = rows.into_iter().skip(begin).collect();
        let n_rest = rest.len();
        let Filled { mut value, n_kept } = fill(value, "rows", rest, &call.budget);
        if n_kept < n_rest {
            value["next"] = json!((begin + n_kept).to_string());
        }
        Ok(Answer::new(value).with_n_results(n_kept))
    }
}

fn request(arguments: Arguments) -> Result<AggregateRequest, ToolError> {
    let group_by = OneOrMany::into_vec(arguments.group_by)
        .into_iter()
        .map(|group| {
            Ok(match group {
                GroupArgument::Field(field) => GroupRequest { field, ..GroupRequest::default() },
                GroupArgument::Bucket { field, bucket, time_zone, width } => GroupRequest {
                    field,
                    bucket: bucket.map(|name| bucket_named(&name)).transpose()?,
                    time_zone,
                    width,
                },
            })
        })
        .collect::<Result<_, ToolError>>()?;
    let measures = OneOrMany::into_vec(arguments.measures)
        .into_iter()
        .map(|measure| {
            let (op, field, name) = match measure {
                MeasureArgument::Op(op) => (op, None, None),
                MeasureArgument::Measure { op, field, name } => (op, field, name),
            };
            Ok(MeasureRequest { op: op_named(&op)?, field, name })
        })
        .collect::<Result<_, ToolError>>()?;
    let sort = OneOrMany::into_vec(arguments.sort)
        .into_iter()
        .map(|sort| {
            let (id, is_descending) = match sort {
                SortArgument::Field(id) => (id, false),
                SortArgument::Sort { id, desc } => (id, desc.unwrap_or(false)),
            };
            let direction =
                if is_descending { Direction::Descending } else { Direction::Ascending };
            SortRequest { id, direction }
        })
        .collect();
    Ok(AggregateRequest {
        table: arguments.table,
        filters: arguments.filters.unwrap_or_default(),
        group_by,
        measures,
        having: arguments.having.unwrap_or_default(),
        sort,
        limit: arguments.limit,
        time_zone: arguments.time_zone,
    })
}

fn bucket_named(name: &str) -> Result<Calendar, ToolError> {
    name.parse().map_err(|()| unknown("bucket", name, &buckets()))
}

fn op_named(name: &str) -> Result<Op, ToolError> {
    OPS.iter()
        .find(|(known, _)| *known == name)
        .map(|(_, op)| *op)
        .ok_or_else(|| unknown("op", name, &OPS.map(|(known, _)| known)))
}

fn unknown(what: &str, received: &str, allowed: &[&str]) -> ToolError {
    let listed: Vec<String> = allowed.iter().map(|name| format!("`{name}`")).collect();
    let message =
        format!("`{what}` does not take `{received}`: expected one of {}", listed.join(", "));
    ToolError::bad_request(message)
}

fn buckets() -> [&'static str; 7] {
    Calendar::ALL.map(Calendar::as_str)
}

/// Writes an answer.
fn to_json(response: &AggregateResponse) -> Value {
    let rows: Vec<Value> = response
        .rows
        .iter()
        .map(|row| {
            let cells = response.columns.iter().cloned().zip(row.iter().cloned());
            Value::Object(cells.collect())
        })
        .collect();
    let mut answer = json!({
        "rows": rows,
        "total_groups": response.total_groups,
        "total_rows": response.total_rows,
    });
    if let Some(zone) = &response.time_zone {
        answer["time_zone"] = zone.as_str().into();
    }
    if !response.warnings.is_empty() {
        answer["warnings"] = json!(response.warnings);
    }
    answer
}

/// Describes the tool over the tables of these schemas.
pub fn aggregate_table_spec(schemas: &[&Schema]) -> Spec {
    let mut spec = Spec::read_only(
        "aggregate_table",
        "Aggregate table",
        "Exact counts, sums, means and percentiles of a table's rows, by groups: by value, by \
         time bucket in a zone, or by numeric width. Same filters as query_table. Use this for \
         totals, not pages of rows.",
    )
    .with_input(with_table(input_schema(schemas)))
    .with_shown_input(input_schema(schemas))
    .with_output(json!({
        "type": "object",
        "properties": {
            "rows": { "type": "array", "items": { "type": "object" } },
            "total_groups": { "type": "integer" },
            "total_rows": { "type": "integer" },
            "time_zone": { "type": "string" },
            "next": { "type": "string" },
            "warnings": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["rows", "total_groups", "total_rows"],
    }))
    .with_source_text(&["/rows/*/*"]);
    spec.advice = Some(ADVICE.to_owned());
    spec
}

fn input_schema(schemas: &[&Schema]) -> Value {
    let text = json!({ "type": "string" });
    let mut field = text.clone();
    if let [schema] = schemas {
        field["enum"] = schema.column_names().into();
    }
    let group = json!({
        "type": "object",
        "properties": {
            "field": field,
            "bucket": { "type": "string", "enum": buckets() },
            "time_zone": text,
            "width": { "type": "number", "exclusiveMinimum": 0 },
        },
        "required": ["field"],
        "additionalProperties": false,
    });
    let measure = json!({
        "type": "object",
        "properties": {
            "op": { "type": "string", "enum": OPS.map(|(name, _)| name) },
            "field": field,
            "as": text,
        },
        "required": ["op"],
        "additionalProperties": false,
    });
    let sort = json!({
        "type": "object",
        "properties": { "id": text, "desc": { "type": "boolean" } },
        "required": ["id"],
        "additionalProperties": false,
    });
    let mut schema = json!({
        "type": "object",
        "properties": {
            "filters": {
                "type": "object",
                "description": "as in query_table: {field: value} or {field: {eq, not, in, \
                                contains, starts_with, min, max, is_null}}",
            },
            "group_by": {
                "type": "array",
                "items": { "anyOf": [field, group] },
                "maxItems": MAX_GROUPINGS,
            },
            "measures": {
                "type": "array",
                "items": { "anyOf": [{ "type": "string", "enum": ["count"] }, measure] },
                "maxItems": MAX_MEASURES,
            },
            "having": { "type": "object", "description": "{measure: {min, max, …}}" },
            "sort": { "type": "array", "items": sort },
            "limit": {
                "type": "integer", "minimum": 1, "maximum": MAX_GROUPS, "default": DEFAULT_GROUPS,
            },
            "time_zone": { "type": "string", "description": "IANA zone; default UTC" },
            "cursor": { "type": "string", "description": "`next` of the answer before" },
        },
        "additionalProperties": false,
    });
    if schemas.len() != 1 {
        let names: Vec<&str> = schemas.iter().map(|schema| schema.name.as_str()).collect();
        schema["properties"]["table"] = json!({ "type": "string", "enum": names });
        schema["required"] = json!(["table"]);
    }
    schema
}

//! The arguments of `aggregate_table`, from JSON: a call's or a saved view's.

use serde::Deserialize;
use serde_json::{Map, Value};
use tables::{
    AggregateRequest, Calendar, Direction, Error, GroupRequest, MeasureRequest, Op, Result,
    SortRequest,
};

/// The measures, by the names that calls use.
pub(super) const OPS: [(&str, Op); 10] = [
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    table: Option<String>,
    filters: Option<Map<String, Value>>,
    group_by: Option<OneOrMany<GroupArgument>>,
    measures: Option<OneOrMany<MeasureArgument>>,
    having: Option<Map<String, Value>>,
    sort: Option<OneOrMany<SortArgument>>,
    limit: Option<usize>,
    time_zone: Option<String>,
    offset: Option<u32>,
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

/// Reads the arguments of `aggregate_table`.
///
/// Fails when one is of the wrong type, or names no known bucket or measure.
pub(super) fn aggregate_request(arguments: &Value) -> Result<AggregateRequest> {
    let arguments: Arguments = serde_json::from_value(arguments.clone()).map_err(|error| {
        Error::BadAggregate { problem: format!("arguments do not fit: {error}") }
    })?;
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
        .collect::<Result<_>>()?;
    let measures = OneOrMany::into_vec(arguments.measures)
        .into_iter()
        .map(|measure| {
            let (op, field, name) = match measure {
                MeasureArgument::Op(op) => (op, None, None),
                MeasureArgument::Measure { op, field, name } => (op, field, name),
            };
            Ok(MeasureRequest { op: op_named(&op)?, field, name })
        })
        .collect::<Result<_>>()?;
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
        offset: arguments.offset.unwrap_or(0) as usize,
        cursor: arguments.cursor,
    })
}

fn bucket_named(name: &str) -> Result<Calendar> {
    name.parse()
        .map_err(|()| Error::not_allowed("bucket", name, &Calendar::ALL.map(Calendar::as_str)))
}

fn op_named(name: &str) -> Result<Op> {
    OPS.iter()
        .find(|(known, _)| *known == name)
        .map(|(_, op)| *op)
        .ok_or_else(|| Error::not_allowed("op", name, &OPS.map(|(known, _)| known)))
}

//! Queries and multi-queries.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::error::{Outcome, Refusal, array, kind, object};
use super::filter::Filter;
use super::rank::Rank;
use super::state::{Consistency, Namespace, State, show};
use super::value::{Id, vector};

/// Rows of one answer.
const MAX_LIMIT: u64 = 10_000;
/// Queries of one request.
const MAX_QUERIES: usize = 16;

const QUERY_FIELDS: [&str; 12] = [
    "rank_by",
    "top_k",
    "limit",
    "filters",
    "include_attributes",
    "exclude_attributes",
    "aggregate_by",
    "group_by",
    "distance_metric",
    "compute_attributes",
    "rerank_by",
    "queries",
];
const CONFIG_FIELDS: [&str; 2] = ["consistency", "vector_encoding"];

/// Answers the body of a query.
pub(super) fn answer(state: &State, name: &str, body: &Value) -> Outcome<Value> {
    let fields: Vec<&str> = QUERY_FIELDS.iter().chain(&CONFIG_FIELDS).copied().collect();
    let request = object(body, "Query", &fields)?;
    let consistency = read_consistency(request.get("consistency"))?;
    let in_base64 = match request.get("vector_encoding").map(|value| (value, value.as_str())) {
        None | Some((_, Some("float"))) => false,
        Some((_, Some("base64"))) => true,
        Some((value, _)) => {
            return Err(Refusal::unprocessable(format!(
                "unknown vector_encoding {}, expected `float` or `base64`",
                kind(value)
            )));
        }
    };
    let namespace = state.namespace(name, consistency)?;
    let mut answer = match request.get("queries") {
        None => one(namespace, request, in_base64)?,
        Some(queries) => {
            let queries = array(queries, "queries")?;
            if queries.is_empty() || queries.len() > MAX_QUERIES {
                return Err(Refusal::bad_request(format!(
                    "a multi-query has 1 to {MAX_QUERIES} queries, got {}",
                    queries.len()
                )));
            }
            if let Some(name) = request.keys().find(|name| {
                !["queries", "consistency", "vector_encoding"].contains(&name.as_str())
            }) {
                return Err(Refusal::unsupported(&format!("`{name}` beside `queries`")));
            }
            let mut results = vec![];
            for query in queries {
                let known = &QUERY_FIELDS[..QUERY_FIELDS.len() - 1];
                let query = object(query, "Query", known)?;
                results.push(one(namespace, query, in_base64)?);
            }
            json!({"results": results})
        }
    };
    answer["billing"] = json!({
        "billable_logical_bytes_queried": 256_000_000,
        "billable_logical_bytes_returned": answer.to_string().len(),
    });
    answer["performance"] = json!({
        "cache_hit_ratio": 1.0,
        "cache_temperature": "hot",
        "server_total_ms": 1,
        "query_execution_ms": 1,
        "exhaustive_search_count": namespace.rows.len(),
        "approx_namespace_size": namespace.rows.len(),
    });
    Ok(answer)
}

fn read_consistency(value: Option<&Value>) -> Outcome<Consistency> {
    let Some(value) = value else { return Ok(Consistency::Strong) };
    let config = object(value, "Consistency", &["level"])?;
    match config.get("level").map(|level| (level, level.as_str())) {
        None | Some((_, Some("strong"))) => Ok(Consistency::Strong),
        Some((_, Some("eventual"))) => Ok(Consistency::Eventual),
        Some((_, Some(level))) => Err(Refusal::unprocessable(format!(
            "unknown variant `{level}`, expected `strong` or `eventual`"
        ))),
        Some((level, None)) => {
            Err(Refusal::unprocessable(format!("invalid type: {}, expected a string", kind(level))))
        }
    }
}

fn one(namespace: &Namespace, query: &Map<String, Value>, in_base64: bool) -> Outcome<Value> {
    for field in ["compute_attributes", "rerank_by"] {
        if query.contains_key(field) {
            return Err(Refusal::unsupported(&format!("`{field}`")));
        }
    }
    let filter =
        query.get("filters").map(|value| Filter::read(&namespace.schema, value)).transpose()?;
    let ids: Vec<Id> = namespace
        .rows
        .keys()
        .filter(|id| filter.as_ref().is_none_or(|filter| filter.fits(namespace, id)))
        .cloned()
        .collect();
    match (query.get("rank_by"), query.get("aggregate_by")) {
        (Some(rank_by), None) => ranked(namespace, query, rank_by, ids, in_base64),
        (None, Some(aggregate_by)) => aggregated(namespace, query, aggregate_by, &ids),
        (None, None) => Err(Refusal::bad_request("rank_by is required unless aggregate_by is set")),
        (Some(_), Some(_)) => {
            Err(Refusal::bad_request("rank_by and aggregate_by cannot be set together"))
        }
    }
}

fn ranked(
    namespace: &Namespace,
    query: &Map<String, Value>,
    rank_by: &Value,
    ids: Vec<Id>,
    in_base64: bool,
) -> Outcome<Value> {
    let Some(limit) = limit_of(query)? else {
        return Err(Refusal::bad_request("limit is required with rank_by"));
    };
    let rank = Rank::read(&namespace.schema, rank_by)?;
    if rank_by.get(1).and_then(Value::as_str) == Some("kNN") && !query.contains_key("filters") {
        return Err(Refusal::bad_request("kNN requires filters"));
    }
    let shown = read_shown(namespace, query)?;
    let rows: Vec<Value> = rank
        .order(namespace, ids)
        .into_iter()
        .take(limit as usize)
        .map(|(id, distance)| {
            let mut row = show(&id, &namespace.rows[&id], &shown);
            if in_base64 {
                encode_vectors(namespace, &mut row);
            }
            if let Some(distance) = distance {
                row.insert("$dist".to_owned(), distance.into());
            }
            Value::Object(row)
        })
        .collect();
    Ok(json!({"rows": rows}))
}

/// Gives how many rows or groups are wanted, under either of the two names.
fn limit_of(query: &Map<String, Value>) -> Outcome<Option<u64>> {
    match (query.get("top_k"), query.get("limit")) {
        (Some(_), Some(_)) => Err(Refusal::bad_request("top_k and limit cannot be set together")),
        (Some(value), None) | (None, Some(value)) => read_limit(value).map(Some),
        (None, None) => Ok(None),
    }
}

fn read_limit(value: &Value) -> Outcome<u64> {
    let total = match value {
        Value::Object(_) => {
            let limit = object(value, "Limit", &["total", "per"])?;
            if limit.contains_key("per") {
                return Err(Refusal::unsupported("`per` in a limit"));
            }
            limit.get("total").and_then(Value::as_u64)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            value.as_u64()
        }
    };
    match total {
        Some(limit) if (1..=MAX_LIMIT).contains(&limit) => Ok(limit),
        Some(limit) => Err(Refusal::bad_request(format!(
            "limit must be between 1 and {MAX_LIMIT}, got {limit}"
        ))),
        None => Err(Refusal::unprocessable(format!(
            "limit: invalid type: {}, expected an unsigned integer",
            kind(value)
        ))),
    }
}

/// Tells whether an attribute is shown.
type IsShown = Box<dyn Fn(&str) -> bool>;

fn read_shown(namespace: &Namespace, query: &Map<String, Value>) -> Outcome<IsShown> {
    let names = |value: &Value, what: &str| -> Outcome<Vec<String>> {
        let wrong = || Refusal::unprocessable(format!("{what}: expected an array of strings"));
        let names = array(value, what)?.iter();
        names.map(|name| name.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
    };
    match (query.get("include_attributes"), query.get("exclude_attributes")) {
        (Some(_), Some(_)) => Err(Refusal::bad_request(
            "include_attributes and exclude_attributes cannot be set together",
        )),
        (None, None) | (Some(Value::Bool(false)), None) => Ok(Box::new(|_| false)),
        (Some(Value::Bool(true)), None) => Ok(Box::new(|_| true)),
        (Some(wanted), None) => {
            let wanted = names(wanted, "include_attributes")?;
            for name in wanted.iter().filter(|name| *name != "id") {
                namespace.schema.known(name)?;
            }
            Ok(Box::new(move |name| wanted.iter().any(|wanted| wanted == name)))
        }
        (None, Some(unwanted)) => {
            let unwanted = names(unwanted, "exclude_attributes")?;
            Ok(Box::new(move |name| !unwanted.iter().any(|unwanted| unwanted == name)))
        }
    }
}

fn encode_vectors(namespace: &Namespace, row: &mut Map<String, Value>) {
    for name in namespace.schema.vectors() {
        if let Some(value) = row.get_mut(name)
            && let Ok(numbers) = vector(value)
        {
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            *value = STANDARD.encode(bytes).into();
        }
    }
}

fn aggregated(
    namespace: &Namespace,
    query: &Map<String, Value>,
    aggregate_by: &Value,
    ids: &[Id],
) -> Outcome<Value> {
    if query.contains_key("include_attributes") {
        return Err(Refusal::bad_request(
            "aggregate_by and include_attributes cannot be set together",
        ));
    }
    let aggregates = aggregate_by.as_object().ok_or_else(|| {
        Refusal::unprocessable(format!("invalid type: {}, expected a map", kind(aggregate_by)))
    })?;
    let figures = |ids: &[Id]| -> Outcome<Map<String, Value>> {
        aggregates
            .iter()
            .map(|(label, function)| Ok((label.clone(), aggregate(namespace, function, ids)?)))
            .collect()
    };
    let Some(group_by) = query.get("group_by") else {
        return Ok(json!({"aggregations": figures(ids)?}));
    };
    let mut names = vec![];
    for name in array(group_by, "group_by")? {
        let name = name.as_str().ok_or_else(|| Refusal::unsupported("a function in group_by"))?;
        namespace.schema.filterable(name)?;
        names.push(name);
    }
    let mut groups: BTreeMap<String, (Vec<Value>, Vec<Id>)> = BTreeMap::new();
    for id in ids {
        let key: Vec<Value> = names.iter().map(|name| namespace.value(id, name)).collect();
        let group = groups.entry(Value::from(key.clone()).to_string()).or_default();
        group.0 = key;
        group.1.push(id.clone());
    }
    let mut shown = vec![];
    let limit = limit_of(query)?.unwrap_or(MAX_LIMIT) as usize;
    for (key, ids) in groups.into_values().take(limit) {
        let mut group = figures(&ids)?;
        for (name, value) in names.iter().zip(key) {
            group.insert((*name).to_owned(), value);
        }
        shown.push(Value::Object(group));
    }
    Ok(json!({"aggregation_groups": shown}))
}

fn aggregate(namespace: &Namespace, function: &Value, ids: &[Id]) -> Outcome<Value> {
    match array(function, "aggregate_by")?.as_slice() {
        [Value::String(name)] if name == "Count" => Ok(ids.len().into()),
        [Value::String(name), Value::String(_)] if name == "Count" => {
            Err(Refusal::unsupported("Count of an attribute"))
        }
        [Value::String(name), Value::String(attribute)] if name == "Sum" => {
            let kind = namespace.schema.known(attribute)?.kind.name();
            if !["int", "uint", "float"].contains(&kind.as_str()) {
                return Err(Refusal::bad_request(format!("`{attribute}` is not a number")));
            }
            let values = ids.iter().map(|id| namespace.value(id, attribute));
            if kind == "float" {
                return Ok(values.filter_map(|value| value.as_f64()).sum::<f64>().into());
            }
            Ok(values.filter_map(|value| value.as_i64()).sum::<i64>().into())
        }
        _ => Err(Refusal::bad_request(format!("invalid aggregate function {function}"))),
    }
}

//! Writes: every part is checked before any of it is applied.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::error::{Outcome, Refusal, array, boolean, kind, object};
use super::filter::Filter;
use super::schema::Metric;
use super::state::{Namespace, Row, State};
use super::value::Id;

/// The largest row, in bytes.
const MAX_ROW_BYTES: usize = 64 << 20;
/// Rows that one patch by filter changes.
const MAX_PATCHED_BY_FILTER: usize = 50_000;
/// Rows that one delete by filter erases.
const MAX_DELETED_BY_FILTER: usize = 5_000_000;

const FIELDS: [&str; 20] = [
    "upsert_rows",
    "upsert_columns",
    "patch_rows",
    "patch_columns",
    "deletes",
    "delete_by_filter",
    "delete_by_filter_allow_partial",
    "patch_by_filter",
    "patch_by_filter_allow_partial",
    "upsert_condition",
    "patch_condition",
    "delete_condition",
    "distance_metric",
    "schema",
    "return_affected_ids",
    "disable_backpressure",
    "encryption",
    "sharding",
    "copy_from_namespace",
    "branch_from_namespace",
];
const UNSUPPORTED: [&str; 7] = [
    "upsert_condition",
    "patch_condition",
    "delete_condition",
    "encryption",
    "sharding",
    "copy_from_namespace",
    "branch_from_namespace",
];

/// What a write did.
#[derive(Debug, Default)]
struct Done {
    upserted: Vec<Id>,
    patched: Vec<Id>,
    deleted: Vec<Id>,
    /// Whether a filter fits more rows than one request changes.
    is_partial: bool,
}

/// Applies the body of a write.
pub(super) fn apply(state: &mut State, name: &str, body: &Value) -> Outcome<Value> {
    let request = object(body, "Write", &FIELDS)?;
    for field in UNSUPPORTED {
        if request.get(field).is_some_and(|value| !value.is_null()) {
            return Err(Refusal::unsupported(&format!("`{field}`")));
        }
    }
    let (mut draft, exists) = state.draft(name);
    let n_vectors = draft.schema.vectors().count();
    if let Some(metric) = request.get("distance_metric") {
        let metric = Metric::parse(metric)?;
        if draft.schema.metric.is_some_and(|known| known != metric) {
            return Err(Refusal::bad_request("distance_metric cannot change"));
        }
        draft.schema.metric = Some(metric);
    }
    if let Some(schema) = request.get("schema") {
        let mut schema = schema.clone();
        if let Some(id) = schema.as_object_mut().and_then(|schema| schema.remove("id")) {
            draft.id_type = Some(read_id_type(&id)?);
        }
        draft.schema.declare(&schema)?;
    }
    let mut done = Done::default();
    if let Some(filter) = request.get("delete_by_filter") {
        let filter = Filter::read(&draft.schema, filter)?;
        let allows_partial = flag(request, "delete_by_filter_allow_partial")?;
        let ids = fitting(&draft, &filter, MAX_DELETED_BY_FILTER, allows_partial, &mut done)?;
        ids.iter().for_each(|id| drop(draft.rows.remove(id)));
        done.deleted.extend(ids);
    }
    if let Some(patch) = request.get("patch_by_filter") {
        let allows_partial = flag(request, "patch_by_filter_allow_partial")?;
        patch_by_filter(&mut draft, patch, allows_partial, &mut done)?;
    }
    let mut named = BTreeSet::new();
    for (id, row) in read_rows(request, "upsert")? {
        once(&mut named, &id)?;
        upsert(&mut draft, &id, &row)?;
        done.upserted.push(id);
    }
    for (id, row) in read_rows(request, "patch")? {
        once(&mut named, &id)?;
        if draft.rows.contains_key(&id) {
            patch(&mut draft, &id, &row)?;
            done.patched.push(id);
        }
    }
    if let Some(deletes) = request.get("deletes") {
        for id in array(deletes, "deletes")? {
            let id = Id::read(id)?;
            once(&mut named, &id)?;
            if draft.rows.remove(&id).is_some() {
                done.deleted.push(id);
            }
        }
    }
    if exists && draft.schema.vectors().count() != n_vectors {
        return Err(Refusal::bad_request("vector columns are fixed when a namespace is created"));
    }
    let is_making = !done.upserted.is_empty() || request.contains_key("schema");
    if !exists && !is_making {
        return Err(Refusal::not_found(format!("namespace `{name}` was not found")));
    }
    state.put(name, draft);
    let wants_ids = flag(request, "return_affected_ids")?;
    Ok(report(request, &done, wants_ids))
}

fn flag(request: &Map<String, Value>, name: &str) -> Outcome<bool> {
    request.get(name).map_or(Ok(false), |value| boolean(value, name))
}

/// Gives the rows that a filter fits, as many as one request may change.
fn fitting(
    draft: &Namespace,
    filter: &Filter,
    allowed: usize,
    allows_partial: bool,
    done: &mut Done,
) -> Outcome<Vec<Id>> {
    let mut ids: Vec<Id> = draft.rows.keys().filter(|id| filter.fits(draft, id)).cloned().collect();
    if ids.len() > allowed {
        if !allows_partial {
            return Err(Refusal::bad_request(format!(
                "the filter fits {} documents, one request changes {allowed}",
                ids.len()
            )));
        }
        ids.truncate(allowed);
        done.is_partial = true;
    }
    Ok(ids)
}

fn report(request: &Map<String, Value>, done: &Done, wants_ids: bool) -> Value {
    let mut answer = json!({
        "status": "OK",
        "message": "documents written",
        "rows_affected": done.upserted.len() + done.patched.len() + done.deleted.len(),
        "billing": {"billable_logical_bytes_written": 0},
        "performance": {"server_total_ms": 1},
    });
    let parts: [(&str, &[Id], &[&str]); 3] = [
        ("upserted", &done.upserted, &["upsert_rows", "upsert_columns"]),
        ("patched", &done.patched, &["patch_rows", "patch_columns", "patch_by_filter"]),
        ("deleted", &done.deleted, &["deletes", "delete_by_filter"]),
    ];
    for (name, ids, fields) in parts {
        if fields.iter().any(|field| request.contains_key(*field)) {
            answer[format!("rows_{name}")] = ids.len().into();
        }
        if wants_ids && !ids.is_empty() {
            answer[format!("{name}_ids")] = ids.iter().map(Id::to_json).collect();
        }
    }
    if done.is_partial {
        answer["rows_remaining"] = true.into();
    }
    answer
}

fn read_id_type(value: &Value) -> Outcome<&'static str> {
    let text = value.as_str().or_else(|| value["type"].as_str());
    ["uint", "uuid", "string"]
        .into_iter()
        .find(|known| Some(*known) == text)
        .ok_or_else(|| Refusal::bad_request(format!("invalid type of id: {value}")))
}

fn once(named: &mut BTreeSet<Id>, id: &Id) -> Outcome<()> {
    if named.insert(id.clone()) {
        return Ok(());
    }
    Err(Refusal::bad_request(format!("document id {} is written twice", id.to_json())))
}

/// Reads rows in either of their two forms.
fn read_rows(request: &Map<String, Value>, what: &str) -> Outcome<Vec<(Id, Row)>> {
    let mut rows = vec![];
    if let Some(given) = request.get(&format!("{what}_rows")) {
        for row in array(given, &format!("{what}_rows"))? {
            let row = row.as_object().ok_or_else(|| {
                Refusal::unprocessable(format!("invalid type: {}, expected a map", kind(row)))
            })?;
            let id = row.get("id").ok_or_else(|| Refusal::unprocessable("missing field `id`"))?;
            let attributes =
                row.iter().filter(|(name, _)| *name != "id").map(|(n, v)| (n.clone(), v.clone()));
            rows.push((Id::read(id)?, attributes.collect()));
        }
    }
    if let Some(given) = request.get(&format!("{what}_columns")) {
        let columns = given.as_object().ok_or_else(|| {
            Refusal::unprocessable(format!("invalid type: {}, expected a map", kind(given)))
        })?;
        let ids = columns.get("id").ok_or_else(|| Refusal::unprocessable("missing field `id`"))?;
        let ids = array(ids, "id")?;
        let mut read: Vec<(Id, Row)> =
            ids.iter().map(|id| Ok((Id::read(id)?, Row::new()))).collect::<Outcome<_>>()?;
        for (name, values) in columns.iter().filter(|(name, _)| *name != "id") {
            let values = array(values, name)?;
            if values.len() != ids.len() {
                return Err(Refusal::bad_request(format!(
                    "column `{name}` has {} values for {} ids",
                    values.len(),
                    ids.len()
                )));
            }
            for ((_, row), value) in read.iter_mut().zip(values) {
                row.insert(name.clone(), value.clone());
            }
        }
        rows.extend(read);
    }
    Ok(rows)
}

fn upsert(draft: &mut Namespace, id: &Id, row: &Row) -> Outcome<()> {
    check_id(draft, id)?;
    let n_bytes: usize = row.values().map(|value| value.to_string().len()).sum();
    if n_bytes > MAX_ROW_BYTES {
        return Err(Refusal::bad_request(format!(
            "a document has {n_bytes} bytes, the limit is {MAX_ROW_BYTES}"
        )));
    }
    let mut kept = Row::new();
    for (name, value) in row {
        let value = draft.schema.admit(name, value)?;
        kept.insert(name.clone(), value);
    }
    for name in draft.schema.vectors() {
        if kept.get(name).is_none_or(Value::is_null) {
            return Err(Refusal::bad_request(format!(
                "document {} has no `{name}`, which every document of this namespace needs",
                id.to_json()
            )));
        }
    }
    draft.rows.insert(id.clone(), kept);
    Ok(())
}

fn patch(draft: &mut Namespace, id: &Id, row: &Row) -> Outcome<()> {
    for (name, value) in row {
        if draft.schema.vectors().any(|vector| vector == name) {
            return Err(Refusal::bad_request(format!("vector `{name}` cannot be patched")));
        }
        let value = draft.schema.admit(name, value)?;
        draft.rows.entry(id.clone()).or_default().insert(name.clone(), value);
    }
    Ok(())
}

fn patch_by_filter(
    draft: &mut Namespace,
    value: &Value,
    allows_partial: bool,
    done: &mut Done,
) -> Outcome<()> {
    let request = object(value, "PatchByFilter", &["filters", "patch"])?;
    let (Some(filters), Some(Value::Object(given))) =
        (request.get("filters"), request.get("patch"))
    else {
        return Err(Refusal::unprocessable("patch_by_filter needs `filters` and `patch`"));
    };
    let filter = Filter::read(&draft.schema, filters)?;
    let row: Row = given.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    for id in fitting(draft, &filter, MAX_PATCHED_BY_FILTER, allows_partial, done)? {
        patch(draft, &id, &row)?;
        done.patched.push(id);
    }
    Ok(())
}

fn check_id(draft: &mut Namespace, id: &Id) -> Outcome<()> {
    let found = match id {
        Id::Number(_) => "uint",
        Id::Text(_) => "string",
    };
    let known = *draft.id_type.get_or_insert(found);
    let fits = known == found || (known == "uuid" && found == "string");
    if !fits {
        return Err(Refusal::bad_request(format!(
            "ids of this namespace have type {known}, got {}",
            id.to_json()
        )));
    }
    Ok(())
}

//! `aggregate_table`: counts, sums, means and percentiles of groups of rows, without SQL.

use std::sync::Arc;

use model::Caller;
use serde_json::{Value, json};
use tables::{
    AggregateResponse, Calendar, DEFAULT_GROUPS, MAX_GROUPINGS, MAX_GROUPS, MAX_MEASURES, Schema,
    Service,
};
use text::Budget;

use super::aggregate_arguments::{OPS, aggregate_request};
use super::answer::{ADVICE, error, names, schema_of, schemas};
use super::page::shorter_cells;
use super::query_table::with_table;
use super::redaction::{aggregate_paths, count};
use super::written::row_objects;
use crate::paging::{Filled, NOTICE_CHARS, fill};
use crate::per_caller::PerCaller;
use crate::{Answer, Call, Spec, Tool, ToolError};

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

impl Tool for AggregateTable {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        self.specs.get(names(&self.service, caller), |names| {
            aggregate_table_spec(&schemas(&self.service, names))
        })
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let request = aggregate_request(&Value::Object(call.arguments.clone()))
            .map_err(|cause| error(&cause))?;
        let mut response = self
            .service
            .aggregate(call.caller, &request, call.deadline)
            .map_err(|cause| error(&cause))?;
        // `next` and the totals say it here.
        response.warnings.retain(|warning| warning.code != "groups_cut");
        let table = request.table.as_deref();
        let schema = schema_of(&self.service, call.caller, table);
        aggregate_answer(schema, &response, call.budget)
    }
}

fn buckets() -> [&'static str; 7] {
    Calendar::ALL.map(Calendar::as_str)
}

/// Writes an answer.
fn to_json(response: &AggregateResponse) -> Value {
    let mut answer = json!({
        "rows": row_objects(&response.columns, &response.rows),
        "total_groups": response.total_groups,
        "total_rows": response.total_rows,
    });
    if let Some(offset) = response.next_offset {
        answer["next_offset"] = offset.into();
    }
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
    .with_output(aggregate_output_schema())
    .with_source_text(&["/rows/*/*"]);
    spec.advice = Some(ADVICE.to_owned());
    spec
}

/// Writes groups as far as they are within a budget, redacted.
pub(super) fn aggregate_answer(
    schema: Option<&Schema>,
    response: &AggregateResponse,
    budget: Budget,
) -> Result<Answer, ToolError> {
    let mut window = response.window;
    loop {
        let mut shown = response.clone();
        let (paths, n_hidden) = aggregate_paths(schema, &mut shown, window);
        let mut whole = Answer::of(&to_json(&shown))?;
        count(&mut whole, n_hidden);
        let mut value = whole.value;
        let rows = value["rows"].as_array_mut().map(std::mem::take).unwrap_or_default();
        // A row that is over the budget alone is shown in shorter pieces.
        let room = budget.without(&format!("{value}{}", " ".repeat(2 * NOTICE_CHARS)));
        let first = rows.first().map(Value::to_string).unwrap_or_default();
        if let Some(allowed) = room.allowed_chars(&first)
            && let Some(shorter) = shorter_cells(window, allowed, first.chars().count())
        {
            window = shorter;
            continue;
        }
        let Filled { mut value, n_kept } = fill(value, "rows", rows, &budget);
        if let Some(next) = shown.next_after(n_kept) {
            value["next"] = json!(next);
        }
        return Ok(Answer::new(value).with_n_results(n_kept).with_source_text(paths));
    }
}

/// Gives the JSON Schema of the answer.
pub(super) fn aggregate_output_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "rows": { "type": "array", "items": { "type": "object" } },
            "total_groups": { "type": "integer" },
            "total_rows": { "type": "integer" },
            "time_zone": { "type": "string" },
            "next": { "type": "string" },
            "next_offset": { "type": "integer" },
            "warnings": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["rows", "total_groups", "total_rows"],
    })
}

pub(super) fn input_schema(schemas: &[&Schema]) -> Value {
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
            "offset": {
                "type": "integer", "minimum": 0, "maximum": u32::MAX, "description": "`next_offset`: read on in long values",
            },
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

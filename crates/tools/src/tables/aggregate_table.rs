//! `aggregate_table`: counts, sums, means and percentiles of groups of rows, without SQL.

use std::sync::Arc;

use model::Caller;
use serde_json::{Map, Value, json};
use tables::{AggregateResponse, CellWindow, Schema, Service};
use text::Budget;

use super::answer::{ADVICE, error, names, schema_of, schemas};
use super::arguments::{AggregateArguments, from_accepted};
use super::page::{longest_piece, shorter_cells};
use super::query_table::with_table;
use super::redaction::{aggregate_paths, count};
use super::schemas::aggregate_input_schema;
use super::written::row_objects;
use crate::paging::{Filled, NOTICE_CHARS, fill};
use crate::per_caller::PerCaller;
use crate::{Answer, Call, Spec, Tool, ToolError, Walk};

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
        let walk = walk_of(call.arguments);
        let mut accepted = call.arguments.clone();
        if let Some(Value::String(cursor)) = accepted.get_mut("cursor") {
            *cursor = walk.read(cursor)?.to_owned();
        }
        let arguments: AggregateArguments =
            from_accepted(accepted).map_err(|cause| error(&cause))?;
        let request = arguments.into_request().map_err(|cause| error(&cause))?;
        let mut response = self
            .service
            .aggregate(call.caller, &request, call.deadline)
            .map_err(|cause| error(&cause))?;
        // `next` and the totals say it here.
        response.warnings.retain(|warning| warning.code != "groups_cut");
        let table = request.table.as_deref();
        let schema = schema_of(&self.service, call.caller, table);
        let mut answer = aggregate_answer(schema, &response, call.budget)?;
        if let Some(Value::String(next)) = answer.value.get_mut("next") {
            *next = walk.written(next);
        }
        Ok(answer)
    }
}

/// Gives the walk through the groups that arguments ask for.
fn walk_of(arguments: &Map<String, Value>) -> Walk {
    let how_much = ["cursor", "limit", "offset"];
    let of: Map<String, Value> = arguments
        .iter()
        .filter(|(name, _)| !how_much.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Walk::of("aggregate_table", &Value::Object(of))
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
    .with_input(with_table(aggregate_input_schema::<AggregateArguments>(schemas)))
    .with_shown_input(aggregate_input_schema::<AggregateArguments>(schemas))
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
    // Which groups are here and which of their values are whole is decided by the beginning of the
    // values, so that both are the same at every offset.
    let mut window = CellWindow::first(longest_piece(&budget, response.rows.len()));
    let mut n_first = None;
    loop {
        let mut shown = response.clone();
        let (paths, n_hidden) = aggregate_paths(schema, &mut shown, window);
        let mut whole = Answer::of(&to_json(&shown))?;
        count(&mut whole, n_hidden);
        let mut value = whole.value;
        let mut rows = value["rows"].as_array_mut().map(std::mem::take).unwrap_or_default();
        let left = budget.without_sentences(2 * NOTICE_CHARS).without(&value.to_string());
        // A row that is over the budget alone is shown in shorter pieces, and so are all that
        // were there before at an offset behind the beginning.
        let n_written = n_first.unwrap_or(1).min(rows.len());
        let written: String = rows.iter().take(n_written).map(Value::to_string).collect();
        if let Some(allowed) = left.allowed_chars(&written)
            && let Some(shorter) = shorter_cells(window, allowed, written.chars().count())
        {
            window.max_chars = shorter.max_chars;
            if window.offset == 0 {
                window = CellWindow::first(window.max_chars);
            }
            continue;
        }
        let n_rows = rows.len();
        if let Some(n_first) = n_first {
            rows.truncate(n_first);
        }
        let Filled { mut value, n_kept } = fill(value, "rows", rows, &budget);
        if window.offset < response.window.offset {
            (window.offset, n_first) = (response.window.offset, Some(n_kept));
            continue;
        }
        if n_kept < n_rows {
            value["truncated"] = json!(true);
        }
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

//! `query_table`: filtered, faceted and sorted rows.

use std::sync::Arc;

use model::Caller;
use serde_json::{Value, json};
use tables::{
    ExportFormat, QueryRequest, QueryResponse, Schema, Service, TableHandler, handler_input_schema,
    lenient_input_schema, query_input_schema, query_output_schema,
};
use text::Budget;

use super::answer::{ADVICE, error, names, schema_of, schemas};
use super::redaction::query_answer;
use crate::paging::{Cut, shorten};
use crate::per_caller::PerCaller;
use crate::{Answer, Call, Spec, Tool, ToolError};

/// Room for the notice that a page was shortened.
const NOTICE_CHARS: usize = 400;

/// The tool.
pub struct QueryTable {
    service: Service,
    specs: PerCaller,
    /// Where links to exports start; none are given without it.
    base_url: Option<String>,
}

impl QueryTable {
    /// Queries the tables of a service.
    pub fn new(service: Service) -> Self {
        QueryTable { service, specs: PerCaller::default(), base_url: None }
    }

    /// Queries the tables of a service, and gives links to whole results on request.
    pub fn with_exports(service: Service, base_url: &str) -> Self {
        QueryTable { base_url: Some(base_url.to_owned()), ..QueryTable::new(service) }
    }

    /// Makes a link to all rows of a query.
    fn export(
        &self,
        call: &Call<'_>,
        request: &QueryRequest,
        format: &str,
    ) -> Result<Value, ToolError> {
        let format = ExportFormat::named(format)
            .ok_or_else(|| ToolError::bad_request("`export` takes `csv`, `jsonl` or `parquet`"))?;
        let (token, lifetime) = self
            .service
            .link_export(call.caller, request, format, call.deadline)
            .map_err(|cause| error(&cause))?;
        let base = self.base_url.as_deref().unwrap_or_default();
        Ok(json!({
            "url": format!("{base}/v1/exports/{token}"),
            "format": format.as_str(),
            "valid_minutes": lifetime.as_secs() / 60,
        }))
    }
}

impl Tool for QueryTable {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        self.specs.get(names(&self.service, caller), |names| {
            let schemas = schemas(&self.service, names);
            let mut spec = query_table_spec(&schemas);
            if self.base_url.is_some() {
                let mut input = query_input_schema(&schemas);
                input["properties"]["export"] = json!({
                    "type": "string",
                    "enum": ExportFormat::ALL.map(ExportFormat::as_str),
                    "description": "also give a link to a file with all matching rows"
                });
                spec = with_query_input(spec, input);
            }
            spec
        })
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let mut arguments = call.arguments.clone();
        let wanted = self.base_url.as_ref().and_then(|_| arguments.shift_remove("export"));
        let request =
            QueryRequest::from_json(&Value::Object(arguments)).map_err(|cause| error(&cause))?;
        let query = |request: &QueryRequest| {
            self.service.query(call.caller, request, call.deadline).map_err(|cause| error(&cause))
        };
        let response = query(&request)?;
        let schema = schema_of(&self.service, call.caller, request.table.as_deref());
        let mut answer = query_answer(schema, &response)?;
        let n_wanted = response.rows.len();
        let mut n_rows = n_wanted;
        // A page that is over the budget is asked for again with fewer rows, so that `next`
        // continues right behind the last of them.
        while let Some(fewer) = fewer_rows(&mut answer, n_rows, &call.budget) {
            n_rows = fewer;
            let request = QueryRequest { max_rows: Some(n_rows as u64), ..request.clone() };
            answer = query_answer(schema, &query(&request)?)?;
        }
        if n_rows < n_wanted {
            let notice = format!(
                "{n_rows} of the {n_wanted} rows of the page are here, since more would not fit \
                 one answer: call again with `next` as `cursor`"
            );
            answer = answer.with_notes(vec![notice]);
        }
        if let Some(format) = wanted.as_ref().and_then(Value::as_str) {
            answer.value["export"] = self.export(call, &request, format)?;
        }
        Ok(answer)
    }
}

/// Tells with how many rows an answer is within a budget, when it is not with those it has.
///
/// Facets may take half of the budget. An answer of one row is shortened where it is longest;
/// either is said in its warnings.
pub fn fewer_rows(answer: &mut Answer, n_rows: usize, budget: &Budget) -> Option<usize> {
    // The notices about all this take room as well.
    let budget = Budget {
        chars: budget.chars.saturating_sub(NOTICE_CHARS),
        tokens: budget.tokens.saturating_sub(NOTICE_CHARS / 3),
    };
    let mut allowed = budget.allowed_chars(&answer.value.to_string())?;
    let mut notes = Vec::new();
    if let Some(facets) = answer.value.get_mut("facets") {
        let half = Budget { chars: budget.chars / 2, tokens: budget.tokens / 2 };
        let cuts = shorten(facets, &half);
        if !cuts.is_empty() {
            let places: Vec<&str> =
                cuts.iter().filter_map(|cut| cut.place.split('.').nth(1)).collect();
            notes.push(format!(
                "not all values of {} are counted here, since they would not fit one answer: \
                 name fewer `facets`",
                places.join(", ")
            ));
        }
        match budget.allowed_chars(&answer.value.to_string()) {
            Some(still) => allowed = still,
            None => {
                add_notes(answer, notes);
                return None;
            }
        }
    }
    if n_rows > 1 {
        let n_chars = answer.value.to_string().chars().count().max(1);
        return Some((n_rows * allowed / n_chars).min(n_rows * 7 / 8).max(1));
    }
    for Cut { place, n_kept, n_all, unit } in shorten(&mut answer.value, &budget) {
        let place = place.trim_start_matches('.');
        notes.push(format!(
            "`{place}` is too long for one answer: {n_kept} of {n_all} {unit} are here; name \
             fewer `columns` to see more of it"
        ));
    }
    add_notes(answer, notes);
    None
}

fn add_notes(answer: &mut Answer, notes: Vec<String>) {
    let value = Answer::new(std::mem::take(&mut answer.value)).with_notes(notes).value;
    answer.value = value;
}

/// Shows a schema of the arguments, and takes every form of a filter.
pub fn with_query_input(spec: Spec, shown: Value) -> Spec {
    spec.with_input(with_table(lenient_input_schema(shown.clone()))).with_shown_input(shown)
}

/// Takes the name of the only table as well, which the shown schema leaves out.
pub(super) fn with_table(mut input: Value) -> Value {
    if input["properties"].get("table").is_none() {
        input["properties"]["table"] = json!({ "type": "string" });
    }
    input
}

/// Writes an answer over a table of this schema as the tool gives it.
pub fn query_table_answer(schema: &Schema, response: &QueryResponse) -> Result<Answer, ToolError> {
    query_answer(Some(schema), response)
}

/// Describes the tool over the data of a mounted program: what its function has, and no more.
pub fn mounted_query_spec(handler: &TableHandler) -> Spec {
    let spec = described(&[handler.schema()], handler.has_facets());
    with_query_input(spec, handler_input_schema(handler))
}

/// Describes the tool over the tables of these schemas.
pub fn query_table_spec(schemas: &[&Schema]) -> Spec {
    with_query_input(described(schemas, true), query_input_schema(schemas))
}

fn described(schemas: &[&Schema], has_facets: bool) -> Spec {
    let what = match schemas {
        [schema] => match &schema.description {
            Some(description) => format!("Query `{}`: {description}.", schema.name),
            None => format!("Query `{}`.", schema.name),
        },
        schemas => format!("Query one of {} tables.", schemas.len()),
    };
    let counts = if has_facets {
        "; format `stats` adds exact facet counts over all matching rows"
    } else {
        ""
    };
    let mut spec = Spec::read_only(
        "query_table",
        "Query table",
        &format!("{what} Filters, sorting, pages{counts}. Call describe_schema first."),
    )
    .with_output(query_output_schema())
    .with_source_text(&[
        "/rows/*/*",
        "/markdown",
        "/csv",
        "/facets/*/rows/*/value",
        "/did_you_mean/*/suggestions/*",
    ]);
    spec.advice = Some(ADVICE.to_owned());
    spec
}

//! `query_table`: filtered, faceted and sorted rows.

use std::sync::Arc;

use model::Caller;
use serde_json::{Value, json};
use tables::{
    ExportFormat, QueryRequest, QueryResponse, Schema, Service, lenient_input_schema,
    query_input_schema, query_output_schema,
};
use text::Budget;

use super::answer::{ADVICE, error, names, schema_of, schemas};
use super::redaction::query_answer;
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
        let mut n_rows = response.rows.len();
        let n_wanted = n_rows;
        // A page that is over the budget is asked for again with fewer rows, so that `next`
        // continues right behind the last of them.
        // The notice about that takes room as well.
        let budget = Budget {
            chars: call.budget.chars.saturating_sub(NOTICE_CHARS),
            tokens: call.budget.tokens.saturating_sub(NOTICE_CHARS / 3),
        };
        while let Some(allowed) = budget.allowed_chars(&answer.value.to_string())
            && n_rows > 1
        {
            let n_chars = answer.value.to_string().chars().count().max(1);
            n_rows = (n_rows * allowed / n_chars).min(n_rows * 7 / 8).max(1);
            let fewer = QueryRequest { max_rows: Some(n_rows as u64), ..request.clone() };
            answer = query_answer(schema, &query(&fewer)?)?;
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

/// Shows a schema of the arguments, and takes every form of a filter.
pub fn with_query_input(spec: Spec, shown: Value) -> Spec {
    spec.with_input(lenient_input_schema(shown.clone())).with_shown_input(shown)
}

/// Writes an answer over a table of this schema as the tool gives it.
pub fn query_table_answer(schema: &Schema, response: &QueryResponse) -> Result<Answer, ToolError> {
    query_answer(Some(schema), response)
}

/// Describes the tool over the tables of these schemas.
pub fn query_table_spec(schemas: &[&Schema]) -> Spec {
    let what = match schemas {
        [schema] => match &schema.description {
            Some(description) => format!("Query `{}`: {description}.", schema.name),
            None => format!("Query `{}`.", schema.name),
        },
        schemas => format!("Query one of {} tables.", schemas.len()),
    };
    let mut spec = Spec::read_only(
        "query_table",
        "Query table",
        &format!(
            "{what} Filters, sorting, pages; format `stats` adds exact facet counts over all \
             matching rows. Call describe_schema first."
        ),
    )
    .with_output(query_output_schema())
    .with_source_text(&[
        "/rows/*/*",
        "/markdown",
        "/csv",
        "/facets/*/rows/*/value",
        "/did_you_mean/*/suggestions/*",
    ])
    .with_list("/rows");
    spec.advice = Some(ADVICE.to_owned());
    with_query_input(spec, query_input_schema(schemas))
}

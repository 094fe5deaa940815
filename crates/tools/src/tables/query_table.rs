//! `query_table`: filtered, faceted and sorted rows.

use std::sync::Arc;

use model::Caller;
use serde_json::{Value, json};
use tables::{ExportFormat, QueryRequest, Schema, Service, TableHandler};

use super::answer::{ADVICE, error, names, schema_of, schemas};
use super::arguments::{QueryArguments, from_accepted};
use super::page::query_page;
use super::schemas::{
    exporting_input_schema, handler_input_schema, lenient_input_schema, query_input_schema,
    query_output_schema, with_few_filters,
};
use crate::per_caller::PerCaller;
use crate::{Answer, Call, Spec, Tool, ToolError};

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
                let input = with_few_filters(exporting_input_schema(&schemas), &schemas);
                spec = with_query_input(spec, input);
            }
            spec
        })
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let mut arguments: QueryArguments =
            from_accepted(call.arguments.clone()).map_err(|cause| error(&cause))?;
        let wanted = arguments.export.take();
        let request = arguments.into_request().map_err(|cause| error(&cause))?;
        let schema = schema_of(&self.service, call.caller, request.table.as_deref());
        let query = |request: &QueryRequest| {
            self.service.query(call.caller, request, call.deadline).map_err(|cause| error(&cause))
        };
        let mut answer = query_page(schema, &request, &call.budget, &query)?;
        if let Some(format) = wanted.as_deref() {
            answer.value["export"] = self.export(call, &request, format)?;
        }
        Ok(answer)
    }
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

//! `query_table`: filtered, faceted and sorted rows.

use std::sync::Arc;

use model::Caller;
use serde_json::Value;
use tables::{
    QueryRequest, QueryResponse, Schema, Service, query_input_schema, query_output_schema,
};

use super::answer::{ADVICE, error, names, schemas};
use crate::per_caller::PerCaller;
use crate::{Answer, Call, Spec, Tool, ToolError};

/// The tool.
pub struct QueryTable {
    service: Service,
    specs: PerCaller,
}

impl QueryTable {
    /// Queries the tables of a service.
    pub fn new(service: Service) -> Self {
        QueryTable { service, specs: PerCaller::default() }
    }
}

impl Tool for QueryTable {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        self.specs.get(names(&self.service, caller), |names| {
            query_table_spec(&schemas(&self.service, names))
        })
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let arguments = Value::Object(call.arguments.clone());
        let request = QueryRequest::from_json(&arguments).map_err(|cause| error(&cause))?;
        let query = |request: &QueryRequest| {
            self.service.query(call.caller, request, call.deadline).map_err(|cause| error(&cause))
        };
        let response = query(&request)?;
        let mut answer = query_table_answer(&response)?;
        let mut n_rows = response.rows.len();
        let n_wanted = n_rows;
        // A page that is over the budget is asked for again with fewer rows, so that `next`
        // continues right behind the last of them.
        while let Some(allowed) = call.budget.allowed_chars(&answer.value.to_string())
            && n_rows > 1
        {
            let n_chars = answer.value.to_string().chars().count().max(1);
            n_rows = (n_rows * allowed / n_chars).min(n_rows * 7 / 8).max(1);
            let fewer = QueryRequest { max_rows: Some(n_rows as u64), ..request.clone() };
            answer = query_table_answer(&query(&fewer)?)?;
        }
        if n_rows < n_wanted {
            let notice = format!(
                "{n_rows} of the {n_wanted} rows of the page are here, since more would not fit \
                 one answer: call again with `next` as `cursor`"
            );
            answer = answer.with_notes(vec![notice]);
        }
        Ok(answer)
    }
}

/// Writes an answer as the tool gives it.
pub fn query_table_answer(response: &QueryResponse) -> Result<Answer, ToolError> {
    Ok(Answer::of(&response.to_json())?.with_n_results(response.rows.len()))
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
    .with_input(query_input_schema(schemas))
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
    spec
}

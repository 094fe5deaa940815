//! `search_filters` and `search_filters_batch`: the exact value behind a name.

use std::sync::Arc;

use filters::{DEFAULT_LIMIT, MAX_BATCH, MAX_LIMIT, MAX_QUERY_CHARS, Service};
use model::Caller;
use serde_json::{Value, json};

use crate::per_caller::PerCaller;
use crate::{Answer, Call, Code, ErrorShape, Spec, Tool, ToolError};

/// One lookup.
pub struct SearchFilters {
    service: Service,
    specs: PerCaller,
}

/// Many lookups in one call.
pub struct SearchFiltersBatch {
    service: Service,
    specs: PerCaller,
}

impl SearchFilters {
    /// Looks names up in the dimensions of a service.
    pub fn new(service: Service) -> Self {
        SearchFilters { service, specs: PerCaller::default() }
    }
}

impl SearchFiltersBatch {
    /// Looks names up in the dimensions of a service.
    pub fn new(service: Service) -> Self {
        SearchFiltersBatch { service, specs: PerCaller::default() }
    }
}

impl Tool for SearchFilters {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        self.specs.get(self.service.categories(caller), single_spec)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        answer(&self.service, call, "results")
    }
}

impl Tool for SearchFiltersBatch {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        self.specs.get(self.service.categories(caller), batch_spec)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        answer(&self.service, call, "responses")
    }
}

fn answer(service: &Service, call: &Call<'_>, list: &str) -> Result<Answer, ToolError> {
    let arguments = Value::Object(call.arguments.clone());
    let value = service.call(call.caller, &arguments).map_err(|error| {
        let code = if error.is_callers() { Code::BadRequest } else { Code::InternalError };
        ToolError::new(code, error.to_string())
    })?;
    let n_results = value[list].as_array().map_or(0, Vec::len);
    Ok(Answer::of(&value)?.with_n_results(n_results))
}

fn single_spec(categories: &[String]) -> Spec {
    let mut spec = Spec::read_only(
        "search_filters",
        "Search filters",
        "Find the exact machine value for a name or code (an institution, a place, a \
         classification) to use in the filters of generate_chart_data. Take `bestMatch` when \
         present; without it the query is ambiguous: ask, or choose from `results`.",
    )
    .with_input(json!({
        "type": "object",
        "properties": query_properties(categories),
        "required": ["category", "query"],
    }))
    .with_output(json!({
        "type": "object",
        "properties": {
            "ok": { "type": "boolean" },
            "results": { "type": "array", "items": result_schema() },
            "bestMatch": result_schema(),
            "totalMatches": { "type": "integer" },
            "error": { "type": "string" },
            "warnings": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["ok", "results"],
    }))
    .with_source_text(&[
        "/results/*/name",
        "/results/*/context",
        "/bestMatch/name",
        "/bestMatch/context",
        "/results/*/metadata/**",
        "/bestMatch/metadata/**",
    ])
    .with_list("/results");
    spec.errors = ErrorShape::OkFalse;
    spec.sentences = vec![
        ("category.required", "category is required"),
        ("query.required", "query is required"),
    ];
    spec
}

fn batch_spec(categories: &[String]) -> Spec {
    let mut spec = Spec::read_only(
        "search_filters_batch",
        "Search filters, many at once",
        "The same lookups as search_filters, up to 100 in one call; answers stand in order.",
    )
    .with_input(json!({
        "type": "object",
        "properties": {
            "queries": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_BATCH,
                "items": {
                    "type": "object",
                    "properties": query_properties(categories),
                    "required": ["category", "query"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["queries"],
    }))
    .with_output(json!({
        "type": "object",
        "properties": {
            "ok": { "type": "boolean" },
            "responses": { "type": "array", "items": { "type": "object" } },
        },
        "required": ["ok", "responses"],
    }))
    .with_source_text(&[
        "/responses/*/results/*/name",
        "/responses/*/results/*/context",
        "/responses/*/bestMatch/name",
        "/responses/*/bestMatch/context",
        "/responses/*/results/*/metadata/**",
        "/responses/*/bestMatch/metadata/**",
    ])
    .with_list("/responses");
    spec.errors = ErrorShape::OkFalse;
    spec
}

fn query_properties(categories: &[String]) -> Value {
    json!({
        "category": { "type": "string", "enum": categories },
        "query": { "type": "string", "maxLength": MAX_QUERY_CHARS, "description": "name, alias or code" },
        "limit": { "type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT },
        "hint": { "type": "string", "description": "kind to prefer, such as county or city" },
        "includeMetadata": { "type": "boolean", "default": true },
        "locale": { "type": "string", "description": "language of names, such as ro or en" },
        "explain": { "type": "boolean", "default": false },
    })
}

fn result_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string" },
            "category": { "type": "string" },
            "context": { "type": "string" },
            "score": { "type": "number" },
            "filterKey": { "type": "string" },
            "filterValue": { "type": "string" },
            "metadata": { "type": "object" },
        },
        "required": ["name", "category", "score", "filterKey", "filterValue"],
    })
}

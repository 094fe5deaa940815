//! `generate_chart_data`: series over the facts that filters select, and a page that draws them.

use std::sync::Arc;

use filters::Error;
use filters::charts::{Charts, MAX_FILTER_VALUES, MAX_SERIES};
use model::Caller;
use serde_json::{Map, Value, json};

use crate::{Answer, Call, Code, Effect, ErrorShape, Link, Spec, Tool, ToolError};

/// The tool.
pub struct GenerateChartData {
    charts: Arc<Charts>,
    spec: Arc<Spec>,
}

impl GenerateChartData {
    /// Draws the facts of a service.
    pub fn new(charts: Arc<Charts>) -> Self {
        GenerateChartData { charts, spec: Arc::new(spec()) }
    }
}

impl Tool for GenerateChartData {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        self.charts.may_use(caller).then(|| Arc::clone(&self.spec))
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let arguments = Value::Object(call.arguments.clone());
        let value = self.charts.call(call.caller, &arguments, call.deadline).map_err(|error| {
            let code = if error.is_callers() { Code::BadRequest } else { Code::InternalError };
            ToolError::new(code, error.to_string()).with_hint(hint(&error))
        })?;
        let link = value["chart_url"].as_str().map(|url| Link {
            uri: url.to_owned(),
            name: call.arguments.get("title").and_then(Value::as_str).unwrap_or("chart").to_owned(),
            mime_type: Some("text/html".to_owned()),
        });
        let n_series = value["data_series"].as_array().map_or(0, Vec::len);
        let answer = Answer::of(&value)?.with_n_results(n_series);
        Ok(match link {
            Some(link) => answer.with_link(link),
            None => answer,
        })
    }
}

/// What to do about a filter that does not fit; the sentence names the place and what is right.
fn hint(error: &Error) -> String {
    if let Error::NotAvailable { name, .. } = error {
        return format!("call `generate_chart_data` again without `{name}`");
    }
    "correct it and call `generate_chart_data` again; ids and codes come from `search_filters`"
        .to_owned()
}

fn spec() -> Spec {
    let mut spec = Spec::read_only(
        "generate_chart_data",
        "Generate chart data",
        "Sum spending (`ch`) or revenue (`vn`) by year, quarter or month for what search_filters \
         returned, with statistics and a chart page (`chart_url`).",
    )
    .with_input(json!({
        "type": "object",
        "properties": {
            "title": { "type": "string", "minLength": 1, "maxLength": 500 },
            "description": { "type": "string", "maxLength": 2_000 },
            "chart_type": { "type": "string", "enum": ["line", "bar", "area", "pie"] },
            "series_definitions": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_SERIES,
                "items": {
                    "type": "object",
                    "properties": {
                        "label": { "type": "string", "minLength": 1, "maxLength": 200 },
                        "filter": filter_schema(),
                    },
                    "required": ["label", "filter"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["title", "chart_type", "series_definitions"],
    }))
    .with_output(json!({
        "type": "object",
        "properties": {
            "ok": { "type": "boolean" },
            "kind": { "type": "string" },
            "chart_id": { "type": "string" },
            "chart_url": { "type": "string" },
            "data_series": { "type": "array", "items": { "type": "object" } },
            "warnings": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["ok", "kind", "chart_id", "chart_url", "data_series"],
    }));
    spec.errors = ErrorShape::OkFalse;
    spec.effect = Effect::Creates;
    spec
}

fn filter_schema() -> Value {
    let mut properties = Map::from_iter([
        ("report_period".to_owned(), period_schema()),
        ("account_category".to_owned(), json!({ "type": "string", "enum": ["ch", "vn"] })),
    ]);
    properties.extend(values());
    let normalizations = ["total", "per_capita", "total_euro", "per_capita_euro"];
    properties.insert(
        "normalization".to_owned(),
        json!({ "type": "string", "enum": normalizations, "default": "total" }),
    );
    properties.insert(
        "exclude".to_owned(),
        json!({ "type": "object", "properties": values(), "additionalProperties": false }),
    );
    json!({
        "type": "object",
        "properties": properties,
        "required": ["report_period", "account_category"],
        "additionalProperties": false,
    })
}

fn period_schema() -> Value {
    json!({
        "type": "object",
        "description": "periods look like 2024, 2024-Q1, 2024-03",
        "properties": {
            "type": { "type": "string", "enum": ["YEAR", "QUARTER", "MONTH"] },
            "selection": {
                "type": "object",
                "description": "interval or dates",
                "properties": {
                    "interval": {
                        "type": "object",
                        "properties": { "start": { "type": "string" }, "end": { "type": "string" } },
                        "required": ["start", "end"],
                        "additionalProperties": false,
                    },
                    "dates": { "type": "array", "items": { "type": "string" } },
                },
                "additionalProperties": false,
            },
        },
        "required": ["type", "selection"],
        "additionalProperties": false,
    })
}

fn values() -> Map<String, Value> {
    let fields = [
        "entity_cuis",
        "uat_ids",
        "county_codes",
        "functional_prefixes",
        "functional_codes",
        "economic_prefixes",
        "economic_codes",
    ];
    let list =
        || json!({ "type": "array", "items": { "type": "string" }, "maxItems": MAX_FILTER_VALUES });
    fields.into_iter().map(|field| (field.to_owned(), list())).collect()
}

//! `generate_chart_data`: series over the facts that filters select, and a page that draws them.

use std::sync::Arc;

use filters::Error;
use filters::charts::Charts;
use model::Caller;
use serde_json::json;

use super::chart_arguments::Arguments;
use super::search_filters::refused;
use crate::{Answer, Call, Effect, ErrorShape, Link, Spec, Tool, ToolError};

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
        let arguments: Arguments = call.parse()?;
        let request = arguments.into_request().map_err(|error| error.with_hint(CORRECT))?;
        let answer = self
            .charts
            .generate(call.caller, &request, call.deadline)
            .map_err(|error| refused(&error).with_hint(hint(&error)))?;
        let link = Link {
            uri: answer.chart_url.clone(),
            name: request.title,
            mime_type: Some("text/html".to_owned()),
        };
        Ok(Answer::of(&answer)?.with_n_results(answer.data_series.len()).with_link(link))
    }
}

/// What to do about arguments that cannot be read.
const CORRECT: &str =
    "correct it and call `generate_chart_data` again; ids and codes come from `search_filters`";

/// What to do about a filter that does not fit; the sentence names the place and what is right.
fn hint(error: &Error) -> String {
    if let Error::NotAvailable { name, .. } = error {
        return format!("call `generate_chart_data` again without `{name}`");
    }
    CORRECT.to_owned()
}

fn spec() -> Spec {
    let mut spec = Spec::read_only(
        "generate_chart_data",
        "Generate chart data",
        "Sum spending (`ch`) or revenue (`vn`) by year, quarter or month for what search_filters \
         returned, with statistics and a chart page (`chart_url`).",
    )
    .with_arguments::<Arguments>()
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

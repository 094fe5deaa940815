//! `generate_chart_data`: series over the facts that filters select, and a page that draws them.

use std::sync::Arc;

use filters::Error;
use filters::charts::Charts;
use model::Caller;
use serde_json::{Value, json};
use text::Budget;

use super::chart_arguments::{Arguments, with_own_keys};
use super::chart_image::with_chart_image;
use super::search_filters::refused;
use crate::{Answer, Call, Effect, ErrorShape, InputSchema, Link, Spec, Tool, ToolError};

/// The tool.
pub struct GenerateChartData {
    charts: Arc<Charts>,
    spec: Arc<Spec>,
}

impl GenerateChartData {
    /// Draws the facts of a service.
    pub fn new(charts: Arc<Charts>) -> Self {
        let spec = Arc::new(spec(&charts.own_filter_keys()));
        GenerateChartData { charts, spec }
    }
}

impl Tool for GenerateChartData {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        self.charts.may_use(caller).then(|| Arc::clone(&self.spec))
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let arguments: Arguments = call.parse()?;
        if let Some(cursor) = &arguments.cursor {
            return self.go_on(call, cursor);
        }
        let wants_image = arguments.image == Some(true);
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
        let n_series = answer.data_series.len();
        let value = within(Answer::of(&answer)?.value, answer.chart_id.as_str(), 0, &call.budget);
        let drawn = Answer::new(value).with_n_results(n_series).with_link(link);
        if wants_image {
            return with_chart_image(drawn, &self.charts, call.caller, &answer.chart_id);
        }
        Ok(drawn)
    }
}

impl GenerateChartData {
    /// Gives the points that did not fit the answer before; makes no other chart.
    fn go_on(&self, call: &Call<'_>, cursor: &str) -> Result<Answer, ToolError> {
        let bad = || {
            let shown: String = cursor.chars().take(100).collect();
            ToolError::bad_request(format!("`cursor` is not a cursor of this tool: `{shown}`"))
                .with_hint("pass `next` of the answer before, or leave `cursor` out")
        };
        let (id, begin) = cursor.rsplit_once(':').ok_or_else(bad)?;
        let begin: usize = begin.parse().map_err(|_| bad())?;
        let chart =
            self.charts.get(call.caller, &filters::charts::ChartId::new(id)).map_err(|error| {
                let is_of_catalogue = matches!(error, filters::Error::Store(_));
                if is_of_catalogue { refused(&error) } else { bad() }
            })?;
        let n_series = chart.series.len();
        let value = json!({
            "ok": true,
            "kind": KIND,
            "chart_id": chart.id,
            "chart_url": self.charts.url_of(&chart.id),
            "data_series": chart.series,
        });
        let value = within(value, chart.id.as_str(), begin, &call.budget);
        Ok(Answer::new(value).with_n_results(n_series))
    }
}

/// What an answer says it is.
const KIND: &str = "chart-data.generated";

/// Room for the notice and the cursor.
const NOTICE_CHARS: usize = 600;

/// Gives as many points of every series as a budget holds, from a position on, at least one, and
/// the cursor for the rest.
pub fn within(mut value: Value, chart_id: &str, begin: usize, budget: &Budget) -> Value {
    let points: Vec<Vec<Value>> = series_of(&mut value)
        .map(|series| {
            let points = series["data_points"].as_array_mut().map(std::mem::take);
            points.unwrap_or_default()
        })
        .collect();
    let beside = value.to_string();
    let budget = budget.without_sentences(NOTICE_CHARS);
    let n_points = points.iter().map(Vec::len).max().unwrap_or(0);
    // The points of one period, of all series together.
    let periods: Vec<String> = (begin.min(n_points)..n_points)
        .map(|at| points.iter().filter_map(|series| series.get(at)).map(Value::to_string).collect())
        .collect();
    let n_kept = budget.n_fitting(&beside, periods.iter().map(String::as_str)).min(periods.len());
    for (series, points) in series_of(&mut value).zip(points) {
        series["data_points"] = points.into_iter().skip(begin).take(n_kept).collect();
    }
    if n_kept < periods.len() {
        let end = begin + n_kept;
        value["next"] = json!(format!("{chart_id}:{end}"));
        value["truncated"] = json!(true);
        let notice = format!(
            "points {} to {end} of {n_points} of each series are here: call again with `next` as \
             `cursor` for the rest; the statistics and the chart page are of all points",
            begin + 1
        );
        match value.get_mut("warnings").and_then(Value::as_array_mut) {
            Some(warnings) => warnings.push(json!(notice)),
            None => value["warnings"] = json!([notice]),
        }
    }
    value
}

fn series_of(value: &mut Value) -> impl Iterator<Item = &mut Value> {
    value.get_mut("data_series").and_then(Value::as_array_mut).into_iter().flatten()
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

fn spec(own_keys: &[String]) -> Spec {
    let mut spec = Spec::read_only(
        "generate_chart_data",
        "Generate chart data",
        "Sum spending (`ch`) or revenue (`vn`) by year, quarter or month for what search_filters \
         returned, with statistics and a chart page (`chart_url`).",
    )
    .with_input(with_own_keys(InputSchema::of::<Arguments>(), own_keys))
    .with_output(json!({
        "type": "object",
        "properties": {
            "ok": { "type": "boolean" },
            "kind": { "type": "string" },
            "chart_id": { "type": "string" },
            "chart_url": { "type": "string" },
            "data_series": { "type": "array", "items": { "type": "object" } },
            "image_url": { "type": "string" },
            "next": { "type": "string" },
            "warnings": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["ok", "kind", "chart_id", "chart_url", "data_series"],
    }));
    spec.errors = ErrorShape::OkFalse;
    spec.effect = Effect::Creates;
    spec
}

//! `chart_table`: an aggregate of any table as a chart, with a page for people.

use std::sync::Arc;

use filters::charts::{ChartType, Charts, Measured, NO_VALUE, Step, TableChart};
use model::{Caller, Deadline, Warning};
use serde_json::{Value, json};
use tables::{
    AggregateRequest, AggregateResponse, Calendar, CellWindow, FieldFilter, Op, Schema, Service,
    Zone,
};

use super::answer::{ADVICE, error, names, schema_of, schemas};
use super::arguments::{ChartArguments, from_accepted};
use super::query_table::with_table;
use super::redaction::{aggregate_paths, count};
use super::schemas::{aggregate_input_schema, without};
use crate::filters::with_chart_image;
use crate::per_caller::PerCaller;
use crate::{Answer, Call, Code, Effect, Link, Spec, Tool, ToolError};

/// The tool.
pub struct ChartTable {
    service: Service,
    charts: Arc<Charts>,
    specs: PerCaller,
}

impl ChartTable {
    /// Draws the tables of a service.
    pub fn new(service: Service, charts: Arc<Charts>) -> Self {
        ChartTable { service, charts, specs: PerCaller::default() }
    }

    /// Names a filter without which there would be rows, when there are none.
    fn nearest(&self, call: &Call<'_>, request: &AggregateRequest) -> Option<String> {
        request.filters.names().find_map(|name| {
            let filters = request.filters.without(name);
            let wider = AggregateRequest { filters, ..request.clone() };
            let total = self.total(call.caller, &wider, call.deadline)?;
            let rows = if total == 1 { "is 1 row".to_owned() } else { format!("are {total} rows") };
            (total > 0).then(|| format!("; without the filter `{name}` there {rows}"))
        })
    }

    /// Names a filter without which some point is not zero, when all are.
    fn nearest_with_amounts(&self, call: &Call<'_>, request: &AggregateRequest) -> Option<String> {
        request.filters.names().find_map(|name| {
            let filters = request.filters.without(name);
            let wider = AggregateRequest { filters, ..request.clone() };
            let response = self.service.aggregate(call.caller, &wider, call.deadline).ok()?;
            let mut measures = response.rows.iter().flat_map(|row| &row[response.n_groupings..]);
            let has_amounts =
                measures.any(|value| value.as_f64().is_some_and(|value| value != 0.0));
            has_amounts.then(|| format!("without the filter `{name}` not every point is 0"))
        })
    }

    fn total(
        &self,
        caller: &Caller,
        request: &AggregateRequest,
        deadline: &Deadline,
    ) -> Option<u64> {
        let counted = AggregateRequest {
            table: request.table.clone(),
            filters: request.filters.clone(),
            time_zone: request.time_zone.clone(),
            ..AggregateRequest::default()
        };
        Some(self.service.aggregate(caller, &counted, deadline).ok()?.total_rows)
    }
}

impl Tool for ChartTable {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        self.specs.get(names(&self.service, caller), |names| spec(&schemas(&self.service, names)))
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let ChartArguments { aggregate, title, description, chart_type, image } =
            from_accepted(call.arguments.clone()).map_err(|cause| error(&cause))?;
        let mut request = aggregate.into_request().map_err(|cause| error(&cause))?;
        // A page of groups is short for reading; a picture wants all that may be had.
        request.limit = request.limit.or(Some(tables::MAX_GROUPS));
        let request = request;
        let table = request.table.as_deref();
        let mut response = self
            .service
            .aggregate(call.caller, &request, call.deadline)
            .map_err(|cause| error(&cause))?;
        let schema = schema_of(&self.service, call.caller, table);
        // A chart is kept and shown to others: nothing private goes into it.
        let (_, n_hidden) = aggregate_paths(schema, &mut response, CellWindow::at(0));
        let mut warnings = std::mem::take(&mut response.warnings);
        for warning in warnings.iter_mut().filter(|warning| warning.code == "long_numbers") {
            // A picture is drawn of floats.
            let message = "some figures are rounded to 15 digits, as charts are drawn: \
                           `aggregate_table` gives all digits";
            *warning = Warning::new("figures_rounded", message);
        }
        if response.rows.is_empty() {
            let nearest = self.nearest(call, &request).unwrap_or_default();
            let message = format!("no rows pass the filters, so there is nothing to draw{nearest}");
            return Err(ToolError::new(Code::NotFound, message).with_hint(ADVICE));
        }
        if let Some(zone) = &response.time_zone {
            let message = format!("buckets are in the time zone {zone}");
            warnings.push(Warning::new("time_zone", message));
        }
        let series = series(schema, &request, &response)?;
        if is_all_zero(&series) {
            let nearest = self.nearest_with_amounts(call, &request);
            warnings.extend(nearest.map(|message| Warning::new("empty_series", message)));
        }
        let allow = self.service.access(call.caller, table).map_err(|cause| error(&cause))?.clone();
        let chart = TableChart {
            title: title.clone(),
            description,
            chart_type: chart_type.unwrap_or(ChartType::Bar),
            axis: response.columns.first().cloned().unwrap_or_default(),
            step: step(&request),
            has_all_groups: request.having.is_empty()
                && response.rows.len() as u64 == response.total_groups,
            series,
            allow,
            words: words(schema, &request),
            warnings,
        };
        let drawn = self.charts.draw(call.caller, chart).map_err(|cause| {
            if let filters::Error::Store(_) = &cause {
                return crate::filters::chart_error(&cause);
            }
            ToolError::bad_request(cause.to_string()).with_hint(
                "group by one field for the axis and at most one for the series; measures share \
                 one unit",
            )
        })?;
        let link = Link {
            uri: drawn.chart_url.clone(),
            name: title,
            mime_type: Some("text/html".to_owned()),
        };
        let mut answer = Answer::of(&json!({
            "chart_id": drawn.chart_id,
            "chart_url": drawn.chart_url,
            "series": drawn.data_series.iter().map(|series| json!({
                "label": series.label,
                "unit": series.y_axis.unit,
                "statistics": series.statistics,
            })).collect::<Vec<_>>(),
            "warnings": drawn.warnings,
        }))?;
        count(&mut answer, n_hidden);
        let answer = answer.with_n_results(drawn.data_series.len()).with_link(link);
        if image == Some(true) {
            return with_chart_image(answer, &self.charts, call.caller, &drawn.chart_id);
        }
        Ok(answer)
    }
}

/// Tells whether there are points, and every one of them is zero.
fn is_all_zero(series: &[Measured]) -> bool {
    let mut points = series.iter().flat_map(|series| &series.points).filter_map(|point| point.1);
    points.next() == Some(0.0) && points.all(|value| value == 0.0)
}

/// Gives how the groups of the axis follow each other.
fn step(request: &AggregateRequest) -> Step {
    let Some(group) = request.group_by.first() else { return Step::Values };
    match (group.bucket, group.width) {
        (Some(Calendar::Year | Calendar::Quarter | Calendar::Month), _) => Step::Periods,
        (Some(Calendar::Week), _) => Step::Days(7),
        (Some(Calendar::Day), _) => Step::Days(1),
        (Some(Calendar::Hour), _) => {
            let zone = group.time_zone.as_deref().or(request.time_zone.as_deref());
            Step::Hours(zone.and_then(|name| Zone::named(name).ok()).unwrap_or_default())
        }
        (Some(Calendar::Weekday), _) => Step::Weekdays,
        (None, Some(width)) => Step::Width(width),
        (None, None) => Step::Values,
    }
}

/// Turns rows of groups into series: the first group is the axis, a second one splits each
/// measure into one series for each of its values.
fn series(
    schema: Option<&Schema>,
    request: &AggregateRequest,
    response: &AggregateResponse,
) -> Result<Vec<Measured>, ToolError> {
    let n_groups = response.n_groupings;
    if n_groups == 0 || n_groups > 2 {
        let message = format!(
            "`group_by` has {n_groups} fields: a chart takes one for its axis, and one more for \
             its series"
        );
        return Err(ToolError::bad_request(message));
    }
    // A group that `having` or the limit left out is not a group of nothing.
    let is_whole = request.having.is_empty() && response.total_groups == response.rows.len() as u64;
    let measures = &response.columns[n_groups..];
    let mut all: Vec<Measured> = Vec::new();
    let (mut has_text, mut has_number) = (vec![false; measures.len()], vec![false; measures.len()]);
    for row in &response.rows {
        let place = shown(&row[0].to_json());
        for (at, measure) in measures.iter().enumerate() {
            let cell = &row[n_groups + at];
            let value = cell.as_f64();
            has_text[at] |= cell.as_str().is_some();
            has_number[at] |= value.is_some();
            let label = match (n_groups, measures.len()) {
                (2, 1) => shown(&row[1].to_json()),
                (2, _) => format!("{}, {measure}", shown(&row[1].to_json())),
                _ => measure.clone(),
            };
            let op = request.measures.get(at);
            let unit = unit(schema, op.map(|op| (op.op, op.field.as_deref())));
            let is_count =
                is_whole && op.is_none_or(|op| matches!(op.op, Op::Count | Op::CountDistinct));
            match all.iter_mut().find(|known| known.label == label) {
                Some(known) => {
                    let place =
                        if n_groups == 1 { apart(&known.points, &place) } else { place.clone() };
                    known.points.push((place, value));
                }
                None => {
                    let points = vec![(place.clone(), value)];
                    all.push(Measured { label, unit, points, is_count });
                }
            }
        }
    }
    for (at, measure) in measures.iter().enumerate() {
        if has_text[at] && !has_number[at] {
            let message = format!(
                "`{measure}` is not a number, so nothing can be drawn: measure a field of numbers, or \
                 count rows"
            );
            return Err(ToolError::bad_request(message).with_hint(ADVICE));
        }
    }
    Ok(all)
}

/// Gives a group a name of its own, where redaction or a cut left two groups the same.
fn apart(points: &[(String, Option<f64>)], place: &str) -> String {
    let is_taken = |name: &str| points.iter().any(|(known, _)| known == name);
    let mut name = place.to_owned();
    let mut number = 2;
    while is_taken(&name) {
        name = format!("{place} ({number})");
        number += 1;
    }
    name
}

/// Names the unit of a measure: that of its field, or what is counted.
fn unit(schema: Option<&Schema>, measure: Option<(Op, Option<&str>)>) -> String {
    match measure {
        None | Some((Op::Count, _)) => "rows".to_owned(),
        Some((Op::CountDistinct, _)) => "values".to_owned(),
        Some((_, field)) => {
            let field = field.unwrap_or_default();
            let unit = schema.and_then(|schema| schema.unit(field));
            unit.map_or_else(|| field.to_owned(), str::to_owned)
        }
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => NO_VALUE.to_owned(),
        Value::String(text) => text.clone(),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            other.to_string()
        }
    }
}

/// Says what is counted, for people.
fn words(schema: Option<&Schema>, request: &AggregateRequest) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if let Some(schema) = schema {
        lines.push(format!("table: {}", schema.name));
    }
    let is_private = |name: &str| {
        schema.map_or_else(|| text::is_secret_name(name), |schema| schema.is_secret(name))
    };
    lines.extend(request.filters.iter().filter(|(name, _)| !is_private(name)).map(
        |(name, value)| {
            let value = match value {
                FieldFilter::Value(value) => shown(&value.to_json()),
                FieldFilter::Operators(_) | FieldFilter::Alternatives(_) => value.to_string(),
            };
            let value = text::redact(&value).text;
            format!("{name}: {value}")
        },
    ));
    lines
}

fn spec(schemas: &[&Schema]) -> Spec {
    // A chart is drawn whole.
    let input = aggregate_input_schema::<ChartArguments>(schemas);
    let mut input = without(input, &["cursor", "offset"]);
    if let Some(required) = input["required"].as_array_mut() {
        required.insert(1, "group_by".into());
    }
    let mut spec = Spec::read_only(
        "chart_table",
        "Chart table",
        "Draw an aggregate of a table: arguments of aggregate_table, one group_by for the axis and \
         at most one more for the series. Gives a page for people (`chart_url`).",
    )
    .with_input(with_table(input.clone()))
    .with_shown_input(input)
    .with_output(json!({
        "type": "object",
        "properties": {
            "chart_id": { "type": "string" },
            "chart_url": { "type": "string" },
            "image_url": { "type": "string" },
            "series": { "type": "array", "items": { "type": "object" } },
            "warnings": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["chart_id", "chart_url", "series"],
    }))
    .with_source_text(&["/series/*/label"]);
    spec.effect = Effect::Creates;
    spec.advice = Some(ADVICE.to_owned());
    spec
}

//! The arguments of `generate_chart_data`, and the request that they make.

use std::collections::BTreeMap;

use filters::charts::{
    AccountCategory, ChartFilter, ChartRequest, ChartType, Exclusion, MAX_FILTER_VALUES,
    MAX_SERIES, Normalization, PeriodType, ReportPeriod, SeriesDefinition,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ToolError;

use super::search_filters::refused;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Arguments {
    #[schemars(length(min = 1, max = 500))]
    title: String,
    #[schemars(length(max = 2_000))]
    description: Option<String>,
    #[schemars(with = "String", extend("enum" = ["line", "bar", "area", "pie"]))]
    chart_type: ChartType,
    #[schemars(length(min = 1, max = MAX_SERIES))]
    series_definitions: Vec<Series>,
    /// also give the chart as a PNG image
    pub(super) image: Option<bool>,
    /// `next` of the answer before, with the same arguments
    pub(super) cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Series {
    #[schemars(length(min = 1, max = 200))]
    label: String,
    filter: Filter,
}

#[derive(Deserialize, JsonSchema)]
struct Filter {
    report_period: Period,
    #[schemars(with = "String", extend("enum" = ["ch", "vn"]))]
    account_category: AccountCategory,
    #[serde(flatten)]
    only: Values,
    #[serde(default)]
    #[schemars(with = "String", default = "total", extend("enum" = ["total", "per_capita", "total_euro", "per_capita_euro"]))]
    normalization: Normalization,
    #[serde(default)]
    #[schemars(with = "Option<Values>")]
    exclude: Values,
}

fn total() -> &'static str {
    "total"
}

/// periods look like 2024, 2024-Q1, 2024-03
#[derive(Deserialize, JsonSchema)]
struct Period {
    #[serde(rename = "type")]
    #[schemars(with = "String", extend("enum" = ["YEAR", "QUARTER", "MONTH"]))]
    period_type: PeriodType,
    selection: Selection,
}

/// interval or dates
#[derive(Deserialize, JsonSchema)]
struct Selection {
    interval: Option<Interval>,
    dates: Option<Vec<String>>,
}

#[derive(Deserialize, JsonSchema)]
struct Interval {
    start: String,
    end: String,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
struct Values {
    #[schemars(length(max = MAX_FILTER_VALUES), with = "Option<Vec<String>>")]
    entity_cuis: Vec<String>,
    #[schemars(length(max = MAX_FILTER_VALUES), with = "Option<Vec<String>>")]
    uat_ids: Vec<String>,
    #[schemars(length(max = MAX_FILTER_VALUES), with = "Option<Vec<String>>")]
    county_codes: Vec<String>,
    #[schemars(length(max = MAX_FILTER_VALUES), with = "Option<Vec<String>>")]
    functional_prefixes: Vec<String>,
    #[schemars(length(max = MAX_FILTER_VALUES), with = "Option<Vec<String>>")]
    functional_codes: Vec<String>,
    #[schemars(length(max = MAX_FILTER_VALUES), with = "Option<Vec<String>>")]
    economic_prefixes: Vec<String>,
    #[schemars(length(max = MAX_FILTER_VALUES), with = "Option<Vec<String>>")]
    economic_codes: Vec<String>,
    /// Keys of dimensions of one's own; [`with_own_keys`] adds them to the schema.
    #[serde(flatten)]
    #[schemars(skip)]
    own: BTreeMap<String, Vec<String>>,
}

/// Adds the filter keys of dimensions of one's own to the schema of the arguments.
pub(super) fn with_own_keys(mut schema: Value, keys: &[String]) -> Value {
    let filter = "/properties/series_definitions/items/properties/filter/properties";
    let values =
        json!({ "type": "array", "items": { "type": "string" }, "maxItems": MAX_FILTER_VALUES });
    for place in [filter.to_owned(), format!("{filter}/exclude/properties")] {
        let properties = schema.pointer_mut(&place).and_then(Value::as_object_mut);
        debug_assert!(properties.is_some(), "the schema has no {place}");
        if let Some(properties) = properties {
            properties.extend(keys.iter().map(|key| (key.clone(), values.clone())));
        }
    }
    schema
}

impl Arguments {
    /// Makes the request; periods that cannot be read are named with their place.
    pub(super) fn into_request(self) -> Result<ChartRequest, ToolError> {
        let series_definitions = self.series_definitions.into_iter().enumerate();
        let series_definitions = series_definitions
            .map(|(at, series)| {
                let place = format!("series_definitions[{at}].filter.report_period.selection");
                let Filter { report_period, account_category, only, normalization, exclude } =
                    series.filter;
                Ok(SeriesDefinition {
                    label: series.label.trim().to_owned(),
                    filter: ChartFilter {
                        report_period: report_period.read(&place)?,
                        account_category,
                        only: only.into(),
                        normalization,
                        exclude: exclude.into(),
                    },
                })
            })
            .collect::<Result<_, ToolError>>()?;
        Ok(ChartRequest {
            title: self.title.trim().to_owned(),
            description: self.description,
            chart_type: self.chart_type,
            series_definitions,
        })
    }
}

impl Period {
    fn read(self, place: &str) -> Result<ReportPeriod, ToolError> {
        let period = match (self.selection.interval, self.selection.dates) {
            (Some(Interval { start, end }), None) => {
                let place = format!("{place}.interval");
                ReportPeriod::interval(self.period_type, &start, &end, &place)
            }
            (None, Some(dates)) => {
                ReportPeriod::dates(self.period_type, &dates, &format!("{place}.dates"))
            }
            (both, _) => {
                let received = if both.is_some() { "both" } else { "neither" };
                return Err(ToolError::bad_request(format!(
                    "{place} must be either {{interval: {{start, end}}}} or {{dates: [...]}}: \
                     received {received}"
                )));
            }
        };
        period.map_err(|error| refused(&error))
    }
}

impl From<Values> for Exclusion {
    fn from(values: Values) -> Self {
        Exclusion {
            entity_cuis: values.entity_cuis,
            uat_ids: values.uat_ids,
            county_codes: values.county_codes,
            functional_prefixes: values.functional_prefixes,
            functional_codes: values.functional_codes,
            economic_prefixes: values.economic_prefixes,
            economic_codes: values.economic_codes,
            own: values.own,
        }
    }
}

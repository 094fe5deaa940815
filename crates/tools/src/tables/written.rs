//! Answers of `query_table`, written in their format.

use serde_json::{Map, Value, json};
use tables::{
    Bars, DidYouMean, Distribution, FacetMeta, Format, QueryResponse, Series, to_csv, to_markdown,
};

/// Writes the answer in its format: `{rows, total}`, `{rows, total, facets}`,
/// `{markdown, total}` or `{csv, total}`, and beside it only what there is to say.
pub(super) fn query_json(response: &QueryResponse) -> Value {
    let mut answer = Map::new();
    match response.format {
        Format::Json | Format::Stats => {
            let rows = row_objects(&response.columns, &response.rows);
            answer.insert("rows".to_owned(), rows.into());
        }
        Format::Markdown => {
            let markdown = to_markdown(&response.columns, &response.rows);
            answer.insert("markdown".to_owned(), markdown.into());
        }
        Format::Csv => {
            let csv = to_csv(&response.columns, &response.rows, response.formulas);
            answer.insert("csv".to_owned(), csv.into());
        }
    }
    answer.insert("total".to_owned(), response.total.into());
    if let Some(facets) = &response.facets {
        let facets: Map<String, Value> =
            facets.iter().map(|(name, facet)| (name.clone(), facet_json(facet))).collect();
        answer.insert("facets".to_owned(), facets.into());
    }
    if let Some(series) = &response.series {
        answer.insert("series".to_owned(), series_json(series));
    }
    if let Some(next) = &response.next {
        answer.insert("next".to_owned(), next.as_str().into());
    }
    if let Some(offset) = response.next_offset {
        answer.insert("next_offset".to_owned(), offset.into());
    }
    if !response.did_you_mean.is_empty() {
        let meant = response.did_you_mean.iter().map(meant_json).collect::<Vec<_>>();
        answer.insert("did_you_mean".to_owned(), meant.into());
    }
    if !response.warnings.is_empty() {
        answer.insert("warnings".to_owned(), json!(response.warnings));
    }
    Value::Object(answer)
}

pub(super) fn row_objects(columns: &[String], rows: &[Vec<tables::Value>]) -> Vec<Value> {
    let object = |row: &Vec<tables::Value>| {
        let cells = row.iter().map(tables::Value::to_json);
        Value::Object(columns.iter().cloned().zip(cells).collect())
    };
    rows.iter().map(object).collect()
}

fn facet_json(meta: &FacetMeta) -> Value {
    let rows: Vec<Value> = meta
        .rows
        .iter()
        .map(|row| json!({ "value": row.value.to_json(), "total": row.total }))
        .collect();
    let mut facet = json!({ "rows": rows, "total": meta.total });
    if let Some(min) = &meta.min {
        facet["min"] = min.to_json();
    }
    if let Some(max) = &meta.max {
        facet["max"] = max.to_json();
    }
    if let Some(spread) = &meta.distribution {
        facet["quantiles"] = quantiles(spread);
        facet["histogram"] = histogram(spread);
    }
    facet
}

fn quantiles(spread: &Distribution) -> Value {
    let named = spread
        .quantiles
        .iter()
        .map(|(percent, value)| (format!("p{percent}"), value.to_json()))
        .collect::<Map<_, _>>();
    Value::Object(named)
}

/// Bars are one after the other, so their start and width are said once.
fn histogram(spread: &Distribution) -> Value {
    let number = |number: f64| tables::Value::Real(number).to_json();
    match spread.bars {
        Bars::Numbers { start, width } => {
            json!({ "start": number(start), "width": number(width), "totals": spread.totals })
        }
        Bars::Time { start, bucket } => {
            json!({ "start": start, "bucket": bucket.as_str(), "totals": spread.totals })
        }
    }
}

fn meant_json(meant: &DidYouMean) -> Value {
    let suggestions: Vec<Value> = meant.suggestions.iter().map(tables::Value::to_json).collect();
    let received = meant.received.to_json();
    json!({ "field": meant.field, "received": received, "suggestions": suggestions })
}

fn series_json(series: &Series) -> Value {
    let points: Vec<Value> = series
        .answer
        .points
        .iter()
        .map(|point| {
            let value = tables::Value::Real(point.value).to_json();
            json!({ "start": point.start, "value": value })
        })
        .collect();
    let measure =
        series.sum.as_ref().map_or_else(|| "count".to_owned(), |field| format!("sum of {field}"));
    json!({
        "field": series.field,
        "bucket": series.answer.bucket.as_str(),
        "time_zone": series.time_zone,
        "measure": measure,
        "points": points
    })
}

//! The filters of a table: read out of the address, shown as chips, and chosen at the side.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::layout::shown;
use super::params::{Params, encoded};
use super::tables::{View, address};
use super::time::thousands;
use super::viewer::Viewer;

/// Values of a facet that are shown.
const SHOWN_VALUES: usize = 12;

/// Tells whether a field holds numbers or moments.
pub(super) fn is_numeric(field: &Value) -> bool {
    matches!(field["type"].as_str(), Some("number" | "timestamp"))
}

fn is_range(field: &Value) -> bool {
    field["match"].as_str().is_some_and(|text| text.contains("range"))
}

/// Reads `f.NAME` (values), `min.NAME` and `max.NAME` of an address.
pub(super) fn read_filters(fields: &[(String, Value)], params: &Params) -> Map<String, Value> {
    let mut filters = Map::new();
    for (name, field) in fields {
        let value_of = |text: &str| match text.parse::<f64>() {
            Ok(number) if is_numeric(field) => number_value(number),
            _ if field["type"] == "boolean" => json!(text == "true"),
            _ => json!(text),
        };
        if is_range(field) {
            let end = |which: &str| params.get(&format!("{which}.{name}")).map(value_of);
            let (least, most) = (end("min"), end("max"));
            let bound = |which: &str| field.get(which).cloned().unwrap_or(Value::Null);
            match (least, most) {
                (None, None) => {}
                (least, most) => {
                    let range = [
                        least.unwrap_or_else(|| bound("min")),
                        most.unwrap_or_else(|| bound("max")),
                    ];
                    filters.insert(name.clone(), json!(range));
                }
            }
            continue;
        }
        let given_name = format!("f.{name}");
        let given: Vec<Value> = params.all(&given_name).map(value_of).collect();
        if given.is_empty() {
            continue;
        }
        let is_list = field["match"].as_str().is_some_and(|text| text.contains("any of"));
        let value = if is_list {
            Value::Array(given)
        } else {
            given.into_iter().next().unwrap_or_default()
        };
        filters.insert(name.clone(), value);
    }
    filters
}

fn number_value(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 9e15 { json!(number as i64) } else { json!(number) }
}

/// The filters that hold, each with a link that takes it away.
pub(super) fn chips(viewer: &Viewer, view: &View, params: &Params) -> Markup {
    let params = params.without("cursor");
    html! {
        @if !view.filters.is_empty() {
            ul .chips aria-label="Filters that hold" {
                @for (name, value) in &view.filters {
                    @let without = params.without(&format!("f.{name}")).without(&format!("min.{name}")).without(&format!("max.{name}"));
                    li { a .chip aria-current="true" href=(address(viewer, view, &without)) {
                        (name) ": " (shown(value)) span aria-hidden="true" { "×" } span .visually-hidden { " remove" } } }
                }
                li { a .chip.clear href=(address(viewer, view, &Params::default())) { "Clear all" } }
            }
        }
    }
}

/// Every field with its most frequent values, or a range.
pub(super) fn filter_side(viewer: &Viewer, view: &View, params: &Params, answer: &Value) -> Markup {
    let clean = params.without("cursor");
    html! {
        div .filters {
            @for (name, field) in &view.fields {
                @let facet = &answer["facets"][name];
                details open[view.filters.contains_key(name) || !is_range(field)] {
                    summary { (name) @if let Some(unit) = field["unit"].as_str() { span .note { " (" (unit) ")" } } }
                    @if is_range(field) { (range_form(viewer, view, params, name, field, facet)) }
                    @else { (values(viewer, view, &clean, name, field, facet)) }
                }
            }
        }
    }
}

fn values(
    viewer: &Viewer,
    view: &View,
    params: &Params,
    name: &str,
    field: &Value,
    facet: &Value,
) -> Markup {
    let rows =
        facet["rows"].as_array().or(field["top"].as_array()).map(Vec::as_slice).unwrap_or_default();
    // A field that is filtered has no counts for its other values, which one may still add.
    let is_known = |value: &Value| rows.iter().any(|row| row["value"] == *value);
    let others = field["top"].as_array().map(Vec::as_slice).unwrap_or_default();
    let others: Vec<&Value> = others.iter().filter(|row| !is_known(&row["value"])).collect();
    let key = format!("f.{name}");
    let is_list = field["match"].as_str().is_some_and(|text| text.contains("any of"));
    html! {
        @if !is_list {
            form .row method="get" action=(viewer.href(&format!("/tables/{}", encoded(&view.name)))) {
                (kept(params, &key))
                input type="text" name=(key) value=(params.text(&key)) aria-label=(format!("{name} contains")) placeholder="contains";
            }
        }
        ul { @for row in rows.iter().take(SHOWN_VALUES) {
            @let value = shown(&row["value"]);
            @let link = if is_list { params.toggled(&key, &value) } else { params.with(&key, &value) };
            li { a href=(address(viewer, view, &link)) aria-current=[params.has(&key, &value).then_some("true")] {
                span { (value) } span .count { (thousands(row["total"].as_u64().unwrap_or_default() as usize)) } } }
        } }
        @if is_list && params.get(&key).is_some() { ul { @for row in others.iter().take(SHOWN_VALUES) {
            @let value = shown(&row["value"]);
            li { a href=(address(viewer, view, &params.toggled(&key, &value))) { span { (value) } } }
        } } }
        @if rows.len() > SHOWN_VALUES { p .note { (rows.len() - SHOWN_VALUES) " more values" } }
    }
}

fn range_form(
    viewer: &Viewer,
    view: &View,
    params: &Params,
    name: &str,
    field: &Value,
    facet: &Value,
) -> Markup {
    let (least, most) = (format!("min.{name}"), format!("max.{name}"));
    let bound = |which: &str| {
        shown(facet.get(which).filter(|value| !value.is_null()).unwrap_or(&field[which]))
    };
    html! {
        form .row method="get" action=(viewer.href(&format!("/tables/{}", encoded(&view.name)))) {
            (kept(&params.without("cursor").without(&least).without(&most), ""))
            input type="text" inputmode="numeric" name=(least) value=(params.text(&least)) placeholder=(bound("min")) aria-label=(format!("{name} at least")) size="8";
            input type="text" inputmode="numeric" name=(most) value=(params.text(&most)) placeholder=(bound("max")) aria-label=(format!("{name} at most")) size="8";
            button .small type="submit" { "Apply" }
        }
        @if field["type"] == "timestamp" { p .note { "Milliseconds, or a date as 2024-05-30" } }
    }
}

/// The rest of the address, so that a form adds to it.
pub(super) fn kept(params: &Params, without: &str) -> Markup {
    html! { @for (name, value) in params.pairs().filter(|(name, _)| *name != without) { input type="hidden" name=(name) value=(value); } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_read_in_the_types_of_their_fields() {
        let fields = vec![
            ("level".to_owned(), json!({ "type": "stringLiteral", "match": "any of" })),
            ("status".to_owned(), json!({ "type": "number", "match": "any of" })),
            ("host".to_owned(), json!({ "type": "string", "match": "contains the text" })),
            (
                "latency".to_owned(),
                json!({ "type": "number", "match": "[value]: equal; [min, max]: inclusive range", "min": 8, "max": 4346 }),
            ),
        ];
        let pairs = [
            ("f.level", "error"),
            ("f.level", "warning"),
            ("f.status", "500"),
            ("f.host", "api"),
            ("min.latency", "100"),
        ];
        let params = Params::new(
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        );
        assert_eq!(
            Value::Object(read_filters(&fields, &params)),
            json!({ "level": ["error", "warning"], "status": [500], "host": "api", "latency": [100, 4346] })
        );
    }
}

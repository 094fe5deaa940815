//! The filters of a table in words: the chips above its rows, and the titles of its charts.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::layout::shown;
use super::params::Params;
use super::table_filters::{PREFIXES, is_range};
use super::tables::{View, address, bound};
use super::viewer::Viewer;

/// A filter as a chip shows it.
pub(super) fn said(field: Option<&Value>, name: &str, value: &Value) -> String {
    let is_contained = field
        .and_then(|field| field["match"].as_str())
        .is_some_and(|text| text.starts_with("contains"));
    let ends = value.as_array().filter(|ends| ends.len() == 2).zip(field.filter(|it| is_range(it)));
    if let Some((ends, field)) = ends {
        return format!("{name} from {} to {}", bound(&ends[0], field), bound(&ends[1], field));
    }
    if let Some(field) = field.filter(|field| is_range(field)) {
        let end = |which: &str| value.get(which).map(|end| bound(end, field));
        match (end("min"), end("max")) {
            (Some(least), None) => return format!("{name} at least {least}"),
            (None, Some(most)) => return format!("{name} at most {most}"),
            (None, None) | (Some(_), Some(_)) => {}
        }
    }
    match value.as_object() {
        Some(test) if test.contains_key("is_null") => format!("{name} has no value"),
        Some(test) if test.contains_key("starts_with") => {
            format!("{name} begins with {}", value_text(&test["starts_with"]))
        }
        Some(test) => format!("{name} is {}", value_text(test.get("eq").unwrap_or(&Value::Null))),
        None if is_contained => format!("{name} contains {}", value_text(value)),
        None => format!("{name}: {}", value_text(value)),
    }
}

/// A value as a list of values shows it.
pub(super) fn value_text(value: &Value) -> String {
    if value.is_null() {
        return "no value".to_owned();
    }
    match value.as_str() {
        Some(text) if text.trim().is_empty() => "(blank)".to_owned(),
        _ => shown(value),
    }
}

/// The filters that hold, as their chips name them.
pub(super) fn in_words(fields: &[(String, Value)], filters: &Map<String, Value>) -> Vec<String> {
    let field = |name: &str| fields.iter().find(|(known, _)| known == name).map(|(_, field)| field);
    filters.iter().map(|(name, value)| said(field(name), name, value)).collect()
}

/// The address without any filter of a field.
pub(super) fn without_field(params: &Params, name: &str) -> Params {
    let mut without = params.clone();
    for prefix in PREFIXES {
        without = without.without(&format!("{prefix}{name}"));
    }
    without
}

/// The filters that hold, each with a link that takes it away.
pub(super) fn chips(viewer: &Viewer, view: &View, params: &Params) -> Markup {
    let params = params.without("cursor");
    let field =
        |name: &str| view.fields.iter().find(|(known, _)| known == name).map(|(_, field)| field);
    html! {
        @if !view.filters.is_empty() {
            ul .chips aria-label="Filters that hold" {
                @for (name, value) in &view.filters {
                    li { a .chip aria-current="true" href=(address(viewer, view, &without_field(&params, name))) {
                        (said(field(name), name, value)) span aria-hidden="true" { "×" } span .visually-hidden { " remove" } } }
                }
                li { a .chip.clear href=(address(viewer, view, &Params::default())) { "Clear all" } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A range of moments was shown as two numbers of thirteen digits.
    #[test]
    fn filters_are_said_as_people_read_them() {
        let day = json!({ "type": "timestamp", "match": "range" });
        let number = json!({ "type": "number", "match": "range" });
        let text = json!({ "type": "text", "match": "contains" });
        let check = |field: &Value, value: &Value, expected: &str| {
            assert_eq!(said(Some(field), "x", value), expected);
        };
        check(&number, &json!([3, 5]), "x from 3 to 5");
        let days = json!([1_714_521_600_000_i64, "2024-06-01"]);
        check(&day, &days, "x from 2024-05-01 00:00:00 to 2024-06-01");
        check(&number, &json!({ "min": 3 }), "x at least 3");
        check(&day, &json!({ "max": 1_714_521_600_000_i64 }), "x at most 2024-05-01 00:00:00");
        check(&text, &json!("a b"), "x contains a b");
        check(&text, &json!({ "is_null": true }), "x has no value");
        check(&text, &json!({ "starts_with": "a" }), "x begins with a");
        assert_eq!(said(None, "x", &json!(["a", "b"])), "x: a, b");
    }
}

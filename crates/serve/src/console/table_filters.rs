//! The filters of a table: read out of the address, shown as chips, and chosen at the side.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use tools::ToolError;

use super::layout::shown;
use super::params::{Params, encoded};
use super::table_chips::{value_text, without_field};
use super::tables::{self, View, address};
use super::time::thousands;
use super::viewer::Viewer;

/// Values of a facet that are shown.
const SHOWN_VALUES: usize = 12;

/// Tells whether a field holds numbers or moments.
pub(super) fn is_numeric(field: &Value) -> bool {
    matches!(field["type"].as_str(), Some("number" | "timestamp"))
}

pub(super) fn is_range(field: &Value) -> bool {
    field["match"].as_str().is_some_and(|text| text.contains("range"))
}

fn is_list(field: &Value) -> bool {
    field["match"].as_str().is_some_and(|text| text.contains("any of"))
}

/// A filter's value longer than this is refused: no cell that one looks for has it.
const MAX_FILTER_BYTES: usize = 20_000;

/// What the parts of an address that filter begin with.
pub(super) const PREFIXES: [&str; 5] = ["f.", "is.", "begins.", "min.", "max."];

/// The part of an address that names the field of which all listed values are shown.
const ALL_OF: &str = "all";

/// Reads the filters of an address.
///
/// Fails with the first that cannot be read: an address never shows more than it asks for.
pub(super) fn read_filters(
    fields: &[(String, Value)],
    params: &Params,
) -> Result<Map<String, Value>, ToolError> {
    let (filters, refused) = read_each(fields, params);
    refused.into_iter().next().map_or(Ok(filters), Err)
}

/// Reads `f.NAME` (values as the table's own filter takes them), `is.NAME` (one value exactly, as
/// JSON), `begins.NAME`, `min.NAME` and `max.NAME` of an address. Gives what holds, and for each
/// part that names no field, or holds what the field cannot, why not.
pub(super) fn read_each(
    fields: &[(String, Value)],
    params: &Params,
) -> (Map<String, Value>, Vec<ToolError>) {
    let mut refused = without_field_errors(fields, params);
    let mut filters = Map::new();
    for (name, field) in fields {
        match of_field(name, field, params) {
            Ok(Some(value)) => {
                filters.insert(name.clone(), value);
            }
            Ok(None) => {}
            Err(error) => refused.push(error),
        }
    }
    (filters, refused)
}

/// Reads what an address asks of one field; nothing where it asks nothing.
fn of_field(name: &str, field: &Value, params: &Params) -> Result<Option<Value>, ToolError> {
    check_parts(name, field, params)?;
    if let Some(text) = params.get(&format!("is.{name}")) {
        return Ok(Some(exact(field, text)));
    }
    if let Some(text) = params.get(&format!("begins.{name}")) {
        return Ok(Some(json!({ "starts_with": text })));
    }
    let given_name = format!("f.{name}");
    let given: Vec<&str> = params.all(&given_name).collect();
    if is_range(field) && given.is_empty() {
        let end = |which: &str| {
            let key = format!("{which}.{name}");
            params.get(&key).map(|text| value_of(&key, field, text)).transpose()
        };
        // An end that nobody gave is none: the last value there is would make a range that
        // begins behind it an empty one.
        return Ok(match (end("min")?, end("max")?) {
            (None, None) => None,
            (Some(least), Some(most)) => Some(json!([least, most])),
            (Some(least), None) => Some(json!({ "min": least })),
            (None, Some(most)) => Some(json!({ "max": most })),
        });
    }
    let given: Vec<Value> = given
        .into_iter()
        .map(|text| value_of(&given_name, field, text))
        .collect::<Result<_, _>>()?;
    Ok(match given.as_slice() {
        [] => None,
        _ if is_list(field) => Some(Value::Array(given)),
        [_] if is_range(field) => Some(Value::Array(given)),
        [one] => Some(one.clone()),
        _ => {
            let message = format!("`{given_name}` is given {} times", given.len());
            return Err(ToolError::bad_request(message)
                .with_detail("field", name)
                .with_hint("this field takes one value in an address"));
        }
    })
}

/// Says of each part that names no field which fields there are; once for each name.
fn without_field_errors(fields: &[(String, Value)], params: &Params) -> Vec<ToolError> {
    let mut said: Vec<&str> = Vec::new();
    let mut errors = Vec::new();
    for (key, _) in params.pairs().filter(|(_, text)| !text.trim().is_empty()) {
        let Some(name) = PREFIXES.iter().find_map(|prefix| key.strip_prefix(prefix)) else {
            continue;
        };
        if said.contains(&name) || fields.iter().any(|(known, _)| known == name) {
            continue;
        }
        said.push(name);
        let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        errors.push(
            ToolError::bad_request(format!("`{key}`: there is no field `{name}`"))
                .with_detail("field", name)
                .with_detail("allowed", names)
                .with_hint("take it out of the address, or choose a filter at the side"),
        );
    }
    errors
}

/// Refuses parts that have no meaning for a field, are too long to be read, or of which one would
/// take the place of another.
fn check_parts(name: &str, field: &Value, params: &Params) -> Result<(), ToolError> {
    let is_given = |prefix: &&str| params.get(&format!("{prefix}{name}")).is_some();
    let given: Vec<&str> = PREFIXES.into_iter().filter(is_given).collect();
    for prefix in &given {
        let key = format!("{prefix}{name}");
        if matches!(*prefix, "min." | "max.") && !is_range(field) {
            return Err(ToolError::bad_request(format!("`{key}`: `{name}` has no range"))
                .with_detail("field", name)
                .with_hint(format!("write `f.{name}` for a value of it")));
        }
        let n_bytes = params.all(&key).map(str::len).max().unwrap_or_default();
        if n_bytes > MAX_FILTER_BYTES {
            let message = format!("`{key}` has {n_bytes} bytes, which is too long");
            return Err(ToolError::bad_request(message).with_detail("field", name));
        }
        let n_given = params.all(&key).count();
        if *prefix != "f." && n_given > 1 {
            let message = format!("`{key}` is given {n_given} times");
            return Err(ToolError::bad_request(message)
                .with_detail("field", name)
                .with_hint("it takes one value in an address"));
        }
    }
    if let [one, other, ..] = given.as_slice()
        && given != ["min.", "max."]
    {
        let message = format!("`{one}{name}` and `{other}{name}` are given together");
        return Err(ToolError::bad_request(message)
            .with_detail("field", name)
            .with_hint("a field is filtered in one way at a time"));
    }
    Ok(())
}

fn value_of(key: &str, field: &Value, text: &str) -> Result<Value, ToolError> {
    let name = key.split_once('.').map_or(key, |(_, name)| name);
    let wrong = |what: &str| {
        ToolError::bad_request(format!("`{key}` is not {what}: `{text}`"))
            .with_detail("field", name)
    };
    match field["type"].as_str() {
        Some("boolean") => match text.trim() {
            "true" => Ok(json!(true)),
            "false" => Ok(json!(false)),
            _ => Err(wrong("`true` or `false`")),
        },
        Some("number") => number_value(text.trim()).ok_or_else(|| wrong("a number")),
        // Milliseconds, or a date that the table reads itself.
        Some("timestamp") => Ok(number_value(text.trim()).unwrap_or_else(|| json!(text))),
        _ => Ok(json!(text)),
    }
}

/// The filter for one value exactly: as JSON, or as it is for text that is none.
fn exact(field: &Value, text: &str) -> Value {
    let value = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
    // Digits that somebody typed are text in a field of text.
    let is_text = !is_numeric(field) && field["type"] != "boolean";
    if value.is_null() {
        return json!({ "is_null": true });
    }
    match is_text && (value.is_number() || value.is_boolean()) {
        true => json!({ "eq": text }),
        false => json!({ "eq": value }),
    }
}

/// Digits that a float can hold.
const FLOAT_DIGITS: usize = 15;

/// A number with all digits that were typed: the table takes those that no float holds as text.
fn number_value(text: &str) -> Option<Value> {
    let float = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
    if let Ok(whole) = text.parse::<i64>() {
        return Some(json!(whole));
    }
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let n_digits = digits.chars().filter(char::is_ascii_digit).count();
    let is_whole = float.fract() == 0.0 && float.abs() < 1e15;
    Some(match (n_digits > FLOAT_DIGITS, is_whole) {
        (true, _) => json!(text),
        (false, true) => json!(float as i64),
        (false, false) => json!(float),
    })
}

/// Every field with its most frequent values, or a range.
pub(super) fn filter_side(viewer: &Viewer, view: &View, params: &Params, answer: &Value) -> Markup {
    let clean = params.without("cursor");
    html! {
        div .filters {
            @for (position, (name, field)) in view.fields.iter().enumerate() {
                @let (facet, id) = (&answer["facets"][name], format!("filter-{position}"));
                details id=(id) open[view.filters.contains_key(name) || view.is_refused(name) || !is_range(field)] {
                    summary { (name) @if let Some(unit) = field["unit"].as_str() { span .note { " (" (unit) ")" } } }
                    @if is_range(field) { (range_form(viewer, view, params, name, field, facet)) }
                    @else { (values(viewer, view, &clean, (name, &id), field, facet)) }
                    (view.why_refused(name))
                }
            }
        }
    }
}

fn values(
    viewer: &Viewer,
    view: &View,
    params: &Params,
    (name, id): (&str, &str),
    field: &Value,
    facet: &Value,
) -> Markup {
    let n_shown = if params.has(ALL_OF, name) { usize::MAX } else { SHOWN_VALUES };
    let rows =
        facet["rows"].as_array().or(field["top"].as_array()).map(Vec::as_slice).unwrap_or_default();
    // A field that is filtered has no counts for its other values, which one may still add.
    let is_known = |value: &Value| rows.iter().any(|row| row["value"] == *value);
    let others = field["top"].as_array().map(Vec::as_slice).unwrap_or_default();
    let others: Vec<&Value> = others.iter().filter(|row| !is_known(&row["value"])).collect();
    let (key, exact_key) = (format!("f.{name}"), format!("is.{name}"));
    let is_list = is_list(field);
    // A click on a value shows the rows that were counted for it: exactly those with the value.
    // Lists of values are exact by themselves, but an address cannot hold a blank or no value.
    let is_plain = |value: &Value| {
        is_list && !value.is_null() && value.as_str().is_none_or(|text| !text.trim().is_empty())
    };
    let others_out =
        |params: &Params| params.without(&exact_key).without(&format!("begins.{name}"));
    let link = |value: &Value| -> (Params, bool) {
        if let Some(beginning) = beginning_of(value).filter(|_| !is_list) {
            let begins_key = format!("begins.{name}");
            let is_chosen = params.has(&begins_key, beginning);
            let without = without_field(params, name);
            return (
                if is_chosen { without } else { without.with(&begins_key, beginning) },
                is_chosen,
            );
        }
        if is_plain(value) {
            let text = shown(value);
            return (others_out(params).toggled(&key, &text), params.has(&key, &text));
        }
        let json = value.to_string();
        let is_chosen = params.has(&exact_key, &json);
        let without = without_field(params, name);
        (if is_chosen { without } else { without.with(&exact_key, &json) }, is_chosen)
    };
    html! {
        // Values that no list has room for can be typed.
        @if !is_list || is_cut(rows, facet) {
            form .row method="get" action=(viewer.href(&format!("/tables/{}", encoded(&view.name)))) {
                // Of values in a list one more is added.
                (kept(&if is_list { others_out(params) } else { without_field(params, name) }, ""))
                @let label = typed_label(field);
                input type="text" name=(key) value=(if is_list { String::new() } else { view.typed(params, name, &key) }) aria-label=(format!("{name} {label}")) placeholder=(label);
            }
        }
        ul { @for row in rows.iter().take(n_shown) {
            @let (link, is_chosen) = link(&row["value"]);
            li { a href=(address(viewer, view, &link)) aria-current=[is_chosen.then_some("true")] {
                span { (value_text(&row["value"])) } span .count { (thousands(row["total"].as_u64().unwrap_or_default() as usize)) } } }
        } }
        @if is_list && params.get(&key).is_some() { ul { @for row in others.iter().take(SHOWN_VALUES) {
            li { a href=(address(viewer, view, &link(&row["value"]).0)) { span { (value_text(&row["value"])) } } }
        } } }
        @if rows.len() > n_shown { p { a href=(format!("{}#{id}", address(viewer, view, &params.with(ALL_OF, name)))) { "Show " (rows.len()) " values" } } }
        @if let Some(more) = more_values(rows, n_shown, facet, field, view.filters.is_empty()) { p .note { (more) } }
    }
}

/// The beginning of a value that a list cut: nothing has just that text.
fn beginning_of(value: &Value) -> Option<&str> {
    let beginning = value.as_str()?.strip_suffix('…')?;
    (beginning.chars().count() == ::tables::MAX_FACET_CHARS).then_some(beginning)
}

/// Tells whether a facet lists not all of its values.
fn is_cut(rows: &[Value], facet: &Value) -> bool {
    let n_counted: u64 = rows.iter().filter_map(|row| row["total"].as_u64()).sum();
    facet["total"].as_u64().is_some_and(|total| n_counted < total)
}

/// How many values there are beside those that are shown. A facet lists the most frequent ones
/// alone: of the others it is known how many rows they are in, and of the whole table how many
/// they are.
fn more_values(
    rows: &[Value],
    n_shown: usize,
    facet: &Value,
    field: &Value,
    is_whole: bool,
) -> Option<String> {
    let n_shown = n_shown.min(rows.len());
    let n_listed = rows.len() - n_shown;
    if !is_cut(rows, facet) {
        return (n_listed > 0).then(|| format!("{} more values", thousands(n_listed)));
    }
    let n_null = usize::from(field["null"].as_u64().is_some_and(|rows| rows > 0));
    match field["distinct"].as_u64().filter(|_| is_whole) {
        Some(distinct) => {
            let n_more = (distinct as usize + n_null).saturating_sub(n_shown);
            Some(format!("{} more values", thousands(n_more)))
        }
        None if n_listed == 0 => Some("too many values to list".to_owned()),
        None => Some(format!("more than {} more values", thousands(n_listed))),
    }
}

/// What typing a value into a field's box asks for.
fn typed_label(field: &Value) -> &'static str {
    match field["match"].as_str() {
        Some(text) if text.starts_with("contains") => "contains",
        Some("same UTC day") => "on the day",
        _ => "is",
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
    let invalid = view.is_refused(name).then_some("true");
    let bound = |which: &str| {
        let value = facet.get(which).filter(|value| !value.is_null()).unwrap_or(&field[which]);
        tables::bound(value, field)
    };
    html! {
        form .row method="get" action=(viewer.href(&format!("/tables/{}", encoded(&view.name)))) {
            (kept(&without_field(&params.without("cursor"), name), ""))
            input type="text" inputmode="numeric" name=(least) value=(view.typed(params, name, &least)) aria-invalid=[invalid] placeholder=(bound("min")) aria-label=(format!("{name} at least")) size="8";
            input type="text" inputmode="numeric" name=(most) value=(view.typed(params, name, &most)) aria-invalid=[invalid] placeholder=(bound("max")) aria-label=(format!("{name} at most")) size="8";
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
    use super::super::table_chips::said;
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
            Value::Object(read_filters(&fields, &params).unwrap()),
            json!({ "level": ["error", "warning"], "status": [500], "host": "api", "latency": { "min": 100 } })
        );
    }

    #[test]
    fn values_that_are_not_listed_are_said_to_be_too_many() {
        let (facet, field) = (json!({ "total": 166_554 }), json!({ "distinct": 99_994 }));
        let said = more_values(&[], 12, &facet, &field, false);
        assert_eq!(said.as_deref(), Some("too many values to list"));
    }

    fn fields() -> Vec<(String, Value)> {
        let fields = json!({
            "host": { "type": "string", "match": "contains the text, case-sensitive" },
            "ok": { "type": "boolean", "match": "equal" },
            "age": { "type": "number", "match": "[value]: equal; [min, max]: inclusive range" },
            "at": { "type": "timestamp", "match": "same UTC day" },
        });
        fields.as_object().unwrap().clone().into_iter().collect()
    }

    fn params(pairs: &[(&str, &str)]) -> Params {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Params::new(pairs.collect())
    }

    #[test]
    fn one_value_is_asked_for_exactly() {
        for (key, text, expected) in [
            ("is.host", "\"api\"", json!({ "host": { "eq": "api" } })),
            ("is.host", "api", json!({ "host": { "eq": "api" } })),
            ("is.host", "\"\"", json!({ "host": { "eq": "" } })),
            ("is.host", "12", json!({ "host": { "eq": "12" } })),
            ("is.host", "\"12\"", json!({ "host": { "eq": "12" } })),
            ("is.host", "null", json!({ "host": { "is_null": true } })),
            ("is.ok", "true", json!({ "ok": { "eq": true } })),
            ("is.at", "1704085200000", json!({ "at": { "eq": 1_704_085_200_000_i64 } })),
            ("f.age", "30", json!({ "age": [30] })),
            ("f.age", "30.0", json!({ "age": [30] })),
            ("f.age", "1.5e3", json!({ "age": [1_500] })),
            // No float has these digits.
            ("f.age", "1234567890123456705", json!({ "age": [1_234_567_890_123_456_705_i64] })),
            (
                "max.age",
                "12345678901234568085",
                json!({ "age": { "max": "12345678901234568085" } }),
            ),
            // Beyond all that there is, with one end alone.
            ("min.age", "5000", json!({ "age": { "min": 5_000 } })),
            ("f.at", "2024-05-30", json!({ "at": "2024-05-30" })),
        ] {
            let read = read_filters(&fields(), &params(&[(key, text)])).unwrap();
            assert_eq!(Value::Object(read), expected, "{key}={text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_and_named() {
        let long = "x".repeat(30_000);
        for (pairs, named) in [
            (vec![("f.nope", "1")], "`f.nope`"),
            (vec![("min.host", "1")], "`min.host`"),
            (vec![("f.age", "abc")], "`f.age`"),
            (vec![("max.age", "many")], "`max.age`"),
            (vec![("f.ok", "maybe")], "`f.ok`"),
            (vec![("f.host", "a"), ("f.host", "b")], "`f.host`"),
            (vec![("f.host", long.as_str())], "`f.host`"),
            // One of them was passed over in silence.
            (vec![("is.host", "a"), ("f.host", "b")], "`f.host`"),
            (vec![("is.host", "a"), ("is.host", "b")], "`is.host`"),
            (vec![("begins.host", "a"), ("f.host", "b")], "`f.host`"),
            (vec![("min.age", "1"), ("f.age", "3")], "`f.age`"),
            (vec![("max.age", "1"), ("max.age", "3")], "`max.age`"),
        ] {
            let error = read_filters(&fields(), &params(&pairs)).unwrap_err();
            assert!(error.message.contains(named), "{}", error.message);
            let field = named.trim_matches('`').split_once('.').unwrap().1;
            assert_eq!(error.details.get("field"), Some(&json!(field)), "{}", error.message);
        }
        assert!(read_filters(&fields(), &params(&[("f.nope", " "), ("sort", "x")])).is_ok());
    }

    /// A second refused filter took all others with it.
    #[test]
    fn every_refused_filter_is_named_and_the_others_hold() {
        let given = [
            ("f.nope", "1"),
            ("f.host", "api"),
            ("f.age", "abc"),
            ("f.ok", "maybe"),
            ("f.zz", "2"),
            ("is.at", "1704085200000"),
        ];
        let (filters, refused) = read_each(&fields(), &params(&given));
        let mut named: Vec<&str> =
            refused.iter().filter_map(|error| error.details["field"].as_str()).collect();
        named.sort_unstable();
        assert_eq!(named, ["age", "nope", "ok", "zz"]);
        let held = json!({ "host": "api", "at": { "eq": 1_704_085_200_000_i64 } });
        assert_eq!(Value::Object(filters), held);
    }

    #[test]
    fn values_that_are_not_shown_are_counted() {
        let rows: Vec<Value> = (0..100).map(|n| json!({ "value": n, "total": 2 })).collect();
        let field = json!({ "distinct": 1_000_000, "null": 0 });
        let more = |n: usize, total: u64, is_whole| {
            more_values(&rows[..n], 12, &json!({ "total": total }), &field, is_whole)
        };
        assert_eq!(more(12, 24, true), None);
        assert_eq!(more(14, 28, true).as_deref(), Some("2 more values"));
        assert_eq!(more(100, 200, false).as_deref(), Some("88 more values"));
        let whole = format!("{} more values", thousands(999_988));
        assert_eq!(more(100, 1_000_000, true), Some(whole));
        assert_eq!(more(100, 500, false).as_deref(), Some("more than 88 more values"));
        let all = more_values(&rows, usize::MAX, &json!({ "total": 200 }), &field, false);
        assert_eq!(all, None, "all that are listed are shown");
    }

    #[test]
    fn a_chip_says_how_it_filters() {
        let fields = fields();
        let host = Some(&fields[0].1);
        assert_eq!(said(host, "host", &json!("api")), "host contains api");
        assert_eq!(said(host, "host", &json!({ "eq": "api" })), "host is api");
        assert_eq!(said(host, "host", &json!({ "eq": "" })), "host is (blank)");
        assert_eq!(said(host, "host", &json!({ "is_null": true })), "host has no value");
        assert_eq!(said(None, "age", &json!([1, 2])), "age: 1, 2");
        let begins = read_filters(&fields, &params(&[("begins.host", "api-")])).unwrap();
        assert_eq!(said(host, "host", &begins["host"]), "host begins with api-");
    }

    #[test]
    fn a_value_that_was_cut_is_asked_for_by_its_beginning() {
        let beginning = "x".repeat(::tables::MAX_FACET_CHARS);
        assert_eq!(beginning_of(&json!(format!("{beginning}…"))), Some(beginning.as_str()));
        assert_eq!(beginning_of(&json!(beginning)), None);
        assert_eq!(beginning_of(&json!("wait…")), None, "a value may end so");
    }
}

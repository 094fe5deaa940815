//! Checks arguments against a tool's input schema, with errors written for an agent: which
//! argument, what was received, what is allowed, the nearest name, and the next call to make.
//!
//! This covers the part of JSON Schema that tools use to describe arguments (`type`, `enum`,
//! `required`, `properties`, `additionalProperties`, `items`, `minimum`, `maximum`,
//! `minLength`, `maxLength`, `minItems`, `maxItems`, `format: uuid`). A test holds every
//! registered schema to exactly these keywords, so that nothing stands in a schema unchecked.

use serde_json::{Map, Value};

use crate::{Spec, ToolError};

/// Received values are quoted in errors up to this many characters.
const QUOTED_CHARS: usize = 120;

/// How deep arguments may nest before they are refused.
const MAX_DEPTH: usize = 32;

/// Checks arguments; the first problem found is the error.
pub fn check(spec: &Spec, arguments: &Map<String, Value>) -> Result<(), ToolError> {
    check_object(&Place { spec, path: String::new(), depth: 0 }, &spec.input, arguments)
}

/// Where in the arguments the check stands.
struct Place<'a> {
    spec: &'a Spec,
    path: String,
    depth: usize,
}

impl<'a> Place<'a> {
    fn member(&self, name: &str) -> Place<'a> {
        let path =
            if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Place { spec: self.spec, path, depth: self.depth + 1 }
    }

    fn element(&self, element_idx: usize) -> Place<'a> {
        Place {
            spec: self.spec,
            path: format!("{}[{element_idx}]", self.path),
            depth: self.depth + 1,
        }
    }

    /// Puts together the error: the contract's sentence first where it gives one.
    #[expect(clippy::needless_pass_by_value, reason = "every caller has just written it")]
    fn refuse(&self, rule: &str, plain: String, received: &Value) -> ToolError {
        let sentence = self.spec.sentence(&format!("{}.{rule}", self.path));
        let message = match sentence {
            Some(sentence) => format!("{sentence}: {plain}, received {}", quote(received)),
            None => format!("{plain}, received {}", quote(received)),
        };
        let hint = match &self.spec.advice {
            Some(advice) => advice.clone(),
            None => format!("correct `{}` and call `{}` again", self.path, self.spec.name),
        };
        ToolError::bad_request(message)
            .with_detail("argument", self.path.clone())
            .with_detail("received", shorten(received))
            .with_hint(hint)
    }
}

fn check_value(place: &Place<'_>, schema: &Value, value: &Value) -> Result<(), ToolError> {
    let Value::Object(schema) = schema else { return Ok(()) };
    if place.depth > MAX_DEPTH {
        return Err(place.refuse(
            "depth",
            format!("`{}` nests deeper than {MAX_DEPTH} levels", place.path),
            &Value::Null,
        ));
    }
    check_type(place, schema, value)?;
    check_enum(place, schema, value)?;
    match value {
        Value::Number(number) => check_number(place, schema, number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => check_string(place, schema, text),
        Value::Array(elements) => check_array(place, schema, elements),
        Value::Object(members) => check_object(place, schema, members),
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

fn check_object(
    place: &Place<'_>,
    schema: &Map<String, Value>,
    members: &Map<String, Value>,
) -> Result<(), ToolError> {
    let nothing = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    // A misspelt name is said before the argument that it leaves missing.
    if schema.get("additionalProperties") == Some(&Value::Bool(false))
        && let Some((name, value)) =
            members.iter().find(|(name, _)| !properties.contains_key(name.as_str()))
    {
        return Err(unknown(place, name, value, properties));
    }
    for required in strings(schema.get("required")) {
        if !members.contains_key(required) {
            return Err(missing(&place.member(required), properties.get(required)));
        }
    }
    for (name, value) in members {
        match properties.get(name) {
            Some(property) => check_value(&place.member(name), property, value)?,
            None => {
                if let Some(other) = schema.get("additionalProperties") {
                    check_value(&place.member(name), other, value)?;
                }
            }
        }
    }
    Ok(())
}

fn missing(place: &Place<'_>, property: Option<&Value>) -> ToolError {
    let plain = format!("{} is required", place.path);
    let sentence = place.spec.sentence(&format!("{}.required", place.path));
    let wanted = property.map(describe).unwrap_or_default();
    let message = format!("{}: expected {wanted}", sentence.unwrap_or(&plain));
    let hint = match &place.spec.advice {
        Some(advice) => advice.clone(),
        None => format!("call `{}` again with `{}`", place.spec.name, place.path),
    };
    ToolError::bad_request(message)
        .with_detail("argument", place.path.clone())
        .with_detail("allowed", wanted)
        .with_hint(hint)
}

fn unknown(
    place: &Place<'_>,
    name: &str,
    value: &Value,
    properties: &Map<String, Value>,
) -> ToolError {
    let known: Vec<&str> = properties.keys().map(String::as_str).collect();
    let shown: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let shown = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
    let name = shorten_text(name);
    let inner = place.member(&name);
    let nearest = text::nearest(&name, &known);
    let mut message = format!("unknown argument `{}`, allowed: {shown}", inner.path);
    if let Some(nearest) = nearest {
        message.push_str(&format!("; did you mean `{nearest}`?"));
    }
    let mut error = ToolError::bad_request(message)
        .with_detail("argument", inner.path.clone())
        .with_detail("received", shorten(value))
        .with_detail("allowed", known.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    if let Some(nearest) = nearest {
        error = error.with_detail("did_you_mean", nearest);
    }
    let tool = &place.spec.name;
    error.with_hint(match (&place.spec.advice, nearest) {
        (Some(advice), _) => advice.clone(),
        (None, Some(nearest)) => {
            let wanted = place.member(nearest).path;
            format!("call `{tool}` again with `{wanted}` in place of `{}`", inner.path)
        }
        (None, None) => format!("call `{tool}` again without `{}`", inner.path),
    })
}

fn check_type(
    place: &Place<'_>,
    schema: &Map<String, Value>,
    value: &Value,
) -> Result<(), ToolError> {
    let allowed = strings(schema.get("type"));
    let fits = |kind: &&str| match *kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    };
    if allowed.is_empty() || allowed.iter().any(fits) {
        return Ok(());
    }
    let expected = describe(&Value::Object(schema.clone()));
    Err(place
        .refuse("type", format!("`{}` must be {expected}, not {}", place.path, kind(value)), value)
        .with_detail("allowed", expected))
}

fn check_enum(
    place: &Place<'_>,
    schema: &Map<String, Value>,
    value: &Value,
) -> Result<(), ToolError> {
    let Some(Value::Array(allowed)) = schema.get("enum") else { return Ok(()) };
    if allowed.contains(value) {
        return Ok(());
    }
    let shown: Vec<String> = allowed.iter().map(quote).collect();
    let candidates: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
    let nearest = value.as_str().and_then(|text| text::nearest(text, &candidates));
    let mut plain = format!("`{}` must be one of {}", place.path, shown.join(", "));
    if let Some(nearest) = nearest {
        plain.push_str(&format!(" (did you mean `{nearest}`?)"));
    }
    let mut error =
        place.refuse("enum", plain, value).with_detail("allowed", Value::Array(allowed.clone()));
    if let Some(nearest) = nearest {
        error = error.with_detail("did_you_mean", nearest);
    }
    Err(error)
}

fn check_number(
    place: &Place<'_>,
    schema: &Map<String, Value>,
    number: f64,
) -> Result<(), ToolError> {
    let limit = |name: &str| schema.get(name).and_then(Value::as_f64);
    let (minimum, maximum) = (limit("minimum"), limit("maximum"));
    let too_small = minimum.is_some_and(|minimum| number < minimum);
    let too_large = maximum.is_some_and(|maximum| number > maximum);
    if !too_small && !too_large && number.is_finite() {
        return Ok(());
    }
    let range = match (schema.get("minimum"), schema.get("maximum")) {
        (Some(minimum), Some(maximum)) => format!("from {minimum} to {maximum}"),
        (Some(minimum), None) => format!("at least {minimum}"),
        (None, Some(maximum)) => format!("at most {maximum}"),
        (None, None) => "a finite number".to_owned(),
    };
    let received = serde_json::Number::from_f64(number).map_or(Value::Null, Value::Number);
    let received = if number.fract() == 0.0 && number.abs() < 9e15 {
        Value::from(number as i64)
    } else {
        received
    };
    let rule = if too_small { "minimum" } else { "maximum" };
    Err(place
        .refuse(rule, format!("`{}` must be {range}", place.path), &received)
        .with_detail("allowed", range))
}

fn check_string(
    place: &Place<'_>,
    schema: &Map<String, Value>,
    text: &str,
) -> Result<(), ToolError> {
    let limit = |name: &str| schema.get(name).and_then(Value::as_u64);
    let received = Value::String(text.to_owned());
    let n_chars = text.chars().count() as u64;
    let length = Length { n: n_chars, least: limit("minLength"), most: limit("maxLength") };
    if let Some(refusal) = length.refusal("character", ["minLength", "maxLength"]) {
        let mut plain = format!("`{}` must have {}", place.path, refusal.allowed);
        // A text that is cut where it is quoted does not show how long it was.
        if refusal.rule == "maxLength" {
            plain.push_str(&format!(" and has {n_chars}"));
        }
        let error = place.refuse(refusal.rule, plain, &received);
        return Err(error.with_detail("allowed", refusal.allowed));
    }
    if schema.get("format").and_then(Value::as_str) == Some("uuid") && !is_uuid(text) {
        let plain = format!("`{}` must be a UUID", place.path);
        let allowed = "a UUID, such as `123e4567-e89b-12d3-a456-426614174000`";
        return Err(place.refuse("format", plain, &received).with_detail("allowed", allowed));
    }
    Ok(())
}

fn check_array(
    place: &Place<'_>,
    schema: &Map<String, Value>,
    elements: &[Value],
) -> Result<(), ToolError> {
    let limit = |name: &str| schema.get(name).and_then(Value::as_u64);
    let n_elements = elements.len() as u64;
    let length = Length { n: n_elements, least: limit("minItems"), most: limit("maxItems") };
    if let Some(refusal) = length.refusal("element", ["minItems", "maxItems"]) {
        let plain = format!("`{}` must have {}", place.path, refusal.allowed);
        let received = Value::String(counted(n_elements, "element"));
        let error = place.refuse(refusal.rule, plain, &received);
        return Err(error.with_detail("allowed", refusal.allowed));
    }
    if let Some(items) = schema.get("items") {
        for (element_idx, element) in elements.iter().enumerate() {
            check_value(&place.element(element_idx), items, element)?;
        }
    }
    Ok(())
}

/// How long a text or list is, and may be.
struct Length {
    n: u64,
    least: Option<u64>,
    most: Option<u64>,
}

/// Which rule a length breaks, and what would be right.
struct Refusal {
    rule: &'static str,
    allowed: String,
}

impl Length {
    /// Compares the length with its limits; `rules` are the names of the lower and the upper.
    fn refusal(&self, unit: &str, rules: [&'static str; 2]) -> Option<Refusal> {
        let rule = if self.least.is_some_and(|least| self.n < least) {
            rules[0]
        } else if self.most.is_some_and(|most| self.n > most) {
            rules[1]
        } else {
            return None;
        };
        let allowed = match (self.least, self.most) {
            (Some(least), Some(most)) => format!("from {least} to {}", counted(most, unit)),
            (Some(least), None) => format!("at least {}", counted(least, unit)),
            (None, most) => format!("at most {}", counted(most.unwrap_or_default(), unit)),
        };
        Some(Refusal { rule, allowed })
    }
}

fn counted(n: u64, unit: &str) -> String {
    if n == 1 { format!("1 {unit}") } else { format!("{n} {unit}s") }
}

/// Says in words what a schema accepts.
fn describe(schema: &Value) -> String {
    if let Some(Value::Array(allowed)) = schema.get("enum") {
        let shown: Vec<String> = allowed.iter().map(quote).collect();
        return format!("one of {}", shown.join(", "));
    }
    let kinds = strings(schema.get("type"));
    let words: Vec<String> = kinds
        .iter()
        .map(|kind| match *kind {
            "integer" => "an integer".to_owned(),
            "array" => match schema.get("items") {
                Some(items) => format!("an array, each element {}", describe(items)),
                None => "an array".to_owned(),
            },
            "object" => {
                let members: Vec<String> = strings(schema.get("required"))
                    .into_iter()
                    .map(|name| format!("`{name}`"))
                    .collect();
                match members.as_slice() {
                    [] => "an object".to_owned(),
                    members => format!("an object with {}", members.join(", ")),
                }
            }
            "null" => "null".to_owned(),
            other => format!("a {other}"),
        })
        .collect();
    if words.is_empty() { "a value".to_owned() } else { words.join(" or ") }
}

/// Says in words what kind of value was received: `"10"` and `10` look alike when quoted.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn strings(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_uuid(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn quote(value: &Value) -> String {
    match value.as_str() {
        Some(text) => format!("`{}`", shorten_text(text)),
        None => format!("`{}`", shorten_text(&value.to_string())),
    }
}

fn shorten(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(shorten_text(text)),
        Value::Array(_) | Value::Object(_) => Value::String(shorten_text(&value.to_string())),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn shorten_text(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spec() -> Spec {
        let mut spec = Spec::read_only("sample", "Sample", "A sample.").with_input(json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "minLength": 1, "maxLength": 10 },
                "k": { "type": "integer", "minimum": 1, "maximum": 100 },
                "threshold": { "type": "number", "minimum": 0.0, "maximum": 1.0 },
                "format": { "type": "string", "enum": ["json", "stats", "markdown", "csv"] },
                "exts": { "type": "array", "items": { "type": "string" }, "maxItems": 2 },
                "id": { "type": "string", "format": "uuid" },
                "nested": {
                    "type": "object",
                    "properties": { "depth": { "type": "boolean" } },
                    "additionalProperties": false,
                },
            },
            "required": ["query"],
        }));
        spec.sentences = vec![
            ("threshold.minimum", "threshold out of range (0.0-1.0)"),
            ("threshold.maximum", "threshold out of range (0.0-1.0)"),
        ];
        spec
    }

    fn message(arguments: &Value) -> String {
        match check(&spec(), arguments.as_object().unwrap()) {
            Ok(()) => "ok".to_owned(),
            Err(error) => serde_json::to_string(&error.to_json(crate::ErrorShape::Coded)).unwrap(),
        }
    }

    #[test]
    fn every_refusal_says_what_to_do() {
        let cases = [
            json!({ "query": "x", "k": 3.0, "nested": { "depth": true }, "exts": [".a"] }),
            json!({}),
            json!({ "query": 5 }),
            json!({ "query": "" }),
            json!({ "query": "12345678901" }),
            json!({ "query": "x", "kk": 5 }),
            json!({ "query": "x", "k": 500 }),
            json!({ "query": "x", "k": 1.5 }),
            json!({ "query": "x", "threshold": 1.5 }),
            json!({ "query": "x", "format": "jsn" }),
            json!({ "query": "x", "exts": ["a", 5] }),
            json!({ "query": "x", "exts": ["a", "b", "c"] }),
            json!({ "query": "x", "id": "no" }),
            json!({ "query": "x", "nested": { "deep": true } }),
            json!({ "query": "x", "nested": [] }),
        ];
        let lines: Vec<String> =
            cases.iter().map(|case| format!("{case}\n    {}", message(case))).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}

//! What language models send without harm is taken: null and empty text for an optional
//! argument, numbers and booleans written as text, 0 and 1 for booleans, numbers where text is
//! expected, one value where a list is expected and a list of one where a value is, names or
//! numbers with commas between them where a list of such is, nulls and empty texts in a list of
//! texts, a text where an object needs nothing but that text, lists and objects written as JSON
//! text, an empty list for an empty object, one of a few names in other case or in another word for
//! it, dashes that look like a hyphen where a pattern has one, and an order in any of the forms that
//! other interfaces have ([`super::orders`]).
//!
//! Nothing is guessed: a value changes only when it does not have a type that the schema
//! allows, and only when nothing of it is lost. What cannot be converted stays as it was, for
//! the validator to refuse.

use serde_json::{Map, Number, Value};

use super::orders;

/// Other words for names in closed lists, which mean exactly the same.
const SYNONYMS: [(&str, &str); 3] = [("mean", "avg"), ("average", "avg"), ("md", "markdown")];

/// The largest whole number up to which a float counts exactly.
const EXACT_UP_TO: f64 = 9_007_199_254_740_992.0;

/// Makes the members of an object plain.
pub(super) fn object(
    schema: &Map<String, Value>,
    members: Map<String, Value>,
    place: &str,
    notes: &mut Vec<String>,
) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = super::sentences::strings(schema.get("required"));
    let mut plain = Map::new();
    for (name, value) in members {
        let inner = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        let property = properties.and_then(|properties| properties.get(&name));
        let property = property
            .or_else(|| schema.get("additionalProperties").filter(|schema| schema.is_object()));
        let Some(property) = property else {
            plain.insert(name, value);
            continue;
        };
        // Inside of filters a null may be looked for.
        let value = match value {
            Value::Array(elements) if place.is_empty() => {
                match without_nothings(property, elements) {
                    Some(elements) => Value::Array(elements),
                    // A list of nothing but nothings is no list at all.
                    None if !required.contains(&name.as_str()) => continue,
                    None => Value::Array(Vec::new()),
                }
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => value,
        };
        if !required.contains(&name.as_str()) && means_absent(property, &value) {
            continue;
        }
        plain.insert(name, settled(property, value, &inner, notes));
    }
    plain
}

/// Tells whether an optional argument was left out in other words. A schema that says
/// `minLength: 0` has a use for empty text.
fn means_absent(schema: &Value, value: &Value) -> bool {
    match value {
        // A list of no values where one value is expected.
        Value::Array(elements) if elements.is_empty() => {
            let kinds = kinds(schema);
            !kinds.is_empty() && !kinds.contains(&"array") && !kinds.contains(&"object")
        }
        Value::Null => !kinds(schema).contains(&"null"),
        Value::String(text) => {
            text::is_blank(text) && schema.get("minLength") != Some(&Value::from(0))
        }
        // Nothing in an object that has to hold something.
        Value::Object(members) => members.is_empty() && holds_something(schema),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => false,
    }
}

/// Tells whether every object that a schema takes has members that are required.
fn holds_something(schema: &Value) -> bool {
    if let Some(Value::Array(branches)) = schema.get("anyOf") {
        let mut objects = branches.iter().filter(|one| kinds(one).contains(&"object")).peekable();
        return objects.peek().is_some() && objects.all(holds_something);
    }
    schema.get("required").and_then(Value::as_array).is_some_and(|required| !required.is_empty())
}

/// Leaves nulls and empty texts out of a list of texts; gives nothing where nothing is left of a list
/// that had elements. A list whose texts have to say something keeps the empty ones, to be refused:
/// each of them has an answer of its own.
fn without_nothings(schema: &Value, mut elements: Vec<Value>) -> Option<Vec<Value>> {
    let Some(items) = schema.get("items").filter(|items| kinds(items) == ["string"]) else {
        return Some(elements);
    };
    let n_given = elements.len();
    let is_nothing = |element: &Value| match element.as_str() {
        Some(text) => !wants_text(items) && text::is_blank(text),
        None => element.is_null(),
    };
    elements.retain(|element| !is_nothing(element));
    (n_given == 0 || !elements.is_empty()).then_some(elements)
}

fn settled(schema: &Value, value: Value, place: &str, notes: &mut Vec<String>) -> Value {
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = schema.get(keyword) {
            let holds_json = |branch: &&Value| {
                let text = value.as_str();
                text.is_some_and(|text| from_json_text(&kinds(branch), text).is_some())
            };
            // `latency desc, date` are two orders, where both one and a list of them is taken.
            let is_list = |branch: &&Value| {
                let of_orders = branch.get("items").is_some_and(orders::is_order);
                of_orders && value.as_str().is_some_and(|text| text.contains(','))
            };
            let branch = branches
                .iter()
                .find(is_list)
                .or_else(|| branches.iter().find(|branch| fits(&kinds(branch), &value)))
                .or_else(|| branches.iter().find(holds_json))
                .or_else(|| branches.iter().find(|branch| converts(branch, &value)));
            return match branch {
                Some(branch) => settled(branch, value, place, notes),
                None => value,
            };
        }
    }
    let value = orders::read(schema, value);
    let kinds = kinds(schema);
    if !kinds.is_empty() && !fits(&kinds, &value) {
        return converted(schema, &kinds, value, place, notes);
    }
    match value {
        Value::Object(members) => match schema.as_object() {
            Some(schema) => Value::Object(object(schema, members, place, notes)),
            None => Value::Object(members),
        },
        Value::Array(elements) => match schema.get("items") {
            Some(items) => Value::Array(
                elements
                    .into_iter()
                    .enumerate()
                    .map(|(at, element)| settled(items, element, &format!("{place}[{at}]"), notes))
                    .collect(),
            ),
            None => Value::Array(elements),
        },
        // Some clients know only floats, and JSON Schema takes 3.0 for an integer.
        Value::Number(number) if kinds.contains(&"integer") => Value::Number(whole(number)),
        // One of a few names is meant whatever its case, where it can be only one.
        Value::String(text) if schema.get("enum").is_some() => {
            Value::String(named(schema, &text).unwrap_or(text))
        }
        // A pattern is about digits and signs: a hyphen may be any of those that look like one.
        Value::String(text) if schema.get("pattern").is_some() => {
            Value::String(text.trim().replace(['‐', '‑', '–', '—', '−'], "-"))
        }
        // Text of nothing but spaces is as empty as empty text.
        Value::String(text) if text::is_blank(&text) && wants_text(schema) => {
            Value::String(String::new())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// Gives the name that a text is but for its case and blanks; nothing where it is one already.
fn named(schema: &Value, text: &str) -> Option<String> {
    let names = super::sentences::strings(schema.get("enum"));
    if names.contains(&text) {
        return None;
    }
    let plain = text.trim().to_lowercase();
    // Of `mean` the nearest name is `median`, which is something else.
    let other = SYNONYMS.iter().find(|(word, _)| *word == plain).map(|(_, name)| *name);
    if let Some(name) = other.filter(|name| names.contains(name)) {
        return Some(name.to_owned());
    }
    let mut meant = names.into_iter().filter(|name| name.to_lowercase() == plain);
    let first = meant.next()?;
    meant.next().is_none().then(|| first.to_owned())
}

fn wants_text(schema: &Value) -> bool {
    schema.get("minLength").and_then(Value::as_u64).is_some_and(|least| least > 0)
}

fn converts(schema: &Value, value: &Value) -> bool {
    let kinds = kinds(schema);
    let after = converted(schema, &kinds, value.clone(), "", &mut Vec::new());
    fits(&kinds, &after)
}

fn converted(
    schema: &Value,
    kinds: &[&str],
    value: Value,
    place: &str,
    notes: &mut Vec<String>,
) -> Value {
    if let Value::String(text) = &value
        && let Some(inner) = from_json_text(kinds, text)
    {
        notes.push(format!("`{place}` was text that holds JSON and was read as such"));
        return settled(schema, inner, place, notes);
    }
    let scalar = match &value {
        Value::String(text) => from_text(kinds, text.trim()),
        Value::Number(number) if kinds.contains(&"string") => {
            Some(Value::String(whole(number.clone()).to_string()))
        }
        // Some languages write both an empty list and an empty object as `[]`.
        Value::Array(elements) if elements.is_empty() && kinds.contains(&"object") => {
            Some(Value::Object(Map::new()))
        }
        Value::Bool(is_so) if kinds.contains(&"string") => Some(Value::String(is_so.to_string())),
        Value::Number(number) if kinds.contains(&"boolean") => boolean(&number.to_string()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    };
    if let Some(scalar) = scalar {
        return scalar;
    }
    if let Value::String(text) = &value
        && kinds.contains(&"object")
        && let Some(name) = only_required_text(schema)
    {
        notes.push(format!("`{place}` was read as {{\"{name}\": …}}"));
        let members = Map::from_iter([(name.to_owned(), Value::String(text.clone()))]);
        return settled(schema, Value::Object(members), place, notes);
    }
    if let Value::Array(elements) = &value
        && !kinds.contains(&"array")
        && let [only] = elements.as_slice()
        && !only.is_array()
    {
        return settled(schema, only.clone(), place, notes);
    }
    if kinds.contains(&"array")
        && let Some(list) = listed(schema, &value)
    {
        return settled(schema, list, place, notes);
    }
    if kinds.contains(&"array") && !value.is_null() {
        let element = match schema.get("items") {
            Some(items) => settled(items, value, place, notes),
            None => value,
        };
        return Value::Array(vec![element]);
    }
    value
}

/// Takes a list apart that was written as one text with commas, where its elements can have none:
/// one of a few names, or what a pattern without a comma describes.
fn listed(schema: &Value, value: &Value) -> Option<Value> {
    let text = value.as_str().filter(|text| text.contains(','))?;
    let items = schema.get("items")?;
    if orders::is_order(items) {
        return Some(text.split(',').map(str::trim).map(Value::from).collect());
    }
    let names = super::sentences::strings(items.get("enum"));
    let has_no_comma = match items.get("pattern").and_then(Value::as_str) {
        Some(pattern) => !pattern.contains(','),
        None => !names.is_empty() && !names.iter().any(|name| name.contains(',')),
    };
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    has_no_comma.then(|| parts.map(Value::from).collect())
}

/// Gives the name of a text that is all that an object needs: `"name"` for `{"id": "name"}`.
fn only_required_text(schema: &Value) -> Option<&str> {
    let [name] = super::sentences::strings(schema.get("required"))[..] else { return None };
    let property = schema.get("properties")?.get(name)?;
    kinds(property).contains(&"string").then_some(name)
}

/// Reads what stands for true or false in other languages.
fn boolean(text: &str) -> Option<Value> {
    match text {
        "true" | "True" | "TRUE" | "1" => Some(Value::Bool(true)),
        "false" | "False" | "FALSE" | "0" => Some(Value::Bool(false)),
        _ => None,
    }
}

fn from_json_text(kinds: &[&str], text: &str) -> Option<Value> {
    let is_list = kinds.contains(&"array") && text.trim_start().starts_with('[');
    let is_object = kinds.contains(&"object") && text.trim_start().starts_with('{');
    if !is_list && !is_object {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    fits(kinds, &value).then_some(value)
}

fn from_text(kinds: &[&str], text: &str) -> Option<Value> {
    if kinds.contains(&"boolean")
        && let Some(is_so) = boolean(text)
    {
        return Some(is_so);
    }
    if !kinds.contains(&"integer") && !kinds.contains(&"number") {
        return None;
    }
    let number: Number = serde_json::from_str(text).ok()?;
    let number = whole(number);
    let fits = kinds.contains(&"number") || number.is_i64() || number.is_u64();
    fits.then_some(Value::Number(number))
}

/// Writes `3.0` as `3`.
fn whole(number: Number) -> Number {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT_UP_TO => {
            Number::from(float as i64)
        }
        _ => number,
    }
}

fn kinds(schema: &Value) -> Vec<&str> {
    super::sentences::strings(schema.get("type"))
}

/// Tells whether a value has one of these types of JSON Schema.
pub(super) fn fits(kinds: &[&str], value: &Value) -> bool {
    kinds.iter().any(|kind| match *kind {
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
    })
}

//! Finds the places of an answer that a pattern names: a JSON pointer with `*` for every
//! element or member, and `**` for everything below.

use serde_json::Value;

/// Called with a string, and the name of the member that holds it where the pattern left that
/// name open: one that is in the pattern is ours, the others came with the data.
type Visit<'a> = &'a mut dyn FnMut(&mut String, Option<&str>);

/// Calls `visit` with every string at the places that the pattern names.
pub(crate) fn strings_at(value: &mut Value, pattern: &str, visit: Visit<'_>) {
    let segments: Vec<&str> = pattern.split('/').skip(1).collect();
    walk(value, &segments, None, visit);
}

fn walk(value: &mut Value, segments: &[&str], name: Option<&str>, visit: Visit<'_>) {
    let Some((first, rest)) = segments.split_first() else {
        if let Value::String(text) = value {
            visit(text, name);
        }
        return;
    };
    match (*first, value) {
        ("**", value) => everything(value, name, visit),
        ("*", Value::Array(elements)) => {
            elements.iter_mut().for_each(|element| walk(element, rest, name, visit));
        }
        ("*", Value::Object(members)) => {
            for (own, member) in members.iter_mut() {
                walk(member, rest, Some(own), visit);
            }
        }
        (fixed, Value::Object(members)) => {
            if let Some(member) = members.get_mut(fixed) {
                walk(member, rest, name, visit);
            }
        }
        _ => {}
    }
}

fn everything(value: &mut Value, name: Option<&str>, visit: Visit<'_>) {
    match value {
        Value::String(text) => visit(text, name),
        Value::Array(elements) => {
            elements.iter_mut().for_each(|element| everything(element, name, visit));
        }
        Value::Object(members) => {
            for (own, member) in members.iter_mut() {
                everything(member, Some(own), visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

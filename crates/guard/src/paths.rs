//! Finds the places of an answer that a pattern names: a JSON pointer with `*` for every
//! element or member, and `**` for everything below.

use serde_json::Value;

/// Calls `visit` with every string at the places that the pattern names.
pub(crate) fn strings_at(value: &mut Value, pattern: &str, visit: &mut dyn FnMut(&mut String)) {
    let segments: Vec<&str> = pattern.split('/').skip(1).collect();
    walk(value, &segments, visit);
}

fn walk(value: &mut Value, segments: &[&str], visit: &mut dyn FnMut(&mut String)) {
    let Some((first, rest)) = segments.split_first() else {
        if let Value::String(text) = value {
            visit(text);
        }
        return;
    };
    match (*first, value) {
        ("**", value) => everything(value, visit),
        ("*", Value::Array(elements)) => {
            elements.iter_mut().for_each(|element| walk(element, rest, visit));
        }
        ("*", Value::Object(members)) => {
            members.values_mut().for_each(|member| walk(member, rest, visit));
        }
        (name, Value::Object(members)) => {
            if let Some(member) = members.get_mut(name) {
                walk(member, rest, visit);
            }
        }
        _ => {}
    }
}

fn everything(value: &mut Value, visit: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(elements) => {
            elements.iter_mut().for_each(|element| everything(element, visit));
        }
        Value::Object(members) => {
            members.values_mut().for_each(|member| everything(member, visit));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

//! An order of rows, `{id, desc}`, in the forms that other interfaces have: `-latency`, `latency desc`,
//! `latency:desc`, `{"latency": "desc"}`, `{"field": "latency", "order": "desc"}`.

use serde_json::{Map, Value, json};

/// Other names for the field that is sorted by.
const FIELDS: [&str; 5] = ["field", "column", "by", "name", "key"];

/// Other names for the direction.
const DIRECTIONS: [&str; 4] = ["order", "direction", "dir", "sort"];

/// Tells whether a schema is that of an order.
pub(super) fn is_order(schema: &Value) -> bool {
    let has = |name: &str| schema.pointer(&format!("/properties/{name}")).is_some();
    has("id") && has("desc")
}

/// Reads a value as the order that it means; whatever is none stays as it was.
pub(super) fn read(schema: &Value, value: Value) -> Value {
    if !is_order(schema) {
        return value;
    }
    let order = match &value {
        Value::String(text) => read_text(schema, text, None),
        Value::Object(members) => read_members(schema, members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    };
    order.unwrap_or(value)
}

fn read_members(schema: &Value, members: &Map<String, Value>) -> Option<Value> {
    if let Some(Value::String(id)) = members.get("id") {
        let rest: Vec<&String> = members.keys().filter(|name| *name != "id").collect();
        return match rest.as_slice() {
            [] => read_text(schema, id, None),
            [desc] if *desc == "desc" && is_field(schema, id) => None,
            [other] => direction_named(members, other)
                .and_then(|is_descending| read_text(schema, id, Some(is_descending))),
            _ => None,
        };
    }
    let names: Vec<&String> = members.keys().collect();
    match names.as_slice() {
        // {"latency": "desc"}
        [field] if is_field(schema, field) => {
            let is_descending = direction(members.get(*field)?)?;
            Some(json!({ "id": field, "desc": is_descending }))
        }
        [field] if FIELDS.contains(&field.as_str()) => {
            read_text(schema, members.get(*field)?.as_str()?, None)
        }
        [one, other] => {
            let is_named = |name: &&&String| FIELDS.contains(&name.as_str());
            let field = [one, other].into_iter().find(is_named)?;
            let rest = [one, other].into_iter().find(|name| *name != field)?;
            let is_descending = direction_named(members, rest)?;
            read_text(schema, members.get(*field)?.as_str()?, Some(is_descending))
        }
        _ => None,
    }
}

fn direction_named(members: &Map<String, Value>, name: &str) -> Option<bool> {
    let value = members.get(name)?;
    match name {
        "desc" | "descending" => value.as_bool().or_else(|| direction(value)),
        "asc" | "ascending" => value.as_bool().map(|is_ascending| !is_ascending),
        name if DIRECTIONS.contains(&name) => direction(value),
        _ => None,
    }
}

/// Reads a direction: whether it is downwards.
fn direction(value: &Value) -> Option<bool> {
    match value {
        Value::Number(number) => match number.as_i64()? {
            1 => Some(false),
            -1 => Some(true),
            _ => None,
        },
        Value::String(text) => match text.trim().to_lowercase().as_str() {
            "asc" | "ascending" | "up" => Some(false),
            "desc" | "descending" | "down" => Some(true),
            _ => None,
        },
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Reads an order that was written as one text.
fn read_text(schema: &Value, text: &str, said: Option<bool>) -> Option<Value> {
    let text = text.trim();
    let order = |field: &str, is_descending: Option<bool>| {
        // A field may have a sign or a word in its name: that is the field.
        let is_descending = said.or(is_descending)?;
        Some(json!({ "id": field, "desc": is_descending }))
    };
    if is_listed(schema, text) {
        return order(text, None);
    }
    for (sign, is_descending) in [('-', true), ('+', false)] {
        if let Some(field) = text.strip_prefix(sign).map(str::trim)
            && is_field(schema, field)
        {
            return order(field, Some(is_descending));
        }
    }
    if let Some((field, word)) = text.rsplit_once([' ', ':', '\t'])
        && let Some(is_descending) = direction(&json!(word))
    {
        let field = field.trim().trim_end_matches(':').trim_end();
        return is_field(schema, field).then(|| order(field, Some(is_descending))).flatten();
    }
    order(text, None)
}

/// Tells whether a name may be that of a field: where fields are listed it is one of them.
fn is_field(schema: &Value, name: &str) -> bool {
    let is_any = schema.pointer("/properties/id/enum").is_none();
    is_listed(schema, name) || is_any && !name.is_empty()
}

fn is_listed(schema: &Value, name: &str) -> bool {
    let listed = schema.pointer("/properties/id/enum").and_then(Value::as_array);
    listed.is_some_and(|names| names.iter().any(|one| one == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_other_interfaces_are_read() {
        let properties = json!({
            "id": { "type": "string", "enum": ["latency", "-x", "user id"] },
            "desc": { "type": "boolean" },
        });
        let schema = json!({ "type": "object", "properties": properties, "required": ["id"] });
        let down = json!({ "id": "latency", "desc": true });
        let up = json!({ "id": "latency", "desc": false });
        for said in [
            json!("-latency"),
            json!(" latency DESC "),
            json!("latency:desc"),
            json!("latency: descending"),
            json!({ "id": "-latency" }),
            json!({ "id": "latency", "order": "desc" }),
            json!({ "latency": "desc" }),
            json!({ "latency": -1 }),
            json!({ "field": "latency", "direction": "descending" }),
            json!({ "column": "latency", "desc": true }),
            json!({ "by": "-latency" }),
        ] {
            assert_eq!(read(&schema, said.clone()), down, "{said}");
        }
        for said in
            [json!("+latency"), json!("latency asc"), json!({ "id": "latency", "asc": true })]
        {
            assert_eq!(read(&schema, said.clone()), up, "{said}");
        }
        for same in [
            json!("latency"),
            json!("user id"),
            json!("-x"),
            json!("-nothing"),
            json!("nothing desc"),
            json!({ "id": "latency", "desc": true }),
            json!({ "id": "latency", "color": "red" }),
            json!({ "latency": "red" }),
            json!(5),
        ] {
            assert_eq!(read(&schema, same.clone()), same, "{same}");
        }
        let other = json!({ "type": "object", "properties": { "id": { "type": "string" } } });
        assert_eq!(read(&other, json!("-latency")), json!("-latency"));
    }
}

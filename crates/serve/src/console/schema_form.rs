//! A form made from a JSON schema, and the arguments read back from it.
//!
//! A field of the form is called `arg.` and the path of its property. Objects with properties
//! become groups of fields; whatever has no form of its own is written as JSON.

use maud::{Markup, html};
use serde_json::{Map, Number, Value};
use tools::ToolError;

use super::layout::sentence;
use super::params::Params;

/// Groups inside groups; deeper objects are written as JSON.
const MAX_DEPTH: usize = 2;

/// Text that may be this long has lines; a field of one line would run them together.
const MIN_LONG_TEXT: u64 = 10_000;

/// What the names of fields begin with.
const PREFIX: &str = "arg.";

/// How a property is written in the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// Text of many lines.
    LongText,
    /// A whole number, or text such as a cursor.
    WholeOrText,
    Whole,
    Number,
    Truth,
    Choice,
    /// One value on each line.
    Lines,
    Group,
    Json,
}

/// Gives the fields for the properties of a schema.
pub(super) fn fields(schema: &Map<String, Value>, params: &Params) -> Markup {
    let any = properties(schema).next().is_some();
    html! {
        @if !any { p .note { "This tool takes no arguments." } }
        (group(schema, PREFIX, params, 0, &Needed::Always))
    }
}

/// Whether the object that a field is a part of is given in any case. A browser must not insist on
/// a field of an object that may be left out: the tool says what is missing once one is given.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Needed {
    Always,
    /// With the name of the object that may be left out.
    With(String),
}

fn group(
    schema: &Map<String, Value>,
    prefix: &str,
    params: &Params,
    depth: usize,
    needed: &Needed,
) -> Markup {
    let required = names(schema.get("required"));
    html! {
        @for (name, property) in properties(schema) {
            @let needed = required.contains(&name.as_str()).then_some(needed);
            (field(name, property, needed, prefix, params, depth))
        }
    }
}

fn field(
    name: &str,
    property: &Map<String, Value>,
    needed: Option<&Needed>,
    prefix: &str,
    params: &Params,
    depth: usize,
) -> Markup {
    let is_required = needed == Some(&Needed::Always);
    let path = format!("{prefix}{name}");
    let kind = kind_of(property, depth);
    let value = params.text(&path);
    let description = property.get("description").and_then(Value::as_str);
    if kind == Kind::Group {
        let within = match needed {
            Some(needed) => needed.clone(),
            None => Needed::With(name.to_owned()),
        };
        return html! {
            fieldset {
                legend { (name) }
                @if let Some(text) = description { p .note { (sentence(text)) } }
                (group(property, &format!("{path}."), params, depth + 1, &within))
            }
        };
    }
    let note = description.map(|_| format!("{path}-note"));
    let default = property.get("default").map(Value::to_string);
    let default = default.as_deref();
    html! {
        div .field {
            label for=(path) { (name) @match needed {
                Some(Needed::Always) => span .note { " required" },
                Some(Needed::With(whole)) => span .note { " required with " (whole) },
                None => {},
            } }
            @match kind {
                Kind::Truth => select id=(path) name=(path) aria-describedby=[note.as_deref()] {
                    option value="" { "not given" @if let Some(default) = default { " (" (default) ")" } }
                    @for truth in ["true", "false"] { option value=(truth) selected[value == truth] { (truth) } }
                },
                Kind::Choice => select id=(path) name=(path) required[is_required] aria-describedby=[note.as_deref()] {
                    option value="" { "not given" @if let Some(default) = default { " (" (default) ")" } }
                    @for choice in names(property.get("enum")) { option value=(choice) selected[value == choice] { (choice) } }
                },
                Kind::Whole | Kind::Number => input id=(path) name=(path) type="number" value=(value)
                    step=(if kind == Kind::Whole { "1" } else { "any" }) required[is_required]
                    min=[property.get("minimum").map(Value::to_string)]
                    max=[property.get("maximum").map(Value::to_string)]
                    placeholder=[default] aria-describedby=[note.as_deref()];,
                Kind::Lines => textarea id=(path) name=(path) rows="2" required[is_required]
                    placeholder="one on each line" aria-describedby=[note.as_deref()] { (value) },
                Kind::Json => textarea id=(path) name=(path) rows="3" required[is_required]
                    placeholder="JSON" spellcheck="false" aria-describedby=[note.as_deref()] { (value) },
                Kind::LongText => textarea id=(path) name=(path) rows="6" required[is_required]
                    aria-describedby=[note.as_deref()] { (value) },
                Kind::Text | Kind::WholeOrText | Kind::Group => input id=(path) name=(path) type="text" value=(value)
                    required[is_required] placeholder=[default] autocomplete="off"
                    aria-describedby=[note.as_deref()];,
            }
            @if let Some(text) = description { p .note id=[note.as_deref()] { (sentence(text)) } }
        }
    }
}

/// Reads the arguments back from what was sent; what is blank was not given.
///
/// Fails when a value cannot be what its property says; the field is named.
pub(super) fn arguments(schema: &Map<String, Value>, params: &Params) -> Result<Value, ToolError> {
    Ok(Value::Object(read_group(schema, PREFIX, params, 0)?))
}

fn read_group(
    schema: &Map<String, Value>,
    prefix: &str,
    params: &Params,
    depth: usize,
) -> Result<Map<String, Value>, ToolError> {
    let mut read = Map::new();
    for (name, property) in properties(schema) {
        let path = format!("{prefix}{name}");
        let kind = kind_of(property, depth);
        if kind == Kind::Group {
            let members = read_group(property, &format!("{path}."), params, depth + 1)?;
            if !members.is_empty() {
                read.insert(name.clone(), Value::Object(members));
            }
            continue;
        }
        let Some(text) = params.get(&path) else { continue };
        let wrong = |what: &str| {
            ToolError::bad_request(format!("`{name}` is not {what}: `{text}`"))
                .with_detail("argument", name.clone())
        };
        let value = match kind {
            Kind::Whole => {
                let whole: i64 = text.trim().parse().map_err(|_| wrong("a whole number"))?;
                Value::from(whole)
            }
            Kind::Number => {
                let number = text.trim().parse().ok().and_then(Number::from_f64);
                Value::Number(number.ok_or_else(|| wrong("a number"))?)
            }
            Kind::Truth => Value::Bool(text == "true"),
            Kind::Lines => {
                let items = property.get("items").and_then(Value::as_object);
                let of_numbers = items
                    .and_then(|items| items.get("type"))
                    .and_then(Value::as_str)
                    .is_some_and(|kind| matches!(kind, "number" | "integer"));
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                let values: Result<Vec<Value>, ToolError> = lines
                    .map(|line| match (of_numbers, serde_json::from_str::<Number>(line)) {
                        (true, Ok(number)) => Ok(Value::Number(number)),
                        (true, Err(_)) => Err(wrong("a number on each line")),
                        (false, _) => Ok(Value::String(line.to_owned())),
                    })
                    .collect();
                Value::Array(values?)
            }
            Kind::Json => {
                serde_json::from_str(text).map_err(|error| wrong(&format!("JSON ({error})")))?
            }
            Kind::WholeOrText => match text.trim().parse::<i64>() {
                Ok(whole) => Value::from(whole),
                Err(_) => Value::String(text.trim().trim_matches('"').to_owned()),
            },
            // Browsers end the lines of a form as Windows does.
            Kind::LongText => Value::String(text.replace("\r\n", "\n")),
            Kind::Text | Kind::Choice | Kind::Group => Value::String(text.to_owned()),
        };
        read.insert(name.clone(), value);
    }
    Ok(read)
}

fn kind_of(property: &Map<String, Value>, depth: usize) -> Kind {
    if !names(property.get("enum")).is_empty() {
        return Kind::Choice;
    }
    match type_of(property).as_str() {
        "integer" => Kind::Whole,
        "number" => Kind::Number,
        "boolean" => Kind::Truth,
        "string" => {
            let longest = property.get("maxLength").and_then(Value::as_u64).unwrap_or_default();
            if longest >= MIN_LONG_TEXT { Kind::LongText } else { Kind::Text }
        }
        "integer|string" | "string|integer" => Kind::WholeOrText,
        "array" => {
            let items = property.get("items").and_then(Value::as_object);
            match items.map(type_of).as_deref() {
                Some("string" | "number" | "integer") => Kind::Lines,
                _ => Kind::Json,
            }
        }
        "object" if depth < MAX_DEPTH && properties(property).next().is_some() => Kind::Group,
        _ => Kind::Json,
    }
}

/// The type of a property; of several, the first that is not null.
fn type_of(property: &Map<String, Value>) -> String {
    match property.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => {
            let kinds = kinds.iter().filter_map(Value::as_str);
            kinds.filter(|kind| *kind != "null").collect::<Vec<_>>().join("|")
        }
        _ => String::new(),
    }
}

fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Map<String, Value>)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .filter_map(|(name, property)| Some((name, property.as_object()?)))
}

fn names(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Map<String, Value> {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "<b>what</b>" },
                "k": { "type": "integer", "minimum": 1, "maximum": 9, "default": 3 },
                "threshold": { "type": "number" },
                "explain": { "type": "boolean" },
                "exts": { "type": "array", "items": { "type": "string" } },
                "range": { "type": "array", "items": { "type": "number" } },
                "format": { "type": "string", "enum": ["json", "csv"] },
                "offset": { "type": ["integer", "string"] },
                "text": { "type": "string", "maxLength": 10_000 },
                "filters": { "type": "object", "properties": {
                    "host": { "type": "string" },
                    "any": { "type": "array", "items": { "type": "object" } },
                } },
            },
            "required": ["query"],
        });
        schema.as_object().unwrap().clone()
    }

    fn check(pairs: &[(&str, &str)], expected: &Value) {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let params = Params::new(pairs.collect());
        assert_eq!(arguments(&schema(), &params).unwrap(), *expected);
    }

    #[test]
    fn arguments_are_read_in_their_types() {
        check(&[("arg.query", "x"), ("arg.k", "")], &json!({ "query": "x" }));
        check(
            &[("arg.k", "5"), ("arg.threshold", "0.5"), ("arg.explain", "true")],
            &json!({ "k": 5, "threshold": 0.5, "explain": true }),
        );
        check(
            &[("arg.exts", "pdf\r\n docx \n"), ("arg.range", "1\n2.5")],
            &json!({ "exts": ["pdf", "docx"], "range": [1, 2.5] }),
        );
        check(
            &[("arg.filters.host", "a"), ("arg.filters.any", "[{\"x\":1}]"), ("arg.format", "csv")],
            &json!({ "format": "csv", "filters": { "host": "a", "any": [{ "x": 1 }] } }),
        );
        check(&[("arg.offset", " 20 ")], &json!({ "offset": 20 }));
        check(&[("arg.offset", "wdIbed")], &json!({ "offset": "wdIbed" }));
        check(&[("arg.offset", "\"wdIbed\"")], &json!({ "offset": "wdIbed" }));
        check(&[("arg.text", "one\r\ntwo\r\n")], &json!({ "text": "one\ntwo\n" }));
        check(&[("other", "1")], &json!({}));
    }

    #[test]
    fn a_wrong_value_names_its_field() {
        for (name, value) in [("arg.k", "x"), ("arg.range", "1\nz"), ("arg.filters.any", "{")] {
            let params = Params::new(vec![(name.to_owned(), value.to_owned())]);
            let error = arguments(&schema(), &params).unwrap_err();
            let last = name.rsplit('.').next().unwrap();
            assert!(error.message.contains(&format!("`{last}`")), "{}", error.message);
        }
    }

    #[test]
    fn a_part_of_an_object_that_may_be_left_out_is_not_insisted_on() {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": { "type": "string" },
                "series": { "type": "object", "required": ["field"], "properties": {
                    "field": { "type": "string" },
                    "step": { "type": "object", "required": ["unit"], "properties": { "unit": { "type": "string" } } },
                } },
                "must": { "type": "object", "required": ["part"], "properties": { "part": { "type": "string" } } },
            },
            "required": ["query", "must"],
        });
        let page = fields(schema.as_object().unwrap(), &Params::default()).0;
        let input = |name: &str| {
            let (_, after) = page.split_once(&format!("<input id=\"arg.{name}\"")).unwrap();
            after.split('>').next().unwrap().to_owned()
        };
        assert!(input("query").contains(" required"));
        assert!(input("must.part").contains(" required"));
        assert!(!input("series.field").contains(" required"), "{}", input("series.field"));
        assert!(!input("series.step.unit").contains(" required"));
        assert!(page.contains("required with series"), "{page}");
    }

    #[test]
    fn every_property_has_a_labelled_field() {
        let page = fields(&schema(), &Params::default()).0;
        for name in ["query", "k", "threshold", "explain", "exts", "format", "filters.host"] {
            assert!(page.contains(&format!("for=\"arg.{name}\"")), "{name}");
            assert!(page.contains(&format!("id=\"arg.{name}\"")), "{name}");
        }
        assert!(!page.contains("<b>what"), "descriptions are text");
    }
}

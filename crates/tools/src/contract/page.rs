//! The page of a tool: its whole description and its errors, held to the rules for all tools.
//!
//! Tests call [`page`] and keep what it gives as a snapshot. Arguments that pass the check of the
//! schema go on to the tool itself, which must refuse them.

use std::sync::Arc;

use model::Caller;
use serde_json::{Map, Value, json};

use super::fixture::soon;
use crate::{Call, Code, Spec, Tool, ToolError, accept};

/// What `arguments` has sentences for.
const CHECKED: &[&str] = &[
    "type",
    "enum",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "format",
    "pattern",
    "anyOf",
];

/// What only explains.
const EXPLAINING: &[&str] = &["title", "description", "default", "examples", "$schema"];

/// A description longer than this costs an agent more than it helps.
const MAX_DESCRIPTION_CHARS: usize = 1_500;

/// Wrong arguments are written down up to this many characters.
const SHOWN_CHARS: usize = 100;

/// Holds a tool to the rules for all tools, and writes it down with the error for each of the
/// wrong arguments.
#[track_caller]
pub(crate) fn page(tool: &dyn Tool, caller: &Caller, wrong: &[Value]) -> String {
    let spec = tool.spec(caller).expect("the tool exists for this caller");
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    assert!(!spec.name.is_empty() && spec.name.len() <= 64 && spec.name.chars().all(is_name));
    assert!(!spec.title.is_empty(), "`{}` has no title", spec.name);
    let n_chars = spec.description.chars().count();
    assert!((1..=MAX_DESCRIPTION_CHARS).contains(&n_chars), "{n_chars} characters");
    for schema in [spec.input.shared(), Arc::clone(&spec.output)] {
        assert_eq!(schema.get("type"), Some(&json!("object")));
        let schema = Value::Object((*schema).clone());
        jsonschema::draft202012::new(&schema).expect("the schema is JSON Schema 2020-12");
    }
    assert_eq!(spec.input.get("additionalProperties"), Some(&json!(false)));
    check_keywords(&spec.input, &spec.name);
    let errors: Vec<Value> = wrong
        .iter()
        .map(|arguments| {
            let given = arguments.as_object().expect("arguments are an object");
            let error = match refusal(tool, &spec, caller, given) {
                Ok(error) => error,
                // What is forgiven is part of the page: it shows how the tool reads it.
                Err(taken) => {
                    return json!({ "arguments": shown(arguments), "taken_as": taken });
                }
            };
            if error.code != Code::InternalError {
                let told = error.to_json(spec.errors).to_string();
                assert!(told.contains("hint"), "the agent is not told what to do next: {told}");
            }
            json!({ "arguments": shown(arguments), "error": error.to_json(spec.errors) })
        })
        .collect();
    let page = json!({
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "effect": format!("{:?}", spec.effect),
        "input": *spec.input.shared(),
        "output": *spec.output,
        "source_text": spec.shape.source_text,
        "errors": errors,
    });
    serde_json::to_string_pretty(&page).expect("JSON can be written")
}

/// Gives the error for arguments: of the schema, or else of the tool; or what they were taken
/// as, when they were written differently than the schema says and nothing is wrong with them.
#[track_caller]
fn refusal(
    tool: &dyn Tool,
    spec: &Spec,
    caller: &Caller,
    given: &Map<String, Value>,
) -> Result<ToolError, Map<String, Value>> {
    let accepted = match accept(spec, given.clone()) {
        Ok(accepted) => accepted,
        Err(error) => return Ok(error),
    };
    let arguments = &accepted.arguments;
    let budget = text::Budget { chars: 100_000, tokens: 25_000 };
    let call = Call { caller, arguments, deadline: &soon(), budget, progress: &|_| {} };
    match tool.call(&call) {
        Ok(_) if *arguments != *given => Err(accepted.arguments),
        Ok(answer) => panic!("`{}` took {arguments:?} and gave {}", spec.name, answer.value),
        Err(error) => Ok(error),
    }
}

/// Holds that nothing of a source is in a tool's description of itself.
#[track_caller]
pub(crate) fn assert_holds_none_of(tool: &dyn Tool, caller: &Caller, source_texts: &[&str]) {
    let page = page(tool, caller, &[]);
    for text in source_texts {
        assert!(!page.contains(text), "`{text}` is in {page}");
    }
}

/// Writes arguments on one line, without the rest of very long ones.
fn shown(arguments: &Value) -> String {
    let text = arguments.to_string();
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Nothing may be in an input schema unchecked.
fn check_keywords(schema: &Map<String, Value>, place: &str) {
    for (keyword, value) in schema {
        assert!(
            CHECKED.contains(&keyword.as_str()) || EXPLAINING.contains(&keyword.as_str()),
            "`{keyword}` at `{place}` is not checked"
        );
        if keyword == "format" {
            assert_eq!(value, "uuid", "the format at `{place}` is not checked");
        }
    }
    let inner = ["items", "additionalProperties"].iter().filter_map(|name| schema.get(*name));
    let properties = schema.get("properties").and_then(Value::as_object);
    for value in inner.chain(properties.into_iter().flat_map(|all| all.values())) {
        if let Value::Object(schema) = value {
            check_keywords(schema, &format!("{place}/…"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "`multipleOf` at `x/…` is not checked")]
    fn unchecked_keywords_are_found_below() {
        let schema = json!({ "properties": { "a": { "type": "number", "multipleOf": 2 } } });
        check_keywords(schema.as_object().unwrap(), "x");
    }
}

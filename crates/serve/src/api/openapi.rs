//! `GET /v1/openapi.json`: what is under `/v1`, for programs, made from the routes themselves and
//! the types they take and give. Tools describe themselves.

use std::sync::LazyLock;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use tools::Listed;

use super::example::{Members, example};
use super::operation::{Api, Doc, Operation};
use super::views::{Failure, OpenApiView, failure_example};
use crate::http::{HttpState, identify};

pub(super) fn routes() -> Api {
    let doc = Doc::new::<OpenApiView>("server", "This document");
    Api::default().get("/v1/openapi.json", document, doc)
}

/// Whoever is known sees the tools that exist for them; the addresses are no secret.
async fn document(State(http_state): State<HttpState>, headers: HeaderMap) -> Response {
    let app = http_state.shared.load();
    let listed = match identify(&app, &headers).await {
        Ok(caller) => app.tools.list(&caller),
        Err(_) => Vec::new(),
    };
    axum::Json(openapi(&listed)).into_response()
}

/// What the routes say of themselves; they are the same as long as the program runs.
static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| super::all().into_parts().1);

/// Describes every address under `/v1`.
fn openapi(listed: &[Listed]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for operation in OPERATIONS.iter() {
        if operation.path == TOOL_CALL {
            continue;
        }
        let written = operation.to_json(&mut generator);
        let entry = paths.entry(operation.path.to_owned()).or_insert_with(|| json!({}));
        entry[operation.method] = written;
    }
    let refused = json!(generator.subschema_for::<Failure>());
    for tool in listed {
        let path = TOOL_CALL.replace("{tool}", &tool.spec.name);
        paths.insert(path, json!({ "post": tool_operation(tool, &refused) }));
    }
    let mut schemas = Value::Object(generator.take_definitions(true));
    without_rust(&mut schemas);
    let mut paths = Value::Object(paths);
    without_rust(&mut paths);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Dowse",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "One search server over folders, tables, big JSON, knowledge bases and \
                            reference lists. Lists go on with `next`, which goes into `after`.",
        },
        "tags": TAGS.map(|(name, description)| json!({ "name": name, "description": description })),
        "security": [{}, { "bearer": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas,
        },
    })
}

/// The route of every tool; the document lists the tools one by one.
pub(super) const TOOL_CALL: &str = "/v1/call/{tool}";

const TAGS: [(&str, &str); 7] = [
    ("tools", "Any tool, with the same arguments and answers as over MCP"),
    ("knowledge", "Knowledge bases, collections, documents and chunks"),
    ("contexts", "Projects, JSON documents, search tools over them, and endpoints"),
    ("charts", "Charts that were made, and files of whole results"),
    ("files", "Folders, and what became of their files"),
    ("jobs", "Long work"),
    ("server", "The audit and this document"),
];

/// Describes the call of a tool with the tool's own schemas.
fn tool_operation(tool: &Listed, refused: &Value) -> Value {
    let spec = &tool.spec;
    let shown =
        Value::Object((*spec.shown_input.clone().unwrap_or_else(|| spec.input.shared())).clone());
    let answer = Value::Object((*spec.output).clone());
    let of = |schema: &Value, members| example(schema, &definitions_of(schema), "", members);
    json!({
        "tags": ["tools"],
        "summary": spec.title,
        "description": spec.description,
        "operationId": format!("call_{}", spec.name),
        "requestBody": {
            "required": true,
            "content": {
                "application/json": { "example": of(&shown, Members::Required), "schema": shown },
            },
        },
        "responses": {
            "200": {
                "description": "success",
                "content": {
                    "application/json": { "example": of(&answer, Members::All), "schema": answer },
                },
            },
            "default": {
                "description": "an error",
                "content": {
                    "application/json": { "example": failure_example(), "schema": refused },
                },
            },
        },
    })
}

/// Gives the schemas that a tool's own schema names.
fn definitions_of(schema: &Value) -> Map<String, Value> {
    schema["$defs"].as_object().cloned().unwrap_or_default()
}

/// Takes out formats that only name a type of Rust, such as `uint64`.
fn without_rust(schema: &mut Value) {
    const RUST: [&str; 10] =
        ["uint", "uint8", "uint16", "uint32", "uint64", "int", "int32", "int64", "float", "double"];
    match schema {
        Value::Array(elements) => elements.iter_mut().for_each(without_rust),
        Value::Object(members) => {
            let is_rusts =
                |format: &Value| format.as_str().is_some_and(|format| RUST.contains(&format));
            if members.get("format").is_some_and(is_rusts) {
                members.shift_remove("format");
            }
            members.values_mut().for_each(without_rust);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds an example to its schema, whose references lead into the document.
    #[track_caller]
    fn check_example(document: &Value, place: &Value, what: &str) {
        let (schema, example) = (&place["schema"], &place["example"]);
        assert!(!example.is_null(), "{what} has no example");
        let mut whole = schema.clone();
        whole["components"] = document["components"].clone();
        let spec = tools::Spec::read_only("example", "Example", "An example.").with_output(whole);
        assert_eq!(spec.check_output(example), Ok(()), "{what}: {example}");
    }

    /// Every reference leads somewhere, every operation has a response and its own id, and every
    /// parameter of a path is described.
    #[test]
    fn the_document_is_whole() {
        let document = openapi(&[]);
        let text = document.to_string();
        let mut ids = std::collections::BTreeSet::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let id = operation["operationId"].as_str().unwrap();
                assert!(ids.insert(id.to_owned()), "`{id}` twice: {method} {path}");
                let tag = operation["tags"][0].as_str().unwrap();
                assert!(TAGS.iter().any(|(known, _)| *known == tag), "{tag}");
                let responses = operation["responses"].as_object().unwrap();
                assert!(responses.len() >= 2 && responses.contains_key("default"), "{path}");
                let named = operation["parameters"].as_array().into_iter().flatten();
                let n_named = named.filter(|one| one["in"] == "path").count();
                assert_eq!(n_named, path.matches('{').count(), "{method} {path}");
                let what = format!("{method} {path}");
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    check_example(&document, parameter, &format!("{what}: {}", parameter["name"]));
                }
                let takes_json = &operation["requestBody"]["content"]["application/json"];
                if !takes_json.is_null() {
                    check_example(&document, takes_json, &what);
                }
                for (status, response) in responses {
                    let gives_json = &response["content"]["application/json"];
                    if !gives_json.is_null() {
                        check_example(&document, gives_json, &format!("{what}: {status}"));
                    }
                }
            }
        }
        assert!(ids.len() > 50, "{}", ids.len());
        for (at, _) in text.match_indices("#/components/schemas/") {
            let name = text[at + "#/components/schemas/".len()..].split('"').next().unwrap();
            assert!(document["components"]["schemas"][name].is_object(), "{name}");
        }
    }
}

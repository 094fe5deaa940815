//! Routes that describe themselves: each is registered once, with what the OpenAPI document says
//! of it, so that the document cannot name an address that is not there or leave one out.

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodRouter, delete, get, patch, post, put};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::example::{self, Members};
use crate::http::HttpState;

/// Makes the schema of a type.
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// Routes with their descriptions.
#[derive(Default)]
pub(super) struct Api {
    router: Router<HttpState>,
    operations: Vec<Operation>,
}

/// One method of one address.
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) doc: Doc,
}

/// What is said of an operation.
pub(super) struct Doc {
    pub(super) tag: &'static str,
    pub(super) summary: &'static str,
    /// The statuses of success.
    pub(super) statuses: &'static [u16],
    pub(super) response: Option<(&'static str, SchemaOf)>,
    /// The name of the list, where the response is a page of one.
    pub(super) list: Option<&'static str>,
    /// Whether a page says how many elements the whole list has.
    pub(super) has_total: bool,
    /// Bodies by media type.
    pub(super) bodies: Vec<(&'static str, SchemaOf)>,
    pub(super) body_is_optional: bool,
    /// The parameters in the address behind `?`.
    pub(super) query: Option<SchemaOf>,
    pub(super) example: Option<Value>,
}

/// JSON, the type of nearly every body.
const JSON: &str = "application/json";

impl Doc {
    /// Describes an operation that answers with a value.
    pub(super) fn new<T: JsonSchema>(tag: &'static str, summary: &'static str) -> Doc {
        Doc { response: Some((JSON, schema_of::<T>)), ..Doc::plain(tag, summary) }
    }

    /// Describes an operation that answers with a page of a list.
    pub(super) fn page<T: JsonSchema>(
        tag: &'static str,
        summary: &'static str,
        list: &'static str,
    ) -> Doc {
        let doc = Doc::new::<T>(tag, summary).with_query::<super::views::PageParameters>();
        Doc { list: Some(list), ..doc }
    }

    /// The page says how many elements the whole list has.
    pub(super) fn with_total(self) -> Doc {
        Doc { has_total: true, ..self }
    }

    /// Describes an operation that answers with something else than JSON.
    pub(super) fn media(tag: &'static str, summary: &'static str, media: &'static str) -> Doc {
        Doc { response: Some((media, schema_of::<Value>)), ..Doc::plain(tag, summary) }
    }

    fn plain(tag: &'static str, summary: &'static str) -> Doc {
        Doc {
            tag,
            summary,
            statuses: &[200],
            response: None,
            list: None,
            has_total: false,
            bodies: Vec::new(),
            body_is_optional: false,
            query: None,
            example: None,
        }
    }

    /// Something is made.
    pub(super) fn created(self) -> Doc {
        Doc { statuses: &[201], ..self }
    }

    /// A job does it.
    pub(super) fn accepted(self) -> Doc {
        Doc { statuses: &[202], ..self }
    }

    /// It is done at once, or by a job where that is needed.
    pub(super) fn at_once_or_accepted(self) -> Doc {
        Doc { statuses: &[200, 202], ..self }
    }

    /// It takes a body.
    pub(super) fn with_body<T: JsonSchema>(self) -> Doc {
        self.with_media::<T>(JSON)
    }

    /// It takes a body of a type, among others.
    pub(super) fn with_media<T: JsonSchema>(mut self, media: &'static str) -> Doc {
        self.bodies.push((media, schema_of::<T>));
        self
    }

    /// It takes parameters behind the address.
    pub(super) fn with_query<T: JsonSchema>(self) -> Doc {
        Doc { query: Some(schema_of::<T>), ..self }
    }

    /// Shows a body that it takes.
    pub(super) fn with_example(self, example: Value) -> Doc {
        Doc { example: Some(example), ..self }
    }
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

impl Api {
    pub(super) fn get<H: Handler<T, HttpState>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        doc: Doc,
    ) -> Self {
        self.add("get", path, get(handler), doc)
    }

    pub(super) fn post<H: Handler<T, HttpState>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        doc: Doc,
    ) -> Self {
        self.add("post", path, post(handler), doc)
    }

    pub(super) fn put<H: Handler<T, HttpState>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        doc: Doc,
    ) -> Self {
        self.add("put", path, put(handler), doc)
    }

    pub(super) fn patch<H: Handler<T, HttpState>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        doc: Doc,
    ) -> Self {
        self.add("patch", path, patch(handler), doc)
    }

    pub(super) fn delete<H: Handler<T, HttpState>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        doc: Doc,
    ) -> Self {
        self.add("delete", path, delete(handler), doc)
    }

    /// Adds routes of another family.
    pub(super) fn merge(mut self, other: Api) -> Self {
        self.router = self.router.merge(other.router);
        self.operations.extend(other.operations);
        self
    }

    /// Gives the routes, and what is said of them.
    pub(super) fn into_parts(self) -> (Router<HttpState>, Vec<Operation>) {
        (self.router, self.operations)
    }

    fn add(
        mut self,
        method: &'static str,
        path: &'static str,
        route: MethodRouter<HttpState>,
        doc: Doc,
    ) -> Self {
        self.router = self.router.route(path, route);
        self.operations.push(Operation { method, path, doc });
        self
    }
}

impl Operation {
    /// Writes the operation as OpenAPI does.
    pub(super) fn to_json(&self, generator: &mut SchemaGenerator) -> Value {
        let Doc { tag, summary, statuses, response, list, bodies, query, example, .. } = &self.doc;
        let mut success = json!({ "description": "success" });
        if let Some((media, schema)) = response {
            let schema = json!(schema(generator));
            let schema = match list {
                None => schema,
                Some(list) => json!({
                    "type": "object",
                    "required": [list, "next"],
                    "properties": {
                        *list: { "type": "array", "items": schema },
                        "next": {
                            "type": ["string", "null"],
                            "description": "goes into `after`; null at the end",
                        },
                    },
                }),
            };
            let mut schema = schema;
            if self.doc.has_total {
                schema["properties"]["total"] = json!({ "type": "integer", "minimum": 0 });
            }
            success["content"] = json!({ *media: { "schema": schema } });
            if *media == JSON {
                let shown = example::example(&schema, generator.definitions(), "", Members::All);
                success["content"][JSON]["example"] = shown;
            }
        }
        let mut operation = json!({
            "tags": [tag],
            "summary": summary,
            "operationId": self.id(),
            "responses": {
                "default": {
                    "description": "an error",
                    "content": {
                        JSON: {
                            "example": super::views::failure_example(),
                            "schema": json!(generator.subschema_for::<super::views::Failure>()),
                        },
                    },
                },
            },
        });
        for status in *statuses {
            operation["responses"][status.to_string()] = success.clone();
        }
        let mut parameters = self.path_parameters();
        if let Some(query) = query {
            parameters.extend(query_parameters(&resolved(query, generator)));
        }
        for parameter in &mut parameters {
            let name = parameter["name"].as_str().unwrap_or_default();
            let schema = &parameter["schema"];
            parameter["example"] =
                example::example(schema, generator.definitions(), name, Members::All);
        }
        if !parameters.is_empty() {
            operation["parameters"] = parameters.into();
        }
        if !bodies.is_empty() {
            let mut content = json!({});
            for (media, schema) in bodies {
                content[*media] = json!({ "schema": schema(generator) });
            }
            if let Some(example) = example {
                content[JSON]["example"] = example.clone();
            }
            let is_required = !self.doc.body_is_optional;
            operation["requestBody"] = json!({ "required": is_required, "content": content });
        }
        operation
    }

    fn id(&self) -> String {
        let path = self.path.trim_start_matches("/v1/").replace(['{', '}'], "");
        format!("{}_{}", self.method, path.replace(['/', '-', '.'], "_"))
    }

    fn path_parameters(&self) -> Vec<Value> {
        let names =
            self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        names
            .map(|name| {
                let schema = json!({ "type": "string", "minLength": 1 });
                json!({ "name": name, "in": "path", "required": true, "schema": schema })
            })
            .collect()
    }
}

/// Gives the schema behind a reference.
fn resolved(schema: &SchemaOf, generator: &mut SchemaGenerator) -> Value {
    let schema = json!(schema(generator));
    let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    match name.and_then(|name| generator.definitions().get(name)) {
        Some(definition) => definition.clone(),
        None => schema,
    }
}

fn query_parameters(schema: &Value) -> Vec<Value> {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .map(|(name, property)| {
            let mut property = property.clone();
            let description = property.as_object_mut().and_then(|own| own.remove("description"));
            let mut parameter = json!({
                "name": name,
                "in": "query",
                "required": required.contains(&json!(name)),
                "schema": property,
            });
            if let Some(description) = description {
                parameter["description"] = description;
            }
            parameter
        })
        .collect()
}

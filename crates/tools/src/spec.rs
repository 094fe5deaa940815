//! How a tool describes itself: to the agent (schemas, annotations) and to the guard (where
//! source text is).

use std::sync::Arc;

use schemars::JsonSchema;
use serde_json::{Map, Value};

use crate::{InputSchema, ToolError};

/// What calling a tool changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: safe to call at any time.
    ReadOnly,
    /// Something is made or refreshed, nothing that exists is lost, and doing it twice is the
    /// same as doing it once.
    Additive,
    /// Something is made anew with every call.
    Creates,
}

/// The JSON form of a family's errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorShape {
    /// `{error: {code, message, details}}`.
    Coded,
    /// `{ok: false, error}`: the filters family.
    OkFalse,
}

/// What the guard must know of an answer before it may leave.
///
/// Paths are JSON pointers with `*` for every element or member.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputShape {
    /// Where text from sources is; it is redacted there and nowhere else.
    pub source_text: Vec<String>,
}

/// A tool's description of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The name an agent calls.
    pub name: String,
    /// The name a person reads.
    pub title: String,
    /// When to use the tool, written for an agent; holds no text from sources.
    pub description: String,
    /// JSON Schema 2020-12 of the arguments.
    pub input: Arc<InputSchema>,
    /// What `tools/list` shows in its place, where a contract fixes the shown schema and more
    /// is taken than it says.
    pub shown_input: Option<Arc<Map<String, Value>>>,
    /// JSON Schema 2020-12 of a successful answer.
    pub output: Arc<Map<String, Value>>,
    /// What a call changes.
    pub effect: Effect,
    /// The form of its errors.
    pub errors: ErrorShape,
    /// What the guard needs to know.
    pub shape: OutputShape,
    /// Sentences that the contract gives for a wrong argument; see [`Spec::sentence`].
    pub sentences: Vec<(&'static str, &'static str)>,
    /// The call to make next when the arguments are wrong, such as ``call `describe_schema` ``.
    pub advice: Option<String>,
}

impl Spec {
    /// Starts a read-only tool with coded errors and no source text in its answer.
    pub fn read_only(name: &str, title: &str, description: &str) -> Self {
        Spec {
            name: name.to_owned(),
            title: title.to_owned(),
            description: description.to_owned(),
            input: Arc::default(),
            shown_input: None,
            output: Arc::new(empty_object()),
            effect: Effect::ReadOnly,
            errors: ErrorShape::Coded,
            shape: OutputShape::default(),
            sentences: Vec::new(),
            advice: None,
        }
    }

    /// Derives the schema of the arguments from the struct that they are read into.
    pub fn with_arguments<T: JsonSchema>(self) -> Self {
        self.with_input(InputSchema::of::<T>())
    }

    /// Sets a schema that depends on data, such as the fields of a table.
    ///
    /// Invariant: the value is a JSON object; unknown arguments are refused for every tool.
    pub fn with_input(mut self, schema: Value) -> Self {
        self.input = Arc::new(InputSchema::new(schema));
        self
    }

    /// Sets the schema that `tools/list` shows, and takes what the input schema takes.
    pub fn with_shown_input(mut self, schema: Value) -> Self {
        self.shown_input = Some(Arc::new(into_object(schema)));
        self
    }

    /// Describes an argument to the agent by the names that it takes now; what is taken stays the
    /// same. More names than [`MAX_SHOWN_NAMES`] are for a tool that lists them.
    pub(crate) fn with_names_of(&self, argument: &str, what: &str, names: &[String]) -> Self {
        let mut spec = self.clone();
        if !(2..=MAX_SHOWN_NAMES).contains(&names.len()) {
            return spec;
        }
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let shown = spec.shown_input.get_or_insert_with(|| spec.input.shared());
        let property = Arc::make_mut(shown)
            .get_mut("properties")
            .and_then(|properties| properties.get_mut(argument))
            .and_then(Value::as_object_mut);
        if let Some(property) = property {
            let description = format!("{what}: {}", names.join(", "));
            property.insert("description".to_owned(), Value::from(description));
        }
        spec
    }

    /// Sets the schema of the answer. Notices of the guard are allowed in every answer.
    ///
    /// Invariant: the value is a JSON object.
    pub fn with_output(mut self, schema: Value) -> Self {
        self.output = Arc::new(into_object(schema));
        self
    }

    /// Names the places that hold source text.
    pub fn with_source_text(mut self, paths: &[&str]) -> Self {
        self.shape.source_text = paths.iter().map(|path| (*path).to_owned()).collect();
        self
    }

    /// Holds an answer to the output schema, in debug builds and tests.
    ///
    /// Fails with [`crate::Code::InternalError`]: an answer that breaks its schema is our mistake.
    pub fn check_output(&self, value: &Value) -> Result<(), ToolError> {
        if !cfg!(debug_assertions) {
            return Ok(());
        }
        let schema = Value::Object((*self.output).clone());
        let validator = jsonschema::draft202012::new(&schema).map_err(|error| {
            ToolError::internal(format!("the output schema of `{}` is wrong: {error}", self.name))
        })?;
        match validator.iter_errors(value).next() {
            None => Ok(()),
            Some(error) => Err(ToolError::internal(format!(
                "the answer of `{}` breaks its output schema at `{}`: {error}",
                self.name,
                error.instance_path()
            ))),
        }
    }

    /// Gives the contract's sentence for a rule of an argument, such as `max_results.maximum`.
    pub fn sentence(&self, rule: &str) -> Option<&'static str> {
        self.sentences.iter().find(|(known, _)| *known == rule).map(|(_, sentence)| *sentence)
    }
}

/// More names of things are not listed in a schema.
const MAX_SHOWN_NAMES: usize = 10;

fn empty_object() -> Map<String, Value> {
    into_object(serde_json::json!({ "type": "object", "properties": {} }))
}

fn into_object(schema: Value) -> Map<String, Value> {
    let Value::Object(object) = schema else {
        debug_assert!(false, "a schema must be an object, not {schema}");
        return Map::new();
    };
    object
}

//! Saved views: a named question about a table, with typed parameters, written once in the
//! configuration and asked by name.
//!
//! A view holds the arguments of `query_table` or `aggregate_table`. Where a text is nothing but
//! `{name}`, the value of that parameter takes its place with its type; a text with more around it
//! is a text. What has no value is left out. So a parameter is always a value and never a part of
//! another one, and cannot change what is asked.

use model::Access;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tables::{AggregateRequest, Error, QueryRequest, Result, Service};

use super::arguments::{aggregate_request, query_request};

/// The most parameters of a view.
pub const MAX_PARAMETERS: usize = 20;

/// One `[[views]]` of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewConfig {
    /// The name of the tool, or of the resource.
    pub name: String,
    /// When to use it, for the agent.
    pub description: String,
    /// The table that is asked.
    pub table: String,
    /// Whether agents call it or read it.
    #[serde(default, rename = "as")]
    pub form: ViewForm,
    /// Who may use it, among those who may use the table.
    #[serde(default, skip_serializing_if = "Access::is_everyone")]
    pub allow: Access,
    /// What the question leaves open.
    #[serde(default)]
    pub parameters: Parameters,
    /// The arguments of `query_table`; either these or `aggregate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<Map<String, Value>>,
    /// The arguments of `aggregate_table`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<Map<String, Value>>,
}

/// How agents meet a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ViewForm {
    /// As a tool of its own.
    #[default]
    Tool,
    /// As a resource, `dowse://views/NAME`, with parameters in its address.
    Resource,
}

/// Parameters by name, in the order in which they were written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Parameters(Map<String, Value>);

/// What a view leaves open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// What it takes.
    #[serde(rename = "type")]
    pub parameter_type: ParameterType,
    /// What it means, for the agent.
    #[serde(default)]
    pub description: Option<String>,
    /// The only values that it takes, where there are such.
    #[serde(default)]
    pub values: Vec<Value>,
    /// What it is when the call does not say.
    #[serde(default)]
    pub default: Option<Value>,
    /// Whether the call must say; one with a default need not.
    #[serde(default = "yes")]
    pub required: bool,
    /// The least number.
    #[serde(default)]
    pub min: Option<f64>,
    /// The greatest number.
    #[serde(default)]
    pub max: Option<f64>,
}

/// What a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParameterType {
    /// Text.
    String,
    /// Whole or not.
    Number,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// A date or a point in time: ISO 8601, or milliseconds since 1970.
    Timestamp,
    /// Several texts.
    Strings,
}

/// What a view asks, once its parameters have values.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewRequest {
    /// Rows.
    Query(Box<QueryRequest>),
    /// Groups.
    Aggregate(Box<AggregateRequest>),
}

impl ViewRequest {
    fn check(&self, service: &Service) -> Result<()> {
        match self {
            ViewRequest::Query(request) => service.check_query(request),
            ViewRequest::Aggregate(request) => service.check_aggregate(request),
        }
    }
}

/// A checked view.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// As it is configured.
    pub config: ViewConfig,
    parameters: Vec<(String, Parameter)>,
    /// The arguments, with places for parameters.
    asked: Map<String, Value>,
}

impl View {
    /// Checks a view against the table that it asks, with the first value or a sample of each
    /// parameter.
    ///
    /// Fails when it names no known table, field or parameter, or asks nothing or two things.
    pub fn new(config: ViewConfig, service: &Service) -> Result<Self> {
        let wrong = |problem: String| Error::BadView { view: config.name.clone(), problem };
        let is_name = !config.name.is_empty()
            && config.name.len() <= 64
            && config
                .name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if !is_name {
            return Err(wrong("a name has 1 to 64 letters, digits, `_` and `-`".to_owned()));
        }
        if config.query.is_some() == config.aggregate.is_some() {
            return Err(wrong("either `query` or `aggregate` says what is asked".to_owned()));
        }
        if config.parameters.0.len() > MAX_PARAMETERS {
            return Err(wrong(format!("at most {MAX_PARAMETERS} parameters are taken")));
        }
        let mut parameters = Vec::new();
        for (name, written) in &config.parameters.0 {
            let parameter: Parameter = serde_json::from_value(written.clone())
                .map_err(|error| wrong(format!("parameter `{name}`: {error}")))?;
            let given = parameter.default.iter().chain(&parameter.values);
            if let Some(value) = given.clone().find(|value| !parameter.takes(value)) {
                let problem = format!(
                    "parameter `{name}` is {}, which `{value}` is not",
                    parameter.parameter_type.in_words()
                );
                return Err(wrong(problem));
            }
            parameters.push((name.clone(), parameter));
        }
        let asked = config.query.as_ref().or(config.aggregate.as_ref()).cloned();
        let view = View { config, parameters, asked: asked.unwrap_or_default() };
        let wrong = |problem: String| Error::BadView { view: view.config.name.clone(), problem };
        let mut named = Vec::new();
        placeholders(&view.asked, &mut named);
        if let Some(unknown) = named.iter().find(|name| view.parameter(name).is_none()) {
            return Err(wrong(format!("`{{{unknown}}}` is not one of its parameters")));
        }
        if let Some((unused, _)) =
            view.parameters.iter().find(|(name, _)| !named.iter().any(|used| used == name))
        {
            return Err(wrong(format!("nothing uses the parameter `{unused}`")));
        }
        view.try_samples(service).map_err(|cause| wrong(cause.to_string()))?;
        Ok(view)
    }

    /// Asks the view with some value of each parameter. A parameter that says nothing of its
    /// values is tried with one that its field takes.
    fn try_samples(&self, service: &Service) -> Result<()> {
        let samples = self.parameters.iter().map(|(name, it)| (name.clone(), it.sample(name)));
        let mut samples: Map<String, Value> = samples.collect();
        let mut made_up: Vec<&String> = self
            .parameters
            .iter()
            .filter(|(_, parameter)| parameter.values.is_empty() && parameter.default.is_none())
            .map(|(name, _)| name)
            .collect();
        loop {
            let cause = match self.request(&samples).and_then(|request| request.check(service)) {
                Ok(()) => return Ok(()),
                Err(cause) => cause,
            };
            let Error::NotAllowed { received, allowed, .. } = &cause else { return Err(cause) };
            let is_refused = |name: &&&String| sample_text(name) == *received;
            let refused = made_up.iter().find(is_refused).map(|name| (*name).clone());
            let (Some(name), Some(value)) = (refused, allowed.first()) else { return Err(cause) };
            let is_list = samples.get(&name).is_some_and(Value::is_array);
            let value = if is_list { json!([value]) } else { json!(value) };
            made_up.retain(|other| **other != name);
            samples.insert(name, value);
        }
    }

    /// Gives the question with these values of its parameters.
    ///
    /// Fails when a value is missing or of another type, and when the whole is wrong.
    pub fn request(&self, values: &Map<String, Value>) -> Result<ViewRequest> {
        let mut known = Map::new();
        for (name, parameter) in &self.parameters {
            let given = values.get(name).filter(|value| !value.is_null());
            let value = match given.or(parameter.default.as_ref()) {
                None if parameter.is_required() => {
                    return Err(Error::MissingParameter {
                        name: name.clone(),
                        expected: parameter.parameter_type.in_words(),
                    });
                }
                None => continue,
                Some(value) => value,
            };
            parameter.check(name, value)?;
            known.insert(name.clone(), value.clone());
        }
        let names: Vec<&String> = self.parameters.iter().map(|(name, _)| name).collect();
        if let Some(unknown) = values.keys().find(|name| !names.contains(name)) {
            return Err(Error::unknown_name("parameter", unknown, &names));
        }
        let mut arguments = filled(&self.asked, &known);
        arguments.insert("table".to_owned(), self.config.table.as_str().into());
        let arguments = Value::Object(arguments);
        Ok(if self.config.query.is_some() {
            ViewRequest::Query(Box::new(query_request(&arguments)?))
        } else {
            ViewRequest::Aggregate(Box::new(aggregate_request(&arguments)?))
        })
    }

    /// Gives the JSON Schema of its parameters.
    pub fn input_schema(&self) -> Value {
        let properties: Map<String, Value> = self
            .parameters
            .iter()
            .map(|(name, parameter)| (name.clone(), parameter.json_schema()))
            .collect();
        let required: Vec<&str> = self
            .parameters
            .iter()
            .filter(|(_, parameter)| parameter.is_required())
            .map(|(name, _)| name.as_str())
            .collect();
        let mut schema =
            json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        schema
    }

    /// Gives its parameters, in the order of the configuration.
    pub fn parameters(&self) -> &[(String, Parameter)] {
        &self.parameters
    }

    /// Tells whether it asks for rows, and not for groups.
    pub fn asks_rows(&self) -> bool {
        self.config.query.is_some()
    }

    fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, parameter)| parameter)
    }
}

impl Parameter {
    /// Reads a value from text, as it is in an address.
    pub fn parse(&self, text: &str) -> Value {
        let parsed = match self.parameter_type {
            ParameterType::String => None,
            ParameterType::Strings => {
                Some(text.split(',').map(|part| Value::from(part.trim())).collect())
            }
            ParameterType::Number
            | ParameterType::Integer
            | ParameterType::Boolean
            | ParameterType::Timestamp => serde_json::from_str(text).ok(),
        };
        parsed.unwrap_or_else(|| text.into())
    }

    fn is_required(&self) -> bool {
        self.required && self.default.is_none()
    }

    fn check(&self, name: &str, value: &Value) -> Result<()> {
        if !self.takes(value) {
            return Err(Error::wrong_type(name, self.parameter_type.in_words(), value));
        }
        let parts: Vec<&Value> = value.as_array().map_or(vec![value], |list| list.iter().collect());
        if let Some(stranger) =
            parts.iter().find(|part| !self.values.is_empty() && !self.values.contains(part))
        {
            let shown = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
            let allowed: Vec<String> = self.values.iter().map(shown).collect();
            return Err(Error::not_allowed(name, &shown(stranger), &allowed));
        }
        let is_low = |number: f64| self.min.is_some_and(|min| number < min);
        let is_high = |number: f64| self.max.is_some_and(|max| number > max);
        if value.as_f64().is_some_and(|number| is_low(number) || is_high(number)) {
            let from = self.min.map_or(String::new(), |min| format!(" from {min}"));
            let to = self.max.map_or(String::new(), |max| format!(" up to {max}"));
            return Err(Error::OutOfBounds {
                field: name.to_owned(),
                received: value.to_string(),
                expected: format!("{}{from}{to}", self.parameter_type.in_words()),
            });
        }
        Ok(())
    }

    fn takes(&self, value: &Value) -> bool {
        match self.parameter_type {
            ParameterType::String => value.is_string(),
            ParameterType::Number => value.is_number(),
            ParameterType::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            ParameterType::Boolean => value.is_boolean(),
            ParameterType::Timestamp => value.is_string() || value.is_number(),
            ParameterType::Strings => {
                value.is_string()
                    || value.as_array().is_some_and(|list| list.iter().all(Value::is_string))
            }
        }
    }

    /// Gives some value that it takes, to try the view with.
    fn sample(&self, name: &str) -> Value {
        if let Some(value) = self.default.as_ref().or(self.values.first()) {
            return value.clone();
        }
        match self.parameter_type {
            ParameterType::String => sample_text(name).into(),
            ParameterType::Number | ParameterType::Integer => {
                let least = self.min.or(self.max).unwrap_or(1.0).ceil();
                Value::from(least as i64)
            }
            ParameterType::Boolean => true.into(),
            ParameterType::Timestamp => "2024-01-01".into(),
            ParameterType::Strings => json!([sample_text(name)]),
        }
    }

    fn json_schema(&self) -> Value {
        let mut schema = match self.parameter_type {
            ParameterType::String => json!({ "type": "string" }),
            ParameterType::Number => json!({ "type": "number" }),
            ParameterType::Integer => json!({ "type": "integer" }),
            ParameterType::Boolean => json!({ "type": "boolean" }),
            ParameterType::Timestamp => json!({ "type": ["string", "number"] }),
            ParameterType::Strings => json!({ "type": "array", "items": { "type": "string" } }),
        };
        let own = (self.parameter_type == ParameterType::Timestamp)
            .then(|| "ISO 8601 date or Unix timestamp in milliseconds".to_owned());
        let parts: Vec<String> = [self.description.clone(), own].into_iter().flatten().collect();
        if !parts.is_empty() {
            schema["description"] = parts.join("; ").into();
        }
        if !self.values.is_empty() {
            let place = if self.parameter_type == ParameterType::Strings {
                &mut schema["items"]
            } else {
                &mut schema
            };
            place["enum"] = self.values.clone().into();
        }
        if let Some(min) = self.min {
            schema["minimum"] = tables::Value::Real(min).to_json();
        }
        if let Some(max) = self.max {
            schema["maximum"] = tables::Value::Real(max).to_json();
        }
        if let Some(default) = &self.default {
            schema["default"] = default.clone();
        }
        schema
    }
}

impl ParameterType {
    fn in_words(self) -> &'static str {
        match self {
            ParameterType::String => "a string",
            ParameterType::Number => "a number",
            ParameterType::Integer => "an integer",
            ParameterType::Boolean => "true or false",
            ParameterType::Timestamp => "an ISO 8601 date or milliseconds",
            ParameterType::Strings => "a list of strings",
        }
    }
}

/// Gives the name inside a text that is nothing but `{name}`.
fn placeholder(text: &str) -> Option<&str> {
    let name = text.strip_prefix('{')?.strip_suffix('}')?;
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some(name)
}

fn placeholders(object: &Map<String, Value>, named: &mut Vec<String>) {
    object.values().for_each(|value| placeholders_in(value, named));
}

fn placeholders_in(value: &Value, named: &mut Vec<String>) {
    match value {
        Value::String(text) => named.extend(placeholder(text).map(str::to_owned)),
        Value::Array(list) => list.iter().for_each(|value| placeholders_in(value, named)),
        Value::Object(object) => placeholders(object, named),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Puts values in the place of parameters; members and elements without a value are left out.
fn filled(object: &Map<String, Value>, values: &Map<String, Value>) -> Map<String, Value> {
    object
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), filled_value(value, values)?)))
        .collect()
}

fn filled_value(value: &Value, values: &Map<String, Value>) -> Option<Value> {
    match value {
        Value::String(text) => match placeholder(text) {
            Some(name) => values.get(name).cloned(),
            None => Some(value.clone()),
        },
        Value::Array(list) => {
            let mut all = Vec::new();
            for element in list {
                match filled_value(element, values) {
                    // A parameter of several texts in a list is several elements of it.
                    Some(Value::Array(many)) if element.is_string() => all.extend(many),
                    Some(one) => all.push(one),
                    None => {}
                }
            }
            Some(Value::Array(all))
        }
        Value::Object(object) => Some(Value::Object(filled(object, values))),
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(value.clone()),
    }
}

fn yes() -> bool {
    true
}

/// A text that no other parameter is tried with.
fn sample_text(parameter: &str) -> String {
    format!("any {parameter}")
}

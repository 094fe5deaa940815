//! The schema of a namespace: what may be written, and what may be asked.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::error::{Outcome, Refusal, boolean, kind, object};
use super::value::{Kind, MAX_FILTERABLE_BYTES, MAX_VALUE_BYTES, longest_text, total_text};

/// The longest name of an attribute, in bytes.
const MAX_NAME_BYTES: usize = 128;
/// Attributes of one namespace.
const MAX_ATTRIBUTES: usize = 1_024;
/// Vector columns of one namespace.
const MAX_VECTORS: usize = 8;
/// The longest token unless the schema says otherwise, in bytes.
const MAX_TOKEN_BYTES: u64 = 39;

const CONFIG_FIELDS: [&str; 9] = [
    "type",
    "filterable",
    "full_text_search",
    "ann",
    "regex",
    "glob",
    "fuzzy",
    "sparse_knn",
    "embed",
];
const TEXT_FIELDS: [&str; 10] = [
    "k1",
    "b",
    "k3",
    "language",
    "stemming",
    "remove_stopwords",
    "ascii_folding",
    "case_sensitive",
    "max_token_length",
    "tokenizer",
];
const TOKENIZERS: [&str; 6] =
    ["pre_tokenized_array", "word_v0", "word_v1", "word_v2", "word_v3", "word_v4"];

/// How one attribute is kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Attribute {
    pub(super) kind: Kind,
    pub(super) is_filterable: bool,
    pub(super) is_glob: bool,
    pub(super) text: Option<TextConfig>,
    pub(super) metric: Option<Metric>,
}

/// How the words of an attribute are cut and weighed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TextConfig {
    pub(super) tokenizer: String,
    pub(super) k1: f64,
    pub(super) b: f64,
    pub(super) is_case_sensitive: bool,
    pub(super) removes_stopwords: bool,
    pub(super) max_token_bytes: usize,
}

/// How far two vectors are from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Metric {
    Cosine,
    EuclideanSquared,
}

impl Metric {
    pub(super) fn parse(value: &Value) -> Outcome<Self> {
        match value.as_str() {
            Some("cosine_distance") => Ok(Metric::Cosine),
            Some("euclidean_squared") => Ok(Metric::EuclideanSquared),
            _ => Err(Refusal::unprocessable(format!(
                "unknown distance_metric {}, expected `cosine_distance` or `euclidean_squared`",
                kind(value)
            ))),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Metric::Cosine => "cosine_distance",
            Metric::EuclideanSquared => "euclidean_squared",
        }
    }

    pub(super) fn distance(self, left: &[f32], right: &[f32]) -> f64 {
        let pairs = || left.iter().zip(right).map(|(x, y)| (f64::from(*x), f64::from(*y)));
        match self {
            Metric::EuclideanSquared => pairs().map(|(x, y)| (x - y) * (x - y)).sum(),
            Metric::Cosine => {
                let dot: f64 = pairs().map(|(x, y)| x * y).sum();
                let lengths: f64 = pairs().map(|(x, _)| x * x).sum::<f64>().sqrt()
                    * pairs().map(|(_, y)| y * y).sum::<f64>().sqrt();
                if lengths > 0.0 { 1.0 - dot / lengths } else { 1.0 }
            }
        }
    }
}

/// The attributes of a namespace.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Schema {
    pub(super) attributes: BTreeMap<String, Attribute>,
    /// The metric of vectors whose schema does not name one.
    pub(super) metric: Option<Metric>,
}

impl Schema {
    /// Takes on what a request says about attributes.
    pub(super) fn declare(&mut self, value: &Value) -> Outcome<()> {
        let declared = value.as_object().ok_or_else(|| {
            Refusal::unprocessable(format!("invalid type: {}, expected a map", kind(value)))
        })?;
        for (name, config) in declared {
            check_name(name)?;
            let attribute = read_attribute(name, config, self.metric)?;
            if let Some(known) = self.attributes.get(name) {
                if known.kind != attribute.kind {
                    return Err(Refusal::bad_request(format!(
                        "attribute `{name}` has type {}, which cannot become {}",
                        known.kind.name(),
                        attribute.kind.name()
                    )));
                }
                if known.metric.is_some() && attribute.metric != known.metric {
                    return Err(Refusal::bad_request(format!(
                        "the distance metric of `{name}` cannot change"
                    )));
                }
            }
            self.add(name, attribute)?;
        }
        Ok(())
    }

    /// Checks a value, taking on its attribute when it is new, and gives it as it is kept.
    pub(super) fn admit(&mut self, name: &str, value: &Value) -> Outcome<Value> {
        if !self.attributes.contains_key(name) {
            check_name(name)?;
            let Some(kind) = Kind::infer(name, value)? else { return Ok(Value::Null) };
            let metric = if matches!(kind, Kind::Vector { .. }) {
                Some(self.metric.ok_or_else(|| {
                    Refusal::bad_request("distance_metric is required for the first vectors")
                })?)
            } else {
                None
            };
            let is_filterable = metric.is_none();
            let attribute = Attribute { kind, is_filterable, is_glob: false, text: None, metric };
            self.add(name, attribute)?;
        }
        let attribute = &self.attributes[name];
        let n_bytes = longest_text(value);
        let is_vector = matches!(attribute.kind, Kind::Vector { .. });
        if attribute.is_filterable && !is_vector && n_bytes > MAX_FILTERABLE_BYTES {
            return Err(Refusal::bad_request(format!(
                "attribute `{name}` is filterable and has a value of {n_bytes} bytes, the limit is {MAX_FILTERABLE_BYTES}"
            )));
        }
        let n_bytes = total_text(value);
        if n_bytes > MAX_VALUE_BYTES {
            return Err(Refusal::bad_request(format!(
                "attribute `{name}` has a value of {n_bytes} bytes, the limit is {MAX_VALUE_BYTES}"
            )));
        }
        attribute.kind.check(name, value)
    }

    /// Gives an attribute that is to be filtered by.
    pub(super) fn filterable(&self, name: &str) -> Outcome<&Attribute> {
        let attribute = self.known(name)?;
        if !attribute.is_filterable {
            return Err(Refusal::bad_request(format!("attribute `{name}` is not filterable")));
        }
        Ok(attribute)
    }

    /// Gives how the words of an attribute are cut.
    pub(super) fn text(&self, name: &str) -> Outcome<&TextConfig> {
        self.known(name)?.text.as_ref().ok_or_else(|| {
            Refusal::bad_request(format!("attribute `{name}` has no full_text_search index"))
        })
    }

    /// Gives an attribute of the schema.
    pub(super) fn known(&self, name: &str) -> Outcome<&Attribute> {
        self.attributes
            .get(name)
            .ok_or_else(|| Refusal::bad_request(format!("attribute `{name}` not found in schema")))
    }

    /// Gives the names of the vector columns, which every row has to fill.
    pub(super) fn vectors(&self) -> impl Iterator<Item = &str> {
        let is_vector = |attribute: &Attribute| matches!(attribute.kind, Kind::Vector { .. });
        self.attributes
            .iter()
            .filter(move |(_, attribute)| is_vector(attribute))
            .map(|(name, _)| name.as_str())
    }

    pub(super) fn to_json(&self, id_type: &str) -> Value {
        let mut shown = Map::new();
        shown.insert("id".to_owned(), json!({"type": id_type}));
        for (name, attribute) in &self.attributes {
            let mut config = json!({
                "type": attribute.kind.name(),
                "filterable": attribute.is_filterable,
            });
            config["full_text_search"] = match &attribute.text {
                None => Value::Null,
                Some(text) => json!({
                    "tokenizer": text.tokenizer,
                    "k1": text.k1,
                    "b": text.b,
                    "case_sensitive": text.is_case_sensitive,
                    "remove_stopwords": text.removes_stopwords,
                    "max_token_length": text.max_token_bytes,
                }),
            };
            if let Some(metric) = attribute.metric {
                config["ann"] = json!({"distance_metric": metric.name()});
            }
            shown.insert(name.clone(), config);
        }
        shown.into()
    }

    fn add(&mut self, name: &str, attribute: Attribute) -> Outcome<()> {
        self.attributes.insert(name.to_owned(), attribute);
        if self.attributes.len() > MAX_ATTRIBUTES {
            return Err(Refusal::bad_request(format!(
                "a namespace has at most {MAX_ATTRIBUTES} attributes"
            )));
        }
        if self.vectors().count() > MAX_VECTORS {
            return Err(Refusal::bad_request(format!(
                "a namespace has at most {MAX_VECTORS} vector columns"
            )));
        }
        Ok(())
    }
}

fn check_name(name: &str) -> Outcome<()> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES || name.starts_with('$') {
        return Err(Refusal::bad_request(format!("invalid attribute name {name:?}")));
    }
    Ok(())
}

fn read_attribute(name: &str, value: &Value, metric: Option<Metric>) -> Outcome<Attribute> {
    let default_metric = metric.unwrap_or(Metric::Cosine);
    if let Some(kind) = value.as_str() {
        return read_attribute(name, &json!({"type": kind}), metric);
    }
    let config = object(value, "AttributeSchemaConfig", &CONFIG_FIELDS)?;
    let text = config.get("type").and_then(Value::as_str);
    let kind = Kind::parse(text.ok_or_else(|| Refusal::unprocessable("missing field `type`"))?)?;
    for field in ["sparse_knn", "embed", "regex", "fuzzy"] {
        if config.get(field).is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
        {
            return Err(Refusal::unsupported(&format!("`{field}` in a schema")));
        }
    }
    let flag = |field: &str| config.get(field).map(|value| boolean(value, field)).transpose();
    let text = match config.get("full_text_search") {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(Value::Bool(true)) => Some(read_text(name, &kind, &json!({}))?),
        Some(config) => Some(read_text(name, &kind, config)?),
    };
    let metric = match config.get("ann") {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(Value::Bool(true)) => Some(default_metric),
        Some(config) => {
            let config = object(config, "AnnConfig", &["distance_metric"])?;
            Some(config.get("distance_metric").map_or(Ok(default_metric), Metric::parse)?)
        }
    };
    let is_vector = matches!(kind, Kind::Vector { .. });
    if metric.is_some() != is_vector {
        return Err(Refusal::bad_request(format!(
            "attribute `{name}` of type {} and its `ann` setting do not go together",
            kind.name()
        )));
    }
    let is_glob = flag("glob")?.unwrap_or(false);
    let is_filterable = flag("filterable")?.unwrap_or(text.is_none() && !is_vector && !is_glob);
    Ok(Attribute { kind, is_filterable, is_glob, text, metric })
}

fn read_text(name: &str, kind: &Kind, value: &Value) -> Outcome<TextConfig> {
    let config = object(value, "FullTextSearchConfig", &TEXT_FIELDS)?;
    let is_array = *kind == Kind::Array(Box::new(Kind::String));
    if !is_array && *kind != Kind::String {
        return Err(Refusal::bad_request(format!(
            "full_text_search of `{name}` needs type string or []string, got {}",
            kind.name()
        )));
    }
    let tokenizer = config.get("tokenizer").map_or(Some("word_v4"), Value::as_str).unwrap_or("");
    if !TOKENIZERS.contains(&tokenizer) {
        return Err(Refusal::unprocessable(format!("unknown tokenizer {tokenizer:?}")));
    }
    if tokenizer == "pre_tokenized_array" && !is_array {
        return Err(Refusal::bad_request(format!(
            "tokenizer pre_tokenized_array of `{name}` needs type []string"
        )));
    }
    for field in ["stemming", "ascii_folding"] {
        if config.get(field) == Some(&Value::Bool(true)) {
            return Err(Refusal::unsupported(&format!("`{field}`")));
        }
    }
    let number = |field: &str, default: f64| match config.get(field) {
        None | Some(Value::Null) => Ok(default),
        Some(value) => value.as_f64().ok_or_else(|| {
            Refusal::unprocessable(format!(
                "{field}: invalid type: {}, expected f64",
                kind_name(value)
            ))
        }),
    };
    let flag = |field: &str, default: bool| {
        config.get(field).map_or(Ok(default), |value| boolean(value, field))
    };
    let max_token_bytes =
        config.get("max_token_length").map_or(Some(MAX_TOKEN_BYTES), Value::as_u64).unwrap_or(0);
    if !(1..=254).contains(&max_token_bytes) {
        return Err(Refusal::bad_request("max_token_length has to be between 1 and 254"));
    }
    let (k1, b, k3) = (number("k1", 1.2)?, number("b", 0.75)?, number("k3", 8.0)?);
    if k1 <= 0.0 || k3 <= 0.0 || !(0.0..=1.0).contains(&b) {
        return Err(Refusal::bad_request(format!(
            "k1 and k3 have to be greater than 0 and b from 0 to 1, got {k1}, {k3} and {b}"
        )));
    }
    Ok(TextConfig {
        tokenizer: tokenizer.to_owned(),
        k1,
        b,
        is_case_sensitive: flag("case_sensitive", false)?,
        removes_stopwords: flag("remove_stopwords", true)?,
        max_token_bytes: max_token_bytes as usize,
    })
}

fn kind_name(value: &Value) -> String {
    kind(value)
}

//! A passage as a point: its payload, its term weights, its vector.

use std::collections::{BTreeSet, HashMap};

use model::AttributeValue;
use qdrant_client::qdrant::{
    NamedVectors, PointId, PointStruct, PointVectors, Value, Vector, Vectors,
};
use sha2::{Digest, Sha256};
use store::PassageSource;
use store::remote::{Field, Words};

use crate::terms;

/// Which namespace a point belongs to.
pub(crate) const TENANT: &str = "ns";
/// The id of the document.
pub(crate) const DOCUMENT: &str = "doc";
/// The id of the passage.
pub(crate) const PASSAGE: &str = "pid";
/// Where the passage is in its source, as it prints.
pub(crate) const POINTER: &str = "ptr";
/// Keyword attributes, each with its name before it.
pub(crate) const KEYWORDS: &str = "k";
/// What ids and pointers begin with, up to each `/`.
pub(crate) const ANCESTORS: &str = "up";
/// The number of the passage, which decides between equal scores.
pub(crate) const NUMBER: &str = "num";
/// The words as tokens, each as often as it occurs.
pub(crate) const TERMS: &str = "t";
/// The beginnings of words as tokens.
pub(crate) const STARTS: &str = "p";
/// Words in the text.
pub(crate) const TEXT_LENGTH: &str = "lt";
/// Words in the title and headings.
pub(crate) const TITLE_LENGTH: &str = "lh";
pub(crate) const TEXT: &str = "text";
/// The title of the document.
pub(crate) const TITLE: &str = "title";
/// The headings above the passage.
pub(crate) const HEADINGS: &str = "head";
/// The language that words were cut in.
pub(crate) const LANGUAGE: &str = "lang";
/// All attributes as JSON, for conditions that the server cannot check.
pub(crate) const ATTRIBUTES: &str = "attr";

/// The vector of the embedder.
pub(crate) const DENSE: &str = "v";
/// The term weights.
pub(crate) const SPARSE: &str = "w";

/// What a prefix belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PrefixOf {
    Document,
    Pointer,
}

impl PrefixOf {
    /// Names a beginning that ends with `/`.
    pub(crate) fn value(self, start: &str) -> String {
        let kind = match self {
            PrefixOf::Document => 'd',
            PrefixOf::Pointer => 'o',
        };
        format!("{kind}{start}")
    }
}

pub(crate) fn integer_field(attribute: &str) -> String {
    let mut field = "n_".to_owned();
    for char in attribute.chars() {
        match char.is_ascii_alphanumeric() {
            true => field.push(char),
            false => field.push_str(&format!("_{:x}_", u32::from(char))),
        }
    }
    field
}

pub(crate) fn keyword_value(attribute: &str, value: &str) -> String {
    format!("{attribute}\u{1}{value}")
}

/// Gives the fields of integer attributes that passages have.
pub(crate) fn integer_fields(sources: &[PassageSource]) -> BTreeSet<String> {
    let attributes = sources.iter().flat_map(|source| &source.document.attributes);
    attributes
        .filter(|(_, value)| matches!(value, AttributeValue::Integer(_)))
        .map(|(name, _)| integer_field(name))
        .collect()
}

/// Gives the id of a point: always the same for a passage number of a namespace.
pub(crate) fn id_of(tenant: &str, number: u32) -> PointId {
    let mut hash = Sha256::new();
    hash.update(tenant.as_bytes());
    hash.update([0]);
    hash.update(number.to_le_bytes());
    let digits = model::hex(&hash.finalize()[..16]);
    PointId::from(format!(
        "{}-{}-{}-{}-{}",
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..]
    ))
}

pub(crate) fn of(tenant: &str, source: &PassageSource) -> PointStruct {
    let PassageSource { number, document, passage, vector } = source;
    let words = Words::of(document, passage);
    let pointer = passage.pointer.to_string();
    let terms = terms::of_passage(&words);
    let mut payload: HashMap<String, Value> = HashMap::new();
    let mut put = |field: &str, value: Value| {
        payload.insert(field.to_owned(), value);
    };
    put(TENANT, tenant.into());
    put(DOCUMENT, document.id.as_str().into());
    put(PASSAGE, passage.id.as_str().into());
    put(NUMBER, i64::from(*number).into());
    put(TEXT, passage.text.as_str().into());
    put(TITLE, document.title.as_str().into());
    put(HEADINGS, list(passage.headings.iter().map(|heading| heading.as_str().into())));
    put(LANGUAGE, document.language.code().into());
    put(TEXT_LENGTH, (words.length(Field::Text) as i64).into());
    put(TITLE_LENGTH, (words.length(Field::Title) as i64).into());
    put(TERMS, terms.words.into());
    put(STARTS, terms.starts.into());
    let attributes = serde_json::to_string(&document.attributes).unwrap_or_default();
    put(ATTRIBUTES, attributes.into());
    let mut ancestors: Vec<String> = vec![];
    let ids = [(PrefixOf::Document, document.id.as_str()), (PrefixOf::Pointer, pointer.as_str())];
    for (of, text) in ids {
        let ends = text.match_indices('/').map(|(at, _)| at + 1);
        ancestors.extend(ends.map(|end| of.value(&text[..end])));
    }
    put(ANCESTORS, list(ancestors.into_iter().map(Value::from)));
    put(POINTER, pointer.into());
    let mut keywords: Vec<String> = vec![];
    for (name, value) in &document.attributes {
        match value {
            AttributeValue::Integer(number) => put(&integer_field(name), (*number).into()),
            AttributeValue::Keyword(word) => keywords.push(keyword_value(name, word)),
            AttributeValue::Keywords(words) => {
                keywords.extend(words.iter().map(|word| keyword_value(name, word)));
            }
        }
    }
    put(KEYWORDS, list(keywords.into_iter().map(Value::from)));

    let sparse: Vec<(u32, f32)> = terms.weights.into_iter().collect();
    let mut vectors: HashMap<String, Vector> = HashMap::from([(SPARSE.to_owned(), sparse.into())]);
    if let Some(vector) = vector {
        vectors.insert(DENSE.to_owned(), vector.clone().into());
    }
    PointStruct {
        id: Some(id_of(tenant, *number)),
        payload,
        vectors: Some(Vectors::from(NamedVectors { vectors })),
    }
}

/// Makes the vector of a point that is there.
pub(crate) fn vector_of(tenant: &str, number: u32, vector: Vec<f32>) -> PointVectors {
    let vectors = HashMap::from([(DENSE.to_owned(), Vector::from(vector))]);
    PointVectors {
        id: Some(id_of(tenant, number)),
        vectors: Some(Vectors::from(NamedVectors { vectors })),
    }
}

fn list(values: impl Iterator<Item = Value>) -> Value {
    values.collect::<Vec<Value>>().into()
}

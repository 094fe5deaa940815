//! A passage as a row of turbopuffer, and the schema that such rows need.

use std::collections::BTreeMap;

use model::AttributeValue;
use serde_json::Value;
use turbopuffer::types::{
    AnnConfig, AttributeSchema, AttributeSchemaConfig, DistanceMetric, FullTextSearchConfig, Row,
    Tokenizer,
};

use super::naming;
use crate::remote::{Field, Words};
use crate::{Bm25, Form, PassageSource, VectorSpace};

/// Who a row belongs to.
pub(super) const DOCUMENT: &str = "document";
/// Our id of the passage, whatever its length.
pub(super) const PASSAGE: &str = "passage";
/// Where the passage is in its source, as it prints.
pub(super) const POINTER: &str = "pointer";
/// The order of writing, which decides between equal scores.
pub(super) const NUMBER: &str = "number";
/// Whether the vector means something: a row cannot be without one.
pub(super) const HAS_VECTOR: &str = "has_vector";
/// The text of the passage.
pub(super) const TEXT: &str = "text";
/// The title of the document.
pub(super) const TITLE: &str = "title";
/// The headings above the passage.
pub(super) const HEADINGS: &str = "headings";
/// The language that the words were cut in.
pub(super) const LANGUAGE: &str = "language";
/// Words in the text.
pub(super) const TEXT_LENGTH: &str = "text_length";
/// Words in the title and headings.
pub(super) const TITLE_LENGTH: &str = "title_length";
pub(super) const VECTOR: &str = "vector";

/// Gives the attribute that holds a form of the words of a field.
pub(super) fn words_attribute(field: Field, form: Form) -> &'static str {
    match (field, form) {
        (Field::Text, Form::Exact) => "text_exact",
        (Field::Text, Form::Folded) => "text_folded",
        (Field::Title, Form::Exact) => "title_exact",
        (Field::Title, Form::Folded) => "title_folded",
    }
}

/// What the rows of a namespace are made of.
#[derive(Debug, Clone)]
pub(super) struct Schema {
    pub(super) attributes: BTreeMap<String, AttributeSchema>,
    pub(super) dimensions: Option<usize>,
}

impl Schema {
    /// Gives the schema of rows without attributes of their own.
    pub(super) fn new(space: Option<&VectorSpace>) -> Self {
        let kept = |kind: &str| AttributeSchemaConfig::new(kind).filterable(false);
        // The engine orders candidates by these numbers; what is asked for is applied to them
        // afterwards, so that these only have to be near.
        let words = FullTextSearchConfig::new()
            .tokenizer(Tokenizer::PreTokenizedArray)
            .k1(f64::from(Bm25::PASSAGES.k1))
            .b(f64::from(Bm25::PASSAGES.b));
        let mut attributes: BTreeMap<String, AttributeSchema> = [
            (DOCUMENT, AttributeSchemaConfig::new("string")),
            (PASSAGE, AttributeSchemaConfig::new("string")),
            (POINTER, AttributeSchemaConfig::new("string")),
            (NUMBER, AttributeSchemaConfig::new("uint")),
            (TEXT, kept("string")),
            (TITLE, kept("string")),
            (HEADINGS, kept("[]string")),
            (LANGUAGE, kept("string")),
            (TEXT_LENGTH, AttributeSchemaConfig::new("uint")),
            (TITLE_LENGTH, AttributeSchemaConfig::new("uint")),
        ]
        .into_iter()
        .map(|(name, config)| (name.to_owned(), config.into()))
        .collect();
        for field in [Field::Text, Field::Title] {
            for form in [Form::Exact, Form::Folded] {
                let config = AttributeSchemaConfig::new("[]string").full_text_search(words.clone());
                attributes.insert(words_attribute(field, form).to_owned(), config.into());
            }
        }
        if let Some(space) = space {
            let metric = AnnConfig::new().distance_metric(DistanceMetric::CosineDistance);
            let vector =
                AttributeSchemaConfig::new(format!("[{}]f32", space.dimensions)).ann(metric);
            attributes.insert(VECTOR.to_owned(), vector.into());
            attributes.insert(HAS_VECTOR.to_owned(), AttributeSchemaConfig::new("bool").into());
        }
        Schema { attributes, dimensions: space.map(|space| space.dimensions) }
    }

    /// Makes the row of a passage, taking on the attributes that it brings along.
    pub(super) fn row(&mut self, source: &PassageSource) -> Row {
        let PassageSource { number, document, passage, vector } = source;
        let pointer = passage.pointer.to_string();
        let words = Words::of(document, passage);
        let mut row = Row::new(naming::passage_id(passage.id.as_str(), &pointer))
            .insert(DOCUMENT, naming::value(document.id.as_str()))
            .insert(PASSAGE, naming::value(passage.id.as_str()))
            .insert(POINTER, naming::value(&pointer))
            .insert(NUMBER, number)
            .insert(TEXT, &passage.text)
            .insert(TITLE, &document.title)
            .insert(HEADINGS, &passage.headings)
            .insert(LANGUAGE, document.language.code())
            .insert(TEXT_LENGTH, words.length(Field::Text))
            .insert(TITLE_LENGTH, words.length(Field::Title));
        for field in [Field::Text, Field::Title] {
            for form in [Form::Exact, Form::Folded] {
                let tokens: Vec<Value> =
                    words.terms(field, form).map(|term| naming::token(term).into()).collect();
                row = row.insert(words_attribute(field, form), tokens);
            }
        }
        for (name, value) in &document.attributes {
            row = self.add_attribute(row, name, value);
        }
        if let Some(dimensions) = self.dimensions {
            row = row.insert(HAS_VECTOR, vector.is_some());
            row = row.vector(vector.clone().unwrap_or_else(|| stand_in(dimensions)));
        }
        row
    }

    fn add_attribute(&mut self, row: Row, name: &str, value: &AttributeValue) -> Row {
        let (attribute, kind, value): (String, &str, Value) = match value {
            AttributeValue::Integer(number) => {
                (naming::number_attribute(name), "int", (*number).into())
            }
            AttributeValue::Keyword(word) => {
                (naming::keywords_attribute(name), "[]string", vec![naming::value(word)].into())
            }
            AttributeValue::Keywords(words) => {
                let words: Vec<&str> = words.iter().map(|word| naming::value(word)).collect();
                (naming::keywords_attribute(name), "[]string", words.into())
            }
        };
        self.attributes
            .entry(attribute.clone())
            .or_insert_with(|| AttributeSchemaConfig::new(kind).into());
        row.insert(attribute, value)
    }
}

/// Gives about how many bytes a passage takes in a request: its text, its words in two forms, and
/// its vector.
pub(super) fn weight(n_text_bytes: usize, dimensions: Option<usize>) -> usize {
    n_text_bytes * 4 + dimensions.unwrap_or(0) * 6 + 1_024
}

/// Gives the vector of a passage that has none yet: every row of a namespace with vectors must
/// have one, and [`HAS_VECTOR`] keeps it out of searches.
fn stand_in(dimensions: usize) -> Vec<f32> {
    let mut vector = vec![0.0; dimensions];
    if let Some(first) = vector.first_mut() {
        *first = 1.0;
    }
    vector
}

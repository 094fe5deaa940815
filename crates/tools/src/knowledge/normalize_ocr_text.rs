//! `normalize_ocr_text`: hyphens that OCR read for a long vowel mark become `ー` again.

use std::sync::Arc;

use knowledge::Service;
use model::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::error;
use crate::{Answer, Call, Code, Spec, Tool, ToolError};

/// The longest text that is taken, in characters.
const MAX_TEXT_CHARS: usize = 10_000;

/// Texts up to this many bytes are repaired without a thread of their own.
const INSTANT_BYTES: usize = 1024;

/// The tool.
pub struct NormalizeOcrText {
    service: Option<Service>,
    spec: Arc<Spec>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// OCR text to normalise
    #[schemars(length(max = MAX_TEXT_CHARS))]
    text: String,
}

impl NormalizeOcrText {
    /// Repairs by the rules of the crate `text`; the same text always gives the same answer.
    pub fn by_rules() -> Self {
        NormalizeOcrText { service: None, spec: Arc::new(spec()) }
    }

    /// Repairs by the service's language model where it has one, by the rules otherwise.
    pub fn new(service: Service) -> Self {
        NormalizeOcrText { service: Some(service), spec: Arc::new(spec()) }
    }
}

fn spec() -> Spec {
    let mut spec = Spec::read_only(
        "normalize_ocr_text",
        "Normalize OCR text",
        "Repair Japanese OCR text: a hyphen that stands for a long vowel mark in a katakana word \
         becomes ー. Hyphens in Latin words, ranges, dates and phone numbers stay.",
    )
    .with_arguments::<Arguments>()
    .with_output(json!({
        "type": "object",
        "properties": {
            "original_text": { "type": "string" },
            "normalized_text": { "type": "string" },
            "status": { "type": "string", "enum": ["success"] },
            "engine": { "type": "string" },
            "warnings": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["original_text", "normalized_text", "status"],
    }));
    spec.sentences = vec![("text.maxLength", "Text too long (max 10000 chars)")];
    spec
}

impl Tool for NormalizeOcrText {
    fn spec(&self, _caller: &Caller) -> Option<Arc<Spec>> {
        Some(Arc::clone(&self.spec))
    }

    /// A short text is repaired by rules faster than a thread wakes up; a model must be asked.
    fn is_instant(&self, arguments: &Map<String, Value>) -> bool {
        let is_short =
            arguments.get("text").and_then(Value::as_str).is_some_and(|t| t.len() <= INSTANT_BYTES);
        is_short && self.service.as_ref().is_none_or(|service| !service.has_language_model())
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments { text } = call.parse()?;
        let (normalized, engine, warnings) = match &self.service {
            None => (text::repair_long_vowels(&text), "rules".to_owned(), vec![]),
            Some(service) => {
                let repaired = service.normalize_ocr(&text, call.deadline).map_err(error)?;
                (repaired.text, repaired.engine, repaired.warnings)
            }
        };
        let value = json!({
            "original_text": text,
            "normalized_text": normalized,
            "status": "success",
            "engine": engine,
        });
        // Both texts are in the answer: where they do not fit, half of the text does.
        if let Some(allowed) = call.budget.allowed_chars(&value.to_string()) {
            let message =
                format!("Text too long: both forms of it would not fit {allowed} characters");
            return Err(ToolError::new(Code::TooLarge, message)
                .with_detail("argument", "text")
                .with_hint("call `normalize_ocr_text` with a part of the text at a time"));
        }
        Ok(Answer::new(value).with_warnings(&warnings))
    }
}

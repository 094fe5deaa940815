//! How a text is cut into the words that are searched.

use serde_json::Value;

use super::schema::TextConfig;

/// Common words that say nothing, as far as tests need them.
const STOPWORDS: [&str; 32] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "with",
];

/// Cuts a value: texts are cut by the tokenizer, arrays of tokens stay as they are.
pub(super) fn cut(config: &TextConfig, value: &Value) -> Vec<String> {
    let is_cut_already = config.tokenizer == "pre_tokenized_array";
    let mut tokens = vec![];
    match value {
        Value::String(text) => push_words(config, text, &mut tokens),
        Value::Array(items) => {
            for text in items.iter().filter_map(Value::as_str) {
                match is_cut_already {
                    true => tokens.push(text.to_owned()),
                    false => push_words(config, text, &mut tokens),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
    tokens.retain(|token| token.len() <= config.max_token_bytes);
    tokens
}

fn push_words(config: &TextConfig, text: &str, tokens: &mut Vec<String>) {
    let text = if config.is_case_sensitive { text.to_owned() } else { text.to_lowercase() };
    let words = text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    for word in words {
        if !config.removes_stopwords || !STOPWORDS.contains(&word) {
            tokens.push(word.to_owned());
        }
    }
}

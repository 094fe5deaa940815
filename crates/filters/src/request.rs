//! What a caller asks, checked by hand so that every mistake is named in words.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Error, Result};

/// Results given when the caller names no limit.
pub const DEFAULT_LIMIT: usize = 10;

/// The most results of one lookup.
pub const MAX_LIMIT: usize = 50;

/// The most characters of a query.
pub const MAX_QUERY_CHARS: usize = 500;

/// The most lookups of one batch.
pub const MAX_BATCH: usize = 100;

/// One lookup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SearchRequest {
    /// The dimension.
    pub category: String,
    /// A name, a part of one, an alias or a code.
    pub query: String,
    /// How many results to give.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// A kind, such as `county` or `city`, that is preferred among equals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether results carry `metadata`; they do unless this is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_metadata: Option<bool>,
    /// The language of names and contexts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// Whether each result says why it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<bool>,
}

impl SearchRequest {
    /// Makes a request with defaults.
    pub fn new(category: impl Into<String>, query: impl Into<String>) -> Self {
        SearchRequest {
            category: category.into(),
            query: query.into(),
            limit: None,
            hint: None,
            include_metadata: None,
            locale: None,
            explain: None,
        }
    }

    /// Reads the arguments of a call.
    ///
    /// Fails when one is missing, unknown, of the wrong type or out of range; `categories` are
    /// those the caller may use, for the message.
    pub fn from_json(arguments: &Value, categories: &[String]) -> Result<Self> {
        let arguments = object(arguments)?;
        check_names(arguments, &ARGUMENTS)?;
        let category = text(arguments, "category")?
            .filter(|category| !category.trim().is_empty())
            .ok_or_else(|| Error::CategoryRequired { allowed: categories.to_vec() })?;
        let query = text(arguments, "query")?.ok_or(Error::QueryRequired)?;
        let request = SearchRequest {
            limit: limit(arguments)?,
            hint: text(arguments, "hint")?,
            include_metadata: boolean(arguments, "includeMetadata")?,
            locale: text(arguments, "locale")?,
            explain: boolean(arguments, "explain")?,
            ..SearchRequest::new(category, query)
        };
        request.check()?;
        Ok(request)
    }

    /// Checks what types cannot say.
    pub fn check(&self) -> Result<()> {
        if self.query.trim().is_empty() {
            return Err(Error::QueryRequired);
        }
        let n_chars = self.query.chars().count();
        if n_chars > MAX_QUERY_CHARS {
            return Err(Error::QueryTooLong { n_chars, most: MAX_QUERY_CHARS });
        }
        match self.limit {
            Some(limit) if !(1..=MAX_LIMIT).contains(&limit) => {
                Err(Error::BadLimit { received: limit.to_string(), most: MAX_LIMIT })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Gives the limit or the default.
    pub fn limit_or_default(&self) -> usize {
        self.limit.unwrap_or(DEFAULT_LIMIT)
    }
}

/// The arguments of one lookup, in the order they are documented.
pub const ARGUMENTS: [&str; 7] =
    ["category", "query", "limit", "hint", "includeMetadata", "locale", "explain"];

pub(crate) fn object(arguments: &Value) -> Result<&Map<String, Value>> {
    arguments.as_object().ok_or_else(|| Error::BadArgument {
        name: "arguments".to_owned(),
        expected: "an object",
        received: shown(arguments),
    })
}

pub(crate) fn check_names(arguments: &Map<String, Value>, allowed: &[&str]) -> Result<()> {
    match arguments.keys().find(|name| !allowed.contains(&name.as_str())) {
        Some(unknown) => Err(Error::UnknownArgument {
            received: unknown.clone(),
            allowed: allowed.iter().map(|name| (*name).to_owned()).collect(),
        }),
        None => Ok(()),
    }
}

pub(crate) fn text(arguments: &Map<String, Value>, name: &str) -> Result<Option<String>> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(bad(name, "a string", other)),
    }
}

pub(crate) fn bad(name: &str, expected: &'static str, received: &Value) -> Error {
    Error::BadArgument { name: name.to_owned(), expected, received: shown(received) }
}

fn boolean(arguments: &Map<String, Value>, name: &str) -> Result<Option<bool>> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(*value)),
        Some(other) => Err(bad(name, "true or false", other)),
    }
}

fn limit(arguments: &Map<String, Value>) -> Result<Option<usize>> {
    let Some(value) = arguments.get("limit").filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let whole = value.as_u64().or_else(|| {
        value.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0).map(|n| n as u64)
    });
    whole
        .map(|whole| Some(whole as usize))
        .ok_or_else(|| Error::BadLimit { received: shown(value), most: MAX_LIMIT })
}

/// Shows a received value, cut to a length that fits a message.
fn shown(value: &Value) -> String {
    const MAX_SHOWN_CHARS: usize = 60;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if text.chars().count() > MAX_SHOWN_CHARS {
        let cut: String = text.chars().take(MAX_SHOWN_CHARS).collect();
        format!("{cut}…")
    } else {
        text
    }
}

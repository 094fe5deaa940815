//! What is in the query of an address, behind its question mark.
//!
//! Every mistake names the parameter, what was received and what is allowed, in our own error
//! document; the sentences of a parser would name a type of ours and no parameter.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Query};
use http::request::Parts;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tools::ToolError;

/// What a parameter takes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Takes {
    /// Any text.
    Text,
    /// Any text, and must be there.
    RequiredText,
    /// A whole number, not below `from`. `most` is what makes sense: more is taken, and is for the
    /// handler to cap.
    Number { from: u64, most: Option<u64> },
}

/// The parameters of an address.
pub(crate) trait Parameters: DeserializeOwned {
    /// Their names, with what each takes.
    const TAKEN: &'static [(&'static str, Takes)];

    /// Whether others are passed over, where a protocol says so, instead of being refused.
    const IS_OPEN: bool = false;
}

/// Parameters as an address gives them; what is wrong with them is for the handler to answer.
#[derive(Debug)]
pub(crate) struct QueryParameters<T>(pub(crate) Result<T, ToolError>);

impl<T: Parameters, S: Send + Sync> FromRequestParts<S> for QueryParameters<T> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let pairs = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let pairs = pairs.map_err(|_| {
            ToolError::bad_request("the query of the address cannot be read")
                .with_hint("write it as `?name=value&name=value`, percent-encoded")
        });
        Ok(QueryParameters(pairs.and_then(|Query(pairs)| read(pairs))))
    }
}

fn read<T: Parameters>(pairs: Vec<(String, String)>) -> Result<T, ToolError> {
    let mut values = Map::new();
    for (name, value) in pairs {
        let taken = T::TAKEN.iter().find(|(known, _)| *known == name);
        let value = match taken.map(|(_, takes)| *takes) {
            None if T::IS_OPEN => continue,
            None => return Err(unknown::<T>(&name)),
            Some(Takes::Text | Takes::RequiredText) => Value::String(value),
            Some(Takes::Number { from, most }) => json!(number(&name, &value, from, most)?),
        };
        if values.contains_key(&name) {
            return Err(ToolError::bad_request(format!("`{name}` is given twice"))
                .with_detail("argument", name));
        }
        values.insert(name, value);
    }
    for (name, takes) in T::TAKEN {
        if matches!(takes, Takes::RequiredText) && !values.contains_key(*name) {
            return Err(ToolError::bad_request(format!("`{name}` is required"))
                .with_detail("argument", *name));
        }
    }
    serde_json::from_value(Value::Object(values))
        .map_err(|error| ToolError::internal(format!("parameters do not fit their type: {error}")))
}

fn number(name: &str, text: &str, from: u64, most: Option<u64>) -> Result<u64, ToolError> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // More digits than a number holds mean as much as the largest one does.
    let number = text.parse().ok().or(is_digits.then_some(u64::MAX));
    if let Some(number) = number.filter(|number| *number >= from) {
        return Ok(number.min(u64::from(u32::MAX)));
    }
    let allowed = match most {
        Some(most) => format!("a whole number from {from} to {most}"),
        None => format!("a whole number, {from} or more"),
    };
    let message = format!("`{name}` must be {allowed}, received `{}`", shown(text));
    Err(ToolError::bad_request(message)
        .with_detail("argument", name)
        .with_detail("received", shown(text))
        .with_detail("allowed", allowed))
}

fn unknown<T: Parameters>(name: &str) -> ToolError {
    let known: Vec<&str> = T::TAKEN.iter().map(|(known, _)| *known).collect();
    let listed: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
    let name = shown(name);
    let hint = match text::nearest(&name, &known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("this address takes {}", listed.join(", ")),
    };
    let message = format!("there is no parameter `{name}` here, allowed are {}", listed.join(", "));
    ToolError::bad_request(message)
        .with_detail("argument", name)
        .with_detail("allowed", known)
        .with_hint(hint)
}

fn shown(text: &str) -> String {
    text.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Page {
        after: Option<String>,
        limit: Option<usize>,
    }

    impl Parameters for Page {
        const TAKEN: &'static [(&'static str, Takes)] =
            &[("after", Takes::Text), ("limit", Takes::Number { from: 1, most: Some(500) })];
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Preview {
        id: String,
    }

    impl Parameters for Preview {
        const TAKEN: &'static [(&'static str, Takes)] = &[("id", Takes::RequiredText)];
        const IS_OPEN: bool = true;
    }

    fn asked<T: Parameters>(query: &str) -> Result<T, ToolError> {
        let uri = format!("/x{query}").parse().unwrap();
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(&uri).unwrap();
        read(pairs)
    }

    #[test]
    fn parameters_are_read() {
        let page = |query: &str| asked::<Page>(query).map(|page| (page.after, page.limit)).unwrap();
        assert_eq!(page(""), (None, None));
        assert_eq!(page("?after=a%20b&limit=3"), (Some("a b".to_owned()), Some(3)));
        assert_eq!(page("?after="), (Some(String::new()), None));
        assert!(page("?limit=99999999999999999999999").1.unwrap() > 500);
        assert_eq!(asked::<Preview>("?id=x&callback=y").unwrap(), Preview { id: "x".to_owned() });
    }

    /// The sentence of the parser was shown: which parameter it was about could not be told.
    #[test]
    fn mistakes_name_the_parameter_and_what_is_allowed() {
        let refused = |query: &str| asked::<Page>(query).unwrap_err().message;
        for wrong in ["abc", "-1", "0", "1.5", "1e3", "%00", ""] {
            let message = refused(&format!("?limit={wrong}"));
            let expected = "`limit` must be a whole number from 1 to 500, received `";
            assert!(message.starts_with(expected), "{message}");
        }
        let error = asked::<Page>("?limit=abc").unwrap_err();
        assert_eq!(
            (&error.details["argument"], &error.details["received"]),
            (&json!("limit"), &json!("abc"))
        );
        let error = asked::<Page>("?limt=3").unwrap_err();
        assert_eq!(error.details["hint"], "did you mean `limit`?");
        assert!(error.message.ends_with("allowed are `after`, `limit`"), "{}", error.message);
        assert_eq!(refused("?limit=1&limit=2"), "`limit` is given twice");
        assert_eq!(asked::<Preview>("?x=1").unwrap_err().message, "`id` is required");
    }
}

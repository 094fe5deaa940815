//! The query string of a page: what a view shows is an address, and every change of it a link.

use axum::extract::FromRequestParts;
use http::request::Parts;

use super::address;

/// Names and values in the order of the address; a name may occur more than once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    pub(crate) fn new(pairs: Vec<(String, String)>) -> Self {
        Params(pairs)
    }

    /// Gives the first value of a name that is not blank.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, value)| known == name && is_given(value))
            .map(|(_, value)| value.as_str())
    }

    /// Gives a value, or nothing at all.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    /// Gives every value of a name that is not blank.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(known, value)| known == name && is_given(value))
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn has(&self, name: &str, value: &str) -> bool {
        self.all(name).any(|known| known == value)
    }

    /// Gives a whole number within limits.
    pub(crate) fn number(&self, name: &str, default: usize, most: usize) -> usize {
        self.get(name).and_then(|value| value.trim().parse().ok()).unwrap_or(default).min(most)
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The same with one value for a name.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut changed = self.without(name);
        changed.0.push((name.to_owned(), value.to_owned()));
        changed
    }

    /// The same without a name.
    pub(crate) fn without(&self, name: &str) -> Self {
        Params(self.0.iter().filter(|(known, _)| known != name).cloned().collect())
    }

    /// The same with a value added, or taken away where it is.
    pub(crate) fn toggled(&self, name: &str, value: &str) -> Self {
        let mut changed = self.clone();
        if self.has(name, value) {
            changed.0.retain(|(known, held)| known != name || held != value);
        } else {
            changed.0.push((name.to_owned(), value.to_owned()));
        }
        changed
    }

    /// Writes the query string, with its question mark; nothing when there is nothing in it.
    pub(crate) fn to_query(&self) -> String {
        let mut query = String::new();
        for (name, value) in self.0.iter().filter(|(_, value)| !value.trim().is_empty()) {
            query.push(if query.is_empty() { '?' } else { '&' });
            encode(name, &mut query);
            query.push('=');
            encode(value, &mut query);
        }
        query
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        Ok(Params(address::read(&parts.uri)))
    }
}

fn is_given(value: &str) -> bool {
    !value.trim().is_empty()
}

/// Writes a piece of an address so that nothing in it has a meaning there.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    encode(text, &mut encoded);
    encoded
}

fn encode(text: &str, into: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                into.push(char::from(byte));
            }
            other => into.push_str(&format!("%{other:02X}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::extract::Query;

    use super::*;

    fn params(query: &str) -> Params {
        let uri = format!("/x{query}").parse().unwrap();
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(&uri).unwrap();
        Params(pairs)
    }

    #[test]
    fn an_address_reads_back() {
        for (name, value) in [("q", "a b&c=d"), ("q", "șț 東京 %"), ("a.b", "\"<>'"), ("x", "+")]
        {
            let written = Params::default().with(name, value);
            assert_eq!(params(&written.to_query()), written);
        }
    }

    #[test]
    fn a_long_value_is_no_blank_one() {
        let text = "x".repeat(2_000_000);
        let sent = Params::new(vec![("text".to_owned(), text.clone())]);
        assert_eq!(sent.get("text"), Some(text.as_str()));
    }

    #[test]
    fn values_are_toggled_and_blank_ones_left_out() {
        let start = params("?q=x&type=pdf&type=md&empty=");
        assert_eq!(start.get("empty"), None);
        assert_eq!(start.toggled("type", "pdf").to_query(), "?q=x&type=md");
        assert_eq!(start.toggled("type", "txt").all("type").count(), 3);
        assert_eq!(start.with("q", "y").text("q"), "y");
        assert_eq!(start.number("q", 7, 10), 7);
        assert_eq!(params("?n=99").number("n", 7, 10), 10);
    }
}

//! Texts for agents name only tools that the agent has.
//!
//! Descriptions and hints are written once and name the other tools of their family. Where a tool is
//! not served to a caller, for want of a source or by configuration, its name means nothing to
//! them: advice to call it is left out, and elsewhere it is said what it gives.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::{Spec, ToolError};

/// The tools that texts name, and what is said in their place.
const NAMED: &[(&str, &str)] = &[
    ("search_filters_batch", "a lookup of many names"),
    ("search_filters", "a lookup"),
    ("get_knowledge_base_summary", "a summary"),
    ("list_knowledge_bases", "the list of knowledge bases"),
    ("normalize_ocr_text", "the repair of OCR text"),
    ("generate_chart_data", "a chart"),
    ("search_documents", "a search"),
    ("summarizeResults", "a summary"),
    ("aggregate_table", "an aggregate"),
    ("describe_schema", "the schema"),
    ("rewriteQuery", "a rewritten query"),
    ("searchFiles", "a search"),
    ("indexFolder", "the next indexing"),
    ("query_table", "a query"),
    ("chart_table", "a chart"),
    ("listRoots", "the list of roots"),
    ("listFiles", "the list of files"),
    ("openFile", "a preview"),
];

/// The names of the tools that a caller has.
#[derive(Debug)]
pub struct Served(LazyLock<BTreeSet<String>, Box<dyn FnOnce() -> BTreeSet<String> + Send>>);

impl Served {
    /// Keeps names.
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        let names: BTreeSet<String> = names.into_iter().collect();
        Served::when_asked(move || names)
    }

    /// Finds the names out when a text first names a tool, which most answers do not.
    pub(crate) fn when_asked(names: impl FnOnce() -> BTreeSet<String> + Send + 'static) -> Self {
        Served(LazyLock::new(Box::new(names)))
    }

    /// Gives a text without tools that are not served.
    ///
    /// ```
    /// let served = tools::Served::new(["query_table".to_owned()]);
    /// assert_eq!(served.text("Query rows. Call describe_schema first."), "Query rows.");
    /// assert_eq!(served.text("arguments of aggregate_table"), "arguments of an aggregate");
    /// ```
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let missing: Vec<&(&str, &str)> = NAMED
            .iter()
            .filter(|(name, _)| position(text, name).is_some() && !self.0.contains(*name))
            .collect();
        if missing.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut kept: Vec<(String, &str)> = vec![];
        for (clause, delimiter) in clauses(text) {
            if missing.iter().any(|(name, _)| is_advice(clause, name)) {
                continue;
            }
            let mut clause = clause.to_owned();
            for (name, instead) in &missing {
                while let Some(at) = position(&clause, name) {
                    clause.replace_range(at..at + name.len(), instead);
                    clause = clause.replace(&format!("`{instead}`"), instead);
                }
            }
            kept.push((clause, delimiter));
        }
        let mut shorter = String::new();
        let n_kept = kept.len();
        for (idx, (clause, delimiter)) in kept.into_iter().enumerate() {
            shorter.push_str(&clause);
            shorter.push_str(if idx + 1 < n_kept { delimiter } else { "" });
        }
        // What now ends the text ends it as before.
        if text.ends_with('.') && !shorter.is_empty() && !shorter.ends_with('.') {
            shorter.push('.');
        }
        Cow::Owned(shorter)
    }

    /// Gives a description without tools that are not served; nothing where it names none.
    pub(crate) fn spec(&self, spec: &Spec) -> Option<Spec> {
        let description = self.text(&spec.description);
        let advice = spec.advice.as_deref().map(|advice| self.text(advice));
        let input = self.schema(&spec.input);
        let shown = spec.shown_input.as_deref().and_then(|shown| self.schema(shown));
        let output = self.schema(&spec.output);
        let is_same = matches!(description, Cow::Borrowed(_))
            && !matches!(advice, Some(Cow::Owned(_)))
            && input.is_none()
            && shown.is_none()
            && output.is_none();
        if is_same {
            return None;
        }
        let advice = advice.map(Cow::into_owned).filter(|advice| !advice.is_empty());
        let mut rewritten = Spec { description: description.into_owned(), advice, ..spec.clone() };
        if let Some(input) = input {
            rewritten = rewritten.with_input(Value::Object(input));
        }
        if let Some(shown) = shown {
            rewritten = rewritten.with_shown_input(Value::Object(shown));
        }
        if let Some(output) = output {
            rewritten = rewritten.with_output(Value::Object(output));
        }
        Some(rewritten)
    }

    /// Gives an error without tools that are not served.
    #[must_use]
    pub fn error(&self, mut error: ToolError) -> ToolError {
        error.message = self.text(&error.message).into_owned();
        if let Some(Value::String(hint)) = error.details.get("hint") {
            let hint = match self.text(hint).into_owned() {
                hint if hint.is_empty() => "correct the argument and call again".to_owned(),
                hint => hint,
            };
            error = error.with_hint(hint);
        }
        error
    }

    /// Takes tools that are not served out of the warnings of an answer.
    pub fn warnings(&self, answer: &mut Value) {
        let warnings = answer.get_mut("warnings").and_then(Value::as_array_mut);
        for warning in warnings.into_iter().flatten() {
            if let Value::String(text) = warning
                && let Cow::Owned(shorter) = self.text(text)
            {
                *warning = Value::String(shorter);
            }
        }
    }

    /// Gives a schema whose descriptions name only tools that are served; nothing where they do.
    fn schema(&self, schema: &Map<String, Value>) -> Option<Map<String, Value>> {
        let mut rewritten = Value::Object(schema.clone());
        let is_changed = self.rewrite(&mut rewritten);
        if let Value::Object(schema) = rewritten
            && is_changed
        {
            return Some(schema);
        }
        None
    }

    fn rewrite(&self, value: &mut Value) -> bool {
        let mut is_changed = false;
        match value {
            Value::Object(members) => {
                for (name, member) in members.iter_mut() {
                    match member {
                        Value::String(text) if name == "description" => {
                            if let Cow::Owned(shorter) = self.text(text) {
                                *member = Value::String(shorter);
                                is_changed = true;
                            }
                        }
                        Value::Null
                        | Value::Bool(_)
                        | Value::Number(_)
                        | Value::String(_)
                        | Value::Array(_)
                        | Value::Object(_) => is_changed |= self.rewrite(member),
                    }
                }
            }
            Value::Array(elements) => {
                for element in elements {
                    is_changed |= self.rewrite(element);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        is_changed
    }
}

/// Cuts a text into clauses, each with what is between it and the next.
fn clauses(text: &str) -> Vec<(&str, &str)> {
    const DELIMITERS: [&str; 4] = [". ", "; ", ", or ", ", then "];
    let mut clauses = vec![];
    let mut rest = text;
    let first =
        |rest: &str| DELIMITERS.iter().filter_map(|end| Some((rest.find(end)?, end.len()))).min();
    while let Some((at, n_bytes)) = first(rest) {
        let (clause, behind) = rest.split_at(at);
        let (delimiter, behind) = behind.split_at(n_bytes);
        clauses.push((clause, delimiter));
        rest = behind;
    }
    clauses.push((rest, ""));
    clauses
}

/// Tells whether a clause does nothing but advise to call a tool.
fn is_advice(clause: &str, name: &str) -> bool {
    let Some(at) = position(clause, name) else { return false };
    let before = clause[..at].trim_end_matches('`').trim_end().to_lowercase();
    ["call", "use", "with", "try", "before", "see", "or", "and", "then"]
        .iter()
        .any(|word| before.ends_with(word))
        || before.is_empty()
}

/// Finds a name as a whole word.
fn position(text: &str, name: &str) -> Option<usize> {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    text.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let none = Served::new([]);
        assert_eq!(none.text(text), expected);
        let all = Served::new(NAMED.iter().map(|(name, _)| (*name).to_owned()));
        assert_eq!(all.text(text), text);
    }

    #[test]
    fn advice_goes_and_names_become_words() {
        check("Nothing is named here; not at all.", "Nothing is named here; not at all.");
        check("List files by date. To find something, use searchFiles.", "List files by date.");
        check(
            "Read the text of a file at a pointer from searchFiles, or from its start: redacted.",
            "Read the text of a file at a pointer from a search, or from its start: redacted.",
        );
        check("call `listRoots` to see the allowed folders", "");
        check("call `searchFiles` for files that exist, or `listRoots` for folders", "");
        check("it was deleted; `search_documents` gives new ids", "it was deleted");
        check(
            "id or name, from list_knowledge_bases; may be left out",
            "id or name, from the list of knowledge bases; may be left out",
        );
        check(
            "The same lookups as search_filters, up to 100.",
            "The same lookups as a lookup, up to 100.",
        );
        check("as in my_query_table", "as in my_query_table");
    }
}

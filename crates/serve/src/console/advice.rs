//! Advice of errors, as people follow it. Errors of tools and of REST advise programs: which tool to
//! call, which address to ask. A page says the same as the page to go to, and leaves out what its
//! message has said.

use maud::{Markup, html};
use serde_json::Value;
use tools::{Code, ToolError};

use super::layout::{Section, shown};

/// What a person does next.
pub(super) struct Advice {
    pub(super) text: String,
    /// Where that is.
    pub(super) section: Option<Section>,
}

/// What lists the things of each address of REST, and where people find it. Of two beginnings, the
/// first that fits.
const ADDRESSES: [(&str, &str, Section); 11] = [
    ("/v1/charts", "Charts", Section::Charts),
    ("/v1/knowledge-bases", "Knowledge", Section::Knowledge),
    ("/v1/collections", "Knowledge", Section::Knowledge),
    ("/v1/documents", "Knowledge", Section::Knowledge),
    ("/v1/chunks", "Knowledge", Section::Knowledge),
    ("/v1/projects", "Contexts", Section::Contexts),
    ("/v1/tables", "Contexts", Section::Contexts),
    ("/v1/tools", "Contexts", Section::Contexts),
    ("/v1/endpoints", "Contexts", Section::Contexts),
    ("/v1/jobs", "Jobs", Section::Sources),
    ("/v1/roots", "Sources", Section::Sources),
];

/// The page of each tool that errors advise to call.
const TOOLS: [(&str, Section); 11] = [
    ("listRoots", Section::Sources),
    ("listFiles", Section::Sources),
    ("indexFolder", Section::Sources),
    ("searchFiles", Section::Search),
    ("search", Section::Search),
    ("describe_schema", Section::Tables),
    ("query_table", Section::Tables),
    ("list_knowledge_bases", Section::Knowledge),
    ("search_documents", Section::Knowledge),
    ("get_knowledge_base_summary", Section::Knowledge),
    ("search_filters", Section::Names),
];

/// Gives the advice of an error in the words of pages.
pub(super) fn advice(error: &ToolError) -> Option<Advice> {
    let hint = error.details.get("hint").and_then(Value::as_str)?;
    let quoted: Vec<&str> = hint.split('`').skip(1).step_by(2).collect();
    let page = |section: Section, name: &str| {
        let text = if section == Section::Search {
            "search for it: what you may see is found there".to_owned()
        } else if section == Section::Tables {
            "the page of the table lists its fields, and what they take".to_owned()
        } else {
            format!("the page {name} lists what you may see")
        };
        Some(Advice { text, section: Some(section) })
    };
    let is_call = |text: &str| {
        ["GET ", "POST ", "PUT ", "PATCH ", "DELETE "].iter().any(|method| text.starts_with(method))
    };
    let mut calls = quoted.iter().filter(|text| is_call(text)).peekable();
    if calls.peek().is_some() {
        // What is not there is in a list; other advice to send something is none for people.
        let path = |call: &str| call.split_once(' ').map_or("", |(_, path)| path).to_owned();
        let listed = calls.find_map(|call| {
            ADDRESSES.iter().find(|(at, ..)| path(call).starts_with(at) && call.starts_with("GET "))
        });
        return listed
            .filter(|_| error.code == Code::NotFound)
            .and_then(|(_, name, section)| page(*section, name));
    }
    if hint.contains("call `") || hint.starts_with("call ") {
        let known = TOOLS.iter().find(|(name, _)| quoted.contains(name));
        if let Some((_, section)) = known {
            return page(*section, section.name());
        }
    }
    if quoted.contains(&"next") {
        return Some(Advice { text: "begin again at the first page".to_owned(), section: None });
    }
    Some(Advice { text: hint.to_owned(), section: None })
}

/// The details of an error that its message has not said.
pub(super) fn facts(error: &ToolError) -> Markup {
    let figures = |text: &str, figure: &str| {
        text.split(|char: char| !char.is_ascii_digit() && char != '.').any(|part| part == figure)
    };
    let says = |value: &Value| match value {
        Value::Number(number) => figures(&error.message, &number.to_string()),
        value @ (Value::Null
        | Value::Bool(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_)) => error.message.contains(&shown(value)),
    };
    let is_said = |name: &str, value: &Value| {
        let parts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        name == "argument" || parts.iter().all(says)
    };
    let left: Vec<(&String, &Value)> = error
        .details
        .iter()
        .filter(|(name, value)| *name != "hint" && !value.is_null() && !is_said(name, value))
        .collect();
    html! {
        @if !left.is_empty() {
            dl .facts { @for (name, value) in left { dt { (name.replace('_', " ")) } dd { (shown(value)) } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_to_programs_becomes_a_page() {
        let check = |hint: &str, expected: &str, section: Option<Section>| {
            let error = ToolError::new(Code::NotFound, "x").with_hint(hint);
            let advice = advice(&error).unwrap();
            assert_eq!((advice.text.as_str(), advice.section), (expected, section), "{hint}");
        };
        check(
            "`GET /v1/charts` lists those that you may see; a chart is kept for a time",
            "the page Charts lists what you may see",
            Some(Section::Charts),
        );
        check(
            "`GET /v1/collections/{id}/documents` lists those you may read",
            "the page Knowledge lists what you may see",
            Some(Section::Knowledge),
        );
        check(
            "call `listRoots` to see the allowed folders",
            "the page Sources lists what you may see",
            Some(Section::Sources),
        );
        check(
            "pass `next` of the page before, or leave it out to begin again",
            "begin again at the first page",
            None,
        );
        check("ask its owner", "ask its owner", None);
        assert!(advice(&ToolError::new(Code::NotFound, "x")).is_none());
        let of_programs = ToolError::bad_request("x").with_hint("see `GET /v1/openapi.json`");
        assert!(advice(&of_programs).is_none());
    }

    #[test]
    fn what_the_message_says_is_not_said_again() {
        let error = ToolError::new(Code::TooLarge, "the length of `name` is 509, the limit is 200")
            .with_detail("what", "the length of `name`")
            .with_detail("received", 509)
            .with_detail("allowed", 200);
        assert_eq!(facts(&error).0, "");
        let error =
            ToolError::bad_request("`kind` is wrong").with_detail("allowed", vec!["a", "b"]);
        assert!(facts(&error).0.contains("a, b"));
    }
}

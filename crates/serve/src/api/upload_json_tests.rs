//! Texts in JSON come out as they went in, and a hostile body is refused at its first wrong value.

use proptest::prelude::*;
use serde_json::json;
use testkit::Folder;

use super::*;

fn read_text(body: &str) -> Result<Vec<(String, String, Value)>, ToolError> {
    let folder = Folder::new();
    let file = folder.write("body", body);
    let intake = Intake::into_folder(folder.path().to_owned());
    let documents = read_file(&file, &intake)?;
    Ok(documents
        .into_iter()
        .map(|document| {
            let text = match &document.content {
                Content::Text(text) => text.clone(),
                Content::Received { file, name: None } => {
                    fs_err::read_to_string(file.path()).unwrap()
                }
                Content::Received { .. } | Content::File { .. } => panic!("not a text"),
            };
            (document.title, text, document.metadata)
        })
        .collect())
}

#[track_caller]
fn refused(body: &str, reason: &str) {
    let error = read_text(body).unwrap_err();
    assert!(error.message.contains(reason), "{}: {}", error.message, &body[..body.len().min(60)]);
}

#[test]
fn one_document_and_many() {
    let one = read_text(r#"{"text": "a\u00e9\n", "title": "T", "normalize_ocr": true}"#).unwrap();
    assert_eq!(one, [("T".to_owned(), "aé\n".to_owned(), Value::Null)]);
    let many = read_text(r#"{"documents": [{"text": "x", "metadata": {"k": [1, "v"]}}]}"#).unwrap();
    assert_eq!(many, [(String::new(), "x".to_owned(), json!({ "k": [1, "v"] }))]);
    assert_eq!(read_text(r#"{"documents": []}"#).unwrap(), []);
}

#[test]
fn what_does_not_fit_is_named() {
    refused("", "not JSON");
    refused("[]", "an object with `text`");
    refused("{}", "missing field `text`");
    refused(r#"{"text": 5}"#, "expected a string");
    refused(r#"{"text": "x", "tilte": "y"}"#, "unknown field `tilte`");
    refused(r#"{"text": "x", "text": "y"}"#, "duplicate field `text`");
    refused(r#"{"documents": [], "text": "y"}"#, "unknown field `text`");
    refused(r#"{"documents": [{"title": "y"}]}"#, "missing field `text`");
    refused(r#"{"text": "x"} {"#, "not JSON");
}

#[test]
fn hostile_bodies_are_refused_at_their_first_wrong_value() {
    let zeros = "0,".repeat(1 << 20);
    refused(&zeros, "an object with `text`");
    refused(&format!("[{zeros}0]"), "an object with `text`");
    refused(&format!(r#"{{"text": [{zeros}0]}}"#), "expected a string");
    refused(&format!(r#"{{"documents": [{zeros}0]}}"#), "a document");
    refused(&format!(r#"{{"text": "x", "metadata": [{zeros}0]}}"#), "more than 20000 values");
    refused(&format!(r#"{{"text": "x", "other": [{zeros}0]}}"#), "unknown field `other`");
    let many = format!(r#"{{"documents": [{}]}}"#, vec![r#"{"text":""}"#; 1_001].join(","));
    refused(&many, "at most 1000 documents");
}

/// A thousand documents, each with what only the last look at all of them would have refused.
#[test]
fn what_is_beside_the_texts_is_refused_with_its_document() {
    let unclosed = |beside: &str| format!(r#"{{"documents": [{{"text": "", {beside}}},"#);
    let (long, zeros) = ("x".repeat(20_000), "0,".repeat(15_000));
    refused(&unclosed(&format!(r#""title": "{long}""#)), "the length of `title`");
    refused(&unclosed(&format!(r#""metadata": {{"k": "{long}""#)), "longer than 16384 bytes");
    refused(&unclosed(&format!(r#""metadata": {{"k": [{zeros}0]}}"#)), "size of `metadata`");
    refused(&unclosed(&format!(r#""tags": ["{long}""#)), "longer than 16384 bytes");
    let many = vec!["\"t\""; 51].join(",");
    refused(&unclosed(&format!(r#""tags": [{many}]"#)), "the number of `tags`");
    let fits = format!(r#"{{"text": "", "metadata": {{"k": [{}0]}}}},"#, "0,".repeat(7_000));
    refused(&format!(r#"{{"documents": [{}"#, fits.repeat(15)), "at most 100000 values");
}

#[test]
fn a_text_longer_than_any_may_be_is_refused_before_it_is_held() {
    // No closing quote: whoever waited for the end of the string would say something else.
    let long = "x".repeat(limits::MAX_TEXT_BYTES + 70_000);
    refused(&format!(r#"{{"text": "{long}"#), "larger than 33554432 bytes");
    refused(&format!(r#"{{"title": "{long}"#), "larger than 33554432 bytes");
    refused(&format!(r#"{{"text": "x", "metadata": {{"{long}"#), "larger than 33554432 bytes");
}

#[test]
fn a_number_longer_than_any_means_something_is_refused_before_it_is_held() {
    let long = "1".repeat(1 << 20);
    for body in ["{\"title\": ", "{\"metadata\": ", "{\"metadata\": 0.", "{\"metadata\": 1e-"] {
        refused(&format!("{body}{long}"), "a number has more than 1000 characters");
    }
}

proptest! {
    #[test]
    fn texts_come_out_as_they_went_in(
        documents in proptest::collection::vec(("\\PC{0,12}", "(?s).{0,40}"), 1..5),
    ) {
        let list: Vec<Value> = documents
            .iter()
            .map(|(title, text)| json!({ "title": title, "text": text }))
            .collect();
        let body = json!({ "documents": list }).to_string();
        let taken = read_text(&body).unwrap();
        let expected: Vec<_> =
            documents.into_iter().map(|(title, text)| (title, text, Value::Null)).collect();
        prop_assert_eq!(taken, expected);
    }
}

//! Resources over the wire.

use std::sync::Arc;

use guard::{LimitsConfig, Outcome};
use model::{Around, Caller, Deadline};
use serde_json::{Value, json};
use tools::{
    ResourceBody, ResourceContent, ResourceEntry, ResourcePattern, ResourceSet, Resources,
    ToolError,
};

use crate::test_server::TestServer;

const N_NOTES: usize = 250;

/// Notes with numbers; those from 900 on exist for nobody.
struct Notes;

impl Resources for Notes {
    fn family(&self) -> &str {
        "notes"
    }

    fn list(&self, _caller: &Caller, after: Option<&str>, limit: usize) -> Vec<ResourceEntry> {
        (0..N_NOTES)
            .map(|n| format!("dowse://notes/{n:03}"))
            .filter(|uri| after.is_none_or(|after| uri.as_str() > after))
            .take(limit)
            .map(|uri| ResourceEntry {
                uri,
                name: "a note".to_owned(),
                mime_type: Some("text/plain".to_owned()),
            })
            .collect()
    }

    fn patterns(&self, _caller: &Caller) -> Vec<ResourcePattern> {
        vec![ResourcePattern {
            pattern: "dowse://notes/{number}".to_owned(),
            name: "A note".to_owned(),
            description: "`number` has three digits".to_owned(),
            mime_type: None,
        }]
    }

    fn read(
        &self,
        _caller: &Caller,
        uri: &str,
        _deadline: &Deadline,
    ) -> Result<Option<ResourceContent>, ToolError> {
        let body = match uri {
            "dowse://notes/001" => {
                source_text("write to ann@example.org\n".repeat(10_000), Around::default(), None)
            }
            "dowse://notes/002" => ResourceBody::Bytes(vec![0, 159, 146, 150]),
            "dowse://notes/003" => ResourceBody::Bytes(vec![0; 5 * 1024 * 1024]),
            "dowse://notes/004" => ResourceBody::OwnText("ours: ann@example.org".to_owned()),
            "dowse://notes/005" => source_text(
                "write to ann@example.org".to_owned(),
                Around::default(),
                Some("dowse://notes/006".to_owned()),
            ),
            // A part of a longer text, whose edges are inside of what is private.
            "dowse://notes/006" => source_text(
                "11 1111 1111 and lighthouse; write to ann.b".to_owned(),
                Around::new("card 4111 11", "row@example.org"),
                Some("dowse://notes/007".to_owned()),
            ),
            "dowse://notes/007" => source_text(
                "tiger".to_owned(),
                Around { name: Some("password".to_owned()), ..Around::default() },
                None,
            ),
            _ => return Ok(None),
        };
        Ok(Some(ResourceContent { mime_type: "text/plain".to_owned(), body }))
    }
}

fn source_text(text: String, around: Around, next: Option<String>) -> ResourceBody {
    ResourceBody::SourceText { text, around, next }
}

fn test_server() -> TestServer {
    TestServer::start(LimitsConfig::default(), ResourceSet::new(vec![Arc::new(Notes)]))
}

fn read(test_server: &TestServer, uri: &str) -> Value {
    test_server.mcp.request("resources/read", &json!({ "uri": uri }))["contents"][0].clone()
}

#[test]
fn every_page_is_listed() {
    let test_server = test_server();
    let first = test_server.mcp.request("resources/list", &json!({}));
    assert_eq!(first["resources"].as_array().unwrap().len(), 200);
    let second =
        test_server.mcp.request("resources/list", &json!({ "cursor": first["nextCursor"] }));
    assert_eq!(second["resources"].as_array().unwrap().len(), N_NOTES - 200);
    assert_eq!(second["resources"][0]["uri"], "dowse://notes/200");
    assert!(second["nextCursor"].is_null());
    let templates = test_server.mcp.request("resources/templates/list", &json!({}));
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "dowse://notes/{number}");
}

/// The first rows of a table were all that could be read of it.
#[test]
fn a_part_names_the_address_of_what_follows() {
    let test_server = test_server();
    let part = read(&test_server, "dowse://notes/005");
    assert_eq!(part["text"], "write to [email]\n[goes on at dowse://notes/006]");
    assert_eq!(part["_meta"]["dowse/next"], "dowse://notes/006");
}

/// Only the text of the answer itself was looked at: half a card at its edge was no card.
#[test]
fn a_part_is_redacted_by_what_is_around_it() {
    let test_server = test_server();
    let part = read(&test_server, "dowse://notes/006");
    let expected = "[card] and lighthouse; write to [email]\n[goes on at dowse://notes/007]";
    assert_eq!(part["text"], expected);
    assert_eq!(part["_meta"]["dowse/redacted"], 2);
    assert_eq!(read(&test_server, "dowse://notes/006?offset=3")["text"], expected);
    assert_eq!(read(&test_server, "dowse://notes/007")["text"], "[password]");
}

#[test]
fn source_text_is_redacted_and_cut() {
    let test_server = test_server();
    let content = read(&test_server, "dowse://notes/001");
    let text = content["text"].as_str().unwrap();
    assert!(!text.contains("ann@"), "{}", &text[..100]);
    assert!(text.chars().count() <= LimitsConfig::default().result_chars);
    assert_eq!(content["_meta"]["dowse/truncated"], true);
    let n_redacted = content["_meta"]["dowse/redacted"].as_u64().unwrap();
    let entry = test_server.audited(|entry| entry.tool == "resources/read");
    assert_eq!((entry.outcome, entry.redacted), (Outcome::Ok, n_redacted));
    assert_eq!(entry.query.as_deref(), Some("dowse://notes/001"));
    // The address in the last line leads to the rest, to the last character.
    let (mut whole, mut n_redacted, mut uri) = (String::new(), 0, "dowse://notes/001".to_owned());
    let n_pages = (1..100)
        .find(|_| {
            let content = read(&test_server, &uri);
            let text = content["text"].as_str().unwrap();
            n_redacted += content["_meta"]["dowse/redacted"].as_u64().unwrap_or(0);
            let next = content["_meta"]["dowse/next"].as_str();
            match next {
                Some(next) => {
                    let (text, line) = text.rsplit_once('\n').unwrap();
                    assert_eq!(line, format!("[goes on at {next}]"));
                    whole.push_str(text);
                    next.clone_into(&mut uri);
                }
                None => whole.push_str(text),
            }
            next.is_none()
        })
        .unwrap();
    assert!(n_pages > 1 && !whole.contains("ann@") && !whole.contains("example.org"));
    // An address that two pages share is a mark on both.
    assert!((10_000..10_000 + n_pages).contains(&n_redacted), "{n_redacted} on {n_pages}");
    assert_eq!(whole.matches("write to").count(), 10_000);
}

#[test]
fn other_contents_are_given_as_they_are() {
    let test_server = test_server();
    assert_eq!(read(&test_server, "dowse://notes/002")["blob"], "AJ+Slg==");
    assert_eq!(read(&test_server, "dowse://notes/004")["text"], "ours: ann@example.org");
}

#[test]
fn what_cannot_be_read_is_said() {
    let test_server = test_server();
    let refused =
        |uri: &str| test_server.mcp.request_error("resources/read", &json!({ "uri": uri }));
    let missing = refused("dowse://notes/900");
    assert_eq!(
        (&missing["code"], &missing["data"]["uri"]),
        (&json!(-32002), &json!("dowse://notes/900"))
    );
    assert_eq!(refused("file:///etc/passwd")["code"], -32002);
    assert_eq!(refused("dowse://notes/003")["data"]["code"], "TOO_LARGE");
}

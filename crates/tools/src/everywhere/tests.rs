//! The descriptions and errors of the tools over everything.

use model::Caller;
use serde_json::json;

use super::{Fetch, Search};
use crate::contract::{Fixture, page};

const LINKS: &str = "http://127.0.0.1:7700";

#[test]
fn search_schema_and_errors() {
    let fixture = Fixture::new();
    let wrong = [
        json!({}),
        json!({ "query": ["a"] }),
        json!({ "query": "" }),
        json!({ "query": "x".repeat(2_001) }),
        json!({ "query": "x", "limit": 0 }),
        json!({ "query": "x", "limit": 1_000 }),
        json!({ "query": "x", "limit": "10" }),
        json!({ "query": "x", "explain": "yes" }),
        json!({ "query": "x", "limits": 5 }),
    ];
    let tool = Search::new(fixture.across.clone(), LINKS.to_owned());
    insta::assert_snapshot!(page(&tool, &Caller::local_admin(), &wrong));
}

#[test]
fn fetch_schema_and_errors() {
    let fixture = Fixture::new();
    let wrong = [
        json!({}),
        json!({ "id": 5 }),
        json!({ "id": "" }),
        json!({ "id": "x".repeat(8_193) }),
        json!({ "ids": ["a"] }),
        json!({ "id": "no-such-id" }),
    ];
    let tool = Fetch::new(fixture.across.clone(), LINKS.to_owned());
    insta::assert_snapshot!(page(&tool, &Caller::local_admin(), &wrong));
}

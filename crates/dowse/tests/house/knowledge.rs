//! Knowledge bases through the real binary: REST, MCP, rights by token, chat, jobs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Mcp, Request, Response, tokens};

use crate::house::House;

const SECRET: &str = "a shared secret of decent length";

/// How long a job may take.
const JOB_WAIT: Duration = Duration::from_secs(60);

/// A server with its callers.
struct Library(House);

impl Library {
    fn open() -> Self {
        Library(House::start("[embedder]\nprovider = \"none\"\n"))
    }

    fn with_tokens() -> Self {
        let (issuer, audience) = (tokens::ISSUER, tokens::AUDIENCE);
        let config = format!(
            "[embedder]\nprovider = \"none\"\n[auth]\njwt = {{ issuer = \"{issuer}\", audience = \
             \"{audience}\", hs256_secret_env = \"TEST_SECRET\" }}\n"
        );
        Library(House::start_with(&config, &[("TEST_SECRET", SECRET)]))
    }

    fn send(&self, token: Option<&str>, request: Request) -> Response {
        let request = match token {
            Some(token) => request.header("Authorization", &format!("Bearer {token}")),
            None => request,
        };
        self.0.http().send(&request)
    }

    fn post(&self, token: Option<&str>, path: &str, body: &Value) -> Response {
        self.send(token, Request::new("POST", path).json(body))
    }

    fn get(&self, token: Option<&str>, path: &str) -> Response {
        self.send(token, Request::new("GET", path))
    }

    fn mcp(&self, token: Option<&str>) -> Mcp {
        let mcp = Mcp::new(self.0.http(), "/mcp");
        match token {
            Some(token) => mcp.header("Authorization", &format!("Bearer {token}")),
            None => mcp,
        }
    }

    /// Makes a knowledge base with one collection.
    fn base(&self, token: Option<&str>, new: &Value) -> (String, String) {
        let made = self.post(token, "/v1/knowledge-bases", new);
        assert_eq!(made.status, 201, "{}", made.text());
        let base = id_of(&made.json());
        let path = format!("/v1/knowledge-bases/{base}/collections");
        let made = self.post(token, &path, &json!({ "name": "All" }));
        assert_eq!(made.status, 201, "{}", made.text());
        (base, id_of(&made.json()))
    }

    /// Adds a text and waits until it can be found.
    fn add(&self, token: Option<&str>, collection: &str, body: &Value) -> String {
        let added = self.post(token, &format!("/v1/collections/{collection}/documents"), body);
        assert_eq!(added.status, 202, "{}", added.text());
        let added = added.json();
        assert!(["queued", "running", "done"].contains(&added["job"]["status"].as_str().unwrap()));
        self.wait(token, added["job"]["id"].as_str().unwrap());
        id_of(&added)
    }

    fn wait(&self, token: Option<&str>, job: &str) -> Value {
        let begun = Instant::now();
        loop {
            let answer = self.get(token, &format!("/v1/jobs/{job}")).json();
            match answer["status"].as_str() {
                Some("done") => return answer,
                Some("queued" | "running") if begun.elapsed() < JOB_WAIT => {
                    std::thread::yield_now();
                }
                // A fast machine may ask too often.
                None if answer["error"]["code"] == "RATE_LIMITED" => std::thread::yield_now(),
                _ => panic!("{answer}\n{}", self.0.server.stderr()),
            }
        }
    }
}

fn id_of(value: &Value) -> String {
    value["id"].as_str().unwrap_or_else(|| panic!("no id in {value}")).to_owned()
}

/// Signs a token (HS256).
fn token(subject: &str, tenant: &str, more: &Value) -> String {
    let mut claims = tokens::claims();
    claims["sub"] = json!(subject);
    claims["tenant_id"] = json!(tenant);
    for (name, value) in more.as_object().into_iter().flatten() {
        claims[name] = value.clone();
    }
    tokens::hs256(&claims, SECRET.as_bytes())
}

#[test]
fn text_goes_in_over_rest_and_is_found_over_mcp() {
    let house = Library::open();
    let (base, collection) =
        house.base(None, &json!({ "name": "規程集", "description": "社内規程" }));
    let document = house.add(
        None,
        &collection,
        &json!({
            "title": "手当",
            "text": "リモートワ-ク手当は月額五千円です。連絡先は hr@example.org です。",
            "metadata": { "year": 2025 },
            "normalize_ocr": true,
        }),
    );
    let mcp = house.mcp(None);
    let arguments =
        json!({ "query": "リモートワーク手当は？", "knowledge_base_id": base, "threshold": 0.0 });
    let found = mcp.call("search_documents", &arguments).success();
    assert_eq!(found["count"], 1, "{found}");
    let first = &found["results"][0];
    assert_eq!(first["metadata"]["document_id"], document.as_str());
    assert_eq!(first["metadata"]["chunk_index"], 0);
    assert!(first["metadata"]["dense_score"].is_null());
    assert!(first["metadata"]["cross_encoder_score"].is_null());
    assert!(first["metadata"]["sparse_score"].is_number());
    let content = first["content"].as_str().unwrap();
    assert!(content.contains("リモートワーク手当"), "{content}");
    assert!(!content.contains("hr@example.org"), "{content}");

    let summary =
        mcp.call("get_knowledge_base_summary", &json!({ "knowledge_base_id": base })).success();
    assert_eq!(
        summary["statistics"],
        json!({ "total_documents": 1, "total_collections": 1, "total_chunks": 1 })
    );
    assert!(summary["summary"].as_str().unwrap().starts_with("規程集: 社内規程"));

    let chunk = first["metadata"]["chunk_id"].as_str().unwrap();
    let chunk = house.get(None, &format!("/v1/chunks/{chunk}")).json();
    assert_eq!(chunk["content"], content);

    let deleted = house.send(None, Request::new("DELETE", &format!("/v1/documents/{document}")));
    assert_eq!(deleted.status, 202);
    let found = mcp.call("search_documents", &arguments).success();
    assert_eq!(found["count"], 0);
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("No results found"), "{warnings}");
}

#[test]
fn wrong_arguments_get_the_sentences_of_the_contract() {
    let house = Library::open();
    let (base, _) = house.base(None, &json!({ "name": "Rules" }));
    let mcp = house.mcp(None);
    let said = |more: Value| {
        let mut arguments = json!({ "query": "x", "knowledge_base_id": base });
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        mcp.call("search_documents", &arguments).error()["error"]["message"].to_string()
    };
    assert!(said(json!({ "threshold": 1.5 })).starts_with("\"threshold out of range (0.0-1.0)"));
    assert!(said(json!({ "max_results": 51 })).starts_with("\"max_results exceeds limit (50)"));
    let nobody = json!({ "knowledge_base_id": "cf23c222-b024-4533-81aa-52e4f673281e" });
    assert_eq!(said(nobody), "\"Knowledge base not found\"");
    let long = "ア".repeat(10_001);
    let error = mcp.call("normalize_ocr_text", &json!({ "text": long })).error();
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("Text too long (max 10000 chars)"), "{message}");
    let wrong = house.post(None, "/v1/knowledge-bases", &json!({ "nmae": "x" }));
    assert_eq!((wrong.status, wrong.json()["error"]["code"].as_str()), (400, Some("BAD_REQUEST")));
}

#[test]
fn tokens_decide_who_sees_what() {
    let house = Library::with_tokens();
    let ann = token("ann", "acme", &json!({ "roles": ["admin"], "clearance": "secret" }));
    let bob = token("bob", "acme", &json!({}));
    let eve = token("eve", "other", &json!({ "roles": ["admin"] }));
    let refused = house.get(None, "/v1/knowledge-bases");
    assert_eq!(refused.status, 401);
    assert!(refused.headers.iter().any(|(name, value)| {
        name == "www-authenticate" && value.contains("oauth-protected-resource")
    }));
    assert_eq!(house.get(Some("nonsense"), "/v1/knowledge-bases").status, 401);

    let (base, collection) = house.base(Some(&ann), &json!({ "name": "Private" }));
    house.add(Some(&ann), &collection, &json!({ "text": "The vault opens at nine." }));
    let path = format!("/v1/knowledge-bases/{base}");
    let said = |token: &str| {
        let answer = house.get(Some(token), &path);
        (answer.status, answer.json()["error"]["message"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(said(&eve), (404, "Knowledge base not found".to_owned()));
    assert_eq!(said(&bob), (403, "Access denied to this knowledge base".to_owned()));
    let arguments = json!({ "query": "vault", "knowledge_base_id": base, "threshold": 0.0 });
    let error = house.mcp(Some(&eve)).call("search_documents", &arguments).error();
    assert_eq!(error["error"]["message"], "Knowledge base not found");
    let error = house.mcp(Some(&bob)).call("search_documents", &arguments).error();
    assert_eq!(error["error"]["code"], "FORBIDDEN");

    let public = Request::new("PATCH", &path).json(&json!({ "visibility": "public" }));
    assert_eq!(house.send(Some(&ann), public).status, 200);
    let found = house.mcp(Some(&bob)).call("search_documents", &arguments).success();
    assert_eq!(found["count"], 1);
    let secret = json!({ "name": "Secret", "clearance": "secret" });
    let made = house.post(Some(&ann), &format!("{path}/collections"), &secret).json();
    house.add(Some(&ann), &id_of(&made), &json!({ "text": "The vault code is 4711." }));
    let found = house.mcp(Some(&bob)).call("search_documents", &arguments).success();
    assert_eq!(found["count"], 1, "{found}");
    let found = house.mcp(Some(&ann)).call("search_documents", &arguments).success();
    assert_eq!(found["count"], 2, "{found}");
    let collection = id_of(&made);
    assert_eq!(house.get(Some(&bob), &format!("/v1/collections/{collection}")).status, 403);
    assert_eq!(house.get(Some(&eve), &format!("/v1/collections/{collection}")).status, 404);
    let summary = house.get(Some(&bob), &format!("{path}/summary")).json();
    assert_eq!(summary["statistics"]["total_documents"], 1);
}

#[test]
fn chat_streams_the_events_of_the_contract() {
    let house = Library::open();
    let (base, collection) = house.base(None, &json!({ "name": "Rules" }));
    house.add(None, &collection, &json!({ "text": "Remote work is allowed on three days." }));
    let events = |query: &str, force: Option<&str>| -> Vec<(String, Value)> {
        let mut body = json!({ "query": query, "knowledge_base_id": base, "threshold": 0.0 });
        if let Some(force) = force {
            body["force_tool"] = json!(force);
        }
        let answer = house.post(None, "/v1/chat", &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let text = answer.text();
        text.split("\n\n")
            .filter_map(|event| {
                let name = event.lines().find_map(|line| line.strip_prefix("event: "))?;
                let data = event.lines().find_map(|line| line.strip_prefix("data: "))?;
                Some((name.to_owned(), serde_json::from_str(data).unwrap()))
            })
            .collect()
    };
    let of_search = events("Is remote work allowed?", None);
    let names: Vec<&str> = of_search.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["tool_selection", "search_start", "search_result", "token", "done"]);
    assert_eq!(of_search[0].1["tool_name"], "search_documents");
    assert_eq!(of_search[2].1["count"], 1);
    let of_base = events("How many documents are in this knowledge base?", None);
    assert_eq!(of_base[0].1["tool_name"], "get_knowledge_base_summary");
    let of_ocr = events("OCR結果: マネ-ジャ-", None);
    assert_eq!(of_ocr[2].1["normalized_text"], "マネージャー");
    let forced = events("このKBについて", Some("search_documents"));
    assert_eq!(forced[0].1["selected_by"], "forced");
    let body = json!({ "query": "x", "knowledge_base_id": base, "force_tool": "rm" });
    assert_eq!(house.post(None, "/v1/chat", &body).status, 400);
    let body = json!({ "query": "x", "knowledge_base_id": "nobody" });
    assert_eq!(house.post(None, "/v1/chat", &body).status, 404);
}

#[test]
fn files_come_as_multipart() {
    let house = Library::open();
    let (base, collection) = house.base(None, &json!({ "name": "Files" }));
    let body = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"note.md\"\r\n\
        Content-Type: text/markdown\r\n\r\n# Tram\n\nIt climbs to the castle.\r\n--x\r\n\
        Content-Disposition: form-data; name=\"metadata\"\r\n\r\n{\"from\": \"test\"}\r\n--x--\r\n";
    let request = Request::new("POST", &format!("/v1/collections/{collection}/documents"))
        .header("Content-Type", "multipart/form-data; boundary=x")
        .body(body);
    let added = house.send(None, request);
    assert_eq!(added.status, 202, "{}", added.text());
    let added = added.json();
    house.wait(None, added["job"]["id"].as_str().unwrap());
    let document = house.get(None, &format!("/v1/documents/{}", id_of(&added))).json();
    assert_eq!(document["title"], "note.md");
    assert_eq!(document["status"], "ready");
    assert_eq!(document["metadata"]["from"], "test");
    let path = format!("/v1/knowledge-bases/{base}/search");
    let found = house.post(None, &path, &json!({ "query": "castle", "threshold": 0.0 })).json();
    assert_eq!(found["count"], 1, "{found}");
    let many = json!({ "documents": [{ "text": "One." }, { "text": "Two." }] });
    let added = house.post(None, &format!("/v1/collections/{collection}/documents"), &many).json();
    assert_eq!(added["ids"].as_array().unwrap().len(), 2);
    house.wait(None, added["job"]["id"].as_str().unwrap());
    let openapi = house.get(None, "/v1/openapi.json").json();
    assert!(openapi["paths"]["/v1/chat"]["post"].is_object());
}

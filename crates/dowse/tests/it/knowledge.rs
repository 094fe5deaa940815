//! Knowledge bases through the real binary: REST, MCP, rights by token, chat, jobs.

use serde_json::{Value, json};
use testkit::Request;

use crate::library::{Library, events_of, id_of, token};
use crate::test_server::dowse;

#[test]
fn text_goes_in_over_rest_and_is_found_over_mcp() {
    let test_server = Library::open();
    let (base, collection) =
        test_server.base(None, &json!({ "name": "規程集", "description": "社内規程" }));
    let document = test_server.add(
        None,
        &collection,
        &json!({
            "title": "手当",
            "text": "リモートワ-ク手当は月額五千円です。連絡先は hr@example.org です。",
            "metadata": { "year": 2025 },
            "normalize_ocr": true,
        }),
    );
    let mcp = test_server.mcp(None);
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
    let chunk = test_server.get(None, &format!("/v1/chunks/{chunk}")).json();
    assert_eq!(chunk["content"], content);

    let deleted =
        test_server.send(None, Request::new("DELETE", &format!("/v1/documents/{document}")));
    assert_eq!(deleted.status, 202);
    let found = mcp.call("search_documents", &arguments).success();
    assert_eq!(found["count"], 0);
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("No results found"), "{warnings}");
}

#[test]
fn wrong_arguments_get_the_sentences_of_the_contract() {
    let test_server = Library::open();
    let (base, _) = test_server.base(None, &json!({ "name": "Rules" }));
    let mcp = test_server.mcp(None);
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
    let wrong = test_server.post(None, "/v1/knowledge-bases", &json!({ "nmae": "x" }));
    assert_eq!((wrong.status, wrong.json()["error"]["code"].as_str()), (400, Some("BAD_REQUEST")));
}

#[test]
fn tokens_decide_who_sees_what() {
    let test_server = Library::with_tokens();
    let ann = token("ann", "acme", &json!({ "roles": ["admin"], "clearance": "secret" }));
    let bob = token("bob", "acme", &json!({}));
    let eve = token("eve", "other", &json!({ "roles": ["admin"] }));
    let refused = test_server.get(None, "/v1/knowledge-bases");
    assert_eq!(refused.status, 401);
    assert!(refused.headers.iter().any(|(name, value)| {
        name == "www-authenticate" && value.contains("oauth-protected-resource")
    }));
    let message = refused.json()["error"]["message"].to_string();
    assert!(message.starts_with("\"Invalid authentication credentials"), "{message}");
    let expired = token("ann", "acme", &json!({ "exp": 1_000 }));
    for wrong in ["nonsense", expired.as_str()] {
        for answer in [
            test_server.get(Some(wrong), "/v1/knowledge-bases"),
            test_server.post(Some(wrong), "/v1/chat", &json!({})),
            test_server.mcp(Some(wrong)).send("tools/list", &json!({})),
        ] {
            assert_eq!(answer.status, 401, "{}", answer.text());
            assert!(answer.text().contains("Invalid authentication credentials"));
        }
    }

    let (base, collection) = test_server.base(Some(&ann), &json!({ "name": "Private" }));
    test_server.add(Some(&ann), &collection, &json!({ "text": "The vault opens at nine." }));
    let path = format!("/v1/knowledge-bases/{base}");
    let said = |token: &str| {
        let answer = test_server.get(Some(token), &path);
        (answer.status, answer.json()["error"]["message"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(said(&eve), (404, "Knowledge base not found".to_owned()));
    assert_eq!(said(&bob), (403, "Access denied to this knowledge base".to_owned()));
    let arguments = json!({ "query": "vault", "knowledge_base_id": base, "threshold": 0.0 });
    let error = test_server.mcp(Some(&eve)).call("search_documents", &arguments).error();
    assert_eq!(error["error"]["message"], "Knowledge base not found");
    let error = test_server.mcp(Some(&bob)).call("search_documents", &arguments).error();
    assert_eq!(error["error"]["code"], "FORBIDDEN");

    let public = Request::new("PATCH", &path).json(&json!({ "visibility": "public" }));
    assert_eq!(test_server.send(Some(&ann), public).status, 200);
    let found = test_server.mcp(Some(&bob)).call("search_documents", &arguments).success();
    assert_eq!(found["count"], 1);
    let secret = json!({ "name": "Secret", "clearance": "secret" });
    let made = test_server.post(Some(&ann), &format!("{path}/collections"), &secret).json();
    test_server.add(Some(&ann), &id_of(&made), &json!({ "text": "The vault code is 4711." }));
    let found = test_server.mcp(Some(&bob)).call("search_documents", &arguments).success();
    assert_eq!(found["count"], 1, "{found}");
    let found = test_server.mcp(Some(&ann)).call("search_documents", &arguments).success();
    assert_eq!(found["count"], 2, "{found}");
    let collection = id_of(&made);
    // A collection that somebody may not see is not told from one that is not there.
    let of_bob = |id: &str| {
        let answer = test_server.get(Some(&bob), &format!("/v1/collections/{id}"));
        (answer.status, answer.text().replace(id, "ID"))
    };
    assert_eq!(of_bob(&collection), of_bob("3f0c7bd2-0000-4000-8000-000000000000"));
    assert_eq!(of_bob(&collection).0, 404);
    assert_eq!(test_server.get(Some(&eve), &format!("/v1/collections/{collection}")).status, 404);
    let summary = test_server.get(Some(&bob), &format!("{path}/summary")).json();
    assert_eq!(summary["statistics"]["total_documents"], 1);

    // The record of calls counts what was given, never what was there.
    let config = test_server.0.folder.join("dowse.toml");
    let output = dowse("audit")
        .args(["--json", "-n", "100", "--tool", "search_documents", "--config"])
        .arg(config)
        .output()
        .unwrap();
    let entries: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |caller: &str| -> Vec<&Value> {
        entries.iter().filter(|entry| entry["caller"] == caller).collect()
    };
    assert_eq!(of("bob").iter().filter(|entry| entry["results"] == 1).count(), 2);
    assert!(of("bob").iter().all(|entry| entry["results"].as_u64() <= Some(1)));
    assert!(of("eve").iter().all(|entry| entry["results"] == 0 && entry["code"] == "NOT_FOUND"));
}

#[test]
fn chat_streams_the_events_of_the_contract() {
    let test_server = Library::open();
    let (base, collection) = test_server.base(None, &json!({ "name": "Rules" }));
    test_server.add(None, &collection, &json!({ "text": "Remote work is allowed on three days." }));
    let events = |query: &str, force: Option<&str>| -> Vec<(String, Value)> {
        let mut body = json!({ "query": query, "knowledge_base_id": base, "threshold": 0.0 });
        if let Some(force) = force {
            body["force_tool"] = json!(force);
        }
        let answer = test_server.post(None, "/v1/chat", &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        events_of(&answer)
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
    assert_eq!(test_server.post(None, "/v1/chat", &body).status, 400);
    let body = json!({ "query": "x", "knowledge_base_id": "nobody" });
    assert_eq!(test_server.post(None, "/v1/chat", &body).status, 404);
}

#[test]
fn files_come_as_multipart() {
    let test_server = Library::open();
    let (base, collection) = test_server.base(None, &json!({ "name": "Files" }));
    let body = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"note.md\"\r\n\
        Content-Type: text/markdown\r\n\r\n# Tram\n\nIt climbs to the castle.\r\n--x\r\n\
        Content-Disposition: form-data; name=\"metadata\"\r\n\r\n{\"from\": \"test\"}\r\n--x--\r\n";
    let request = Request::new("POST", &format!("/v1/collections/{collection}/documents"))
        .header("Content-Type", "multipart/form-data; boundary=x")
        .body(body);
    let added = test_server.send(None, request);
    assert_eq!(added.status, 202, "{}", added.text());
    let added = added.json();
    test_server.wait(None, added["job"]["id"].as_str().unwrap());
    let document = test_server.get(None, &format!("/v1/documents/{}", id_of(&added))).json();
    assert_eq!(document["title"], "note.md");
    assert_eq!(document["status"], "ready");
    assert_eq!(document["metadata"]["from"], "test");
    let path = format!("/v1/knowledge-bases/{base}/search");
    let found =
        test_server.post(None, &path, &json!({ "query": "castle", "threshold": 0.0 })).json();
    assert_eq!(found["count"], 1, "{found}");
    let many = json!({ "documents": [{ "text": "One." }, { "text": "Two." }] });
    let added =
        test_server.post(None, &format!("/v1/collections/{collection}/documents"), &many).json();
    assert_eq!(added["ids"].as_array().unwrap().len(), 2);
    test_server.wait(None, added["job"]["id"].as_str().unwrap());
    let openapi = test_server.get(None, "/v1/openapi.json").json();
    assert!(openapi["paths"]["/v1/chat"]["post"].is_object());
}

#[test]
fn documents_are_filtered_by_their_metadata() {
    let server = Library::open();
    let (base, collection) = server.base(None, &json!({ "name": "Library" }));
    for n in 0..12 {
        let metadata = json!({
            "year": 2014 + n, "tags": if n % 2 == 0 { json!(["hr", "law"]) } else { json!("it") },
            "date": format!("{}-06-15", 2014 + n),
        });
        let text = format!("the harbour opens in spring, report {n}");
        let title = format!("report {n}");
        let body = json!({ "title": title, "text": text, "metadata": metadata });
        server.add(None, &collection, &body);
    }
    server.add(None, &collection, &json!({ "title": "plain", "text": "the harbour is plain" }));
    let mcp = server.mcp(None);
    let find = |filters: &Value| {
        let arguments = json!({
            "query": "harbour", "threshold": 0.0, "max_results": 50, "filters": filters,
        });
        mcp.call("search_documents", &arguments)
    };
    let titles = |filters: Value| -> Vec<String> {
        let found = find(&filters).success();
        let results = found["results"].as_array().unwrap();
        let title = |hit: &Value| hit["metadata"]["title"].as_str().unwrap().to_owned();
        let mut titles: Vec<String> = results.iter().map(title).collect();
        titles.sort();
        titles
    };
    assert_eq!(titles(json!({})).len(), 13);
    assert_eq!(titles(json!({ "year": 2020 })), ["report 6"]);
    assert_eq!(titles(json!({ "year": "2020" })), ["report 6"]);
    assert_eq!(titles(json!({ "year": [2020, 2021] })), ["report 6", "report 7"]);
    assert_eq!(titles(json!({ "year": { "min": 2024 } })), ["report 10", "report 11"]);
    assert_eq!(titles(json!({ "tags": "HR" })).len(), 6);
    assert_eq!(titles(json!({ "tags": "hr", "year": { "max": 2015 } })), ["report 0"]);
    assert_eq!(titles(json!({ "date": { "min": "2025-01" } })), ["report 11"]);
    assert_eq!(titles(json!({ "year": { "is_null": true } })), ["plain"]);
    let none = find(&json!({ "year": 1900 })).success();
    assert_eq!(none["count"], 0);
    assert!(none["warnings"].to_string().contains("no document passes `filters`"), "{none}");
    let unknown = find(&json!({ "yaer": 2020 })).error();
    let told = unknown["error"].to_string();
    assert!(told.contains("did you mean `year`") && told.contains("2014"), "{told}");
    assert_eq!(find(&json!({ "year": { "near": 1 } })).error()["error"]["code"], "BAD_REQUEST");
    let summary = mcp.call("get_knowledge_base_summary", &json!({})).success();
    assert_eq!(summary["metadata_fields"]["year"]["type"], "number", "{summary}");
    assert_eq!(summary["metadata_fields"]["tags"]["values"], json!(["hr", "it", "law"]));
    assert_eq!(summary["knowledge_base_id"], base.as_str());
}

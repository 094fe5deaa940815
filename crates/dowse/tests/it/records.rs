//! What is written down and counted, and how often a caller may call.

use serde_json::{Value, json};

use crate::test_server::{TestServer, dowse, repair};

fn audit(test_server: &TestServer) -> Vec<Value> {
    let config = test_server.folder.join("dowse.toml");
    let output = dowse("audit").arg("--json").arg("--config").arg(config).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_call_is_audited() {
    let config = "[[auth.keys]]\nname = \"ci\"\nkey_env = \"TEST_KEY\"\ntenant = \"acme\"\n";
    let key = "a key of the machine that tests";
    let test_server = TestServer::start_with(config, &[("TEST_KEY", key)]);
    let mcp = test_server
        .mcp()
        .header("Authorization", &format!("Bearer {key}"))
        .header("X-Request-Id", "request-7");
    repair(&mcp);
    mcp.call("normalize_ocr_text", &json!({ "text": { "a": 5 } })).error();
    let entries = audit(&test_server);
    assert_eq!(entries.len(), 2);
    for (name, value) in [
        ("tool", "normalize_ocr_text"),
        ("tenant", "acme"),
        ("caller", "ci"),
        ("outcome", "ok"),
        ("query", "ab"),
        ("request", "request-7"),
    ] {
        assert_eq!(entries[0][name], value);
    }
    assert!(entries[0]["latency_ms"].as_f64().is_some_and(|took| took > 0.0));
    assert_eq!(
        (&entries[1]["outcome"], &entries[1]["code"]),
        (&json!("refused"), &json!("BAD_REQUEST"))
    );
    let file = test_server.folder.read("data/audit/audit.jsonl");
    assert!(!file.contains(key), "the audit holds the key");
}

#[test]
fn queries_are_left_out_where_configured() {
    let test_server = TestServer::start("[audit]\nomit_queries = true\n");
    test_server.assert_alive();
    let entries = audit(&test_server);
    assert_eq!((entries.len(), entries[0].get("query")), (1, None));
}

#[test]
fn callers_are_told_when_to_come_back() {
    let test_server = TestServer::start("[limits]\nrate_per_minute = { normalize_ocr_text = 2 }\n");
    repair(&test_server.mcp());
    repair(&test_server.mcp());
    let error = test_server.mcp().call("normalize_ocr_text", &json!({ "text": "ab" })).error();
    assert_eq!(error["error"]["code"], "RATE_LIMITED");
    let seconds = error["error"]["details"]["retry_after_seconds"].as_u64().unwrap();
    assert!((1..=30).contains(&seconds), "{error}");
    let metrics = test_server.http().get("/metrics").text();
    assert!(
        metrics.contains("dowse_rate_limited_total{tool=\"normalize_ocr_text\"} 1"),
        "{metrics}"
    );
    assert!(!test_server.mcp().list_tools().is_empty());
}

#[test]
fn health_and_metrics_are_served() {
    let test_server = TestServer::start("");
    assert_eq!(test_server.http().get("/healthz").status, 200);
    assert_eq!(test_server.http().get("/readyz").status, 200);
    test_server.assert_alive();
    let metrics = test_server.http().get("/metrics").text();
    for line in [
        "dowse_calls_total{tool=\"normalize_ocr_text\",outcome=\"ok\"} 1",
        "dowse_calls_in_flight 0",
        "dowse_call_seconds_count{tool=\"normalize_ocr_text\"} 1",
        "# EOF",
    ] {
        assert!(metrics.contains(line), "{line} is missing:\n{metrics}");
    }
}

//! What is written down and counted, and how often a caller may call.

use serde_json::{Value, json};

use crate::house::{House, dowse, repair};

fn audit(house: &House) -> Vec<Value> {
    let config = house.folder.join("dowse.toml");
    let output = dowse("audit").arg("--json").arg("--config").arg(config).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_call_is_audited() {
    let config = "[[auth.keys]]\nname = \"ci\"\nkey_env = \"TEST_KEY\"\ntenant = \"acme\"\n";
    let key = "a key of the machine that tests";
    let house = House::start_with(config, &[("TEST_KEY", key)]);
    let mcp = house
        .mcp()
        .header("Authorization", &format!("Bearer {key}"))
        .header("X-Request-Id", "request-7");
    repair(&mcp);
    mcp.call("normalize_ocr_text", &json!({ "text": { "a": 5 } })).error();
    let entries = audit(&house);
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
    let file = house.folder.read("data/audit/audit.jsonl");
    assert!(!file.contains(key), "the audit holds the key");
}

#[test]
fn queries_are_left_out_where_configured() {
    let house = House::start("[audit]\nomit_queries = true\n");
    house.assert_alive();
    let entries = audit(&house);
    assert_eq!((entries.len(), entries[0].get("query")), (1, None));
}

#[test]
fn callers_are_told_when_to_come_back() {
    let house = House::start("[limits]\nrate_per_minute = { normalize_ocr_text = 2 }\n");
    repair(&house.mcp());
    repair(&house.mcp());
    let error = house.mcp().call("normalize_ocr_text", &json!({ "text": "ab" })).error();
    assert_eq!(error["error"]["code"], "RATE_LIMITED");
    let seconds = error["error"]["details"]["retry_after_seconds"].as_u64().unwrap();
    assert!((1..=30).contains(&seconds), "{error}");
    let metrics = house.http().get("/metrics").text();
    assert!(
        metrics.contains("dowse_rate_limited_total{tool=\"normalize_ocr_text\"} 1"),
        "{metrics}"
    );
    assert!(!house.mcp().list_tools().is_empty());
}

#[test]
fn health_and_metrics_are_served() {
    let house = House::start("");
    assert_eq!(house.http().get("/healthz").status, 200);
    assert_eq!(house.http().get("/readyz").status, 200);
    house.assert_alive();
    let metrics = house.http().get("/metrics").text();
    for line in [
        "dowse_calls_total{tool=\"normalize_ocr_text\",outcome=\"ok\"} 1",
        "dowse_calls_in_flight 0",
        "dowse_call_seconds_count{tool=\"normalize_ocr_text\"} 1",
        "# EOF",
    ] {
        assert!(metrics.contains(line), "{line} is missing:\n{metrics}");
    }
}

//! Calls in progress while something happens around them.

use std::io::Write;
use std::net::TcpStream;

use guard::{LimitsConfig, Outcome};
use serde_json::json;
use testkit::ToolResult;
use tools::ResourceSet;

use crate::house::{House, News, PATIENCE};

fn house() -> House {
    House::start(LimitsConfig::default(), ResourceSet::default())
}

#[test]
fn a_client_that_disappears_stops_its_call() {
    let house = house();
    let mut connection = TcpStream::connect(&house.address).unwrap();
    connection.write_all(&house.raw_call()).unwrap();
    assert_eq!(house.news.recv_timeout(PATIENCE), Ok(News::Started));
    drop(connection);
    assert_eq!(house.news.recv_timeout(PATIENCE), Ok(News::Cancelled));
    let entry = house.audited(|entry| entry.tool == "wait");
    assert_eq!(entry.outcome, Outcome::Cancelled);
    assert_eq!(house.mcp.list_tools().len(), 2);
}

#[test]
fn shutdown_lets_a_call_in_flight_end() {
    let house = house();
    let call = house.call_in_background();
    house.shutdown.cancel();
    house.go.send(()).unwrap();
    let answer = ToolResult::new(call.join().unwrap()).success();
    assert_eq!(answer, json!({ "waited": true }));
    house.join();
}

#[test]
fn a_new_configuration_leaves_a_call_in_flight_alone() {
    let house = house();
    let call = house.call_in_background();
    let limits = LimitsConfig { call_seconds: 0, ..LimitsConfig::default() };
    house.shared.replace(house.another_app(limits));
    house.go.send(()).unwrap();
    let answer = ToolResult::new(call.join().unwrap()).success();
    assert_eq!(answer, json!({ "waited": true }));
    let late = house.mcp.call("wait", &json!({})).error();
    assert_eq!(late["error"]["code"], "DEADLINE_EXCEEDED");
}

#[test]
fn calls_beyond_the_slots_wait_and_then_are_turned_away() {
    let limits = LimitsConfig { concurrent_calls: 1, ..LimitsConfig::default() };
    let house = House::start(limits, ResourceSet::default());
    let first = house.call_in_background();
    let refused = house.mcp.call("wait", &json!({})).error();
    assert_eq!(refused["error"]["code"], "UNAVAILABLE");
    house.go.send(()).unwrap();
    assert!(!ToolResult::new(first.join().unwrap()).is_error);
}

#[test]
fn a_tool_that_breaks_hides_its_cause() {
    let house = house();
    let error = house.mcp.call("break", &json!({})).error();
    assert_eq!(error["error"]["code"], "INTERNAL_ERROR");
    assert!(!error.to_string().contains("secret"), "{error}");
    assert!(error["error"]["details"]["id"].is_string(), "{error}");
    assert_eq!(house.audited(|entry| entry.tool == "break").outcome, Outcome::Failed);
    assert_eq!(house.mcp.list_tools().len(), 2);
}

#[test]
fn progress_turns_the_answer_into_a_stream() {
    let house = house();
    house.go.send(()).unwrap();
    let params = json!({ "name": "wait", "_meta": { "progressToken": "p" } });
    let events = house.mcp.send("tools/call", &params).events();
    let methods: Vec<_> = events.iter().map(|event| event["method"].as_str()).collect();
    assert_eq!(methods, [Some("notifications/progress"), None]);
    assert_eq!(events[0]["params"]["progressToken"], "p");
    assert_eq!(events[1]["result"]["structuredContent"]["waited"], true);
}

#[test]
fn arguments_that_are_enumerations_are_completed() {
    let house = house();
    let complete = |typed: &str| {
        let params = json!({
            "ref": { "type": "ref/prompt", "name": "wait" },
            "argument": { "name": "speed", "value": typed },
        });
        house.mcp.request("completion/complete", &params)["completion"]["values"].clone()
    };
    assert_eq!(complete("fas"), json!(["fast", "faster"]));
    assert_eq!(complete("x"), json!([]));
}

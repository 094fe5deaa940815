//! Calls in progress while something happens around them.

use std::io::Write;
use std::net::TcpStream;

use guard::{LimitsConfig, Outcome};
use serde_json::json;
use testkit::ToolResult;
use tools::ResourceSet;

use crate::test_server::{Notification, PATIENCE, TestServer};

fn test_server() -> TestServer {
    TestServer::start(LimitsConfig::default(), ResourceSet::default())
}

#[test]
fn a_client_that_disappears_stops_its_call() {
    let test_server = test_server();
    let mut connection = TcpStream::connect(&test_server.address).unwrap();
    connection.write_all(&test_server.raw_call()).unwrap();
    assert_eq!(test_server.notifications.recv_timeout(PATIENCE), Ok(Notification::Started));
    drop(connection);
    assert_eq!(test_server.notifications.recv_timeout(PATIENCE), Ok(Notification::Cancelled));
    let entry = test_server.audited(|entry| entry.tool == "wait");
    assert_eq!(entry.outcome, Outcome::Cancelled);
    assert_eq!(test_server.mcp.list_tools().len(), 2);
}

/// As somebody types, each page ends the calls of the one before, and the record says so.
#[test]
fn a_person_who_goes_on_stops_the_calls_of_the_page_before() {
    let test_server = test_server();
    let mut connection = TcpStream::connect(&test_server.address).unwrap();
    let host = &test_server.address;
    let page = format!("GET /tools/wait?run=1 HTTP/1.1\r\nHost: {host}\r\n\r\n");
    connection.write_all(page.as_bytes()).unwrap();
    assert_eq!(test_server.notifications.recv_timeout(PATIENCE), Ok(Notification::Started));
    drop(connection);
    assert_eq!(test_server.notifications.recv_timeout(PATIENCE), Ok(Notification::Cancelled));
    let entry = test_server.audited(|entry| entry.tool == "wait");
    assert_eq!((entry.outcome, entry.via.as_deref()), (Outcome::Cancelled, Some("console")));
}

#[test]
fn shutdown_lets_a_call_in_flight_end() {
    let test_server = test_server();
    let call = test_server.call_in_background();
    test_server.shutdown.cancel();
    test_server.go.send(()).unwrap();
    let answer = ToolResult::new(call.join().unwrap()).success();
    assert_eq!(answer, json!({ "waited": true }));
    test_server.join();
}

#[test]
fn a_new_configuration_leaves_a_call_in_flight_alone() {
    let test_server = test_server();
    let call = test_server.call_in_background();
    let limits = LimitsConfig { call_seconds: 0, ..LimitsConfig::default() };
    test_server.shared.replace(test_server.another_app(limits));
    test_server.go.send(()).unwrap();
    let answer = ToolResult::new(call.join().unwrap()).success();
    assert_eq!(answer, json!({ "waited": true }));
    let late = test_server.mcp.call("wait", &json!({})).error();
    assert_eq!(late["error"]["code"], "DEADLINE_EXCEEDED");
}

#[test]
fn calls_beyond_the_slots_wait_and_then_are_turned_away() {
    let limits = LimitsConfig { concurrent_calls: 1, ..LimitsConfig::default() };
    let test_server = TestServer::start(limits, ResourceSet::default());
    let first = test_server.call_in_background();
    let refused = test_server.mcp.call("wait", &json!({})).error();
    assert_eq!(refused["error"]["code"], "UNAVAILABLE");
    test_server.go.send(()).unwrap();
    assert!(!ToolResult::new(first.join().unwrap()).is_error);
}

#[test]
fn a_tool_that_breaks_hides_its_cause() {
    let test_server = test_server();
    let error = test_server.mcp.call("break", &json!({})).error();
    assert_eq!(error["error"]["code"], "INTERNAL_ERROR");
    assert!(!error.to_string().contains("secret"), "{error}");
    assert!(error["error"]["details"]["id"].is_string(), "{error}");
    assert_eq!(test_server.audited(|entry| entry.tool == "break").outcome, Outcome::Failed);
    assert_eq!(test_server.mcp.list_tools().len(), 2);
}

#[test]
fn progress_turns_the_answer_into_a_stream() {
    let test_server = test_server();
    test_server.go.send(()).unwrap();
    let params = json!({ "name": "wait", "_meta": { "progressToken": "p" } });
    let events = test_server.mcp.send("tools/call", &params).events();
    let methods: Vec<_> = events.iter().map(|event| event["method"].as_str()).collect();
    assert_eq!(methods, [Some("notifications/progress"), None]);
    assert_eq!(events[0]["params"]["progressToken"], "p");
    assert_eq!(events[1]["result"]["structuredContent"]["waited"], true);
}

#[test]
fn arguments_that_are_enumerations_are_completed() {
    let test_server = test_server();
    let complete = |typed: &str| {
        let params = json!({
            "ref": { "type": "ref/prompt", "name": "wait" },
            "argument": { "name": "speed", "value": typed },
        });
        test_server.mcp.request("completion/complete", &params)["completion"]["values"].clone()
    };
    assert_eq!(complete("fas"), json!(["fast", "faster"]));
    assert_eq!(complete("x"), json!([]));
}

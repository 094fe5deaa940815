//! A plain call is answered without the protocol library, byte for byte as the library answers it.

use guard::LimitsConfig;
use serde_json::{Value, json};
use testkit::{Http, Request, Response};
use tools::ResourceSet;

use crate::test_server::TestServer;

/// Sends a message, once as it is and once with a member that only the library takes.
fn both(http: &Http, message: &Value, headers: &[(&str, &str)]) -> [Response; 2] {
    let mut for_library = message.clone();
    for_library["params"]["somethingElse"] = json!(1);
    [message, &for_library].map(|message| {
        // An error names its request, which is the same for both.
        let request = Request::new("POST", "/mcp").header("x-request-id", "r1").json(message);
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        http.send(&request)
    })
}

#[test]
fn the_library_gives_the_same_answer() {
    let test_server = TestServer::start(LimitsConfig::default(), ResourceSet::default());
    let http = Http::new(&test_server.address);
    let call = |id: Value, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
    let calls = [
        call(json!(1), json!({ "name": "wait", "arguments": { "query": "how \"long\" 東京" } })),
        call(json!("a-1"), json!({ "name": "wait" })),
        call(json!(-7), json!({ "name": "wait", "_meta": { "own": true } })),
        call(json!(2), json!({ "name": "wait", "arguments": { "sped": "fast" } })),
        call(json!(3), json!({ "name": "wait", "arguments": { "speed": "no" } })),
        call(json!(4), json!({ "name": "break", "arguments": {} })),
        call(json!(5), json!({ "name": "there is no such tool" })),
        call(json!(1.5), json!({ "name": "wait" })),
        call(json!(6), json!({ "name": "wait", "_meta": { "progressToken": 1.5 } })),
    ];
    let versions: [&[(&str, &str)]; 6] = [
        &[],
        &[("mcp-protocol-version", "2025-06-18")],
        &[("mcp-protocol-version", "2026-07-28")],
        &[("mcp-protocol-version", "1999-01-01")],
        &[("accept", "application/json")],
        &[("content-type", "text/plain")],
    ];
    for message in &calls {
        for headers in versions {
            test_server.go.send(()).unwrap();
            test_server.go.send(()).unwrap();
            let [plain, library] = both(&http, message, headers);
            assert_eq!(plain.status, library.status, "{message} {headers:?}");
            assert_eq!(plain.text(), library.text(), "{message} {headers:?}");
            let kind = |response: &Response| response.header("content-type").map(str::to_owned);
            assert_eq!(kind(&plain), kind(&library), "{message} {headers:?}");
        }
    }
}

//! Which tools are served: by configuration, for the whole server, for an address and for a key.

use serde_json::{Value, json};
use testkit::{Folder, Mcp, Request};

use crate::demo::Demo;
use crate::test_server::TestServer;

const KEYS: [(&str, &str); 2] =
    [("KEY_READER", "reader-reader-reader"), ("KEY_WHOLE", "whole-whole-whole-whole")];

const CONFIG: &str = r#"
[embedder]
provider = "none"
[files]
roots = ["docs"]
watch = false
[server]
hidden_tools = ["indexFolder"]
[[server.endpoints]]
name = "browse"
tools = ["listRoots", "listFiles", "openFile"]
[[auth.keys]]
name = "reader"
key_env = "KEY_READER"
tools = ["search", "searchFiles", "indexFolder"]
[[auth.keys]]
name = "whole"
key_env = "KEY_WHOLE"
"#;

fn names(mcp: &Mcp) -> Vec<String> {
    mcp.list_tools().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn lists_of_tools_hold_for_the_server_an_address_and_a_key() {
    let folder = Folder::new();
    folder.write("docs/a.txt", "a lighthouse");
    let server = TestServer::start_in_with(folder, CONFIG, &KEYS);
    let client = |path: &str, key: &str| {
        Mcp::new(server.http(), path).header("Authorization", &format!("Bearer {key}"))
    };
    let [(_, reader), (_, whole)] = KEYS;
    assert_eq!(names(&client("/mcp", reader)), ["search", "searchFiles"]);
    let all = names(&client("/mcp", whole));
    assert!(all.contains(&"openFile".to_owned()), "{all:?}");
    assert!(!all.contains(&"indexFolder".to_owned()), "{all:?}");
    assert_eq!(names(&client("/mcp/browse", whole)), ["listRoots", "listFiles", "openFile"]);
    assert!(names(&client("/mcp/browse", reader)).is_empty());

    // What is not exposed does not exist: over MCP, over REST, as a resource, in instructions.
    let call = json!({ "name": "openFile", "arguments": { "path": "/x" } });
    let error = client("/mcp", reader).request_error("tools/call", &call);
    assert_eq!(error["message"], "unknown tool `openFile`", "{error}");
    let post = |tool: &str| {
        let request = Request::new("POST", &format!("/v1/call/{tool}")).json(&json!({}));
        let bearer = format!("Bearer {reader}");
        server.http().send(&request.header("Authorization", &bearer)).status
    };
    assert_eq!((post("openFile"), post("indexFolder"), post("searchFiles")), (404, 404, 400));
    let templates = |key: &str| {
        let listed = client("/mcp", key).request("resources/templates/list", &json!({}));
        listed["resourceTemplates"].as_array().unwrap().len()
    };
    assert_eq!((templates(reader), templates(whole)), (0, 2));
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "0" },
    });
    let told = |path: &str, key: &str| {
        let answer = client(path, key).request("initialize", &hello);
        answer["instructions"].as_str().unwrap().to_owned()
    };
    assert!(told("/mcp", whole).contains("`openFile`"));
    assert!(!told("/mcp", reader).contains("`openFile`"), "{}", told("/mcp", reader));
    assert!(!told("/mcp/browse", whole).contains("`fetch`"));
    // An address that is not configured is one of a user's endpoints, or none.
    assert_eq!(client("/mcp/other", whole).send("tools/list", &json!({})).status, 401);
}

#[test]
fn a_name_that_is_no_tool_is_refused_at_the_start() {
    let folder = Folder::new();
    folder.write("dowse.toml", "data_dir = \"data\"\n[server]\nhidden_tools = [\"serch\"]\n");
    let mut command = crate::test_server::dowse("serve");
    command.arg("--config").arg(folder.join("dowse.toml")).args(["--listen", "127.0.0.1:0"]);
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && told.contains("`serch`"), "{told}");
}

/// The list was printed before the demo's knowledge base existed, without its tools.
#[test]
fn the_demo_prints_all_tools_that_it_lists() {
    let demo = Demo::start();
    let printed = demo.server.stderr();
    let line = printed.lines().find(|line| line.starts_with("Dowse serves")).unwrap().to_owned();
    let listed: Vec<Value> = Mcp::new(demo.server.http(), "/mcp").list_tools();
    for tool in &listed {
        let name = tool["name"].as_str().unwrap();
        assert!(line.contains(name), "`{name}` is not in: {line}");
    }
    assert!(line.contains(&format!("serves {} tools", listed.len())), "{line}");
}

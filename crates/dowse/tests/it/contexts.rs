//! Big JSON through the real binary: from an upload over REST to an agent that has nothing but
//! an endpoint's address and key.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::turbopuffer::TurbopufferServer;
use testkit::{Mcp, Request, Response, tokens};

use crate::test_server::{TestServer, dowse};

const SECRET: &str = "a shared secret of decent length";

/// Strings of 200 characters are long here.
const CONFIG: &str = "[embedder]\nprovider = \"none\"\n[contexts]\nchunk_threshold_chars = 200\n";

/// How long a job may take.
const JOB_WAIT: Duration = Duration::from_secs(60);

/// A server with its callers.
struct Fixture(TestServer);

impl Fixture {
    fn open() -> Self {
        Fixture(TestServer::start(CONFIG))
    }

    fn with_tokens() -> Self {
        let (issuer, audience) = (tokens::ISSUER, tokens::AUDIENCE);
        let config = format!(
            "{CONFIG}[auth]\njwt = {{ issuer = \"{issuer}\", audience = \"{audience}\", \
             hs256_secret_env = \"TEST_SECRET\" }}\n"
        );
        Fixture(TestServer::start_with(&config, &[("TEST_SECRET", SECRET)]))
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

    /// Makes something and gives it.
    #[track_caller]
    fn make(&self, token: Option<&str>, path: &str, body: &Value) -> Value {
        let made = self.post(token, path, body);
        assert_eq!(made.status, 201, "{}", made.text());
        made.json()
    }

    /// Makes a project with one table.
    #[track_caller]
    fn table(&self, token: Option<&str>, data: &Value) -> (String, String) {
        let project = id_of(&self.make(token, "/v1/projects", &json!({ "name": "Docs" })));
        let body = json!({ "name": "manual", "data": data });
        let table = self.make(token, &format!("/v1/projects/{project}/tables"), &body);
        (project, id_of(&table))
    }

    /// Makes a search tool and waits for its index.
    #[track_caller]
    fn tool(&self, token: Option<&str>, table: &str, path: &str, name: &str) -> String {
        let body = json!({
            "type": "search", "table_id": table, "json_path": path, "name": name,
            "description": format!("Search {name}."),
        });
        let tool = self.make(token, "/v1/tools", &body);
        let status = &tool["metadata"]["search_index"]["status"];
        assert!(["pending", "indexing", "ready"].contains(&status.as_str().unwrap()), "{tool}");
        self.wait(token, tool["job"]["id"].as_str().unwrap());
        id_of(&tool)
    }

    #[track_caller]
    fn wait(&self, token: Option<&str>, job: &str) -> Value {
        let begun = Instant::now();
        loop {
            let answer = self.get(token, &format!("/v1/jobs/{job}")).json();
            match answer["status"].as_str() {
                Some("done") => return answer["result"].clone(),
                Some("queued" | "running") if begun.elapsed() < JOB_WAIT => {
                    std::thread::yield_now();
                }
                None if answer["error"]["code"] == "RATE_LIMITED" => std::thread::yield_now(),
                _ => panic!("{answer}\n{}", self.0.server.stderr()),
            }
        }
    }

    fn agent(&self, endpoint: &Value) -> Mcp {
        let path = format!("/mcp/{}", endpoint["id"].as_str().unwrap());
        let key = endpoint["api_key"].as_str().unwrap();
        Mcp::new(self.0.http(), &path).header("Authorization", &format!("Bearer {key}"))
    }
}

fn id_of(value: &Value) -> String {
    value["id"].as_str().unwrap_or_else(|| panic!("no id in {value}")).to_owned()
}

fn token(subject: &str, tenant: &str) -> String {
    let mut claims = tokens::claims();
    claims["sub"] = json!(subject);
    claims["tenant_id"] = json!(tenant);
    tokens::hs256(&claims, SECRET.as_bytes())
}

fn long(word: &str) -> String {
    let line = format!("This line tells about the {word}; write to {word}@example.org.\n");
    line.repeat(10)
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn an_agent_with_an_address_and_a_key_finds_the_passage() {
    let fixture = Fixture::open();
    let data = json!({
        "articles": [{ "content": long("harbour") }, { "content": long("castle"), "n": 1 }],
        "other": long("castle"),
    });
    let (_, table) = fixture.table(None, &data);
    let search = fixture.tool(None, &table, "/articles", "search_articles");
    let read =
        json!({ "type": "get", "table_id": table, "json_path": "/articles", "name": "read" });
    let read = id_of(&fixture.make(None, "/v1/tools", &read));
    let state = fixture.get(None, &format!("/v1/tools/{search}")).json();
    let index = &state["metadata"]["search_index"];
    assert_eq!(index["status"], "ready", "{state}");
    assert_eq!(index["nodes_count"], 2);
    assert_eq!(index["chunks_count"], index["indexed_chunks_count"]);
    assert!(index["indexed_at"].is_string() && index["last_error"].is_null());

    let body = json!({ "name": "Agent", "tool_ids": [search, read] });
    let endpoint = fixture.make(None, "/v1/endpoints", &body);
    assert!(endpoint["url"].as_str().unwrap().ends_with(&format!("/mcp/{}", id_of(&endpoint))));
    let agent = fixture.agent(&endpoint);
    let tools = agent.list_tools();
    assert_eq!(names(&tools), ["search_articles", "read"]);
    assert_eq!(tools[0]["description"], "Search search_articles.");
    let schema = &tools[0]["inputSchema"];
    assert_eq!(schema["required"], json!(["query"]));
    let properties: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(properties, ["query", "top_k", "cursor"]);

    let found = agent.call("search_articles", &json!({ "query": "castle", "top_k": 1 })).success();
    assert_eq!(found["query"], "castle");
    assert_eq!(found["results"].as_array().unwrap().len(), 1, "{found}");
    let result = &found["results"][0];
    assert_eq!(result["json_path"], "/1/content");
    let chunk = &result["chunk"];
    assert_eq!(chunk["json_pointer"], "/articles/1/content");
    assert_eq!(chunk.as_object().unwrap().len(), 11);
    let score = result["score"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&score));
    let text = chunk["chunk_text"].as_str().unwrap();
    assert!(text.contains("castle") && !text.contains("castle@example.org"), "{text}");

    let node = agent.call("read", &json!({ "json_path": "/1/n" })).success();
    assert_eq!((&node["type"], &node["text"]), (&json!("number"), &json!("1")));
    let arguments = json!({ "json_path": "/1/content", "offset": 5, "max_chars": 9 });
    let node = agent.call("read", &arguments).success();
    assert_eq!(node["text"], "line tell");
    assert_eq!(node["truncated"], true);
    let error = agent.call("read", &json!({ "json_path": "/../other" })).error();
    assert_eq!(error["error"]["code"], "NOT_FOUND");
    let error = agent.call("search_articles", &json!({ "query": "x", "top_k": 21 })).error();
    assert_eq!(error["error"]["code"], "BAD_REQUEST");
    let error = agent.call("search_articles", &json!({ "query": "x", "table_id": table })).error();
    assert!(error["error"]["message"].as_str().unwrap().contains("table_id"), "{error}");
}

#[test]
fn an_endpoint_is_opened_by_its_own_key_alone_and_shows_its_bindings_at_once() {
    let fixture = Fixture::open();
    let (_, table) = fixture.table(None, &json!({ "a": long("harbour"), "b": long("castle") }));
    let one = fixture.tool(None, &table, "/a", "one");
    let two = fixture.tool(None, &table, "/b", "two");
    let endpoint = fixture.make(None, "/v1/endpoints", &json!({ "name": "A", "tool_ids": [one] }));
    let other = fixture.make(None, "/v1/endpoints", &json!({ "name": "B", "tool_ids": [two] }));
    let path = format!("/mcp/{}", id_of(&endpoint));
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    // Loopback makes nobody an owner of a key.
    let refusal = fixture.post(None, &path, &list);
    assert_eq!(refusal.status, 401);
    let refused = [
        fixture.post(Some("dowse_nonsense"), &path, &list),
        fixture.post(other["api_key"].as_str(), &path, &list),
        fixture.post(endpoint["api_key"].as_str(), "/mcp/nowhere", &list),
    ];
    for answer in refused {
        assert_eq!((answer.status, answer.text()), (401, refusal.text()));
    }
    let agent = fixture.agent(&endpoint);
    assert_eq!(names(&agent.list_tools()), ["one"]);
    agent.request_error("tools/call", &json!({ "name": "two", "arguments": { "query": "x" } }));
    agent.request_error("tools/call", &json!({ "name": "search", "arguments": { "query": "x" } }));

    let address = format!("/v1/endpoints/{}", id_of(&endpoint));
    let bind = |tools: Value| {
        let request = Request::new("PATCH", &address).json(&json!({ "tool_ids": tools }));
        fixture.send(None, request)
    };
    assert_eq!(bind(json!([two, one])).status, 200);
    assert_eq!(names(&agent.list_tools()), ["two", "one"]);
    let rename = Request::new("PATCH", &format!("/v1/tools/{two}")).json(&json!({ "name": "one" }));
    let clash = fixture.send(None, rename);
    assert_eq!(clash.status, 409, "{}", clash.text());
    assert!(clash.text().contains("has a tool called `one` already"));
    let deleted = fixture.send(None, Request::new("DELETE", &format!("/v1/tools/{one}")));
    assert_eq!(deleted.status, 202);
    assert_eq!(names(&agent.list_tools()), ["two"]);

    let shown = fixture.get(None, &address);
    assert!(!shown.text().contains(endpoint["api_key"].as_str().unwrap()));
    let key = shown.json()["keys"][0]["id"].as_str().unwrap().to_owned();
    let revoked = fixture.send(None, Request::new("DELETE", &format!("{address}/keys/{key}")));
    assert_eq!(revoked.status, 200);
    assert_eq!(fixture.post(endpoint["api_key"].as_str(), &path, &list).status, 401);
    let fresh = fixture.make(None, &format!("{address}/keys"), &json!({}));
    assert_eq!(fixture.post(fresh["api_key"].as_str(), &path, &list).status, 200);
}

#[test]
fn a_key_of_an_endpoint_opens_nothing_else_of_the_house() {
    let fixture = Fixture::with_tokens();
    let ann = token("ann", "acme");
    let (project, table) = fixture.table(Some(&ann), &json!({ "a": long("harbour") }));
    let tool = fixture.tool(Some(&ann), &table, "", "all");
    let body = json!({ "name": "A", "tool_ids": [tool] });
    let endpoint = fixture.make(Some(&ann), "/v1/endpoints", &body);
    assert_eq!(names(&fixture.agent(&endpoint).list_tools()), ["all"]);
    let key = endpoint["api_key"].as_str();
    for path in ["/v1/projects", "/v1/jobs", "/v1/knowledge-bases"] {
        assert_eq!(fixture.get(key, path).status, 401, "{path}");
    }
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(fixture.post(key, "/mcp", &list).status, 401);
    // A token of a person is no key of an endpoint.
    assert_eq!(fixture.post(Some(&ann), &format!("/mcp/{}", id_of(&endpoint)), &list).status, 401);

    let bob = token("bob", "acme");
    let eve = token("eve", "other");
    let new = json!({ "type": "search", "table_id": table, "name": "mine" });
    assert_eq!(fixture.post(Some(&bob), "/v1/tools", &new).status, 403);
    let foreign = fixture.post(Some(&eve), "/v1/tools", &new);
    let nobody = json!({
        "type": "search", "table_id": "cf23c222-b024-4533-81aa-52e4f673281e", "name": "mine",
    });
    let missing = fixture.post(Some(&eve), "/v1/tools", &nobody);
    // Nothing but the id that was given differs.
    let missing_text = missing.text().replace("cf23c222-b024-4533-81aa-52e4f673281e", &table);
    assert_eq!((foreign.status, foreign.text()), (404, missing_text));
    assert_eq!(missing.status, 404);
    let upload = Request::new("POST", &format!("/v1/projects/{project}/tables?name=x")).body("{}");
    assert_eq!(fixture.send(Some(&eve), upload).status, 404);

    let share = json!({ "members": [{ "subject": "bob", "role": "editor" }] });
    let path = format!("/v1/projects/{project}");
    let shared = fixture.send(Some(&ann), Request::new("PATCH", &path).json(&share));
    assert_eq!(shared.status, 200, "{}", shared.text());
    assert_eq!(fixture.post(Some(&bob), "/v1/tools", &new).status, 201);
    assert_eq!(fixture.send(Some(&bob), Request::new("DELETE", &path)).status, 403);
    assert_eq!(fixture.send(Some(&ann), Request::new("DELETE", &path)).status, 202);
    assert_eq!(fixture.get(Some(&ann), &format!("/v1/tables/{table}")).status, 404);
}

#[test]
fn documents_come_in_three_forms_and_bad_ones_are_refused_with_their_place() {
    let fixture = Fixture::open();
    let (project, table) = fixture.table(None, &json!({ "a": long("harbour") }));
    let tables = format!("/v1/projects/{project}/tables");
    let send = |path: &str, kind: &str, body: &str| {
        fixture.send(None, Request::new("POST", path).header("Content-Type", kind).body(body))
    };
    let raw = send(&format!("{tables}?name=raw"), "application/json", "{\"n\": 1e999}");
    assert_eq!(raw.status, 201, "{}", raw.text());
    let node = format!("/v1/tables/{}/node?pointer=/n", id_of(&raw.json()));
    assert_eq!(fixture.get(None, &node).json()["text"], "1e999");
    let form = "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nform\r\n--x\r\n\
        Content-Disposition: form-data; name=\"file\"; filename=\"a.json\"\r\n\r\n[1, 2]\r\n--x--\r\n";
    let made = send(&tables, "multipart/form-data; boundary=x", form);
    assert_eq!((made.status, &made.json()["name"]), (201, &json!("form")), "{}", made.text());

    let bad = send(&format!("{tables}?name=bad"), "application/json", "{\"a\":\n [1,]}");
    assert_eq!(bad.status, 400);
    let error = bad.json()["error"].clone();
    let place = (&error["details"]["byte"], &error["details"]["line"], &error["details"]["column"]);
    assert_eq!(place, (&json!(10), &json!(2), &json!(5)), "{error}");
    for (body, said) in [
        (r#"{"a": 1, "a": 2}"#, "occurs twice"),
        (r#"["\ud800"]"#, "surrogate"),
        ("", "ends where"),
    ] {
        let bad = send(&format!("{tables}?name=bad"), "application/json", body);
        assert!(bad.status == 400 && bad.text().contains(said), "{}", bad.text());
    }
    let bad = fixture.post(None, &tables, &json!({ "name": "x", "dta": [] }));
    assert!(bad.status == 400 && bad.text().contains("unknown member `dta`"), "{}", bad.text());
    let deep = format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000));
    let deep = send(&format!("{tables}?name=deep"), "application/json", &deep);
    assert_eq!((deep.status, &deep.json()["depth"]), (201, &json!(50_000)));

    let tool = fixture.tool(None, &table, "", "all");
    let changed = json!({ "a": long("castle"), "b": long("bridge") }).to_string();
    let replaced =
        fixture.send(None, Request::new("PUT", &format!("/v1/tables/{table}")).body(&*changed));
    assert_eq!(replaced.status, 400, "{}", replaced.text());
    let said = replaced.text();
    assert!(said.contains("`{\\\"name\\\": …") && said.contains("`?name=`"), "{said}");
    let put = Request::new("PUT", &format!("/v1/tables/{table}?name=changed")).body(changed);
    let replaced = fixture.send(None, put);
    assert_eq!(replaced.status, 202, "{}", replaced.text());
    assert_eq!(replaced.json()["name"], "changed");
    let changes = fixture.wait(None, replaced.json()["job"]["id"].as_str().unwrap());
    assert_eq!((&changes["kept"], &changes["nodes"]), (&json!(0), &json!(2)), "{changes}");
    let path = format!("/v1/tools/{tool}/search");
    let found = fixture.post(None, &path, &json!({ "query": "bridge" })).json();
    assert_eq!(found["results"][0]["json_path"], "/b", "{found}");
    // An empty cursor begins at the start, as it does in every tool.
    let begun = fixture.post(None, &path, &json!({ "query": "bridge", "cursor": "" }));
    assert_eq!((begun.status, begun.json()), (200, found), "{}", begun.text());
    let openapi = fixture.get(None, "/v1/openapi.json").json();
    assert!(openapi["paths"]["/v1/endpoints/{id}/keys/{key}"]["delete"].is_object());
}

#[test]
fn a_document_over_a_limit_is_refused_with_the_setting_to_raise() {
    let check = |settings: &str, setting: &str| {
        let fixture =
            Fixture(TestServer::start(&format!("[embedder]\nprovider = \"none\"\n{settings}")));
        let project = id_of(&fixture.make(None, "/v1/projects", &json!({ "name": "Docs" })));
        let path = format!("/v1/projects/{project}/tables?name=large");
        for size in [1_500, 100_000] {
            let refused = fixture.post(None, &path, &json!("x".repeat(size)));
            assert_eq!(refused.status, 413, "{}", refused.text());
            let error = &refused.json()["error"];
            assert_eq!(error["code"], "TOO_LARGE");
            assert!(error["details"]["hint"].as_str().unwrap().contains(setting), "{error}");
        }
    };
    check("[contexts]\nmax_document_bytes = 1000\n", "`contexts.max_document_bytes`");
    check("[limits]\nupload_bytes = 1000\n", "`limits.upload_bytes`");
}

#[test]
fn the_command_line_does_the_same_and_a_backup_holds_it() {
    let folder = testkit::Folder::new();
    folder.write("dowse.toml", format!("data_dir = \"data\"\n{CONFIG}"));
    folder.write("manual.json", json!({ "a": long("harbour") }).to_string());
    let context = |arguments: &[&str]| -> String {
        let mut command = dowse(arguments[0]);
        let output = command.args(&arguments[1..]).current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    context(&["context", "project", "create", "Docs"]);
    context(&["context", "table", "create", "Docs", "manual.json"]);
    context(&["context", "tool", "create", "manual", "search_manual", "--path", "/a"]);
    let found = context(&["context", "search", "search_manual", "harbour"]);
    assert!(found.contains("/a (characters 0 to"), "{found}");
    let made = context(&["context", "endpoint", "create", "Agent", "--tool", "search_manual"]);
    assert!(made.lines().next().unwrap().starts_with("http://127.0.0.1:7700/mcp/"), "{made}");
    assert!(made.lines().nth(1).unwrap().starts_with("dowse_"), "{made}");
    context(&["backup", "all.backup"]);

    folder.write("restored.toml", format!("data_dir = \"restored\"\n{CONFIG}"));
    context(&["restore", "--config", "restored.toml", "all.backup"]);
    let found =
        context(&["context", "--config", "restored.toml", "search", "search_manual", "harbour"]);
    assert!(found.contains("/a (characters 0 to"), "{found}");
    let node = context(&["context", "--config", "restored.toml", "get", "manual", "/a"]);
    assert_eq!(node, long("harbour").trim());
    context(&["context", "project", "delete", "Docs"]);
    assert!(!context(&["context", "project", "list"]).contains("Docs"));
}

#[test]
fn chunks_live_in_turbopuffer_under_its_own_ids() {
    let engine = TurbopufferServer::start();
    let config =
        format!("{CONFIG}[store]\nprovider = \"turbopuffer\"\nbase_url = \"{}\"\n", engine.url());
    let fixture =
        Fixture(TestServer::start_with(&config, &[("TURBOPUFFER_API_KEY", engine.key())]));
    let (project, table) =
        fixture.table(None, &json!({ "a": long("harbour"), "b": long("castle") }));
    let tool = fixture.tool(None, &table, "", "search_all");
    let body = json!({ "name": "Agent", "tool_ids": [tool] });
    let endpoint = fixture.make(None, "/v1/endpoints", &body);
    let found =
        fixture.agent(&endpoint).call("search_all", &json!({ "query": "castle" })).success();
    let chunk = &found["results"][0]["chunk"];
    assert_eq!(chunk["json_pointer"], "/b", "{found}");
    let namespace = chunk["turbopuffer_namespace"].as_str().unwrap();
    assert!(engine.namespaces().contains(&namespace.to_owned()), "{:?}", engine.namespaces());
    assert!(namespace.ends_with(&format!("project_{project}_table_{table}")), "{namespace}");
    let id = chunk["turbopuffer_doc_id"].as_str().unwrap();
    let parts: Vec<usize> = id.split(':').map(str::len).collect();
    assert!(id.len() <= 64 && parts == [24, 12, 1], "{id}");
    assert!(chunk["content_hash"].as_str().unwrap().starts_with(&id[25..37]), "{chunk}");
    fixture.send(None, Request::new("DELETE", &format!("/v1/projects/{project}")));
    fixture.0.wait_until(|| !engine.namespaces().contains(&namespace.to_owned()));
}

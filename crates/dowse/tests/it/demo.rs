//! `dowse demo` as a newcomer meets it: the contract's five commands typed into a shell, and an
//! agent's way from a question to a chart.

use std::process::Command;

use serde_json::{Value, json};
use testkit::loopback::{Loopback, Reply};
use testkit::{Folder, Mcp, Server};

use crate::test_server::dowse;

/// The commands of the tables contract, word for word; only the port is another.
const COMMANDS: [&str; 5] = [
    r#"curl -X POST http://localhost:3000/api/mcp \
  -H "Content-Type: application/json" \
  -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{}}}'"#,
    r#"curl -X POST http://localhost:3000/api/mcp \
  -H "Content-Type: application/json" \
  -d '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'"#,
    r#"curl -X POST http://localhost:3000/api/mcp \
  -H "Content-Type: application/json" \
  -d '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"describe_schema","arguments":{}}}'"#,
    r#"curl -X POST http://localhost:3000/api/mcp \
  -H "Content-Type: application/json" \
  -d '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"query_table","arguments":{"filters":{"level":["error"]},"page":1,"pageSize":5,"format":"stats"}}}'"#,
    r#"curl -X POST http://localhost:3000/api/mcp \
  -H "Content-Type: application/json" \
  -d '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"query_table","arguments":{"filters":{"regions":["ams"]},"format":"markdown","pageSize":10}}}'"#,
];

/// The fields of the contract's request log.
const FIELDS: [&str; 8] =
    ["level", "method", "host", "pathname", "latency", "status", "regions", "date"];

/// A running demo, and the folder it keeps its world in.
pub(crate) struct Demo {
    pub(crate) server: Server,
    folder: Folder,
}

impl Demo {
    #[track_caller]
    pub(crate) fn start() -> Demo {
        let folder = Folder::new();
        let mut command = dowse("demo");
        command.args(["--no-model", "--listen", "127.0.0.1:0", "--data-dir"]);
        command.arg(folder.join("demo"));
        Demo { server: Server::start_command(command), folder }
    }

    /// The configuration that the demo writes for its world.
    pub(crate) fn config(&self) -> std::path::PathBuf {
        self.folder.join("demo/world/dowse.toml")
    }

    /// Asks what the contract's agent asks, and gives the chart that it is shown.
    #[track_caller]
    pub(crate) fn chart(&self, chart_type: &str) -> Value {
        let mcp = Mcp::new(self.server.http(), "/mcp");
        let found =
            mcp.call("search_filters", &json!({ "category": "uat", "query": "Cluj", "limit": 5 }));
        let found = found.success();
        let pick = found.get("bestMatch").unwrap_or(&found["results"][0]).clone();
        let education = json!({ "category": "functional_classification", "query": "educație" });
        let chapter = mcp.call("search_filters", &education).success()["bestMatch"].clone();
        let mut filter = json!({
            "report_period": {
                "type": "YEAR",
                "selection": { "interval": { "start": "2020", "end": "2024" } },
            },
            "account_category": "ch",
        });
        for pick in [&pick, &chapter] {
            filter[pick["filterKey"].as_str().unwrap()] = json!([pick["filterValue"]]);
        }
        let arguments = json!({
            "title": "Education Spending — Cluj (2020-2024)",
            "chart_type": chart_type,
            "series_definitions": [{ "label": "Cluj — Education", "filter": filter }],
        });
        mcp.call("generate_chart_data", &arguments).success()
    }
}

#[test]
fn the_commands_of_the_tables_contract_work_as_written() {
    let demo = Demo::start();
    let port = demo.server.http().authority().rsplit(':').next().unwrap().to_owned();
    let answers: Vec<Value> = COMMANDS
        .iter()
        .map(|command| {
            let command = command.replace(":3000/", &format!(":{port}/"));
            let output = Command::new("sh").args(["-c", &command]).output().unwrap();
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            serde_json::from_str(&printed)
                .unwrap_or_else(|error| panic!("{error}: `{printed}` {complaint}"))
        })
        .collect();
    for (at, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], json!(at + 1), "{answer}");
        assert_eq!(answer["jsonrpc"], "2.0");
        assert!(answer.get("error").is_none(), "{answer}");
    }
    let [initialized, listed, described, errors, markdown] = answers.as_slice() else {
        panic!("five answers")
    };
    assert_eq!(initialized["result"]["protocolVersion"], "2025-03-26");
    assert!(initialized["result"]["capabilities"]["tools"].is_object());
    assert!(initialized["result"]["serverInfo"]["name"].is_string());

    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["query_table", "describe_schema"]);
    let filters = &tools[0]["inputSchema"]["properties"]["filters"]["properties"];
    assert_eq!(filters.as_object().unwrap().keys().collect::<Vec<_>>(), FIELDS);
    assert_eq!(
        filters["level"],
        json!({ "type": "array", "items": { "type": "string", "enum": ["success", "warning", "error"] } })
    );

    let description = &described["result"]["structuredContent"];
    let fields: Vec<&String> = description["fields"].as_object().unwrap().keys().collect();
    assert_eq!(fields, FIELDS);
    assert_eq!(description["fields"]["level"]["values"], json!(["success", "warning", "error"]));

    let stats = &errors["result"]["structuredContent"];
    assert_eq!(stats["rows"].as_array().unwrap().len(), 5);
    let total = stats["total"].clone();
    assert_eq!(stats["facets"]["level"]["rows"], json!([{ "value": "error", "total": total }]));
    assert!(stats["facets"]["latency"]["min"].is_number());
    let text: Value =
        serde_json::from_str(errors["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(&text, stats);

    let table = markdown["result"]["structuredContent"]["markdown"].as_str().unwrap();
    assert_eq!(table.lines().count(), 12);
    assert!(table.lines().skip(2).all(|line| line.contains("ams")), "{table}");
    assert!(markdown["result"]["structuredContent"].get("rows").is_none());
}

/// What `tools/list` costs was said with two figures, of which one was old.
#[test]
fn the_cost_of_the_list_of_tools_is_one_figure_everywhere() {
    let demo = Demo::start();
    let mut command = dowse("tools");
    command.arg("--json").arg("--config").arg(demo.config());
    command.arg("--data-dir").arg(demo.folder.join("demo/data"));
    let printed = command.output().unwrap();
    let counted: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let listed = demo
        .server
        .http()
        .post_json("/mcp", &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
    let tools = listed.json()["result"]["tools"].clone();
    let names = |tools: &Value| -> Vec<Value> {
        tools.as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect()
    };
    assert_eq!(names(&counted["tools"]), names(&tools));
    let n_tokens = counted["tokens"].as_u64().unwrap();
    let written = format!("{},{:03}", n_tokens / 1_000, n_tokens % 1_000);
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (file, line) in [
        ("README.md", format!("`tools/list` is {written} tokens")),
        ("docs/agents.md", format!("| {written} |\n| `@modelcontextprotocol")),
    ] {
        let text = fs_err::read_to_string(root.join(file)).unwrap();
        assert!(text.contains(&line), "{file} does not say `{line}`");
    }
    // The estimate that the console shows is near it.
    let estimate: usize = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            let seen = json!({
                "name": tool["name"],
                "description": tool["description"],
                "input_schema": tool["inputSchema"],
            });
            text::count_tokens(&seen.to_string())
        })
        .sum();
    assert!((95..=112).contains(&(estimate as u64 * 100 / n_tokens)), "{estimate}, {n_tokens}");
}

/// What the demo adds gets its vectors while it runs, as with `dowse serve`.
#[test]
fn vectors_are_made_in_the_demo() {
    let embedder = Loopback::start(|request| {
        let n_texts = request.json()["input"].as_array().map_or(0, Vec::len);
        let data: Vec<Value> =
            (0..n_texts).map(|index| json!({ "index": index, "embedding": [0.6, 0.8] })).collect();
        Reply::json(&json!({ "data": data, "usage": { "total_tokens": 1 } }))
    });
    let folder = Folder::new();
    let mut command = dowse("demo");
    command.args(["--listen", "127.0.0.1:0", "--data-dir"]).arg(folder.join("demo"));
    command.env("DOWSE_EMBEDDER_PROVIDER", "http").env("DOWSE_EMBEDDER_API", "openai");
    command.env("DOWSE_EMBEDDER_MODEL", "flat").env("DOWSE_EMBEDDER_BASE_URL", embedder.url(""));
    let server = Server::start_command(command);
    let mcp = Mcp::new(server.http(), "/mcp");
    let is_whole = |tool: &str, arguments: Value| {
        let answer = mcp.call(tool, &arguments).success();
        !answer.to_string().contains("found by vector so far")
    };
    let is_paid = testkit::wait_until(std::time::Duration::from_secs(60), || {
        is_whole("searchFiles", json!({ "query": "remote work allowance" }))
            && is_whole("search", json!({ "query": "calibration" }))
    });
    assert!(is_paid, "{}", mcp.call("search", &json!({ "query": "calibration" })).success());
}

#[test]
fn every_family_is_played() {
    let demo = Demo::start();
    let said = demo.server.stderr();
    for family in ["documents  ", "tables     ", "names      ", "knowledge  ", "contexts   "] {
        assert!(said.lines().any(|line| line.starts_with(family)), "{family}: {said}");
    }
    let mcp = Mcp::new(demo.server.http(), "/mcp");
    let line = said.lines().find(|line| line.starts_with("knowledge  ")).unwrap();
    let (_, base) = line.rsplit_once(' ').unwrap();
    let question = "how often is a sensor on a three shift line calibrated?";
    let arguments = json!({ "query": question, "knowledge_base_id": base });
    let found = mcp.call("search_documents", &arguments).success();
    assert!(found["results"][0].to_string().contains("every six months"), "{found}");

    let line = said.lines().find(|line| line.starts_with("contexts   ")).unwrap();
    let (tools, place) = line["contexts   ".len()..].split_once(" at ").unwrap();
    assert_eq!(tools, "read_manual, search_manual");
    let (url, key) = place.split_once(" with the key ").unwrap();
    let path = url.strip_prefix(&demo.server.url("")).unwrap();
    let agent =
        Mcp::new(demo.server.http(), path).header("Authorization", &format!("Bearer {key}"));
    let question = json!({ "query": "another node on the bus has the same number", "top_k": 1 });
    let found = agent.call("search_manual", &question).success();
    assert_eq!(found["results"][0]["json_path"], "/errors/E204/text", "{found}");
    let node = agent.call("read_manual", &json!({ "json_path": "/errors/E204/short" })).success();
    assert_eq!(node["text"], "bus address taken");
}

/// A client that was connected stays connected over a restart, and a server that is started with
/// the demo's own configuration serves what the demo serves.
#[test]
fn a_restart_keeps_endpoint_and_key() {
    let folder = Folder::new();
    let start = || {
        let mut command = dowse("demo");
        command.args(["--no-model", "--listen", "127.0.0.1:0", "--data-dir"]);
        command.arg(folder.join("demo"));
        Server::start_command(command)
    };
    let endpoint = |server: &Server| {
        let said = server.stderr();
        let line = said.lines().find(|line| line.starts_with("contexts   ")).unwrap();
        let (_, place) = line.split_once("/mcp/").unwrap();
        place.to_owned()
    };
    let tools = |server: &Server| {
        let listed = Mcp::new(server.http(), "/mcp").list_tools();
        listed.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let first = start();
    let (before, served) = (endpoint(&first), tools(&first));
    first.stop();
    let second = start();
    assert_eq!(endpoint(&second), before);
    second.stop();
    let mut command = dowse("serve");
    command.arg("--config").arg(folder.join("demo/world/dowse.toml"));
    command.args(["--no-model", "--listen", "127.0.0.1:0"]);
    let plain = Server::start_command(command);
    assert_eq!(tools(&plain), served);
    let (id, key) = before.split_once(" with the key ").unwrap();
    let agent = Mcp::new(plain.http(), &format!("/mcp/{id}"))
        .header("Authorization", &format!("Bearer {key}"));
    agent.call("read_manual", &json!({ "json_path": "/errors/E204/short" })).success();
}

#[test]
fn an_agent_goes_from_a_question_to_a_chart() {
    let demo = Demo::start();
    let made = demo.chart("line");
    assert_eq!((&made["ok"], &made["kind"]), (&json!(true), &json!("chart-data.generated")));
    let series = &made["data_series"][0];
    assert_eq!(series["data_points"].as_array().unwrap().len(), 5);
    assert!(series["statistics"]["sum"].as_f64().unwrap() > 0.0, "{series}");

    let url = made["chart_url"].as_str().unwrap();
    let path = url.strip_prefix(&demo.server.url("")).unwrap();
    let page = demo.server.http().get(path);
    assert_eq!(page.status, 200);
    assert!(page.text().contains("JUDEȚUL CLUJ"), "the filters are in words");

    let csv = demo.server.http().get(&format!("{path}.csv"));
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    assert!(csv.text().starts_with("period,Cluj — Education (RON)\r\n2020,"), "{}", csv.text());

    let id = made["chart_id"].as_str().unwrap();
    let listed = demo.server.http().get("/v1/charts").json();
    assert_eq!(listed["charts"][0]["id"], id);
    assert_eq!(listed["charts"][0]["title"], "Education Spending — Cluj (2020-2024)");
    assert!(demo.server.http().get("/charts").text().contains(id));
    let gone =
        demo.server.http().send(&testkit::Request::new("DELETE", &format!("/v1/charts/{id}")));
    assert_eq!(gone.status, 200);
    assert_eq!(demo.server.http().get(path).status, 404);
    assert_eq!(demo.server.http().get("/v1/charts").json(), json!({ "charts": [], "next": null }));
}

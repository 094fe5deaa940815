//! A table of another program, mounted into its own router: the protocol, the arguments its
//! function gets, its mistakes and its failures.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use serve::{MountConfig, table_router};
use tables::{Field, Fields, GetDataOptions, GetDataResult, Range, Schema, TableHandler, Test};
use testkit::{Http, Mcp, Request};
use tokio::net::TcpListener;

/// Starts a program with one table, whose function fails when it is asked for `latency`, and
/// remembers what it was asked.
async fn program() -> (Http, Arc<Mutex<Vec<GetDataOptions>>>) {
    let fields = Fields::from([
        ("level", Field::any_of(Field::string_literal(["success", "error"]))),
        ("latency", Field::range(Field::number())),
        ("date", Field::range(Field::timestamp())),
    ]);
    let schema = Schema::new("requests", Some("HTTP requests".into()), fields).unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let handler = TableHandler::new(schema, move |options: GetDataOptions| {
        let must_fail = options.filters.iter().any(|filter| filter.column == "latency");
        seen.lock().unwrap().push(options);
        async move {
            if must_fail {
                return Err("the password of the database is hunter2".into());
            }
            let row = [
                ("level".to_owned(), "error".into()),
                ("latency".to_owned(), 120.into()),
                ("date".to_owned(), "2024-01-01T00:00:00Z".into()),
                ("unlisted".to_owned(), "not in the schema".into()),
            ];
            Ok(GetDataResult { rows: vec![row.into()], total: 1, facets: None })
        }
    });
    let app = axum::Router::new().nest("/api/mcp", table_router(handler, MountConfig::default()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    (Http::new(&address.to_string()), asked)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

#[tokio::test]
async fn a_program_serves_the_two_tools() {
    let (http, asked) = program().await;
    blocking(move || {
        let mcp = Mcp::new(&http, "/api/mcp");
        let started = mcp.request("initialize", &json!({"protocolVersion": "2025-03-26"}));
        assert_eq!(started["serverInfo"]["name"], "requests");
        let names: Vec<Value> = mcp.list_tools().iter().map(|tool| tool["name"].clone()).collect();
        assert_eq!(names, ["query_table", "describe_schema"]);
        let described = mcp.call("describe_schema", &json!({})).success();
        assert_eq!(described["fields"]["level"]["values"], json!(["success", "error"]));

        let arguments = json!({
            "filters": { "level": ["error"], "date": [1_704_067_200_000_i64, 1_704_153_600_000_i64] },
            "page": 2, "pageSize": 1, "sort": { "id": "date", "desc": true },
        });
        let answer = mcp.call("query_table", &arguments).success();
        let row = json!({ "level": "error", "latency": 120, "date": "2024-01-01T00:00:00Z" });
        assert_eq!(answer["rows"], json!([row]));
        let markdown = mcp.call("query_table", &json!({ "format": "markdown" })).success();
        assert!(markdown["markdown"].as_str().unwrap().starts_with("| level |"), "{markdown}");
    })
    .await;
    let asked = asked.lock().unwrap();
    assert_eq!((asked[0].page, asked[0].page_size), (2, 1));
    assert_eq!(asked[0].sort[0].column, "date");
    assert_eq!(asked[0].filters[0].test, Test::AnyOf(vec!["error".into()]));
    let (low, high) = (1_704_067_200_000, 1_704_153_600_000);
    let range = Range { low: tables::Value::Timestamp(low), high: tables::Value::Timestamp(high) };
    assert_eq!(asked[0].filters[1].test, Test::Within(vec![range]));
}

/// The documented example, as it is: it is asked here what its readers will ask it.
#[path = "../../examples/mount_table.rs"]
#[expect(dead_code, reason = "its main listens on a fixed port")]
mod mount_table;

async fn served(handler: TableHandler) -> Http {
    let app = axum::Router::new().nest("/api/mcp", table_router(handler, MountConfig::default()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    Http::new(&address.to_string())
}

#[tokio::test]
async fn the_example_sorts_and_advertises_what_it_has() {
    let http = served(mount_table::handler().unwrap()).await;
    blocking(move || {
        let mcp = Mcp::new(&http, "/api/mcp");
        let names = |arguments: &Value| -> Vec<Value> {
            let answer = mcp.call("query_table", arguments).success();
            answer["rows"].as_array().unwrap().iter().map(|row| row["name"].clone()).collect()
        };
        let newest = json!({ "sort": { "id": "born", "desc": true }, "pageSize": 2 });
        assert_eq!(names(&newest), ["Alan Turing", "Grace Hopper"]);
        let by_name = json!({ "sort": [{ "id": "name" }], "filters": { "born": [1900, 1950] } });
        assert_eq!(names(&by_name), ["Alan Turing", "Grace Hopper"]);

        let listed = mcp.list_tools();
        let input = &listed[0]["inputSchema"]["properties"];
        for absent in ["facets", "series", "cursor"] {
            assert!(input.get(absent).is_none(), "{absent}: {input}");
        }
        assert_eq!(input["format"]["enum"], json!(["json", "markdown", "csv"]));
        assert!(!listed[0]["description"].as_str().unwrap().contains("stats"));
        let described = mcp.call("describe_schema", &json!({})).success();
        assert_eq!(described["formats"], json!(["json", "markdown", "csv"]));
        let examples = described["examples"].as_array().unwrap();
        assert!(!examples.is_empty(), "{described}");
        for example in examples {
            mcp.call("query_table", example).success();
        }
        for refused in [json!({ "format": "stats" }), json!({ "facets": ["name"] })] {
            let error = mcp.call("query_table", &refused).error();
            assert_eq!(error["error"]["code"], "BAD_REQUEST", "{error}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_handler_that_counts_says_so_and_is_asked_for_it() {
    let schema = Schema::new("colours", None, Fields::from([("colour", Field::string())])).unwrap();
    let handler = TableHandler::new(schema, |_: GetDataOptions| async {
        let facet = tables::FacetMeta {
            rows: vec![tables::FacetRow { value: "red".into(), total: 3 }],
            total: 1,
            ..tables::FacetMeta::default()
        };
        let facets = Some(vec![("colour".to_owned(), facet)]);
        Ok(GetDataResult { rows: Vec::new(), total: 3, facets })
    });
    let http = served(handler.with_facets()).await;
    blocking(move || {
        let mcp = Mcp::new(&http, "/api/mcp");
        let input = mcp.list_tools()[0]["inputSchema"]["properties"].clone();
        assert!(input["format"]["enum"].to_string().contains("stats"), "{input}");
        let counted = mcp.call("query_table", &json!({ "facets": ["colour"] })).success();
        assert_eq!(counted["facets"]["colour"]["rows"][0]["value"], "red", "{counted}");
    })
    .await;
}

#[tokio::test]
async fn mistakes_are_named_and_failures_are_hidden() {
    let (http, _) = program().await;
    blocking(move || {
        let mcp = Mcp::new(&http, "/api/mcp");
        let unknown =
            mcp.call("query_table", &json!({ "filters": { "levle": ["error"] } })).error();
        assert_eq!(unknown["error"]["code"], "BAD_REQUEST");
        assert!(unknown["error"]["message"].as_str().unwrap().contains("levle"), "{unknown}");
        let failed = mcp.call("query_table", &json!({ "filters": { "latency": [1] } })).error();
        assert_eq!(failed["error"]["code"], "INTERNAL_ERROR");
        assert!(!failed.to_string().contains("hunter2"), "{failed}");
        let tool = mcp.request_error("tools/call", &json!({ "name": "drop_table" }));
        assert!(tool["message"].as_str().unwrap().contains("query_table"), "{tool}");

        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        let foreign = |name: &str, value: &str| {
            http.send(&Request::new("POST", "/api/mcp").header(name, value).json(&ping)).status
        };
        assert_eq!(foreign("Origin", "https://evil.example"), 403);
        let notification = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(http.post_json("/api/mcp", &notification).status, 202);
        assert_eq!(http.get("/api/mcp").status, 405);
    })
    .await;
}

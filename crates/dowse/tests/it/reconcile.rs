//! The reconciliation service as its clients use it: OpenRefine's server sends forms, and its
//! pages, which are at another origin, ask for suggestions and show previews in a frame.

use serde_json::{Value, json};
use testkit::{Browser, Request};

use crate::demo::Demo;
use crate::test_server::TestServer;

/// Writes a form with one field.
fn form(name: &str, value: &Value) -> String {
    let escaped: String = value
        .to_string()
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect();
    format!("{name}={escaped}")
}

fn post(demo: &Demo, name: &str, value: &Value) -> Value {
    let request = Request::new("POST", "/reconcile")
        .header("Content-Type", "application/x-www-form-urlencoded;charset=UTF-8")
        .body(form(name, value));
    let answer = demo.server.http().send(&request);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[test]
fn a_list_of_names_is_reconciled_as_openrefine_does_it() {
    let demo = Demo::start();
    let http = demo.server.http();
    let manifest = http.get("/reconcile").json();
    assert_eq!(manifest["versions"], json!(["0.2"]));
    let base = demo.server.url("");

    // The client guesses types from a first few names, then sends batches.
    let names = ["Cluj-Napoca", "cluj napoca", "Județul Cluj", "nowhere at all"];
    let batch: serde_json::Map<String, Value> = names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            (
                format!("q{at}"),
                json!({ "query": name, "type": "uat", "type_strict": "should", "limit": 3 }),
            )
        })
        .collect();
    let answers = post(&demo, "queries", &Value::Object(batch));
    assert_eq!(answers["q0"]["result"][0]["id"], answers["q1"]["result"][0]["id"]);
    assert_eq!(answers["q2"]["result"][0]["match"], true);
    assert_eq!(answers["q3"]["result"], json!([]));

    // Columns are added from what was matched.
    let id = answers["q2"]["result"][0]["id"].as_str().unwrap();
    let propose = &manifest["extend"]["propose_properties"];
    let path = format!(
        "{}{}",
        propose["service_url"].as_str().unwrap(),
        propose["service_path"].as_str().unwrap()
    );
    let proposed = http.get(&format!("{}?type=uat", path.strip_prefix(&base).unwrap())).json();
    let properties: Vec<Value> = proposed["properties"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| json!({ "id": one["id"] }))
        .collect();
    let extended = post(&demo, "extend", &json!({ "ids": [id], "properties": properties }));
    assert_eq!(extended["rows"][id]["population"], json!([{ "int": 691_106 }]));

    // A page of another program on this machine may ask, and a page of a stranger may not.
    let suggest = &manifest["suggest"]["entity"];
    let path = format!(
        "{}{}?prefix=clu",
        suggest["service_url"].as_str().unwrap(),
        suggest["service_path"].as_str().unwrap()
    );
    let path = path.strip_prefix(&base).unwrap();
    let from = |origin: &str, method: &str| {
        http.send(&Request::new(method, path).header("Origin", origin))
    };
    let openrefine = "http://127.0.0.1:3333";
    let suggested = from(openrefine, "GET");
    assert_eq!(suggested.header("access-control-allow-origin"), Some(openrefine));
    assert!(!suggested.json()["result"].as_array().unwrap().is_empty());
    let asked_before = from(openrefine, "OPTIONS");
    assert_eq!(
        (asked_before.status, asked_before.header("access-control-allow-methods")),
        (204, Some("GET, POST"))
    );
    let stranger = from("https://evil.example", "GET");
    assert_eq!((stranger.status, stranger.header("access-control-allow-origin")), (403, None));
    check_in_a_browser(&demo);
}

/// A browser shows previews and suggestions to a page of another origin.
fn check_in_a_browser(demo: &Demo) {
    let Some(mut browser) = Browser::start() else { return };
    let preview = demo.server.url("/reconcile/preview?id=uat%2F123");
    let page = format!("<!doctype html><title>client</title><iframe src=\"{preview}\"></iframe>");
    let client = testkit::loopback::Loopback::start(move |_| {
        testkit::loopback::Reply::ok(page.clone())
            .with_header("content-type", "text/html; charset=utf-8")
    });
    browser.open(&client.url("/"));
    let suggest = demo.server.url("/reconcile/suggest/entity?prefix=clu");
    let names = browser.evaluate(&format!(
        "fetch('{suggest}').then(answer => answer.json()).then(found => found.result.map(one => one.name))"
    ));
    assert!(names.as_array().unwrap().contains(&json!("JUDEȚUL CLUJ")), "{names}");
    let frames = browser.command("Page.getFrameTree", &json!({}));
    let shown = &frames["frameTree"]["childFrames"][0]["frame"];
    assert_eq!(shown["url"], preview, "a refused frame shows an error page: {shown}");
}

/// The names of dimensions and what is known of them went out as they were.
#[test]
fn names_and_what_is_known_of_them_are_redacted() {
    let folder = testkit::Folder::new();
    folder.write(
        "places.csv",
        "id,name,owner\n1,Orchard ann@quillmark.example,+40 722 481 516\n2,Mill,nobody\n",
    );
    let config = "[embedder]\nprovider = \"none\"\n[[dimensions]]\ncategory = \"place\"\n\
        source = \"places.csv\"\nvalue = \"id\"\nfilter_key = \"place_ids\"\nname = \"name\"\n\
        context = \"Owner: {owner}\"\nmetadata = { owner = \"owner\" }\n";
    let test_server = TestServer::start_in(folder, config);
    let http = test_server.http();
    let post = |name: &str, value: &Value| {
        let request = Request::new("POST", "/reconcile")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .body(form(name, value));
        http.send(&request).text()
    };
    let queries = json!({ "q0": { "query": "Orchard", "type": "place" } });
    let extend =
        json!({ "ids": ["place/1"], "properties": [{ "id": "owner" }, { "id": "context" }] });
    let explained = json!({ "category": "place", "query": "Orchard", "explain": true });
    let found = test_server.mcp().call("search", &json!({ "query": "Orchard", "explain": true }));
    let found = found.success();
    let id = &found["results"][0]["id"];
    for answer in [
        post("queries", &queries),
        post("extend", &extend),
        http.get("/reconcile/suggest/entity?prefix=Orch").text(),
        http.get("/reconcile/preview?id=place/1").text(),
        test_server.mcp().call("search_filters", &explained).success().to_string(),
        test_server.mcp().call("fetch", &json!({ "id": id })).success().to_string(),
        found.to_string(),
    ] {
        assert!(answer.contains("[email]") || answer.contains("[phone]"), "{answer}");
        assert!(!answer.contains("quillmark") && !answer.contains("481 516"), "{answer}");
    }
}

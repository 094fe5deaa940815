//! Nothing is lost between a person and the server: lists go on to their end, long values arrive,
//! what is pasted stays as it was written, and a file is
//! known by its name however many have a similar one.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::{Folder, Http, Response};

use crate::console::{form_token, page, post};
use crate::test_server::TestServer;

const CONFIG: &str = r#"
[embedder]
provider = "none"
[files]
roots = ["docs"]
watch = false
[[tables]]
name = "sales"
source = "sales.csv"
fields = { day = { type = "timestamp" }, amount = { type = "number" } }
"#;

fn server() -> TestServer {
    let folder = Folder::new();
    for number in 1..=60 {
        folder.write(format!("docs/{number}1.txt"), format!("lamp {number} of the quay"));
    }
    folder.write("docs/z/1.txt", "the lighthouse keeper");
    folder.write("sales.csv", "day,amount\n2024-01-01,3\n2024-01-02,4\n");
    let server = TestServer::start_in_with(folder, CONFIG, &[]);
    server.wait_until(|| {
        let jobs = server.http().get("/v1/jobs").json();
        let is_over = |job: &Value| job["status"] == "done";
        jobs["jobs"].as_array().is_some_and(|jobs| !jobs.is_empty() && jobs.iter().all(is_over))
    });
    server
}

#[track_caller]
fn made(http: &Http, path: &str, body: &Value) -> Value {
    let answer = http.post_json(path, body);
    assert!(answer.status < 300, "{path}: {}", answer.text());
    answer.json()
}

/// The links of a page that begin so, and the one to its next page.
fn links(page: &Response, begin: &str) -> (BTreeSet<String>, Option<String>) {
    let text = page.text().replace("&amp;", "&");
    let address = |after: &str| after.split('"').next().unwrap_or_default().to_owned();
    let found = text.split("href=\"").skip(1).map(address);
    let next = text.split_once("rel=\"next\" href=\"").map(|(_, after)| address(after));
    (found.filter(|link| link.starts_with(begin) && !link.contains(['?', '.'])).collect(), next)
}

/// Everything that a list leads to, from its first page to its last.
fn walk(http: &Http, start: &str, begin: &str) -> BTreeSet<String> {
    let (mut seen, mut address) = (BTreeSet::new(), Some(start.to_owned()));
    for _ in 0..20 {
        let Some(next) = address.take() else { break };
        let answer = page(http, &next, "");
        assert_eq!(answer.status, 200, "{next}");
        let (found, next) = links(&answer, begin);
        seen.extend(found);
        address = next;
    }
    assert_eq!(address, None, "{start} has no end");
    seen
}

#[test]
fn lists_lead_to_their_end() {
    const N: usize = 103;
    let server = server();
    let http = server.http();
    let base = made(http, "/v1/knowledge-bases", &json!({ "name": "first" }));
    let base = base["id"].as_str().unwrap();
    let project = made(http, "/v1/projects", &json!({ "name": "first" }));
    let project = project["id"].as_str().unwrap();
    let tables = format!("/v1/projects/{project}/tables");
    let table = made(http, &tables, &json!({ "name": "first", "data": {} }));
    for number in 1..N {
        let named = json!({ "name": format!("number {number}") });
        made(http, "/v1/knowledge-bases", &named);
        made(http, "/v1/projects", &named);
        made(http, &format!("/v1/knowledge-bases/{base}/collections"), &named);
        made(http, &tables, &json!({ "name": format!("number {number}"), "data": {} }));
        let tool =
            json!({ "type": "get", "table_id": table["id"], "name": format!("read_{number}") });
        made(http, "/v1/tools", &tool);
        let chart = json!({ "table": "sales", "group_by": ["day"], "title": number.to_string() });
        made(http, "/v1/call/chart_table", &chart);
    }
    for (start, begin, expected) in [
        ("/knowledge", "/knowledge/", N),
        ("/contexts", "/contexts/", N),
        ("/charts", "/charts/", N - 1),
        (&format!("/knowledge/{base}"), "/knowledge/collections/", N - 1),
        (&format!("/contexts/{project}"), "/contexts/documents/", N),
    ] {
        let seen = walk(http, start, begin);
        assert_eq!(seen.len(), expected, "{start}: {seen:?}");
    }
    let tools = page(http, "/tools", "").text();
    assert_eq!(tools.matches("?made=").count(), N - 1);
}

/// A person could not go on behind fifty results, where an agent can, and what was there was said
/// to be no candidate.
#[test]
fn a_search_leads_to_its_end_as_an_agents_does() {
    let server = server();
    let http = server.http();
    let titles = |answer: &Response| -> Vec<String> {
        let text = answer.text();
        let links = text.split("class=\"title\" href=\"").skip(1);
        links.map(|link| link.split(['>', '<']).nth(1).unwrap().to_owned()).collect()
    };
    let (mut seen, mut address) = (Vec::new(), "/?q=lamp+quay&limit=50".to_owned());
    for _ in 0..10 {
        let answer = page(http, &address, "");
        seen.extend(titles(&answer));
        match links(&answer, "/open/").1 {
            Some(next) => address = next,
            None => break,
        }
    }
    assert_eq!(seen.len(), 60, "{seen:?}");
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 60);
    let last = page(http, &address, "").text();
    assert!(last.contains("behind the first 50") && last.contains("rel=\"first\""), "{last}");
    assert!(last.contains("<span class=\"place\">51</span>"), "{last}");
    let why = format!("/?q=lamp+quay&view=missing&document={}", seen[54]);
    let why = page(http, &why, "").text();
    assert!(why.contains("Lost at: Number of results") && why.contains("at place 55"), "{why}");
}

/// Every query that found little can be reached, not the fifty most frequent ones.
#[test]
fn queries_that_found_little_go_on_to_their_end() {
    let server = server();
    let http = server.http();
    // Without figures, which names of files have.
    let word = |number: u8| {
        let letters = [b'a' + number / 26, b'a' + number % 26].map(char::from);
        format!("walrus{}", letters.iter().collect::<String>())
    };
    for number in 0..55 {
        let query = json!({ "query": word(number) });
        assert_eq!(http.post_json("/v1/call/search", &query).status, 200);
    }
    // Calls are written into the record behind their answers.
    server.wait_until(|| page(http, "/activity?view=weak", "").text().contains(" of 55<"));
    let (mut seen, mut address) = (BTreeSet::new(), Some("/activity?view=weak".to_owned()));
    while let Some(next) = address.take() {
        let answer = page(http, &next, "");
        let text = answer.text();
        seen.extend((0..55).filter(|number| text.contains(&format!(">{}</td>", word(*number)))));
        address = links(&answer, "/").1;
    }
    assert_eq!(seen.len(), 55);
}

#[test]
fn what_a_form_holds_arrives_as_it_was_written() {
    let server = server();
    let http = server.http();
    let base = made(http, "/v1/knowledge-bases", &json!({ "name": "base" }));
    let collections = format!("/v1/knowledge-bases/{}/collections", base["id"].as_str().unwrap());
    let collection = made(http, &collections, &json!({ "name": "all" }));
    let collection = collection["id"].as_str().unwrap();
    let token = form_token(&page(http, "/knowledge", ""));
    let long = "The aardvark rule holds on Tuesdays.\r\n".repeat(2_000);
    let next = format!("/knowledge/collections/{collection}");
    let form = [
        ("form_token", token.as_str()),
        ("parent", collection),
        ("title", "long"),
        ("text", &long),
        ("next", &next),
    ];
    let sent = post(http, "/do/add-text", "", &form);
    assert_eq!(sent.status, 303, "{}", sent.text());

    let project = made(http, "/v1/projects", &json!({ "name": "manuals" }));
    let project = project["id"].as_str().unwrap();
    let paste = |data: &str| {
        let form = [
            ("form_token", token.as_str()),
            ("parent", project),
            ("name", "pasted"),
            ("data", data),
        ];
        post(http, "/do/create-table", "", &form)
    };
    let digits = format!("{{\"n\":12345678901234567890.125,\"s\":\"{}\"}}", "x".repeat(60_000));
    assert_eq!(paste(&digits).status, 303);
    let tables = http.get(&format!("/v1/projects/{project}/tables")).json();
    let table = tables["tables"][0]["id"].as_str().unwrap();
    let node = http.get(&format!("/v1/tables/{table}/node?pointer=/n")).json();
    assert_eq!(node["text"], "12345678901234567890.125");
    let twice = paste("{\"a\":1,\"a\":2}");
    assert_eq!(twice.status, 400, "{}", twice.text());

    // A call that reads has an address of its own, unless it is too long for one.
    let call = |text: &str| {
        let form = [("form_token", token.as_str()), ("run", "1"), ("arg.text", text)];
        post(http, "/tools/normalize_ocr_text", "", &form)
    };
    let short = call("キャリ-\r\nデ-タ");
    assert_eq!(short.status, 303);
    let address = short.header("location").unwrap();
    assert!(address.contains("run=1") && !address.contains("form_token"), "{address}");
    assert!(page(http, address, "").text().contains("キャリー\\nデータ"), "lines stay lines");
    let long = call(&"キャリ-\r\n".repeat(300));
    assert_eq!(long.status, 200);
    assert!(long.text().contains("キャリー\\nキャリー"), "{}", long.text());
}

#[test]
fn a_file_is_known_by_its_name_among_many() {
    let server = server();
    let http = server.http();
    let ask = |document: &str| {
        page(http, &format!("/?q=keeper&view=missing&document={document}"), "").text()
    };
    assert!(ask("1.txt").contains("It was found"), "{}", ask("1.txt"));
    let alike = ask("601");
    assert!(alike.contains("Did you mean") && alike.contains("601.txt"), "{alike}");

    let project = made(http, "/v1/projects", &json!({ "name": "manuals" }));
    let project = project["id"].as_str().unwrap();
    let manual = json!({ "name": "lens manual", "data": { "a": "The keeper cleans the lens." } });
    let table = made(http, &format!("/v1/projects/{project}/tables"), &manual);
    let unread = ask("lens%20manual");
    assert!(unread.contains("no search tool is made over it"), "{unread}");
    let tool = json!({ "type": "search", "table_id": table["id"], "name": "search_lens" });
    made(http, "/v1/tools", &tool);
    server.wait_until(|| ask("lens%20manual").contains("It was found"));
}

#[test]
fn the_address_of_a_form_has_a_page() {
    let server = server();
    for address in ["/sources/index", "/do/create-endpoint", "/activity/judge"] {
        let answer = page(server.http(), address, "");
        assert_eq!(answer.status, 405, "{address}");
        assert!(answer.text().contains("<main"), "{address}: {}", answer.text());
    }
}

/// Files of a kind that is not read filled the first page, and those that failed were behind them.
#[test]
fn what_failed_is_on_the_first_page_of_the_sources() {
    let folder = Folder::new();
    for number in 0..60 {
        folder.write(format!("docs/{number}.bin"), [0_u8, 159, 146, 150].repeat(20));
    }
    folder.write("docs/z/broken.pdf", "%PDF-1.7 not a document");
    let config = "[embedder]\nprovider = \"none\"\n[files]\nroots = [\"docs\"]\nwatch = false\n";
    let server = TestServer::start_in_with(folder, config, &[]);
    let failed = || {
        let text = page(server.http(), "/sources", "").text();
        let (_, part) = text.split_once("aria-labelledby=\"failed\"").unwrap_or_default();
        part.split("</section>").next().unwrap_or_default().to_owned()
    };
    server.wait_until(|| failed().contains("61 files without text"));
    assert!(failed().contains("broken.pdf"), "{}", failed());
}

/// A list was said to have as many elements as there was room for, and hid what came after it.
#[test]
fn a_json_document_is_a_tree_with_the_size_of_every_part() {
    let server = server();
    let http = server.http();
    let project = made(http, "/v1/projects", &json!({ "name": "parts" }));
    let tables = format!("/v1/projects/{}/tables", project["id"].as_str().unwrap());
    let parts: Vec<Value> =
        (0..5_000).map(|id| json!({ "id": id, "text": format!("the part {id}") })).collect();
    let data = json!({ "parts": parts, "": { "x": 1 }, "made by": "Meridian <b>" });
    let table = made(http, &tables, &json!({ "name": "parts", "data": data }));
    let here = format!("/contexts/documents/{}", table["id"].as_str().unwrap());
    let text = page(http, &here, "").text();
    for shown in ["5\u{202f}000 elements", "&quot;&quot;</a>", "made by</a>", "Meridian &lt;b&gt;"]
    {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    let (mut n_seen, mut address) = (0, Some(format!("{here}?pointer=%2Fparts")));
    while let Some(next) = address.take() {
        let answer = page(http, &next, "");
        n_seen += answer.text().matches("pointer=%2Fparts%2F").count();
        address = links(&answer, "/").1;
    }
    assert_eq!(n_seen, 5_000);
    let refused = http.get(&format!("/v1/tables/{}/node?view=x", table["id"].as_str().unwrap()));
    assert_eq!(refused.status, 400, "{}", refused.text());
}

//! Laws of all pages of the console: every link on them leads somewhere, every form that is shown
//! can be used by whoever is shown it, every request counts in the one rate class, and a session
//! ends where its person ends it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use testkit::{Folder, Http, Request, tokens};

use crate::console::{form_token, page, post, sign_in};
use crate::test_server::TestServer;

const VARIABLES: [(&str, &str); 3] = [
    ("KEY_ADMIN", "a key of an administrator of acme"),
    ("KEY_READER", "a key of a reader of the same tenant"),
    ("KEY_OTHER", "a key of a person of another tenant"),
];

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
[[server.endpoints]]
name = "browse"
tools = ["listRoots", "listFiles", "openFile"]
[[auth.keys]]
name = "ann"
tenant = "acme"
key_env = "KEY_ADMIN"
roles = ["admin"]
clearance = "secret"
[[auth.keys]]
name = "bob"
tenant = "acme"
key_env = "KEY_READER"
[[auth.keys]]
name = "eve"
tenant = "other"
key_env = "KEY_OTHER"
"#;

/// A server with something of every family, made by the administrator.
fn fixture() -> TestServer {
    let folder = Folder::new();
    folder.write("docs/a.txt", "a lighthouse of Graz");
    folder.write("docs/empty.txt", "");
    folder.write("sales.csv", "day,amount\n2024-01-01,3\n2024-01-02,4\n");
    let server = TestServer::start_in_with(folder, CONFIG, &VARIABLES);
    let [(_, admin), ..] = VARIABLES;
    let rest = |path: &str, body: serde_json::Value| {
        let bearer = format!("Bearer {admin}");
        let request = Request::new("POST", path).header("Authorization", &bearer).json(&body);
        let answer = server.http().send(&request);
        assert!(answer.status < 300, "{path}: {}", answer.text());
        answer.json()
    };
    let id = |made: serde_json::Value| made["id"].as_str().unwrap().to_owned();
    let base = id(rest("/v1/knowledge-bases", json!({ "name": "Rules", "visibility": "public" })));
    let collection = id(rest(
        &format!("/v1/knowledge-bases/{base}/collections"),
        json!({ "name": "All", "clearance": "public" }),
    ));
    rest(
        &format!("/v1/collections/{collection}/documents"),
        json!({ "title": "Leave", "text": "Annual leave is twenty days." }),
    );
    let members = json!([{ "subject": "bob", "role": "reader" }]);
    let project = id(rest("/v1/projects", json!({ "name": "Manuals", "members": members })));
    let manual = json!({ "name": "manual", "data": { "chapters": ["How to calibrate."] } });
    let table = id(rest(&format!("/v1/projects/{project}/tables"), manual));
    let tool = json!({ "type": "search", "table_id": table, "name": "search_manual" });
    let tool = id(rest("/v1/tools", tool));
    let endpoint = json!({ "name": "agents", "tool_ids": [tool], "project_id": project });
    rest("/v1/endpoints", endpoint);
    let chart = json!({ "table": "sales", "group_by": ["day"], "measures": [{ "op": "count" }], "title": "Sales" });
    rest("/v1/call/chart_table", chart);
    server.wait_until(|| {
        let bearer = format!("Bearer {admin}");
        let jobs = Request::new("GET", "/v1/jobs").header("Authorization", &bearer);
        let jobs = server.http().send(&jobs).json();
        let is_over = |job: &serde_json::Value| job["status"] == "done";
        jobs["jobs"].as_array().is_some_and(|jobs| !jobs.is_empty() && jobs.iter().all(is_over))
    });
    server
}

/// A form as it is on a page.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Form {
    action: String,
    fields: Vec<(String, String)>,
}

/// Everything that a person reaches from the start: the pages with their status, and the forms
/// that change something, one for each action.
fn crawl(http: &Http, cookie: &str) -> (BTreeMap<String, u16>, BTreeMap<String, Form>) {
    const MAX_PAGES: usize = 400;
    let mut seen = BTreeMap::new();
    let mut forms = BTreeMap::new();
    let mut waiting = vec!["/".to_owned(), "/?q=lighthouse".to_owned()];
    // Of many addresses that differ in one value, a few tell as much as all.
    let mut of_shape: BTreeMap<String, usize> = BTreeMap::new();
    while let Some(address) = waiting.pop() {
        if seen.contains_key(&address) || seen.len() == MAX_PAGES {
            continue;
        }
        let n_like_it = of_shape.entry(shape(&address)).or_default();
        *n_like_it += 1;
        if *n_like_it > 3 {
            continue;
        }
        let answer = page(http, &address, cookie);
        seen.insert(address.clone(), answer.status);
        let is_page = answer.header("content-type").is_some_and(|kind| kind.contains("text/html"));
        if !is_page {
            continue;
        }
        let text = answer.text();
        assert!(text.contains(" data-go=\"t\""), "{address} is without the sections");
        assert_marked_up(&address, &text);
        for link in values(&text, "href=\"") {
            let link = link.split('#').next().unwrap().to_owned();
            if link.starts_with('/') && !link.starts_with("/assets/") {
                waiting.push(link);
            }
        }
        for form in text.split("<form").skip(1) {
            let form = form.split("</form>").next().unwrap();
            let Some(action) = values(form, "action=\"").pop() else { continue };
            if form.contains("method=\"post\"") {
                forms.entry(action.clone()).or_insert(Form { action, fields: fields(form) });
            }
        }
    }
    (seen, forms)
}

/// An id names one thing of a page, so that labels belong to their fields; headings go down one
/// level at a time.
#[track_caller]
fn assert_marked_up(address: &str, text: &str) {
    let mut ids = BTreeSet::new();
    for id in values(text, " id=\"") {
        assert!(ids.insert(id.clone()), "{address} has `{id}` twice");
    }
    let mut level = 0;
    for heading in text.split("<h").skip(1) {
        let Some(next) = heading.chars().next().and_then(|digit| digit.to_digit(10)) else {
            continue;
        };
        assert!(next <= level + 1, "{address} goes from h{level} to <h{heading:.60}");
        level = next;
    }
}

/// The path and the names in the query of an address; ids are as one.
fn shape(address: &str) -> String {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let is_id = |part: &&str| part.len() >= 16;
    let path: Vec<&str> =
        path.split('/').map(|part| if is_id(&part) { "ID" } else { part }).collect();
    let names: BTreeSet<&str> =
        query.split('&').map(|pair| pair.split('=').next().unwrap()).collect();
    format!("{}?{names:?}", path.join("/"))
}

/// The values of an attribute, unescaped.
fn values(text: &str, attribute: &str) -> Vec<String> {
    let values = text.split(attribute).skip(1).map(|rest| rest.split('"').next().unwrap());
    values.map(|value| value.replace("&amp;", "&").replace("&quot;", "\"")).collect()
}

/// What a form sends when a person fills in what it asks for.
fn fields(form: &str) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for tag in form.split('<').skip(1) {
        let Some(name) = values(tag, " name=\"").pop() else { continue };
        let value = values(tag, " value=\"").pop();
        let value = match value {
            Some(value) if !value.is_empty() => value,
            _ if name == "data" => "{}".to_owned(),
            _ => "something".to_owned(),
        };
        fields.push((name, value));
    }
    fields
}

#[test]
fn every_link_leads_somewhere_and_every_form_can_be_used() {
    let server = fixture();
    let http = server.http();
    for (variable, key) in VARIABLES {
        let cookie = sign_in(http, key);
        let (pages, forms) = crawl(http, &cookie);
        assert!(pages.len() > 25, "{variable}: {pages:?}");
        let lost: Vec<_> = pages.iter().filter(|(_, status)| **status >= 400).collect();
        assert!(lost.is_empty(), "{variable} is led to {lost:?}");
        // What is deleted first is missing later.
        let mut forms: Vec<Form> = forms.into_values().collect();
        forms.sort_by_key(|form| form.action.contains("delete") || form.action.contains("revoke"));
        for form in forms.iter().filter(|form| form.action != "/sign-out") {
            let given: Vec<(&str, &str)> =
                form.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let answer = post(http, &form.action, &cookie, &given);
            assert!(![401, 403].contains(&answer.status), "{variable}: {form:?} {}", answer.text());
            // What cannot be undone is asked about before, also without a script.
            let is_final = ["delete", "revoke", "forget"].iter().any(|it| form.action.contains(it));
            let leads_to = answer.header("location").unwrap_or_default();
            assert_eq!(is_final, leads_to.starts_with("/confirm"), "{form:?}: {leads_to}");
            if is_final {
                let asked = page(http, leads_to, &cookie).text();
                assert!(asked.contains("name=\"confirmed\""), "{asked}");
                let confirmed = [given.as_slice(), &[("confirmed", "yes")]].concat();
                let done = post(http, &form.action, &cookie, &confirmed);
                assert!(![401, 403].contains(&done.status), "{form:?} {}", done.text());
            }
        }
        assert_eq!(
            variable == "KEY_ADMIN",
            pages.keys().any(|page| page.starts_with("/operations")),
            "{variable}"
        );
        // Looking at the console as somebody who changes nothing shows nothing that changes.
        if variable == "KEY_ADMIN" {
            let token = form_token(&page(http, "/view-as", &cookie));
            let began =
                post(http, "/view-as", &cookie, &[("form_token", &token), ("subject", "bob")]);
            let view = began.header("set-cookie").unwrap().split(';').next().unwrap();
            let (pages, forms) = crawl(http, &format!("{cookie}; {view}"));
            let lost: Vec<_> = pages.iter().filter(|(_, status)| **status >= 400).collect();
            assert!(lost.is_empty(), "viewing as another leads to {lost:?}");
            let mut actions: BTreeSet<&str> = forms.keys().map(String::as_str).collect();
            let changing = ["/tools/indexFolder", "/tools/chart_table"];
            assert!(!changing.iter().any(|action| actions.contains(action)), "{actions:?}");
            // Tools that read are called by a form, since what they are given may be long.
            actions.retain(|action| !action.starts_with("/tools/"));
            let allowed = BTreeSet::from(["/sign-out", "/view-as", "/view-as/stop", "/names"]);
            assert!(actions.is_subset(&allowed), "{actions:?}");
        }
    }
}

#[test]
fn tools_of_every_address_can_be_tried() {
    let server = fixture();
    let http = server.http();
    let [(_, admin), ..] = VARIABLES;
    let cookie = sign_in(http, admin);
    let tools = page(http, "/tools", &cookie).text();
    for address in ["/mcp/browse", "/api/mcp"] {
        assert!(tools.contains(&format!("Tools at <code>{address}</code>")), "{tools}");
    }
    let run = "/tools/listRoots?at=%2Fmcp%2Fbrowse&run=1";
    let ran = page(http, run, &cookie).text();
    assert!(ran.contains("answer-json") && ran.contains("/mcp/browse"), "{ran}");
    // What that address does not serve cannot be called through it.
    assert_eq!(page(http, "/tools/search?at=%2Fmcp%2Fbrowse&run=1", &cookie).status, 404);
    let made = values(&tools, "href=\"").into_iter().find(|link| link.contains("made=")).unwrap();
    let made = page(http, &made, &cookie).text();
    assert!(!made.contains("ENDPOINT_ID"), "{made}");
}

#[test]
fn every_request_to_the_console_counts_in_its_rate() {
    let config = "[limits]\nrate_per_minute = { console = 3 }\n";
    let paths = ["/operations", "/activity", "/activity/export", "/sources", "/sources.json"];
    for path in ["/", "/tools", "/view-as", "/operations/metrics", "/tables"].iter().chain(&paths) {
        let server = TestServer::start(config);
        let http = server.http();
        for _ in 0..3 {
            assert_ne!(page(http, path, "").status, 429, "{path}");
        }
        let refused = page(http, path, "");
        assert_eq!(refused.status, 429, "{path}");
        assert!(refused.text().contains("Too many requests"), "{}", refused.text());
        assert!(refused.header("retry-after").is_some());
        // Programs and agents have rates of their own.
        assert_eq!(http.get("/v1/jobs").status, 200);
        server.assert_alive();
    }
}

/// A token of an identity provider that names many groups is larger than any cookie.
#[test]
fn a_large_token_signs_in_and_its_session_ends() {
    const SECRET: &str = "a shared secret of decent length";
    let (issuer, audience) = (tokens::ISSUER, tokens::AUDIENCE);
    let config = format!(
        "[auth]\njwt = {{ issuer = \"{issuer}\", audience = \"{audience}\", hs256_secret_env = \"TEST_SECRET\" }}\n"
    );
    let server = TestServer::start_with(&config, &[("TEST_SECRET", SECRET)]);
    let groups: Vec<String> = (0..300).map(|n| format!("department-{n:04}")).collect();
    let mut claims = tokens::claims();
    (claims["roles"], claims["groups"]) = (json!(["admin"]), json!(groups));
    let token = tokens::hs256(&claims, SECRET.as_bytes());
    assert!(token.len() > 5_000, "{}", token.len());
    let http = server.http();
    let cookie = sign_in(http, &token);
    assert!(cookie.len() < 1_000, "{}", cookie.len());
    let start = page(http, "/operations", &cookie);
    assert_eq!(start.status, 200, "{}", start.text());
    post(http, "/sign-out", &cookie, &[("form_token", &form_token(&start))]);
    assert_eq!(page(http, "/", &cookie).status, 303);
}

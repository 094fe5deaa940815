//! Forms of the console without a script: what cannot be undone is asked about on a page of its
//! own, what makes something leads to a page that can be loaded again, and the state of a folder
//! follows its jobs.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};
use testkit::{Folder, Http, Request, Response};

use crate::console::{form_token, page, post, sign_in};
use crate::test_server::TestServer;

/// Follows an answer to a form to its page, with the cookies that it set.
#[track_caller]
fn follow(http: &Http, answer: &Response) -> Response {
    assert_eq!(answer.status, 303, "{}", answer.text());
    let cookie = answer.header("set-cookie").unwrap_or_default();
    page(http, answer.header("location").unwrap(), cookie.split(';').next().unwrap())
}

#[track_caller]
fn made(http: &Http, path: &str, body: &Value) -> String {
    let answer = http.post_json(path, body);
    assert!(answer.status < 300, "{path}: {}", answer.text());
    answer.json()["id"].as_str().unwrap().to_owned()
}

/// The fields of the form of a page that is sent to an address.
#[track_caller]
fn fields(page: &Response, action: &str) -> Vec<(String, String)> {
    let text = page.text();
    let begin = format!("action=\"{action}\"");
    let (_, form) = text.split_once(&begin).unwrap_or_else(|| panic!("no {action}: {text}"));
    let form = form.split("</form>").next().unwrap();
    let attribute = |tag: &str, name: &str| {
        let (_, value) = tag.split_once(&format!(" {name}=\""))?;
        Some(value.split('"').next()?.replace("&amp;", "&").replace("&quot;", "\""))
    };
    let inputs = form.split("<input").skip(1).map(|tag| tag.split('>').next().unwrap());
    inputs.filter_map(|tag| Some((attribute(tag, "name")?, attribute(tag, "value")?))).collect()
}

#[track_caller]
fn send(http: &Http, action: &str, fields: &[(String, String)]) -> Response {
    let fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    post(http, action, "", &fields)
}

/// A project with a document, a tool and an endpoint.
struct Project {
    id: String,
    endpoint: String,
}

fn project(http: &Http) -> Project {
    let id = made(http, "/v1/projects", &json!({ "name": "Manuals" }));
    let manual = json!({ "name": "manual", "data": { "chapters": ["How to calibrate."] } });
    let table = made(http, &format!("/v1/projects/{id}/tables"), &manual);
    let tool = json!({ "type": "get", "table_id": table, "name": "read_manual" });
    let tool = made(http, "/v1/tools", &tool);
    let endpoint = json!({ "name": "agents", "tool_ids": [tool], "project_id": id });
    let endpoint = made(http, "/v1/endpoints", &endpoint);
    Project { id, endpoint }
}

/// Loading the page of a new key again made a second key.
#[test]
fn a_key_is_shown_once_and_loading_its_page_again_makes_none() {
    let server = TestServer::start("");
    let http = server.http();
    let Project { id, endpoint } = project(http);
    let n_keys = || {
        let endpoint = http.get(&format!("/v1/endpoints/{endpoint}")).json();
        endpoint["keys"].as_array().unwrap().len()
    };
    let place = page(http, &format!("/contexts/{id}"), "");
    let before = n_keys();
    let sent = send(http, "/do/add-key", &fields(&place, "/do/add-key"));
    assert!(sent.text().is_empty() && !sent.header("location").unwrap().contains("dowse_"));
    let cookie = sent.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && !cookie.contains("dowse_once=dowse_"), "{cookie}");
    let shown = follow(http, &sent);
    assert!(shown.text().contains("Copy it now"), "{}", shown.text());
    assert!(shown.text().contains(&format!("/mcp/{endpoint}")), "{}", shown.text());
    let taken = shown.header("set-cookie").unwrap();
    assert!(taken.starts_with("dowse_once=;") && taken.contains("Max-Age=0"), "{taken}");
    // As the browser loads it again, its cookie gone.
    let again = page(http, sent.header("location").unwrap(), "");
    assert_eq!(again.status, 200);
    assert!(again.text().contains("The key was shown"), "{}", again.text());
    assert_eq!(n_keys(), before + 1);
    // A cookie that somebody else made is nothing.
    let forged = page(http, "/contexts/new-key", "dowse_once=bm90IG91cnM");
    assert!(forged.text().contains("The key was shown"), "{}", forged.text());
    // An endpoint comes with its first key in the same way.
    let form = [
        ("form_token".to_owned(), form_token(&place)),
        ("name".to_owned(), "Others".to_owned()),
        ("parent".to_owned(), id.clone()),
    ];
    let shown = follow(http, &send(http, "/do/create-endpoint", &form));
    assert!(shown.text().contains("Copy it now"), "{}", shown.text());
}

/// Without a script a click on `Delete` deleted.
#[test]
fn what_cannot_be_undone_is_asked_about_first() {
    let server = TestServer::start("");
    let http = server.http();
    let Project { id, .. } = project(http);
    let base = made(http, "/v1/knowledge-bases", &json!({ "name": "Rules & \"laws\"" }));
    let collection = json!({ "name": "All" });
    let collection = made(http, &format!("/v1/knowledge-bases/{base}/collections"), &collection);
    let in_project = format!("/contexts/{id}");
    let in_base = format!("/knowledge/{base}");
    let in_collection = format!("/knowledge/collections/{collection}");
    for (place, action) in [
        (&in_project, "/do/revoke-key"),
        (&in_project, "/do/delete-endpoint"),
        (&in_project, "/do/delete-tool"),
        (&in_project, "/do/delete-table"),
        (&in_project, "/do/delete-project"),
        (&in_collection, "/do/delete-collection"),
        (&in_base, "/do/delete-base"),
    ] {
        let before = page(http, place, "");
        let form = fields(&before, action);
        let (_, question) = form.iter().find(|(name, _)| name == "question").unwrap();
        let asked = follow(http, &send(http, action, &form));
        assert_eq!(asked.status, 200);
        assert!(asked.text().contains("Are you sure?"), "{}", asked.text());
        let shown = question.replace('&', "&amp;").replace('"', "&quot;");
        assert!(asked.text().contains(&shown), "{question}: {}", asked.text());
        assert_eq!(fields(&page(http, place, ""), action), form, "nothing has changed");
        let answer = fields(&asked, action);
        let done = send(http, action, &answer);
        assert_eq!(done.status, 303, "{action}: {}", done.text());
        assert!(!done.header("location").unwrap().contains("/confirm"), "{action}");
        let after = page(http, place, "");
        assert!(after.status == 404 || !after.text().contains(&format!("{action}\"")), "{action}");
    }
    // Nobody else words a question.
    let forged = page(http, "/confirm?form=bm90IG91cnM", "");
    assert_eq!(forged.status, 400);
    assert!(forged.text().contains("nothing to confirm"), "{}", forged.text());
}

/// The department of a collection could be chosen once and never changed.
#[test]
fn the_department_and_the_clearance_of_a_collection_can_be_changed() {
    let server = TestServer::start("");
    let http = server.http();
    let base = made(http, "/v1/knowledge-bases", &json!({ "name": "Rules" }));
    let collections = format!("/v1/knowledge-bases/{base}/collections");
    let collection = made(http, &collections, &json!({ "name": "All", "clearance": "public" }));
    let rest = format!("/v1/collections/{collection}");
    let place = format!("/knowledge/collections/{collection}");
    let change = |department: &str, clearance: &str| {
        let mut form = fields(&page(http, &place, ""), "/do/update-collection");
        for (name, value) in &mut form {
            if name == "department" {
                department.clone_into(value);
            }
        }
        assert!(form.iter().any(|(name, _)| name == "department"), "{form:?}");
        form.push(("clearance".to_owned(), clearance.to_owned()));
        let done = send(http, "/do/update-collection", &form);
        assert_eq!(done.status, 303, "{}", done.text());
        let now = http.get(&rest).json();
        (now["department"].clone(), now["clearance"].clone())
    };
    assert_eq!(change("legal", "secret"), (json!("legal"), json!("secret")));
    assert!(page(http, &place, "").text().contains("department legal"));
    assert_eq!(change("", "internal"), (Value::Null, json!("internal")));
}

/// Whom a base or a collection is shared with could be said by REST alone.
#[test]
fn what_is_shared_by_name_is_in_the_forms() {
    let server = TestServer::start("");
    let http = server.http();
    let token = form_token(&page(http, "/knowledge", ""));
    let token = ("form_token", token.as_str());
    let new = [token, ("name", "Rules"), ("shared_users", "ann\r\nkey:bob"), ("shared_groups", "")];
    let made = post(http, "/do/create-base", "", &new);
    let place = made.header("location").unwrap().to_owned();
    let id = place.rsplit('/').next().unwrap();
    let shared = |path: &str| http.get(path).json()["shared_with"].clone();
    let rest = format!("/v1/knowledge-bases/{id}");
    assert_eq!(shared(&rest), json!({ "users": ["ann", "key:bob"], "groups": [] }));
    assert!(page(http, &place, "").text().contains("ann\nkey:bob</textarea>"));
    assert!(page(http, "/knowledge", "").text().contains("administrators and 2 more by name"));
    // A form of a page that did not ask takes nothing away; an emptied field does.
    let change = [token, ("id", id), ("name", "Laws"), ("next", &place)];
    assert_eq!(post(http, "/do/update-base", "", &change).status, 303);
    assert_eq!(shared(&rest)["users"], json!(["ann", "key:bob"]));
    let change = [&change[..], &[("shared_users", ""), ("shared_groups", "legal")]].concat();
    assert_eq!(post(http, "/do/update-base", "", &change).status, 303);
    assert_eq!(shared(&rest), json!({ "users": [], "groups": ["legal"] }));

    let new = [token, ("parent", id), ("name", "All"), ("clearance", "internal")];
    let new = [&new[..], &[("shared_groups", "legal\r\n")]].concat();
    let made = post(http, "/do/create-collection", "", &new);
    let place = made.header("location").unwrap().to_owned();
    let id = place.rsplit('/').next().unwrap();
    let rest = format!("/v1/collections/{id}");
    assert_eq!(shared(&rest), json!({ "users": [], "groups": ["legal"] }));
    let change = [token, ("id", id), ("name", "All"), ("clearance", "internal"), ("next", &place)];
    let change = [&change[..], &[("shared_users", "eve"), ("shared_groups", "")]].concat();
    assert_eq!(post(http, "/do/update-collection", "", &change).status, 303);
    assert_eq!(shared(&rest), json!({ "users": ["eve"], "groups": [] }));
}

/// Members of a project could be said by REST alone, and an editor was shown the form that only
/// its owner may send.
#[test]
fn members_of_a_project_are_in_its_form() {
    let config = "[[auth.keys]]\nname = \"ann\"\nkey_env = \"TEST_ANN\"\n\
                  [[auth.keys]]\nname = \"bob\"\nkey_env = \"TEST_BOB\"\n";
    let (ann, bob) = ("a key of ann, who owns a project", "a key of bob, who works on it");
    let server = TestServer::start_with(config, &[("TEST_ANN", ann), ("TEST_BOB", bob)]);
    let http = server.http();
    let (ann, bob) = (sign_in(http, ann), sign_in(http, bob));
    let token = form_token(&page(http, "/contexts", &ann));
    let made =
        post(http, "/do/create-project", &ann, &[("form_token", &token), ("name", "Manuals")]);
    let place = made.header("location").unwrap().to_owned();
    assert_eq!(page(http, &place, &bob).status, 403);
    let shown = page(http, &place, &ann);
    let form = fields(&shown, "/do/update-project");
    assert_eq!(form.iter().filter(|(name, _)| name == "member").count(), 1, "{form:?}");
    let change = |members: &[(&str, &str)]| {
        let id = place.rsplit('/').next().unwrap();
        let mut form =
            vec![("form_token", token.as_str()), ("id", id), ("next", &place), ("members", "1")];
        form.push(("name", "Manuals"));
        for (member, role) in members {
            form.extend([("member", *member), ("role", *role)]);
        }
        assert_eq!(post(http, "/do/update-project", &ann, &form).status, 303);
    };
    change(&[("bob", "editor"), ("", "reader")]);
    let of_ann = page(http, &place, &ann).text();
    assert!(of_ann.contains("members: bob (reads and changes)"), "{of_ann}");
    assert!(of_ann.contains("value=\"bob\"") && of_ann.contains("value=\"editor\" selected"));
    let of_bob = page(http, &place, &bob);
    assert_eq!(of_bob.status, 200);
    assert!(of_bob.text().contains("/do/create-table"), "{}", of_bob.text());
    assert!(!of_bob.text().contains("/do/update-project"), "{}", of_bob.text());
    change(&[("", "editor")]);
    assert_eq!(page(http, &place, &bob).status, 403);
}

/// Loading the answer of a tool that makes something again made another one.
#[test]
fn the_answer_of_a_tool_that_creates_can_be_loaded_again() {
    let folder = Folder::new();
    folder.write("sales.csv", "day,amount\n2024-01-01,3\n2024-01-02,4\n");
    let config = "[[tables]]\nname = \"sales\"\nsource = \"sales.csv\"\n\
                  fields = { day = { type = \"timestamp\" }, amount = { type = \"number\" } }\n";
    let server = TestServer::start_in_with(folder, config, &[]);
    let http = server.http();
    let n_charts = || http.get("/v1/charts").json()["charts"].as_array().unwrap().len();
    let form = page(http, "/tools/chart_table", "");
    let sent = [
        ("form_token", form_token(&form)),
        ("run", "1".to_owned()),
        ("arg.title", "Sales".to_owned()),
        ("arg.group_by", "[\"day\"]".to_owned()),
        ("arg.measures", "[{\"op\":\"count\"}]".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value));
    let sent = send(http, "/tools/chart_table", &sent);
    let shown = follow(http, &sent);
    assert!(shown.text().contains("chart_url"), "{}", shown.text());
    assert_eq!(n_charts(), 1);
    let again = page(http, sent.header("location").unwrap(), "");
    assert!(again.text().contains("its answer was shown once"), "{}", again.text());
    assert_eq!(n_charts(), 1);
}

/// An endpoint kept the tools it was made with: another one needed another address and key.
#[test]
fn a_project_with_its_tools_and_endpoints_can_be_changed() {
    let server = TestServer::start("");
    let http = server.http();
    let Project { id, endpoint } = project(http);
    let place = format!("/contexts/{id}");
    let get = |path: &str| http.get(path).json();
    let tables = get(&format!("/v1/projects/{id}/tables"));
    let table = tables["tables"][0]["id"].as_str().unwrap().to_owned();
    let second = json!({ "type": "search", "table_id": table, "name": "search_manual" });
    made(http, "/v1/tools", &second);
    let keys = get(&format!("/v1/endpoints/{endpoint}"))["keys"].clone();
    let change = |action: &str, name: &str, changed: &[(&str, &str)]| {
        let mut form = fields(&page(http, &place, ""), &format!("/do/{action}"));
        for (field, value) in changed.iter().chain([&("name", name)]) {
            let known = form.iter_mut().find(|(known, _)| known == field);
            let (_, held) = known.unwrap_or_else(|| panic!("{action} has no `{field}`"));
            (*value).clone_into(held);
        }
        let done = send(http, &format!("/do/{action}"), &form);
        assert_eq!((done.status, done.header("location")), (303, Some(place.as_str())));
    };
    // Every box of the form is sent, as if all of them were ticked.
    change("update-endpoint", "helpers", &[]);
    let changed = get(&format!("/v1/endpoints/{endpoint}"));
    assert_eq!(changed["name"], "helpers");
    assert_eq!(changed["tool_ids"].as_array().unwrap().len(), 2);
    assert_eq!(changed["keys"], keys);
    change(
        "update-tool",
        "read_handbook",
        &[("description", "Reads it"), ("json_path", "/chapters")],
    );
    let tools = get(&format!("/v1/projects/{id}/tools"));
    let is_changed =
        |tool: &&Value| tool["name"] == "read_handbook" && tool["json_path"] == "/chapters";
    assert!(tools["tools"].as_array().unwrap().iter().any(|tool| is_changed(&tool)), "{tools}");
    change("update-project", "Handbooks", &[]);
    assert_eq!(get(&format!("/v1/projects/{id}"))["name"], "Handbooks");
    let of_document = format!("/contexts/documents/{table}");
    let shown = page(http, &of_document, "");
    let mut rename = fields(&shown, "/do/update-table");
    rename.retain(|(name, _)| name != "name");
    rename.push(("name".to_owned(), "handbook".to_owned()));
    assert_eq!(send(http, "/do/update-table", &rename).status, 303);
    let replaced = upload(http, &format!("/replace-json/{table}"), &shown, "{\"pages\":[7]}");
    assert_eq!(replaced.status, 202, "{}", replaced.text());
    let shown = page(http, &of_document, "").text();
    assert!(shown.contains("<h1>handbook</h1>") && shown.contains("pages"), "{shown}");
}

/// Sends a file as the script of a page does.
fn upload(http: &Http, path: &str, shown: &Response, text: &str) -> Response {
    let name = if path.starts_with("/replace-json") { "new.json" } else { "new.txt" };
    let part = format!("Content-Disposition: form-data; name=\"file\"; filename=\"{name}\"");
    let body = format!("--b\r\n{part}\r\n\r\n{text}\r\n--b--\r\n");
    let request = Request::new("POST", path)
        .header("Content-Type", "multipart/form-data; boundary=b")
        .header("X-Dowse-Form", &form_token(shown));
    http.send(&request.body(body))
}

/// The content of a document is replaced at its address, and nobody else's page does that.
#[test]
fn the_content_of_a_document_is_replaced_on_its_page() {
    let server = TestServer::start("");
    let http = server.http();
    let base = made(http, "/v1/knowledge-bases", &json!({ "name": "Rules" }));
    let collections = format!("/v1/knowledge-bases/{base}/collections");
    let collection = made(http, &collections, &json!({ "name": "All", "clearance": "public" }));
    let documents = format!("/v1/collections/{collection}/documents");
    let text = json!({ "title": "Leave", "text": "Annual leave is twenty days." });
    let document = made(http, &documents, &text);
    let place = format!("/knowledge/documents/{document}");
    let shown = page(http, &place, "");
    assert!(shown.text().contains(&format!("data-upload=\"/replace/{document}\"")));
    let path = format!("/replace/{document}");
    let forged = http.send(&Request::new("POST", &path).body("x"));
    assert_eq!(forged.status, 403);
    let replaced = upload(http, &path, &page(http, "/knowledge", ""), "Leave is thirty days.");
    assert_eq!(replaced.status, 202, "{}", replaced.text());
    server.wait_until(|| page(http, &place, "").text().contains("thirty days"));
}

/// A folder's card said `running` after its job was cancelled until the page was loaded again.
#[test]
fn the_card_of_a_folder_is_sent_anew_as_its_jobs_go_on() {
    let folder = Folder::new();
    folder.write("docs/a.txt", "a lighthouse of Graz");
    let config = "[embedder]\nprovider = \"none\"\n[files]\nroots = [\"docs\"]\nwatch = false\n";
    let server = TestServer::start_in_with(folder, config, &[]);
    let sources = page(server.http(), "/sources", "").text();
    let (_, part) = sources.split_once("data-events=\"/events/folders\"").unwrap();
    assert!(part.split("data-events").next().unwrap().contains("files have text in the index"));
    let seen = events(&server, "/events/folders", "files have text in the index");
    assert!(seen.contains("event: folders") && seen.contains("/docs"), "{seen}");
    // A proxy that gathers what it hands on would show no progress.
    assert!(seen.contains("x-accel-buffering: no"), "{seen}");
}

/// The page of all jobs stood still while they went on.
#[test]
fn all_jobs_are_sent_anew_as_they_go_on() {
    let folder = Folder::new();
    folder.write("docs/a.txt", "a lighthouse of Graz");
    let config = "[embedder]\nprovider = \"none\"\n[files]\nroots = [\"docs\"]\nwatch = false\n";
    let server = TestServer::start_in_with(folder, config, &[]);
    let jobs = page(server.http(), "/jobs", "").text();
    let (_, watched) = jobs.split_once("data-events=\"").unwrap();
    let (address, part) = watched.split_once('"').unwrap();
    assert_eq!(address, "/events/jobs?next=%2Fjobs");
    assert!(part.trim_start().starts_with("data-part=\"jobs\""), "{part}");
    let seen = events(&server, address, "Index a folder");
    assert!(seen.contains("event: jobs"), "{seen}");
}

/// What a page that stays open is sent, up to some words.
fn events(server: &TestServer, path: &str, words: &str) -> String {
    let address = server.http().authority().to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let (mut seen, mut buffer) = (String::new(), [0; 4096]);
    while !seen.contains(words) {
        let n_read = stream.read(&mut buffer).unwrap();
        assert!(n_read > 0, "{seen}");
        seen.push_str(&String::from_utf8_lossy(&buffer[..n_read]));
    }
    seen
}

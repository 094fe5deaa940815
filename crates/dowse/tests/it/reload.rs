//! A changed configuration takes effect; one that does not work changes nothing.

use rustix::process::Signal;
use serde_json::json;
use testkit::Request;

use crate::test_server::TestServer;

const WITH_HOST: &str = "[server]\nallowed_hosts = [\"search.example.org\"]\n";

fn knows_host(test_server: &TestServer) -> bool {
    let request = Request::new("GET", "/healthz").header("Host", "search.example.org");
    test_server.http().send(&request).status == 200
}

#[test]
fn a_hangup_reads_the_file_again() {
    let test_server = TestServer::start("");
    assert!(!knows_host(&test_server));
    test_server.rewrite(WITH_HOST);
    test_server.server.signal(Signal::HUP);
    test_server.wait_until(|| knows_host(&test_server));
    test_server.assert_alive();
}

#[test]
fn a_changed_file_is_noticed() {
    let test_server = TestServer::start(WITH_HOST);
    assert!(knows_host(&test_server));
    test_server.rewrite("");
    test_server.wait_until(|| !knows_host(&test_server));
    test_server.assert_alive();
}

#[test]
fn a_file_that_does_not_work_is_refused() {
    let test_server = TestServer::start(WITH_HOST);
    for (bad, reason) in [
        ("[server]\nallowed_host = [\"x\"]\n", "allowed_hosts"),
        ("[server", "TOML"),
        ("[auth]\njwt = { issuer = \"x\", audience = \"y\" }\n", "jwks_url"),
    ] {
        test_server.rewrite(bad);
        test_server.server.signal(Signal::HUP);
        let refused = || {
            let printed = test_server.server.stderr();
            printed.contains("the old one stays") && printed.contains(reason)
        };
        test_server.wait_until(refused);
        assert!(knows_host(&test_server));
    }
    test_server.assert_alive();
}

#[test]
fn authentication_cannot_be_lost_on_the_way() {
    let config = "[[auth.keys]]\nname = \"ci\"\nkey_env = \"TEST_KEY\"\n";
    let test_server =
        TestServer::start_with(config, &[("TEST_KEY", "a key of the machine that tests")]);
    test_server.rewrite("");
    test_server.server.signal(Signal::HUP);
    test_server.wait_until(|| test_server.server.stderr().contains("no `[auth]` any more"));
    assert_eq!(test_server.mcp().send("tools/list", &json!({})).status, 401);
}

#[test]
fn a_source_that_is_away_does_not_stop_the_start_and_comes_back() {
    let config = "[embedder]\nprovider = \"none\"\n\
        [[tables]]\nname = \"late\"\nsource = \"late.csv\"\n[tables.fields]\n\
        name = { type = \"string\" }\n\
        [[dimensions]]\ncategory = \"place\"\nsource = \"places.csv\"\nvalue = \"id\"\n\
        filter_key = \"place_ids\"\nname = \"name\"\n";
    let test_server = TestServer::start(config);
    let ready = test_server.http().get("/readyz");
    assert_eq!(ready.status, 200);
    let degraded = ready.json()["degraded"].to_string();
    assert_eq!(ready.json()["status"], "degraded");
    assert!(degraded.contains("table `late`") && degraded.contains("late.csv"), "{degraded}");
    assert!(degraded.contains("dimension `place`"), "{degraded}");
    test_server.assert_alive();
    test_server.folder.write("late.csv", "name\nAnn\n");
    test_server.folder.write("places.csv", "id,name\n1,Cluj\n");
    test_server.server.signal(Signal::HUP);
    test_server.wait_until(|| test_server.http().get("/readyz").json()["status"] == "ready");
    let tools = test_server.mcp().list_tools();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.contains(&"query_table") && names.contains(&"search_filters"), "{names:?}");
}

#[test]
fn rates_go_on_being_counted_over_a_reload() {
    let limits = "[limits]\nrate_per_minute = { normalize_ocr_text = 2 }\n";
    let test_server = TestServer::start(limits);
    test_server.assert_alive();
    test_server.assert_alive();
    test_server.rewrite(&format!("{WITH_HOST}{limits}"));
    test_server.server.signal(Signal::HUP);
    test_server.wait_until(|| knows_host(&test_server));
    let refused = test_server.mcp().call("normalize_ocr_text", &json!({ "text": "ab" })).error();
    assert_eq!(refused["error"]["code"], "RATE_LIMITED", "{refused}");
}

/// Many programs empty a file before they write it. A server that read it in between took all
/// folders for removed from the configuration, and deleted their index.
#[test]
fn an_emptied_file_takes_no_folder_away() {
    let folder = testkit::Folder::new();
    folder.write("docs/a.txt", "a lighthouse");
    let config = "[embedder]\nprovider = \"none\"\n[files]\nroots = [\"docs\"]\n";
    let test_server = TestServer::start_in_with(folder, config, &[]);
    let finds = || {
        let query = json!({ "query": "lighthouse" });
        let found = test_server.http().post_json("/v1/call/searchFiles", &query).json();
        found["items"].as_array().is_some_and(|items| items.len() == 1)
    };
    test_server.wait_until(finds);
    test_server.folder.write("dowse.toml", "");
    test_server.server.signal(Signal::HUP);
    test_server.wait_until(|| test_server.server.stderr().contains("new configuration is empty"));
    assert!(finds());
    test_server.rewrite(config);
    test_server.server.signal(Signal::HUP);
    test_server.wait_until(|| test_server.server.stderr().contains("configuration is in place"));
    assert!(finds());
}

/// A deployment turns a link to another folder. The server went on with the one before until it was
/// started again.
#[test]
fn a_root_behind_a_link_that_is_turned_is_the_other_folder() {
    let config = "[embedder]\nprovider = \"none\"\n[files]\nroots = [\"current\"]\n\
                  [limits]\nrate_per_minute = { searchFiles = 100000 }\n";
    let test_server = TestServer::start("");
    let folder = &test_server.folder;
    folder.write("one/a.md", "The ferry leaves at noon.");
    folder.write("two/b.md", "The ferry leaves at night.");
    let turn_to = |release: &str| {
        let (link, new) = (folder.join("current"), folder.join("next"));
        std::os::unix::fs::symlink(folder.join(release), &new).unwrap();
        fs_err::rename(new, link).unwrap();
    };
    turn_to("one");
    test_server.rewrite(config);
    let finds = |name: &str| {
        let asked = Request::new("POST", "/v1/call/searchFiles").json(&json!({ "query": "ferry" }));
        let found = test_server.http().send(&asked).json();
        let paths = found["items"].as_array().cloned().unwrap_or_default();
        paths.len() == 1 && paths[0]["path"].as_str().is_some_and(|path| path.ends_with(name))
    };
    test_server.wait_until(|| finds("one/a.md"));
    turn_to("two");
    test_server.wait_until(|| finds("two/b.md"));
    folder.write("two/b.md", "The bus leaves at night.");
    folder.write("two/c.md", "The ferry leaves at dawn.");
    test_server.wait_until(|| finds("two/c.md"));
}

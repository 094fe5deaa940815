//! A changed configuration takes effect; one that does not work changes nothing.

use rustix::process::Signal;
use serde_json::json;
use testkit::Request;

use crate::house::House;

const WITH_HOST: &str = "[server]\nallowed_hosts = [\"search.example.org\"]\n";

fn knows_host(house: &House) -> bool {
    let request = Request::new("GET", "/healthz").header("Host", "search.example.org");
    house.http().send(&request).status == 200
}

#[test]
fn a_hangup_reads_the_file_again() {
    let house = House::start("");
    assert!(!knows_host(&house));
    house.rewrite(WITH_HOST);
    house.server.signal(Signal::HUP);
    house.wait_until(|| knows_host(&house));
    house.assert_alive();
}

#[test]
fn a_changed_file_is_noticed() {
    let house = House::start(WITH_HOST);
    assert!(knows_host(&house));
    house.rewrite("");
    house.wait_until(|| !knows_host(&house));
    house.assert_alive();
}

#[test]
fn a_file_that_does_not_work_is_refused() {
    let house = House::start(WITH_HOST);
    for (bad, reason) in [
        ("[server]\nallowed_host = [\"x\"]\n", "allowed_hosts"),
        ("[server", "TOML"),
        ("[auth]\njwt = { issuer = \"x\", audience = \"y\" }\n", "jwks_url"),
    ] {
        house.rewrite(bad);
        house.server.signal(Signal::HUP);
        let refused = || {
            let printed = house.server.stderr();
            printed.contains("the old one stays") && printed.contains(reason)
        };
        house.wait_until(refused);
        assert!(knows_host(&house));
    }
    house.assert_alive();
}

#[test]
fn authentication_cannot_be_lost_on_the_way() {
    let config = "[[auth.keys]]\nname = \"ci\"\nkey_env = \"TEST_KEY\"\n";
    let house = House::start_with(config, &[("TEST_KEY", "a key of the machine that tests")]);
    house.rewrite("");
    house.server.signal(Signal::HUP);
    house.wait_until(|| house.server.stderr().contains("no `[auth]` any more"));
    assert_eq!(house.mcp().send("tools/list", &json!({})).status, 401);
}

#[test]
fn a_source_that_is_away_does_not_stop_the_start_and_comes_back() {
    let config = "[embedder]\nprovider = \"none\"\n\
        [[tables]]\nname = \"late\"\nsource = \"late.csv\"\n[tables.fields]\n\
        name = { type = \"string\" }\n\
        [[dimensions]]\ncategory = \"place\"\nsource = \"places.csv\"\nvalue = \"id\"\n\
        filter_key = \"place_ids\"\nname = \"name\"\n";
    let house = House::start(config);
    let ready = house.http().get("/readyz");
    assert_eq!(ready.status, 200);
    house.assert_alive();
    house.folder.write("late.csv", "name\nAnn\n");
    house.folder.write("places.csv", "id,name\n1,Cluj\n");
    house.server.signal(Signal::HUP);
    house.wait_until(|| house.http().get("/readyz").json()["status"] == "ready");
    let tools = house.mcp().list_tools();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.contains(&"query_table") && names.contains(&"search_filters"), "{names:?}");
}

#[test]
fn rates_go_on_being_counted_over_a_reload() {
    let limits = "[limits]\nrate_per_minute = { normalize_ocr_text = 2 }\n";
    let house = House::start(limits);
    house.assert_alive();
    house.assert_alive();
    house.rewrite(&format!("{WITH_HOST}{limits}"));
    house.server.signal(Signal::HUP);
    house.wait_until(|| knows_host(&house));
    let refused = house.mcp().call("normalize_ocr_text", &json!({ "text": "ab" })).error();
    assert_eq!(refused["error"]["code"], "RATE_LIMITED", "{refused}");
}

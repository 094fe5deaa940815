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

//! Who may call: keys, shared secrets, and an issuer's published keys.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use serde_json::json;
use testkit::{Mcp, Response, tokens};

use crate::test_server::{TestServer, repair};

const KEY: &str = "a key of the machine that tests";
const SECRET: &str = "a shared secret of decent length";

fn with_token(test_server: &TestServer, token: &str) -> Response {
    test_server
        .mcp()
        .header("Authorization", &format!("Bearer {token}"))
        .send("tools/list", &json!({}))
}

#[track_caller]
fn refused(test_server: &TestServer, token: &str, reason: &str) {
    let response = with_token(test_server, token);
    assert_eq!(response.status, 401, "{}", response.text());
    let challenge = response.header("www-authenticate").unwrap();
    assert!(challenge.contains("resource_metadata=") && challenge.contains("invalid_token"));
    let message = response.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("Invalid authentication credentials"), "{message}");
    assert!(message.contains(reason), "{message}");
    assert!(!message.contains(token), "the answer repeats the token");
}

/// Publishes a list of keys on loopback, for as long as the test runs.
fn issuer(keys: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut lines = BufReader::new(&stream).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", keys.len());
            let _ = (&stream).write_all(format!("{head}{keys}").as_bytes());
        }
    });
    format!("http://{address}/jwks")
}

fn jwt_config(check: &str) -> String {
    let (issuer, audience) = (tokens::ISSUER, tokens::AUDIENCE);
    format!("[auth]\njwt = {{ issuer = \"{issuer}\", audience = \"{audience}\", {check} }}\n")
}

#[test]
fn keys_open_the_door() {
    let config = "[[auth.keys]]\nname = \"ci\"\nkey_env = \"TEST_KEY\"\ntenant = \"acme\"\n";
    let test_server = TestServer::start_with(config, &[("TEST_KEY", KEY)]);
    let missing = test_server.mcp().send("tools/list", &json!({}));
    assert_eq!(missing.status, 401);
    assert!(missing.header("www-authenticate").unwrap().starts_with("Bearer resource_metadata="));
    refused(&test_server, "another key that is long enough", "the key is not known");
    let odd =
        test_server.mcp().header("Authorization", "Basic eDp5").send("tools/list", &json!({}));
    assert_eq!(odd.status, 401);
    let known =
        Mcp::new(test_server.http(), "/mcp").header("Authorization", &format!("bearer {KEY}"));
    assert_eq!(repair(&known), "ab");
    let metadata = test_server.http().get("/.well-known/oauth-protected-resource");
    assert_eq!(metadata.status, 200, "{}", metadata.text());
    assert!(metadata.json()["resource"].is_string());
    assert_eq!(test_server.http().get("/healthz").status, 200);
}

#[test]
fn tokens_of_a_shared_secret_are_checked() {
    let config = jwt_config("hs256_secret_env = \"TEST_SECRET\"");
    let test_server = TestServer::start_with(&config, &[("TEST_SECRET", SECRET)]);
    let claims = |name: &str, value: serde_json::Value| {
        let mut claims = tokens::claims();
        claims[name] = value;
        claims
    };
    let signed = |claims| tokens::hs256(&claims, SECRET.as_bytes());
    assert_eq!(with_token(&test_server, &signed(tokens::claims())).status, 200);
    refused(&test_server, &signed(claims("exp", json!(1_600_000_000))), "expired");
    refused(&test_server, &signed(claims("nbf", json!(4_000_000_000_u64))), "not valid yet");
    refused(&test_server, &signed(claims("aud", json!("another"))), "another audience");
    refused(&test_server, &signed(claims("iss", json!("https://evil.example"))), "another issuer");
    refused(&test_server, &signed(claims("tenant_id", json!(5))), "no tenant");
    refused(&test_server, &tokens::hs256(&tokens::claims(), b"a guess"), "signature");
    refused(&test_server, &tokens::unsigned(&tokens::claims()), "token");
    refused(&test_server, tokens::SIGNED_FIRST, "");
    let whole = signed(tokens::claims());
    let (unsigned, _) = whole.rsplit_once('.').unwrap();
    refused(&test_server, &format!("{unsigned}."), "signature");
    refused(&test_server, unsigned, "token");
}

#[test]
fn tokens_of_an_issuer_are_checked_with_its_published_keys() {
    let jwks = issuer(tokens::published_keys(&["first"]));
    let test_server = TestServer::start(&jwt_config(&format!("jwks_url = \"{jwks}\"")));
    assert_eq!(with_token(&test_server, tokens::SIGNED_FIRST).status, 200);
    refused(&test_server, tokens::SIGNED_SECOND, "unknown key");
    refused(&test_server, tokens::SIGNED_FOR_ANOTHER, "another audience");
    refused(&test_server, tokens::SIGNED_EXPIRED, "expired");
    refused(&test_server, &tokens::unsigned(&tokens::claims()), "token");
    // Whoever knows the public key must not be able to sign with it.
    let public = tokens::published_keys(&["first"]);
    refused(&test_server, &tokens::hs256(&tokens::claims(), public.as_bytes()), "not accepted");
}

#[test]
fn an_issuer_that_cannot_be_reached_is_said_to_be() {
    let port = testkit::free_port();
    let config = jwt_config(&format!("jwks_url = \"http://127.0.0.1:{port}/jwks\""));
    let test_server = TestServer::start(&config);
    let response = with_token(&test_server, tokens::SIGNED_FIRST);
    assert_eq!(response.status, 503, "{}", response.text());
    assert_eq!(test_server.http().get("/healthz").status, 200);
}

//! Whoever wants to keep others out does not succeed: identity before bodies, limits for peers
//! and callers, probes that always answer, uploads that cost disk and no memory.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use testkit::{Mcp, Request};

use crate::test_server::TestServer;

const ADMIN: &str = "a key of the administrator here";
const READER: &str = "a key of somebody who only reads";

const WITH_KEYS: &str = "[[auth.keys]]\nname = \"admin\"\nkey_env = \"TEST_ADMIN\"\n\
    tenant = \"acme\"\nroles = [\"admin\"]\n\
    [[auth.keys]]\nname = \"reader\"\nkey_env = \"TEST_READER\"\ntenant = \"acme\"\n";

fn guarded(config: &str) -> TestServer {
    TestServer::start_with(
        &format!("{WITH_KEYS}{config}"),
        &[("TEST_ADMIN", ADMIN), ("TEST_READER", READER)],
    )
}

fn bearer(request: Request, key: &str) -> Request {
    request.header("Authorization", &format!("Bearer {key}"))
}

/// Sends a head that announces a body, and nothing of the body.
fn unfinished(test_server: &TestServer, path: &str, headers: &str) -> TcpStream {
    let mut connection = test_server.http().connect().unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: 100000\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n\r\n"
    );
    connection.write_all(head.as_bytes()).unwrap();
    connection
}

#[test]
fn a_body_is_not_read_before_its_caller_is_known() {
    let test_server = guarded("");
    for path in ["/reconcile", "/mcp", "/api/mcp", "/v1/chat", "/v1/tools"] {
        let mut connection = unfinished(&test_server, path, "");
        // The answer comes although the body never does.
        let mut answer = [0; 12];
        connection.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 401", "{path}: {}", String::from_utf8_lossy(&answer));
    }
}

#[test]
fn unfinished_bodies_of_one_peer_close_the_server_for_nobody() {
    let limits = "[limits]\nconnections = 64\nconnections_per_peer = 8\n";
    let test_server = TestServer::start(&format!(
        "{limits}[server]\ntrusted_proxies = [\"127.0.0.1\"]\nallowed_hosts = [\"localhost\"]\n"
    ));
    // All come through the proxy; its forwarded addresses are counted.
    let forwarded = "X-Forwarded-For: 192.0.2.1\r\n";
    let ask = |client: &str| {
        let request = Request::new("GET", "/v1/openapi.json").header("X-Forwarded-For", client);
        test_server.http().send(&request)
    };
    // Whoever asks in between counts too, so that one of the first eight may be refused itself.
    let held = RefCell::new(Vec::new());
    test_server.wait_until(|| {
        held.borrow_mut().push(unfinished(&test_server, "/reconcile", forwarded));
        let refused = ask("192.0.2.1");
        let is_refused = refused.status == 503;
        assert_eq!(is_refused, refused.text().contains("limits.connections_per_peer"));
        is_refused
    });
    assert!(held.borrow().len() >= 8, "refused after {}", held.borrow().len());
    assert_eq!(ask("192.0.2.2").status, 200);
    let probe = Request::new("GET", "/healthz").header("X-Forwarded-For", "192.0.2.1");
    assert_eq!(test_server.http().send(&probe).status, 200);
    drop(held);
    test_server.wait_until(|| ask("192.0.2.1").status == 200);
}

/// Begins a request and waits until the server reads its body, of which nothing comes.
///
/// A server that has not read the head yet would close the connection for another one: it is
/// known to be busy once it has said that the body may come.
fn busy(test_server: &TestServer, path: &str) -> TcpStream {
    let mut connection = unfinished(test_server, path, "Expect: 100-continue\r\n");
    let mut answer = [0; 12];
    connection.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100", "{}", String::from_utf8_lossy(&answer));
    connection
}

#[test]
fn probes_are_answered_beyond_every_limit() {
    let test_server = TestServer::start("[limits]\nconnections = 16\nconnections_per_peer = 16\n");
    let held: Vec<_> = (0..16).map(|_| busy(&test_server, "/reconcile")).collect();
    for _ in 0..20 {
        assert_eq!(test_server.http().get("/healthz").status, 200);
        assert_eq!(test_server.http().get("/readyz").status, 200);
        let refused = test_server.http().get("/v1/openapi.json");
        assert_eq!(refused.status, 503);
        assert!(refused.text().contains("limits.connections"), "{}", refused.text());
    }
    // Those that say nothing hold up the lane of the others no more than the rest.
    let silent: Vec<_> = (0..300).filter_map(|_| test_server.http().connect().ok()).collect();
    assert_eq!(test_server.http().get("/healthz").status, 200);
    drop((held, silent));
    test_server.wait_until(|| test_server.http().get("/v1/openapi.json").status == 200);
}

#[test]
fn a_message_of_small_values_is_refused_by_its_shape() {
    let test_server = TestServer::start("");
    let zeros = "0,".repeat(1_900_000);
    let body = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{\"x\":[{zeros}0]}}}}"
    );
    let request = Request::new("POST", "/mcp").header("Content-Type", "application/json");
    let refused = test_server.http().send(&request.body(body));
    assert_eq!(refused.status, 413, "{}", refused.text());
    assert!(refused.text().contains("20000 JSON values"), "{}", refused.text());
    test_server.assert_alive();
}

#[test]
fn metrics_are_for_administrators_and_for_their_own_key() {
    let metrics_key = "a key for whoever scrapes this";
    let test_server = TestServer::start_with(
        &format!("[auth]\nmetrics_key_env = \"TEST_METRICS\"\n{WITH_KEYS}"),
        &[("TEST_ADMIN", ADMIN), ("TEST_READER", READER), ("TEST_METRICS", metrics_key)],
    );
    let status =
        |key: &str| test_server.http().send(&bearer(Request::new("GET", "/metrics"), key)).status;
    assert_eq!(test_server.http().get("/metrics").status, 401);
    assert_eq!(status(READER), 403);
    assert_eq!(status(ADMIN), 200);
    assert_eq!(status(metrics_key), 200);
    let elsewhere = bearer(Request::new("GET", "/v1/jobs"), metrics_key);
    assert_eq!(test_server.http().send(&elsewhere).status, 401);
    let open = TestServer::start("");
    assert_eq!(open.http().get("/metrics").status, 200);
}

#[test]
fn strangers_learn_what_is_degraded_and_not_why() {
    let table = "[[tables]]\nname = \"takeover\"\nsource = \"plans.csv\"\n[tables.fields]\n\
        name = { type = \"string\" }\n";
    let test_server = guarded(table);
    let ask = |request: Request| test_server.http().send(&request);
    let stranger = ask(Request::new("GET", "/readyz"));
    assert_eq!((stranger.status, &stranger.json()["status"]), (200, &json!("degraded")));
    assert_eq!(stranger.json()["degraded"][0]["what"], "source");
    for key in [READER, "not one of the keys"] {
        let answer = ask(bearer(Request::new("GET", "/readyz"), key)).text();
        assert_eq!(answer, stranger.text());
    }
    assert!(!stranger.text().contains("takeover") && !stranger.text().contains("plans"));
    let admin = ask(bearer(Request::new("GET", "/readyz"), ADMIN)).text();
    assert!(admin.contains("takeover") && admin.contains("plans.csv"), "{admin}");
}

/// Whoever asked and never read kept a connection for as long as they liked.
#[test]
fn answers_that_nobody_takes_close_the_server_for_nobody() {
    let limits = "[limits]\nconnections = 16\nconnections_per_peer = 16\n";
    let test_server = TestServer::start(limits);
    let get = "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let held: Vec<TcpStream> = (0..16)
        .map(|_| {
            let mut connection = test_server.http().connect().unwrap();
            // So many answers that no buffer between both ends takes them all.
            connection.write_all(get.repeat(200).as_bytes()).unwrap();
            connection
        })
        .collect();
    test_server.wait_until(|| test_server.http().get("/v1/openapi.json").status == 200);
    drop(held);
}

#[test]
fn failed_logins_are_counted_audited_and_logged() {
    let test_server = guarded("");
    let wrong = || {
        let request = bearer(Request::new("GET", "/v1/knowledge-bases"), "not one of the keys");
        test_server.http().send(&request).status
    };
    for _ in 0..7 {
        assert_eq!(wrong(), 401);
    }
    let metrics = test_server.http().send(&bearer(Request::new("GET", "/metrics"), ADMIN)).text();
    assert!(metrics.contains("dowse_login_failures_total{reason=\"invalid\"} 7"), "{metrics}");
    assert!(test_server.server.stderr().contains("a login failed"));
    let audit = test_server.folder.join("data/audit/audit.jsonl");
    let audit = fs_err::read_to_string(audit).unwrap();
    let logins: Vec<Value> = audit
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|entry| entry["tool"] == "login")
        .collect();
    assert_eq!(logins.len(), 5, "the first five, then whenever the number has doubled");
    assert_eq!(logins[0]["caller"], "127.0.0.1");
    assert_eq!(logins[0]["code"], "UNAUTHORIZED");
    assert!(!audit.contains("not one of the keys"), "the audit holds no credentials");
    // A right key from the same address waits for nobody.
    let right =
        Mcp::new(test_server.http(), "/mcp").header("Authorization", &format!("Bearer {READER}"));
    assert_eq!(crate::test_server::repair(&right), "ab");
}

#[cfg(target_os = "linux")]
mod memory {
    //! What an upload costs the server's memory, as the system counts it.

    use super::*;

    /// A model would be loaded while the upload runs, and be counted with it.
    const NO_MODEL: &str = "[embedder]\nprovider = \"none\"\n";

    /// What the server may hold in all, whatever is uploaded. Measured: 73 MB for 512 MiB, of
    /// which 52 MB are pages of the unoptimised executable.
    const MAX_PEAK_KIB: u64 = 100 << 10;

    /// What a file of 64 MiB may add whose text is 1 MiB, until it is indexed: 26 MB were measured,
    /// and no more for 192 MiB. A text as long as a text may be, 32 MiB, adds 118 MB. The file is
    /// no larger, since an unoptimised worker takes ten seconds for each 100 MiB of empty lines.
    const MAX_READ_GROWTH_KIB: u64 = 48 << 10;

    /// The most memory that the server has ever held, in kibibytes.
    fn peak_kib(test_server: &TestServer) -> u64 {
        let status = fs_err::read_to_string(format!("/proc/{}/status", test_server.server.id()));
        let line =
            status.unwrap().lines().find(|line| line.starts_with("VmHWM")).map(str::to_owned);
        line.unwrap().split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    fn collection(test_server: &TestServer) -> String {
        let base =
            test_server.http().post_json("/v1/knowledge-bases", &json!({ "name": "b" })).json();
        let path = format!("/v1/knowledge-bases/{}/collections", base["id"].as_str().unwrap());
        let made = test_server.http().post_json(&path, &json!({ "name": "c" })).json();
        format!("/v1/collections/{}/documents", made["id"].as_str().unwrap())
    }

    /// Sends a body that is made as it is sent, and gives the status.
    fn send_large(
        test_server: &TestServer,
        path: &str,
        kind: &str,
        head: &str,
        piece: &str,
        n: usize,
        tail: &str,
    ) -> u16 {
        let length = head.len() + piece.len() * n + tail.len();
        let mut connection = test_server.http().connect().unwrap();
        let start = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{head}"
        );
        connection.write_all(start.as_bytes()).unwrap();
        let block = piece.repeat((1 << 20) / piece.len());
        let mut left = n;
        while left > 0 {
            let now = left.min(block.len() / piece.len());
            // A server that has refused closes; its answer is read below.
            if connection.write_all(&block.as_bytes()[..now * piece.len()]).is_err() {
                break;
            }
            left -= now;
        }
        let _ = connection.write_all(tail.as_bytes());
        let mut answer = Vec::new();
        let _ = connection.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        answer.split_whitespace().nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    #[test]
    fn small_values_cost_their_bytes_and_no_more() {
        let test_server = TestServer::start(NO_MODEL);
        let path = collection(&test_server);
        for head in ["[", "{\"text\":[", "{\"text\":\"x\",\"metadata\":[", "{\"documents\":["] {
            let status =
                send_large(&test_server, &path, "application/json", head, "0,", 24 << 20, "0]}");
            assert_eq!(status, 400, "{head}");
        }
        let peak = peak_kib(&test_server);
        assert!(peak < MAX_PEAK_KIB, "{peak} KiB for 48 MiB of `0,`");
        test_server.assert_alive();
    }

    /// A line of text, and one with as much space around it as a page has.
    const LINE: &str = "a line of some text that is neither short nor long but just so\n";
    const BLANK_LINES: usize = 4_000;

    /// Sends a text file of so many bytes, waits until its job is done, and gives its document.
    fn upload_text(test_server: &TestServer, path: &str, line: &str, n_bytes: usize) -> Value {
        let head =
            "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.txt\"\r\n\r\n";
        let kind = "multipart/form-data; boundary=b";
        let n_lines = n_bytes / line.len();
        let status = send_large(test_server, path, kind, head, line, n_lines, "\r\n--b--\r\n");
        assert_eq!(status, 202);
        let document = || test_server.http().get(path).json()["documents"][0].clone();
        test_server.wait_until(|| document()["status"] != "pending");
        document()
    }

    #[test]
    fn a_file_of_half_a_gibibyte_costs_disk_and_no_memory() {
        let limits = "[limits]\nupload_bytes = 629145600\n";
        let test_server = TestServer::start(&format!("{NO_MODEL}{limits}"));
        let path = collection(&test_server);
        let document = upload_text(&test_server, &path, LINE, 512 << 20);
        let peak = peak_kib(&test_server);
        assert!(peak < MAX_PEAK_KIB, "{peak} KiB for 512 MiB");
        // It is more than is ever read of one file, and says so.
        assert_eq!(document["status"], "failed", "{document}");
        assert!(document["error"].as_str().unwrap().contains("268435456"), "{document}");
    }

    #[test]
    fn a_file_that_is_read_costs_its_text_and_not_its_bytes() {
        let test_server = TestServer::start(NO_MODEL);
        let path = collection(&test_server);
        let before = peak_kib(&test_server);
        let line = format!("{}{LINE}", "\n".repeat(BLANK_LINES));
        let document = upload_text(&test_server, &path, &line, 64 << 20);
        let grown = peak_kib(&test_server) - before;
        assert_eq!(document["status"], "ready", "{document}");
        assert!(grown < MAX_READ_GROWTH_KIB, "{grown} KiB for 64 MiB");
    }

    #[test]
    fn whoever_may_not_upload_is_refused_before_the_body() {
        let test_server = guarded("");
        let request = bearer(Request::new("POST", "/v1/knowledge-bases"), ADMIN);
        let base = test_server.http().send(&request.json(&json!({ "name": "b" }))).json();
        let path = format!("/v1/knowledge-bases/{}/collections", base["id"].as_str().unwrap());
        let request = bearer(Request::new("POST", &path), ADMIN).json(&json!({ "name": "c" }));
        let made = test_server.http().send(&request).json();
        let path = format!("/v1/collections/{}/documents", made["id"].as_str().unwrap());
        let mut connection =
            unfinished(&test_server, &path, &format!("Authorization: Bearer {READER}\r\n"));
        let mut answer = [0; 12];
        connection.read_exact(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer == "HTTP/1.1 403" || answer == "HTTP/1.1 404", "{answer}");
    }
}

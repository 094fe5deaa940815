//! Connections that are not what they should be.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use testkit::{Folder, Server};

use crate::test_server::{PATIENCE, TestServer, dowse};

#[test]
fn a_thousand_silent_connections_hold_nobody_up() {
    let test_server = TestServer::start("");
    let silent: Vec<_> = (0..1_000).filter_map(|_| test_server.http().connect().ok()).collect();
    assert!(silent.len() > 900, "{} connections", silent.len());
    test_server.assert_alive();
    drop(silent);
    test_server.assert_alive();
}

#[test]
fn clients_that_leave_in_the_middle_are_forgotten() {
    let test_server = TestServer::start("");
    for part in [
        "POST /mcp HTTP/1.1\r\nHost: loc",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{\"jsonrpc\"",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
    ] {
        for _ in 0..20 {
            let mut connection = test_server.http().connect().unwrap();
            connection.write_all(part.as_bytes()).unwrap();
        }
    }
    test_server.assert_alive();
}

#[test]
fn what_is_not_http_is_refused() {
    let test_server = TestServer::start("");
    for noise in [b"\x16\x03\x01\x02\x00\x01\x00".as_slice(), b"SSH-2.0-x\r\n\r\n", &[0; 512]] {
        let answer = test_server.http().exchange(noise).unwrap_or_default();
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    test_server.assert_alive();
}

#[test]
fn an_open_address_needs_authentication() {
    let folder = Folder::new();
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let mut command = dowse("serve");
        command.current_dir(folder.path()).args(["--listen", listen]);
        let reason = Server::try_start(command).unwrap_err();
        assert!(reason.contains("refusing to listen") && reason.contains("[auth]"), "{reason}");
    }
}

#[test]
fn a_stopped_server_ends_well() {
    let test_server = TestServer::start("");
    let idle = test_server.http().connect().unwrap();
    test_server.assert_alive();
    assert!(test_server.server.stop().success());
    drop(idle);
}

#[test]
fn a_server_whose_log_nobody_reads_still_stops() {
    let folder = Folder::new();
    let mut command = dowse("serve");
    command.current_dir(folder.path()).args(["--listen", "127.0.0.1:0", "--log", "debug"]);
    command.args(["--data-dir", "data"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let log = BufReader::new(child.stderr.take().unwrap());
    let is_up = log.lines().map_while(Result::ok).any(|line| line.contains("listening on"));
    assert!(is_up, "it ended before it listened");
    // Its log has no reader from here on.
    let id = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let begun = Instant::now();
    let ended = loop {
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(ended.success(), "{ended}");
}

//! A command gets what the other side prints, an error keeps its causes, and nobody is answered
//! with silence.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use testkit::Folder;

use super::*;
use crate::platform::LocalStream;
use crate::print;

struct Fake;

impl Host for Fake {
    fn backup(
        &self,
        begin: &mut dyn FnMut() -> std::io::Result<LocalStream>,
    ) -> anyhow::Result<()> {
        Ok(begin()?.write_all(b"bytes")?)
    }

    fn command(&self) -> Option<&'static str> {
        Some("mcp")
    }

    fn mcp(&self, _stream: LocalStream) -> anyhow::Result<()> {
        Ok(())
    }

    fn run(&self, typed: &Typed) -> anyhow::Result<u8> {
        use anyhow::Context;
        if typed.words == ["fail"] {
            return Err(anyhow::anyhow!("the disk is full")).context("nothing was written");
        }
        print::line(typed.words.join(" "));
        print::line(typed.folder.display().to_string());
        Ok(1)
    }
}

fn typed(words: &[&str]) -> Typed {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    Typed {
        words,
        folder: Path::new("/here").to_owned(),
        is_terminal: false,
        is_json: false,
        is_without_model: false,
    }
}

fn check(folder: &Path) {
    assert!(connect(folder).is_none(), "nobody listens");
    listen(folder, Arc::new(Fake)).unwrap();
    let lines = connect(folder).unwrap().captured(typed(&["a", "b c"])).unwrap();
    assert_eq!(lines, "a b c\n/here\n");
    assert_eq!(connect(folder).unwrap().run(typed(&[])).unwrap(), 1);
    let error = connect(folder).unwrap().captured(typed(&["fail"])).unwrap_err();
    assert_eq!(format!("{error:#}"), "nothing was written: the disk is full");
    let mut bytes = Vec::new();
    connect(folder).unwrap().backup().unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, b"bytes");
    assert_eq!(connect(folder).unwrap().host().as_deref(), Some("mcp"));
}

#[test]
fn a_command_gets_its_answer_and_an_error_says_why() {
    check(Folder::new().path());
}

/// A host whose commands go on until they are let go.
struct Slow(parking_lot::Mutex<std::sync::mpsc::Receiver<()>>);

impl Host for Slow {
    fn backup(
        &self,
        _begin: &mut dyn FnMut() -> std::io::Result<LocalStream>,
    ) -> anyhow::Result<()> {
        Ok(())
    }

    fn command(&self) -> Option<&'static str> {
        Some("index")
    }

    fn mcp(&self, _stream: LocalStream) -> anyhow::Result<()> {
        Ok(())
    }

    fn run(&self, _typed: &Typed) -> anyhow::Result<u8> {
        self.0.lock().recv()?;
        print::line("stored");
        Ok(0)
    }
}

/// A command beside a `dowse index` that was ending was cut off after its work was done, and told
/// to run again.
#[test]
#[cfg(unix)]
fn a_process_that_ends_lets_nobody_in_and_answers_whoever_is_inside() {
    let folder = Folder::new();
    let (let_go, hold) = std::sync::mpsc::channel();
    let listening = listen(folder.path(), Arc::new(Slow(parking_lot::Mutex::new(hold)))).unwrap();
    // One that has asked, and one that has not asked yet.
    let (asked, inside) = (connect(folder.path()).unwrap(), connect(folder.path()).unwrap());
    let asked = std::thread::spawn(move || asked.captured(typed(&["kb"])));
    let ending = std::thread::spawn(move || listening.finish());
    while connect(folder.path()).is_some() {
        std::thread::yield_now();
    }
    let_go.send(()).unwrap();
    let_go.send(()).unwrap();
    assert_eq!(asked.join().unwrap().unwrap(), "stored\n");
    assert!(!ending.is_finished(), "one is still inside");
    assert_eq!(inside.captured(typed(&["kb"])).unwrap(), "stored\n");
    ending.join().unwrap();
    assert!(connect(folder.path()).is_none());
}

/// A data folder in a user's data directory easily has a longer path than a socket's address
/// holds.
#[test]
#[cfg(target_os = "linux")]
fn a_long_path_is_no_obstacle() {
    let folder = Folder::new();
    let long = folder.join("a".repeat(120)).join("b".repeat(120));
    fs_err::create_dir_all(&long).unwrap();
    check(&long);
}

/// The second of two clients of one folder lost its server when the first one was closed.
#[test]
#[cfg(unix)]
fn a_session_goes_on_through_the_next_process() {
    use std::io::{BufRead, BufReader};

    use serde_json::{Value, json};

    use crate::platform::pair;

    fn say(to: &mut LocalStream, message: &Value) {
        to.write_all(format!("{message}\n").as_bytes()).unwrap();
    }
    fn hear(from: &mut BufReader<LocalStream>) -> Value {
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
    let request = |id: u8, method: &str| json!({ "jsonrpc": "2.0", "id": id, "method": method });
    let answer = |id: &Value| json!({ "jsonrpc": "2.0", "id": id, "result": {} });

    let (mut client, from_client) = pair().unwrap();
    let (to_client, answers) = pair().unwrap();
    let mut answers = BufReader::new(answers);
    let mut relay = Relay::new(BufReader::new(from_client), to_client);
    let (first, first_server) = pair().unwrap();
    let passing = std::thread::spawn(move || {
        let left = relay.through(BufReader::new(first)).unwrap();
        (relay, left)
    });
    let mut from_relay = BufReader::new(first_server.try_clone().unwrap());
    let mut first_server = first_server;
    say(&mut client, &request(1, "initialize"));
    say(&mut first_server, &answer(&hear(&mut from_relay)["id"]));
    assert_eq!(hear(&mut answers)["id"], 1);
    say(&mut client, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    say(&mut client, &request(2, "tools/call"));
    say(&mut client, &request(3, "tools/list"));
    for expected in ["notifications/initialized", "tools/call", "tools/list"] {
        assert_eq!(hear(&mut from_relay)["method"], expected);
    }
    drop((first_server, from_relay));
    let (mut relay, left) = passing.join().unwrap();
    assert_eq!(left, EndedBy::Server);
    assert!(!relay.has_client_left());

    let (second, mut second_server) = pair().unwrap();
    let passing = std::thread::spawn(move || relay.through(BufReader::new(second)).unwrap());
    let mut from_relay = BufReader::new(second_server.try_clone().unwrap());
    let again = hear(&mut from_relay);
    assert_eq!(again["method"], "initialize");
    say(&mut second_server, &answer(&again["id"]));
    assert_eq!(hear(&mut from_relay)["method"], "notifications/initialized");
    // A call might do something twice, so the client decides; a list is asked for again.
    let listed = hear(&mut from_relay);
    assert_eq!((&listed["method"], &listed["id"]), (&json!("tools/list"), &json!(3)));
    say(&mut second_server, &answer(&listed["id"]));
    let failed = hear(&mut answers);
    assert_eq!(failed["id"], 2);
    assert!(failed["error"]["message"].as_str().unwrap().contains("call again"), "{failed}");
    let heard = hear(&mut answers);
    assert_eq!((&heard["id"], heard.get("error")), (&json!(3), None));
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let mut rest = String::new();
    assert_eq!(from_relay.read_line(&mut rest).unwrap(), 0, "the end is passed on: {rest}");
    drop((second_server, from_relay));
    assert_eq!(passing.join().unwrap(), EndedBy::Client);
}

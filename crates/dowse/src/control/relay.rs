//! A client's session of MCP, passed to whichever process has the data folder open.
//!
//! Clients start `dowse mcp` once and take its end for the end of the server. The process that a
//! session speaks through may end before it, with a client of its own; the session then goes on
//! through another one: the handshake is done again, and what was not answered is asked again, or
//! answered with an error where asking twice could do something twice.

use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::{Value, json};

use crate::platform::LocalStream;

/// The id of the handshake that the client does not know of.
const AGAIN: &str = "dowse: the handshake again";

/// What is said of a call that was on its way when the process ended.
const ENDED: &str = "the process that answered ended before it did; call again";

/// Who ended a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndedBy {
    Client,
    Server,
}

enum Event {
    Client(Vec<u8>),
    ClientLeft,
    /// A message over the connection of this number.
    Server(usize, Vec<u8>),
    ServerLeft(usize),
}

/// A request that is not answered yet.
struct Waiting {
    id: Value,
    line: Vec<u8>,
    is_call: bool,
    is_sent: bool,
}

/// The session of one client.
pub(crate) struct Relay<W> {
    to_client: W,
    events: Receiver<Event>,
    sender: Sender<Event>,
    has_left: Arc<AtomicBool>,
    initialize: Option<Value>,
    initialized: Option<Vec<u8>>,
    waiting: Vec<Waiting>,
    n_connections: usize,
}

impl Relay<std::io::Stdout> {
    /// The client of this process's pipes.
    pub(crate) fn of_pipes() -> Self {
        Relay::new(BufReader::new(std::io::stdin()), std::io::stdout())
    }
}

impl<W: Write> Relay<W> {
    pub(super) fn new(from_client: impl BufRead + Send + 'static, to_client: W) -> Self {
        let (sender, events) = channel();
        let has_left = Arc::new(AtomicBool::new(false));
        let (to_events, gone) = (sender.clone(), Arc::clone(&has_left));
        std::thread::spawn(move || {
            let mut from_client = from_client;
            while let Some(line) = next_line(&mut from_client) {
                if to_events.send(Event::Client(line)).is_err() {
                    return;
                }
            }
            gone.store(true, Ordering::Release);
            // Nobody waits for it when the session is over.
            let _ = to_events.send(Event::ClientLeft);
        });
        Relay {
            to_client,
            events,
            sender,
            has_left,
            initialize: None,
            initialized: None,
            waiting: Vec::new(),
            n_connections: 0,
        }
    }

    /// Tells whether the client has closed its end.
    pub(crate) fn has_client_left(&self) -> bool {
        self.has_left.load(Ordering::Acquire)
    }

    /// Passes messages both ways over a connection until one side leaves, and tells which.
    pub(crate) fn through(
        &mut self,
        from_server: BufReader<LocalStream>,
    ) -> anyhow::Result<EndedBy> {
        let mut to_server = from_server.get_ref().try_clone()?;
        self.n_connections += 1;
        let number = self.n_connections;
        let sender = self.sender.clone();
        std::thread::spawn(move || {
            let mut from_server = from_server;
            while let Some(line) = next_line(&mut from_server) {
                if sender.send(Event::Server(number, line)).is_err() {
                    return;
                }
            }
            let _ = sender.send(Event::ServerLeft(number));
        });
        self.begin(&mut to_server)?;
        let mut is_over = false;
        loop {
            match self.events.recv()? {
                Event::Client(line) => self.ask(line, &mut to_server),
                Event::ClientLeft => {
                    is_over = true;
                    // The end of the input is the end of the session; answers may still come.
                    let _ = to_server.shutdown(Shutdown::Write);
                }
                Event::Server(from, line) if from == number => self.answer(&line)?,
                Event::ServerLeft(from) if from == number => {
                    return Ok(if is_over { EndedBy::Client } else { EndedBy::Server });
                }
                Event::Server(..) | Event::ServerLeft(_) => {}
            }
        }
    }

    /// Does the handshake again where the client has done it, and asks again what is not answered.
    fn begin(&mut self, to_server: &mut impl Write) -> anyhow::Result<()> {
        let is_answered =
            |initialize: &Value| !self.waiting.iter().any(|waiting| waiting.id == initialize["id"]);
        if let Some(initialize) = self.initialize.as_ref().filter(|one| is_answered(one)) {
            let mut again = initialize.clone();
            again["id"] = json!(AGAIN);
            send(to_server, format!("{again}\n").as_bytes());
            if let Some(initialized) = &self.initialized {
                send(to_server, initialized);
            }
        }
        for mut one in std::mem::take(&mut self.waiting) {
            if one.is_call && one.is_sent {
                let error = json!({ "code": -32603, "message": ENDED });
                let answer = json!({ "jsonrpc": "2.0", "id": one.id, "error": error });
                self.tell(format!("{answer}\n").as_bytes())?;
                continue;
            }
            one.is_sent = send(to_server, &one.line);
            self.waiting.push(one);
        }
        Ok(())
    }

    /// Passes on what the client says.
    fn ask(&mut self, line: Vec<u8>, to_server: &mut impl Write) {
        // The end of the server is told by its reader.
        let is_sent = send(to_server, &line);
        let Ok(message) = serde_json::from_slice::<Value>(&line) else { return };
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), Some(id)) => {
                let (id, is_call) = (id.clone(), method == "tools/call");
                if method == "initialize" {
                    self.initialize = Some(message);
                }
                self.waiting.push(Waiting { id, line, is_call, is_sent });
            }
            (Some("notifications/initialized"), None) => self.initialized = Some(line),
            (Some("notifications/cancelled"), None) => {
                let cancelled = &message["params"]["requestId"];
                self.waiting.retain(|waiting| waiting.id != *cancelled);
            }
            _ => {}
        }
    }

    /// Passes on what the server says.
    fn answer(&mut self, line: &[u8]) -> anyhow::Result<()> {
        let message: Value = serde_json::from_slice(line).unwrap_or_default();
        if message.get("method").is_none()
            && let Some(id) = message.get("id")
        {
            if *id == AGAIN {
                return Ok(());
            }
            self.waiting.retain(|waiting| waiting.id != *id);
        }
        self.tell(line)
    }

    fn tell(&mut self, line: &[u8]) -> anyhow::Result<()> {
        self.to_client.write_all(line)?;
        Ok(self.to_client.flush()?)
    }
}

/// Sends a line, and tells whether that side still took it.
fn send(to: &mut impl Write, line: &[u8]) -> bool {
    to.write_all(line).and_then(|()| to.flush()).is_ok()
}

/// Reads a line with its end; nothing where there is none any more.
fn next_line(from: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    match from.read_until(b'\n', &mut line) {
        Ok(n_bytes) if n_bytes > 0 => Some(line),
        Ok(_) | Err(_) => None,
    }
}

//! The server as tests hold it: its address and key, its faults, and its lag.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::routes;
use super::state::State;
use crate::loopback::{Loopback, Reply, Seen};

/// The key that the server takes.
const KEY: &str = "tpuf_loopback_key";

/// What the server does in place of an answer, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Refuses with a status, before anything is done.
    Refuse {
        /// The status.
        status: u16,
        /// The value of `Retry-After`, in seconds.
        retry_after: Option<u32>,
    },
    /// Says nothing, before anything is done.
    Stall,
    /// Does what was asked, and says nothing.
    StallAfterwards,
    /// Does what was asked, and gives half of the answer.
    CutBody,
    /// Closes the connection, before anything is done.
    HangUp,
}

/// A running server; it stops when the value is dropped.
pub struct TurbopufferServer {
    loopback: Loopback,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    state: State,
    faults: VecDeque<Fault>,
}

impl TurbopufferServer {
    /// Starts an empty server on a free port.
    pub fn start() -> Self {
        let shared = Arc::new(Mutex::new(Shared::default()));
        let answering = Arc::clone(&shared);
        let loopback = Loopback::start(move |seen| {
            answer(&mut answering.lock().expect("no test panics while it holds the lock"), seen)
        });
        TurbopufferServer { loopback, shared }
    }

    /// Gives the address for clients.
    pub fn url(&self) -> String {
        self.loopback.url("")
    }

    /// Gives the key that clients need.
    pub fn key(&self) -> &'static str {
        KEY
    }

    /// Lets the next requests fail, one after the other.
    pub fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        self.lock().faults.extend(faults);
    }

    /// Gives how many faults have not happened yet.
    pub fn n_faults_left(&self) -> usize {
        self.lock().faults.len()
    }

    /// From now on, writes are hidden from queries that allow eventual consistency.
    pub fn lag(&self) {
        self.lock().state.is_lagging = true;
    }

    /// Lets every query see what was written so far.
    pub fn flush(&self) {
        self.lock().state.flush();
    }

    /// Gives the names of all namespaces.
    pub fn namespaces(&self) -> Vec<String> {
        self.lock().state.names().map(str::to_owned).collect()
    }

    /// Gives all requests so far.
    pub fn requests(&self) -> Vec<Seen> {
        self.loopback.requests()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shared> {
        self.shared.lock().expect("no test panics while it holds the lock")
    }
}

fn answer(shared: &mut Shared, seen: &Seen) -> Reply {
    if let Some(what) = seen.path.strip_prefix("/_control/") {
        return control(shared, what, seen);
    }
    match shared.faults.pop_front() {
        None => routes::answer(&mut shared.state, KEY, seen),
        Some(Fault::Refuse { status, retry_after }) => {
            let body = json!({"status": "error", "error": format!("injected {status}")});
            let reply = Reply::status(status, body.to_string())
                .with_header("content-type", "application/json");
            match retry_after {
                Some(seconds) => reply.with_header("retry-after", seconds.to_string()),
                None => reply,
            }
        }
        Some(Fault::Stall) => Reply::Hang,
        Some(Fault::StallAfterwards) => {
            routes::answer(&mut shared.state, KEY, seen);
            Reply::Hang
        }
        Some(Fault::HangUp) => Reply::Raw(vec![]),
        Some(Fault::CutBody) => match routes::answer(&mut shared.state, KEY, seen) {
            Reply::Answer { status, body, .. } => {
                let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n", body.len());
                let half = &body[..body.len() / 2];
                Reply::Raw([head.as_bytes(), half].concat())
            }
            reply @ (Reply::Raw(_) | Reply::Hang) => reply,
        },
    }
}

/// Faults and lag for clients in other languages.
fn control(shared: &mut Shared, what: &str, seen: &Seen) -> Reply {
    let body: Value = serde_json::from_slice(&seen.body).unwrap_or(Value::Null);
    match what {
        "lag" => shared.state.is_lagging = true,
        "flush" => shared.state.flush(),
        "fail" => {
            let fault = match body["kind"].as_str() {
                Some("stall") => Fault::Stall,
                Some("stall_afterwards") => Fault::StallAfterwards,
                Some("cut_body") => Fault::CutBody,
                Some("hang_up") => Fault::HangUp,
                _ => Fault::Refuse {
                    status: body["status"].as_u64().unwrap_or(500) as u16,
                    retry_after: body["retry_after"].as_u64().map(|seconds| seconds as u32),
                },
            };
            let n_times = body["times"].as_u64().unwrap_or(1);
            shared.faults.extend((0..n_times).map(|_| fault.clone()));
        }
        _ => return Reply::status(404, "no such control"),
    }
    Reply::ok("{}")
}

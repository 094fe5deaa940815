//! A hand-written HTTP server on loopback that says exactly what a test wants: also nonsense,
//! half an answer, or nothing at all.
//!
//! ```
//! use testkit::loopback::{Loopback, Reply};
//!
//! let server = Loopback::start(|request| match request.path.as_str() {
//!     "/hello" => Reply::ok("hi"),
//!     _ => Reply::status(404, "no such page"),
//! });
//! assert!(server.url("/hello").starts_with("http://127.0.0.1:"));
//! assert!(server.requests().is_empty());
//! ```

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long a connection that was told to hang stays open, unless the client leaves first.
const HANG: Duration = Duration::from_secs(30);

/// A request as the server read it.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Such as `POST`.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// Read to its end.
    pub body: Vec<u8>,
}

impl Seen {
    /// Gives the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Reads the body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("the client sent JSON")
    }
}

/// What the server does with a request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A whole answer.
    Answer {
        /// The status.
        status: u16,
        /// Further headers.
        headers: Vec<(String, String)>,
        /// Sent as it is.
        body: Vec<u8>,
    },
    /// These bytes, then the connection is closed: for broken and unending answers.
    Raw(Vec<u8>),
    /// Nothing, until the client goes away.
    Hang,
}

impl Reply {
    /// Answers 200.
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Reply::status(200, body)
    }

    /// Answers 200 with JSON.
    pub fn json(body: &serde_json::Value) -> Self {
        Reply::ok(body.to_string()).with_header("content-type", "application/json")
    }

    /// Answers with a status.
    pub fn status(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Reply::Answer { status, headers: Vec::new(), body: body.into() }
    }

    /// Adds a header to an answer.
    pub fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        if let Reply::Answer { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.into()));
        }
        self
    }
}

/// A running server; it stops when the value is dropped.
pub struct Loopback {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Seen>>>,
    is_over: Arc<AtomicBool>,
}

impl Loopback {
    /// Starts a server that answers every request by this function.
    pub fn start(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
        let address = listener.local_addr().expect("the socket is bound");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let is_over = Arc::new(AtomicBool::new(false));
        let server =
            Loopback { address, requests: Arc::clone(&requests), is_over: Arc::clone(&is_over) };
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (answer, requests) = (Arc::clone(&answer), Arc::clone(&requests));
                std::thread::spawn(move || {
                    // A client that hangs up early is part of many tests.
                    let _ = serve(&stream, answer.as_ref(), &requests);
                });
            }
        });
        server
    }

    /// Gives an address on this server.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Gives all requests so far.
    pub fn requests(&self) -> Vec<Seen> {
        self.requests.lock().expect("no test panics while it holds the lock").clone()
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(
    stream: &TcpStream,
    answer: &(dyn Fn(&Seen) -> Reply + Send + Sync),
    requests: &Mutex<Vec<Seen>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    while let Some(seen) = read_request(&mut reader)? {
        requests.lock().expect("no test panics while it holds the lock").push(seen.clone());
        match answer(&seen) {
            Reply::Answer { status, headers, body } => {
                let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
                for (name, value) in headers {
                    head.push_str(&format!("{name}: {value}\r\n"));
                }
                head.push_str("\r\n");
                let mut out = stream;
                out.write_all(head.as_bytes())?;
                out.write_all(&body)?;
                if seen
                    .header("connection")
                    .is_some_and(|value| value.eq_ignore_ascii_case("close"))
                {
                    return Ok(());
                }
            }
            Reply::Raw(bytes) => {
                let mut out = stream;
                return out.write_all(&bytes);
            }
            Reply::Hang => {
                stream.set_read_timeout(Some(HANG))?;
                let _ = reader.read(&mut [0]);
                return Ok(());
            }
        }
    }
    Ok(())
}

fn read_request(reader: &mut BufReader<&TcpStream>) -> std::io::Result<Option<Seen>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut seen = Seen { method, path, headers, body: Vec::new() };
    let n_bytes = seen.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    seen.body = vec![0; n_bytes];
    reader.read_exact(&mut seen.body)?;
    Ok(Some(seen))
}

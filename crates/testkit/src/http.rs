//! A tiny blocking HTTP/1.1 client for loopback: one request, one connection, whole answers.
//!
//! It sends exactly the headers a test gives (and `Host`, `Content-Length`, `Connection: close`),
//! so that a test can be a bare `curl`, a browser with a foreign `Origin`, or broken on purpose.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use serde_json::Value;

/// How long a test waits for a connection or for the next byte.
const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// The largest answer a test reads.
const MAX_RESPONSE_BYTES: u64 = 64 << 20;

/// A server's address.
#[derive(Debug, Clone)]
pub struct Http {
    authority: String,
}

/// A request to be sent as it is.
#[derive(Debug, Clone)]
pub struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// A whole answer.
#[derive(Debug, Clone)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers, names in lower case, in the order they came.
    pub headers: Vec<(String, String)>,
    /// The body, with its transfer encoding undone.
    pub body: Vec<u8>,
}

impl Http {
    /// Takes the address of a server, with or without `http://`.
    pub fn new(address: &str) -> Self {
        let authority = address.trim_start_matches("http://").trim_end_matches('/');
        Http { authority: authority.to_owned() }
    }

    /// Gives the address with its scheme, and a path after it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.authority)
    }

    /// Gives `HOST:PORT`.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Reads a path.
    #[track_caller]
    pub fn get(&self, path: &str) -> Response {
        self.send(&Request::new("GET", path))
    }

    /// Posts JSON as a bare `curl` with `Content-Type: application/json` would.
    #[track_caller]
    pub fn post_json(&self, path: &str, body: &Value) -> Response {
        self.send(&Request::new("POST", path).header("Accept", "*/*").json(body))
    }

    /// Sends a request and reads the answer to its end.
    #[track_caller]
    pub fn send(&self, request: &Request) -> Response {
        let raw = self
            .exchange(&request.bytes(&self.authority))
            .unwrap_or_else(|error| panic!("{} {}: {error}", request.method, request.path));
        parse_response(&raw).unwrap_or_else(|| {
            panic!("not an HTTP answer: {:?}", String::from_utf8_lossy(&raw).get(..200))
        })
    }

    /// Sends raw bytes and reads until the server closes: for requests that are not HTTP at all.
    pub fn exchange(&self, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut connection = self.connect()?;
        connection.write_all(bytes)?;
        let mut answer = Vec::new();
        match connection.take(MAX_RESPONSE_BYTES).read_to_end(&mut answer) {
            // A server that refuses a large body may reset the connection after its answer.
            Err(error) if answer.is_empty() => Err(error),
            _ => Ok(answer),
        }
    }

    /// Opens a connection and leaves the rest to the test.
    pub fn connect(&self) -> std::io::Result<TcpStream> {
        let address = self
            .authority
            .to_socket_addrs()?
            .next()
            .ok_or_else(|| std::io::Error::other("the address resolves to nothing"))?;
        let connection = TcpStream::connect_timeout(&address, READ_TIMEOUT)?;
        connection.set_read_timeout(Some(READ_TIMEOUT))?;
        connection.set_write_timeout(Some(READ_TIMEOUT))?;
        connection.set_nodelay(true)?;
        Ok(connection)
    }
}

impl Request {
    /// Starts a request without a body.
    pub fn new(method: &str, path: &str) -> Self {
        Request {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Adds a header; `Host` replaces the one that would be sent.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the body and its type to JSON.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.header("Content-Type", "application/json").body(body.to_string())
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name))
    }

    /// Gives the request as it goes over the wire.
    pub fn bytes(&self, authority: &str) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        if !self.has("host") {
            head.push_str(&format!("Host: {authority}\r\n"));
        }
        if !self.has("connection") {
            head.push_str("Connection: close\r\n");
        }
        let sends_body = !self.body.is_empty() || self.method != "GET";
        if sends_body && !self.has("content-length") && !self.has("transfer-encoding") {
            head.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        [head.into_bytes(), self.body.clone()].concat()
    }
}

impl Response {
    /// Gives the first header of a name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let name = name.to_ascii_lowercase();
        self.headers.iter().find(|(given, _)| *given == name).map(|(_, value)| value.as_str())
    }

    /// Gives the body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Gives the body as JSON; of an event stream, the last message.
    #[track_caller]
    pub fn json(&self) -> Value {
        let is_stream =
            self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        if is_stream {
            return self.events().pop().expect("the event stream carries a message");
        }
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!("{} is not JSON ({error}): {}", self.status, self.text())
        })
    }

    /// Gives the JSON messages of an event stream, in order.
    pub fn events(&self) -> Vec<Value> {
        let text = self.text();
        let events = text.split("\n\n").map(|event| {
            let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
            lines.map(str::trim).collect::<Vec<_>>().join("\n")
        });
        events.filter_map(|data| serde_json::from_str(&data).ok()).collect()
    }
}

/// Reads a whole answer; nothing when it broke off.
pub fn parse_response(raw: &[u8]) -> Option<Response> {
    let end_of_head = raw.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&raw[..end_of_head]).into_owned();
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let rest = &raw[end_of_head + 4..];
    if (100..200).contains(&status) {
        return parse_response(rest);
    }
    let is_chunked =
        headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if is_chunked { unchunk(rest) } else { rest.to_vec() };
    Some(Response { status, headers, body })
}

fn unchunk(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end_of_size) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = String::from_utf8_lossy(&rest[..end_of_size]);
        let size = size.split(';').next().unwrap_or_default().trim();
        let Ok(size) = usize::from_str_radix(size, 16) else { break };
        let start = end_of_size + 2;
        let end = (start + size).min(rest.len());
        body.extend_from_slice(&rest[start..end]);
        if size == 0 || end + 2 > rest.len() {
            break;
        }
        rest = &rest[end + 2..];
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, status: u16, body: &str) {
        let response = parse_response(raw.as_bytes()).unwrap();
        assert_eq!((response.status, response.text().as_str()), (status, body));
    }

    #[test]
    fn bodies_of_every_framing_are_read() {
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok");
        check("HTTP/1.1 404 Not Found\r\n\r\nuntil the end", 404, "until the end");
        check("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n", 202, "");
        check(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\n\r\n",
            200,
            "abcde",
        );
        check("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nok", 200, "ok");
    }

    #[test]
    fn cut_chunks_give_what_came() {
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc", 200, "abc");
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc", 200, "");
    }

    #[test]
    fn last_event_is_the_answer() {
        let stream = "id: 0\ndata:\n\ndata: {\"id\": 1}\n\nevent: message\ndata: {\"id\": 2}\n\n";
        let response = Response {
            status: 200,
            headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
            body: stream.into(),
        };
        assert_eq!(response.json()["id"], 2);
        assert_eq!(response.events().len(), 2);
    }

    #[test]
    fn given_headers_win() {
        let request = Request::new("POST", "/x").header("host", "evil.example").body("{}");
        let text = String::from_utf8(request.bytes("127.0.0.1:1")).unwrap();
        assert_eq!(
            text,
            "POST /x HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\nhost: evil.example\r\n\r\n{}"
        );
    }
}

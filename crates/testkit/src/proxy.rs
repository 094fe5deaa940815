//! A TCP proxy on loopback that can stop forwarding: the network between two programs is cut without
//! either of them ending. It can also count the requests that pass.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How often a connection looks whether the network is cut.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What clients speak, so that their requests can be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Bytes, which nobody counts.
    Any,
    /// PostgreSQL without encryption: each wait for the server is a request.
    Postgres,
    /// gRPC without encryption.
    Grpc,
}

/// A proxy to one address; connections end when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// What the connections of a proxy share.
#[derive(Debug)]
struct Shared {
    protocol: Protocol,
    is_cut: AtomicBool,
    is_over: AtomicBool,
    n_requests: AtomicUsize,
}

impl Proxy {
    /// Forwards connections to a port of loopback.
    pub fn start(to: u16) -> Self {
        Proxy::counting(to, Protocol::Any)
    }

    /// Forwards connections to a port of loopback, and counts the requests of clients.
    pub fn counting(to: u16, protocol: Protocol) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
        let address = listener.local_addr().expect("the socket is bound");
        let shared = Arc::new(Shared {
            protocol,
            is_cut: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            n_requests: AtomicUsize::new(0),
        });
        let proxy = Proxy { address, shared: Arc::clone(&shared) };
        thread::spawn(move || {
            for client in listener.incoming() {
                if shared.is_over() {
                    return;
                }
                let Ok(client) = client else { continue };
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    // A connection that begins while the network is cut hangs like the others.
                    while shared.is_cut() && !shared.is_over() {
                        thread::sleep(LOOK_EVERY);
                    }
                    let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { return };
                    forward(&client, &server, &shared, shared.protocol);
                    forward(&server, &client, &shared, Protocol::Any);
                });
            }
        });
        proxy
    }

    /// Gives the port to connect to.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Stops forwarding: bytes go nowhere, and nobody is told.
    pub fn cut(&self) {
        self.shared.is_cut.store(true, Ordering::Relaxed);
    }

    /// Forwards again, what was held back first.
    pub fn mend(&self) {
        self.shared.is_cut.store(false, Ordering::Relaxed);
    }

    /// Gives how many requests have passed so far.
    pub fn n_requests(&self) -> usize {
        self.shared.n_requests.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn is_cut(&self) -> bool {
        self.is_cut.load(Ordering::Relaxed)
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

/// Copies one way on a thread of its own.
fn forward(from: &TcpStream, to: &TcpStream, shared: &Arc<Shared>, protocol: Protocol) {
    let (Ok(mut from), Ok(mut to)) = (from.try_clone(), to.try_clone()) else { return };
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        let _ = from.set_read_timeout(Some(LOOK_EVERY));
        let _ = to.set_nodelay(true);
        let mut buffer = vec![0; 64 << 10];
        let mut messages = Messages::of(protocol);
        loop {
            if shared.is_over() {
                break;
            }
            if shared.is_cut() {
                thread::sleep(LOOK_EVERY);
                continue;
            }
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(n_read) => {
                    // Counted before it is sent: whoever has its answer finds it counted.
                    let n_requests = messages.requests_in(&buffer[..n_read]);
                    shared.n_requests.fetch_add(n_requests, Ordering::SeqCst);
                    if to.write_all(&buffer[..n_read]).is_err() {
                        break;
                    }
                }
                Err(error)
                    if matches!(
                        error.kind(),
                        std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                    ) => {}
                _ => break,
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    });
}

/// The length of the line with which a client of HTTP/2 begins.
const GRPC_PREFACE: usize = 24;
/// The number by which a client of PostgreSQL asks for encryption, before it begins.
const SSL_REQUEST: u32 = 80_877_103;

/// Tells requests apart in what a client sends, however it is cut.
struct Messages {
    protocol: Protocol,
    unread: Vec<u8>,
    has_begun: bool,
}

impl Messages {
    fn of(protocol: Protocol) -> Self {
        Messages { protocol, unread: vec![], has_begun: false }
    }

    /// Counts the requests that end with these bytes.
    fn requests_in(&mut self, bytes: &[u8]) -> usize {
        if self.protocol == Protocol::Any {
            return 0;
        }
        self.unread.extend_from_slice(bytes);
        let (mut n_requests, mut at) = (0, 0);
        while let Some((length, is_request)) = self.next(at) {
            if at + length > self.unread.len() {
                break;
            }
            n_requests += usize::from(is_request);
            at += length;
            self.has_begun |= self.protocol == Protocol::Grpc || length > 8;
        }
        self.unread.drain(..at);
        n_requests
    }

    /// Gives the length of the message that begins here, and whether it is a request.
    fn next(&self, at: usize) -> Option<(usize, bool)> {
        let rest = &self.unread[at..];
        let number = |at: usize| rest.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
        match self.protocol {
            Protocol::Any => None,
            Protocol::Grpc if !self.has_begun => Some((GRPC_PREFACE, false)),
            // Three bytes of length, the type, flags, and the number of the stream; every request
            // begins with its headers.
            Protocol::Grpc => {
                let head = number(0)?;
                rest.get(8)?;
                Some((9 + (head >> 8) as usize, head & 0xff == 1))
            }
            Protocol::Postgres if !self.has_begun => {
                let (length, code) = (number(0)? as usize, number(4)?);
                Some((if code == SSL_REQUEST { 8 } else { length }, false))
            }
            Protocol::Postgres => {
                let length = 1 + number(1)? as usize;
                // `Sync` ends what is asked together, and `Query` is a request by itself.
                Some((length, matches!(rest[0], b'S' | b'Q')))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_however_their_bytes_are_cut() {
        let message = |kind: u8, body: &[u8]| {
            let length = u32::try_from(4 + body.len()).unwrap();
            [&[kind][..], &length.to_be_bytes(), body].concat()
        };
        let start = [&9_u32.to_be_bytes()[..], &196_608_u32.to_be_bytes(), &[0]].concat();
        let ssl = [8_u32.to_be_bytes(), SSL_REQUEST.to_be_bytes()].concat();
        let asked = [message(b'P', b"S"), message(b'B', b"QQ"), message(b'S', b"")].concat();
        let postgres = [ssl, start, asked.clone(), message(b'Q', b"SELECT"), asked].concat();
        let frame = |kind: u8, body: &[u8]| {
            let length = u32::try_from(body.len()).unwrap().to_be_bytes();
            [&length[1..], &[kind, 4, 0, 0, 0, 1], body].concat()
        };
        let begun = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        let grpc =
            [begun, frame(4, &[1; 12]), frame(1, &[1; 70]), frame(0, &[1; 300]), frame(1, b"")];
        for (protocol, bytes, expected) in
            [(Protocol::Postgres, postgres, 3), (Protocol::Grpc, grpc.concat(), 2)]
        {
            for size in 1..bytes.len() {
                let mut messages = Messages::of(protocol);
                let counted: usize =
                    bytes.chunks(size).map(|part| messages.requests_in(part)).sum();
                assert_eq!(counted, expected, "{protocol:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn bytes_pass_until_the_network_is_cut_and_again_when_it_is_mended() {
        let server = crate::loopback::Loopback::start(|_| crate::loopback::Reply::ok("hi"));
        let port = server.url("").rsplit(':').next().unwrap().parse().unwrap();
        let proxy = Proxy::start(port);
        let http = crate::Http::new(&format!("127.0.0.1:{}", proxy.port()));
        assert_eq!(http.get("/").text(), "hi");
        proxy.cut();
        let waiting = {
            let http = http.clone();
            thread::spawn(move || http.get("/").text())
        };
        assert_eq!(server.requests().len(), 1);
        proxy.mend();
        assert_eq!(waiting.join().unwrap(), "hi");
    }
}

//! Free ports on loopback.

use std::net::{Ipv4Addr, TcpListener};

/// Finds a port that nobody listens on.
///
/// Another program can take it before the test does, so a test that can let the server choose
/// (port 0) should; this is for servers that cannot say what they chose.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    listener.local_addr().expect("a bound socket has an address").port()
}

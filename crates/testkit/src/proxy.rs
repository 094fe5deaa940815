//! A TCP proxy on loopback that can stop forwarding: the network between two programs is cut without
//! either of them ending.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often a connection looks whether the network is cut.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A proxy to one address; connections end when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    is_cut: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
}

impl Proxy {
    /// Forwards connections to a port of loopback.
    pub fn start(to: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
        let address = listener.local_addr().expect("the socket is bound");
        let (is_cut, is_over) =
            (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let proxy = Proxy { address, is_cut: Arc::clone(&is_cut), is_over: Arc::clone(&is_over) };
        thread::spawn(move || {
            for client in listener.incoming() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(client) = client else { continue };
                let (is_cut, is_over) = (Arc::clone(&is_cut), Arc::clone(&is_over));
                thread::spawn(move || {
                    // A connection that begins while the network is cut hangs like the others.
                    while is_cut.load(Ordering::Relaxed) && !is_over.load(Ordering::Relaxed) {
                        thread::sleep(LOOK_EVERY);
                    }
                    let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { return };
                    forward(&client, &server, &is_cut, &is_over);
                    forward(&server, &client, &is_cut, &is_over);
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
        self.is_cut.store(true, Ordering::Relaxed);
    }

    /// Forwards again, what was held back first.
    pub fn mend(&self) {
        self.is_cut.store(false, Ordering::Relaxed);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it sees that it is over.
        let _ = TcpStream::connect(self.address);
    }
}

/// Copies one way on a thread of its own.
fn forward(from: &TcpStream, to: &TcpStream, is_cut: &Arc<AtomicBool>, is_over: &Arc<AtomicBool>) {
    let (Ok(mut from), Ok(mut to)) = (from.try_clone(), to.try_clone()) else { return };
    let (is_cut, is_over) = (Arc::clone(is_cut), Arc::clone(is_over));
    thread::spawn(move || {
        let _ = from.set_read_timeout(Some(LOOK_EVERY));
        let mut buffer = vec![0; 64 << 10];
        loop {
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            if is_cut.load(Ordering::Relaxed) {
                thread::sleep(LOOK_EVERY);
                continue;
            }
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(n_read) if to.write_all(&buffer[..n_read]).is_ok() => {}
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

#[cfg(test)]
mod tests {
    use super::*;

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

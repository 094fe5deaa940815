//! Who is connected: so many connections in all, so many for one peer.
//!
//! A peer is an address, or the /64 network of an IPv6 address, of which one client has a whole
//! one.
//!
//! At a limit the oldest connection that asks nothing at the moment makes room, of the same peer
//! first, then of the peer that has most; so does one whose answer nobody takes. No other
//! connection with a request in progress is closed for another one.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use guard::network_of;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::pace::Pace;

/// A connection whose answer nobody has taken for so long makes room for others.
const STALL_BEFORE_EVICTION: Duration = Duration::from_secs(10);

/// How many connections may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConnectionLimits {
    /// From everywhere.
    pub(super) total: usize,
    /// From one address.
    pub(super) per_peer: usize,
}

/// The limit that a connection or request is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OverLimit {
    /// `limits.connections`.
    Total,
    /// `limits.connections_per_peer`.
    Peer,
}

/// Every open connection, by its peer.
#[derive(Default)]
pub(super) struct Peers(Mutex<Open>);

#[derive(Default)]
struct Open {
    n_connections: usize,
    /// Connections of a peer, oldest first.
    by_peer: HashMap<IpAddr, Vec<Arc<Connection>>>,
    /// Requests in progress of clients behind a trusted proxy.
    forwarded: HashMap<IpAddr, usize>,
}

pub(super) struct Connection {
    peer: IpAddr,
    n_requests: AtomicUsize,
    /// Whether its answers are taken.
    pub(super) pace: Arc<Pace>,
    /// Cancelled when it has to make room.
    pub(super) evicted: CancellationToken,
}

/// A connection that counts until this is dropped.
pub(super) struct Counted {
    peers: Arc<Peers>,
    pub(super) connection: Arc<Connection>,
}

/// A request in progress, until this is dropped.
pub(super) struct InProgress(Arc<Connection>);

/// A request of a client behind a proxy, until this is dropped.
pub(super) struct Forwarded {
    peers: Arc<Peers>,
    client: IpAddr,
}

impl Peers {
    /// Counts a new connection, making room for it where that is possible. A trusted proxy has
    /// as many as it likes: its clients are counted instead.
    pub(super) fn admit(
        self: &Arc<Self>,
        peer: IpAddr,
        is_proxy: bool,
        limits: ConnectionLimits,
    ) -> Result<Counted, OverLimit> {
        let peer = network_of(peer);
        let mut open = self.0.lock();
        let of_peer = open.by_peer.get(&peer).map_or(0, Vec::len);
        if !is_proxy && of_peer >= limits.per_peer && !open.evict_idle(peer) {
            return Err(OverLimit::Peer);
        }
        if open.n_connections >= limits.total {
            let mut peers: Vec<(usize, IpAddr)> =
                open.by_peer.iter().map(|(peer, all)| (all.len(), *peer)).collect();
            peers.sort_unstable_by(|one, other| other.cmp(one));
            if !peers.into_iter().any(|(_, peer)| open.evict_idle(peer)) {
                return Err(OverLimit::Total);
            }
        }
        let connection = Arc::new(Connection {
            peer,
            n_requests: AtomicUsize::new(0),
            pace: Arc::default(),
            evicted: CancellationToken::new(),
        });
        open.n_connections += 1;
        open.by_peer.entry(peer).or_default().push(Arc::clone(&connection));
        Ok(Counted { peers: Arc::clone(self), connection })
    }

    /// Counts a request of a client behind a trusted proxy.
    pub(super) fn forwarded(
        self: &Arc<Self>,
        client: IpAddr,
        limits: ConnectionLimits,
    ) -> Result<Forwarded, OverLimit> {
        let client = network_of(client);
        let mut open = self.0.lock();
        let n_requests = open.forwarded.entry(client).or_default();
        if *n_requests >= limits.per_peer {
            return Err(OverLimit::Peer);
        }
        *n_requests += 1;
        Ok(Forwarded { peers: Arc::clone(self), client })
    }
}

impl Open {
    /// Closes the oldest connection of a peer that asks nothing at the moment, or whose answer
    /// nobody takes.
    fn evict_idle(&mut self, peer: IpAddr) -> bool {
        let Some(all) = self.by_peer.get_mut(&peer) else { return false };
        let idle = all.iter().position(|one| {
            one.n_requests.load(Ordering::Acquire) == 0
                || one.pace.stalled_for().is_some_and(|stalled| stalled >= STALL_BEFORE_EVICTION)
        });
        let Some(idle) = idle else { return false };
        let evicted = all.remove(idle);
        if all.is_empty() {
            self.by_peer.remove(&peer);
        }
        self.n_connections -= 1;
        evicted.evicted.cancel();
        true
    }
}

impl Connection {
    /// Begins a request.
    pub(super) fn begin(self: &Arc<Self>) -> InProgress {
        self.n_requests.fetch_add(1, Ordering::AcqRel);
        InProgress(Arc::clone(self))
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.0.n_requests.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut open = self.peers.0.lock();
        let peer = self.connection.peer;
        let Some(all) = open.by_peer.get_mut(&peer) else { return };
        // One that made room for another is not counted any more.
        let Some(at) = all.iter().position(|one| Arc::ptr_eq(one, &self.connection)) else {
            return;
        };
        all.remove(at);
        if all.is_empty() {
            open.by_peer.remove(&peer);
        }
        open.n_connections -= 1;
    }
}

impl Drop for Forwarded {
    fn drop(&mut self) {
        let mut open = self.peers.0.lock();
        if let Some(n_requests) = open.forwarded.get_mut(&self.client) {
            *n_requests -= 1;
            if *n_requests == 0 {
                open.forwarded.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn limits(total: usize, per_peer: usize) -> ConnectionLimits {
        ConnectionLimits { total, per_peer }
    }

    #[test]
    fn a_silent_connection_makes_room_and_a_busy_one_does_not() {
        let peers = Arc::new(Peers::default());
        let first = peers.admit(ONE, false, limits(9, 2)).unwrap();
        let second = peers.admit(ONE, false, limits(9, 2)).unwrap();
        let busy = (first.connection.begin(), second.connection.begin());
        assert_eq!(peers.admit(ONE, false, limits(9, 2)).err(), Some(OverLimit::Peer));
        assert!(peers.admit(OTHER, false, limits(9, 2)).is_ok());
        drop(busy);
        let third = peers.admit(ONE, false, limits(9, 2)).unwrap();
        assert!(first.connection.evicted.is_cancelled());
        assert!(!second.connection.evicted.is_cancelled());
        drop((first, second, third));
        let open = peers.0.lock();
        assert!(open.n_connections == 0 && open.by_peer.is_empty());
    }

    #[test]
    fn at_the_total_the_peer_with_most_makes_room() {
        let peers = Arc::new(Peers::default());
        let crowd: Vec<_> =
            (0..3).map(|_| peers.admit(ONE, false, limits(4, 9)).unwrap()).collect();
        let lonely = peers.admit(OTHER, false, limits(4, 9)).unwrap();
        let next = peers.admit(OTHER, false, limits(4, 9)).unwrap();
        assert!(crowd[0].connection.evicted.is_cancelled());
        assert!(!lonely.connection.evicted.is_cancelled());
        let _busy: Vec<_> =
            crowd.iter().chain([&lonely, &next]).map(|one| one.connection.begin()).collect();
        assert_eq!(peers.admit(OTHER, false, limits(4, 9)).err(), Some(OverLimit::Total));
    }

    /// One client of IPv6 has more addresses than there are connections.
    #[test]
    fn addresses_of_one_network_are_one_peer() {
        let peers = Arc::new(Peers::default());
        let address = |n: u16| IpAddr::V6([0x2001, 0xdb8, 0, 0, 0, 0, 0, n].into());
        let held: Vec<_> =
            (0..2).map(|n| peers.admit(address(n), false, limits(9, 2)).unwrap()).collect();
        let busy: Vec<_> = held.iter().map(|one| one.connection.begin()).collect();
        assert_eq!(peers.admit(address(7), false, limits(9, 2)).err(), Some(OverLimit::Peer));
        let elsewhere = IpAddr::V6([0x2001, 0xdb8, 0, 1, 0, 0, 0, 1].into());
        assert!(peers.admit(elsewhere, false, limits(9, 2)).is_ok());
        drop((busy, held));
        assert!(peers.0.lock().by_peer.is_empty());
        let request = peers.forwarded(address(1), limits(9, 1)).ok().unwrap();
        assert_eq!(peers.forwarded(address(2), limits(9, 1)).err(), Some(OverLimit::Peer));
        drop(request);
        assert!(peers.0.lock().forwarded.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_nobody_takes_makes_room() {
        use tokio::io::AsyncWriteExt;
        let peers = Arc::new(Peers::default());
        let held = peers.admit(ONE, false, limits(9, 1)).unwrap();
        let _busy = held.connection.begin();
        let (_client, server) = tokio::io::duplex(10);
        let mut sending = super::super::pace::Paced::new(server, Arc::clone(&held.connection.pace));
        let sending = tokio::spawn(async move { sending.write_all(&[0; 100]).await });
        tokio::time::sleep(STALL_BEFORE_EVICTION / 2).await;
        assert_eq!(peers.admit(ONE, false, limits(9, 1)).err(), Some(OverLimit::Peer));
        tokio::time::sleep(STALL_BEFORE_EVICTION).await;
        assert!(peers.admit(ONE, false, limits(9, 1)).is_ok());
        assert!(held.connection.evicted.is_cancelled());
        sending.abort();
    }

    #[test]
    fn a_proxy_is_exempt_and_its_clients_are_counted() {
        let peers = Arc::new(Peers::default());
        let proxied: Vec<_> =
            (0..5).map(|_| peers.admit(ONE, true, limits(9, 1)).unwrap()).collect();
        assert!(proxied.iter().all(|one| !one.connection.evicted.is_cancelled()));
        let request = peers.forwarded(OTHER, limits(9, 1)).ok().unwrap();
        assert_eq!(peers.forwarded(OTHER, limits(9, 1)).err(), Some(OverLimit::Peer));
        drop(request);
        assert!(peers.forwarded(OTHER, limits(9, 1)).is_ok());
        assert!(peers.0.lock().forwarded.is_empty());
    }
}

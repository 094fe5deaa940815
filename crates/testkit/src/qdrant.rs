//! A Qdrant cluster of the test's own: peers on loopback, fresh folders, gone with the value.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::{Folder, bed, free_port, signals};

/// How long the cluster may take until every peer knows the others.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How often a waiting test looks again.
const POLL: Duration = Duration::from_millis(100);
/// The user and group `nobody`: the program is a third party's build.
const NOBODY: u32 = 65534;

/// A running cluster.
#[derive(Debug)]
pub struct Qdrant {
    program: PathBuf,
    peers: Vec<Peer>,
    folder: Folder,
}

#[derive(Debug)]
struct Peer {
    child: Child,
    http: u16,
    grpc: u16,
    p2p: u16,
}

impl Qdrant {
    /// Starts a cluster of so many peers, or gives `None` where the test bed has no Qdrant.
    #[track_caller]
    pub fn start(n_peers: usize) -> Option<Self> {
        let program = bed::qdrant()?;
        let folder = Folder::new();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(folder.path(), Some(NOBODY), Some(NOBODY))
                .expect("root can give a folder away");
        }
        let mut qdrant = Qdrant { program, peers: vec![], folder };
        for idx in 0..n_peers {
            let ports = (free_port(), free_port(), free_port());
            let child = qdrant.spawn(idx, ports);
            let (http, grpc, p2p) = ports;
            qdrant.peers.push(Peer { child, http, grpc, p2p });
            qdrant.wait_until_it_answers(idx, idx + 1);
        }
        for idx in 0..n_peers {
            qdrant.wait_until_it_answers(idx, n_peers);
        }
        Some(qdrant)
    }

    /// Gives the gRPC addresses of all peers.
    pub fn urls(&self) -> Vec<String> {
        self.peers.iter().map(|peer| format!("http://127.0.0.1:{}", peer.grpc)).collect()
    }

    /// Gives the HTTP addresses of all peers, as `127.0.0.1:PORT`.
    pub fn http_addresses(&self) -> Vec<String> {
        self.peers.iter().map(|peer| format!("127.0.0.1:{}", peer.http)).collect()
    }

    /// Gives the process of each peer.
    pub fn process_ids(&self) -> Vec<u32> {
        self.peers.iter().map(|peer| peer.child.id()).collect()
    }

    /// Gives the folder that holds the data of all peers.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Tells whether every collection is optimised on every peer, its graphs built.
    pub fn is_settled(&self) -> bool {
        self.http_addresses().iter().all(|address| {
            let http = crate::Http::new(address);
            let collections = http.get("/collections").json();
            let names = collections["result"]["collections"].as_array().cloned();
            names.unwrap_or_default().iter().all(|collection| {
                let name = collection["name"].as_str().unwrap_or_default();
                http.get(&format!("/collections/{name}")).json()["result"]["status"] == "green"
            })
        })
    }

    /// Kills a peer, as when its machine loses power.
    pub fn kill(&mut self, idx: usize) {
        let _ = self.peers[idx].child.kill();
        let _ = self.peers[idx].child.wait();
    }

    /// Lets a peer hang: its connections stay open, and it does not answer.
    pub fn hang(&self, idx: usize) {
        let _ = signals::send(self.peers[idx].child.id(), Signal::STOP);
    }

    /// Lets a peer go on after [`Qdrant::hang`].
    pub fn go_on(&self, idx: usize) {
        let _ = signals::send(self.peers[idx].child.id(), Signal::CONT);
    }

    /// Starts a killed peer again with its data.
    #[track_caller]
    pub fn start_again(&mut self, idx: usize) {
        let peer = &self.peers[idx];
        let ports = (peer.http, peer.grpc, peer.p2p);
        self.peers[idx].child = self.spawn(idx, ports);
        self.wait_until_it_answers(idx, self.peers.len());
    }

    fn spawn(&self, idx: usize, (http, grpc, p2p): (u16, u16, u16)) -> Child {
        let home = self.folder.join(format!("peer{idx}"));
        let _ = fs_err::create_dir_all(&home);
        let mut command = Command::new(&self.program);
        if rustix::process::geteuid().is_root() {
            let _ = std::os::unix::fs::chown(&home, Some(NOBODY), Some(NOBODY));
            command.uid(NOBODY).gid(NOBODY);
        }
        command
            .current_dir(&home)
            .args(["--disable-telemetry", "--uri", &format!("http://127.0.0.1:{p2p}")])
            .env("QDRANT__SERVICE__HOST", "127.0.0.1")
            .env("QDRANT__SERVICE__HTTP_PORT", http.to_string())
            .env("QDRANT__SERVICE__GRPC_PORT", grpc.to_string())
            .env("QDRANT__CLUSTER__ENABLED", "true")
            .env("QDRANT__CLUSTER__P2P__PORT", p2p.to_string())
            .env("QDRANT__CLUSTER__CONSENSUS__TICK_PERIOD_MS", "50")
            .env("QDRANT__STORAGE__STORAGE_PATH", home.join("storage"))
            .env("QDRANT__STORAGE__SNAPSHOTS_PATH", home.join("snapshots"))
            .env("QDRANT__LOG_LEVEL", "WARN");
        if let Some(first) = self.peers.first().filter(|_| idx > 0) {
            command.args(["--bootstrap", &format!("http://127.0.0.1:{}", first.p2p)]);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("`qdrant` can be started")
    }

    /// Waits until a peer knows so many peers, itself among them.
    #[track_caller]
    fn wait_until_it_answers(&self, idx: usize, n_peers: usize) {
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], self.peers[idx].http));
        let started = Instant::now();
        while started.elapsed() < START_TIMEOUT {
            if count_peers(address).is_some_and(|known| known >= n_peers) {
                return;
            }
            thread::sleep(POLL);
        }
        panic!("Qdrant did not answer in {} s", START_TIMEOUT.as_secs());
    }
}

impl Drop for Qdrant {
    fn drop(&mut self) {
        for peer in &mut self.peers {
            let _ = peer.child.kill();
            let _ = peer.child.wait();
        }
    }
}

/// Asks a peer how many it knows.
fn count_peers(address: std::net::SocketAddr) -> Option<usize> {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect_timeout(&address, Duration::from_secs(1)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
    let request = "GET /cluster HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let body = answer.split_once("\r\n\r\n")?.1;
    let start = body.find('{')?;
    let end = body.rfind('}')?;
    let answer: serde_json::Value = serde_json::from_str(&body[start..=end]).ok()?;
    Some(answer["result"]["peers"].as_object()?.len())
}

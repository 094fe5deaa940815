//! Several real servers over one PostgreSQL, with the embedded engine and with a Qdrant cluster.
//!
//! Where the test bed has no PostgreSQL or no Qdrant, nothing is tested. `DOWSE_FAULTS=long`, which
//! `cargo xtask faults` sets, makes the faults last longer and come more often.

mod faults;
mod life;
mod links;
mod moving;
mod peers;
mod requests;

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Folder, Http, Postgres, Qdrant, Request, Response, Server};

use crate::test_server::dowse;

/// The lease of the servers under test, in seconds.
const LEASE_SECONDS: u64 = 2;

/// How long a test waits for something that must happen: debug builds of several servers and
/// databases share two cores.
const PATIENCE: Duration = Duration::from_secs(90);

/// What the servers share.
struct Bed {
    postgres: Postgres,
    qdrant: Option<Qdrant>,
    /// More lines of every configuration.
    more: String,
    /// The address of the database, where it is not the server itself.
    postgres_url: Option<String>,
    /// The peers, where they are not the servers themselves.
    qdrant_urls: Option<Vec<String>>,
}

/// One server with its folder.
struct Member {
    server: Server,
    folder: Folder,
}

impl Bed {
    /// A database, and the engine of each server in its own folder.
    fn embedded() -> Option<Self> {
        Bed::with(None)
    }

    /// A database and a cluster of so many peers.
    fn qdrant(n_peers: usize) -> Option<Self> {
        Bed::with(Some(Qdrant::start(n_peers)?))
    }

    fn with(qdrant: Option<Qdrant>) -> Option<Self> {
        let postgres = Postgres::start()?;
        let more = String::new();
        Some(Bed { postgres, qdrant, more, postgres_url: None, qdrant_urls: None })
    }

    /// Gives the configuration of every server.
    fn config(&self) -> String {
        let engine = match &self.qdrant {
            None => String::new(),
            Some(qdrant) => {
                let urls = self.qdrant_urls.clone().unwrap_or_else(|| qdrant.urls());
                format!("[store.qdrant]\nurls = {urls:?}\nshards = 3\nreplicas = 2\n")
            }
        };
        let name = if self.qdrant.is_some() { "qdrant" } else { "embedded" };
        let url = self.postgres_url.clone().unwrap_or_else(|| self.postgres.url());
        let more = &self.more;
        format!(
            "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n[limits]\nrate_per_minute = {{ default = 100000 }}\n\
             [store]\ncatalogue = \"postgres\"\nengine = \"{name}\"\nlease_seconds = {LEASE_SECONDS}\n\
             {more}\n[store.postgres]\nurl = \"{url}\"\n{engine}"
        )
    }

    #[track_caller]
    fn start(&self) -> Member {
        let folder = Folder::new();
        folder.write("dowse.toml", self.config());
        Member { server: start_in(&folder), folder }
    }

    /// Starts a server whose clock is so many seconds ahead.
    #[track_caller]
    fn start_skewed(&self, clock: &testkit::SkewedClock, seconds: i64) -> Member {
        let folder = Folder::new();
        folder.write("dowse.toml", self.config());
        let mut command = serve_in(&folder);
        clock.apply(&mut command, seconds);
        Member { server: Server::start_command(command), folder }
    }

    /// Starts servers at the same time.
    #[track_caller]
    fn start_many(&self, n_servers: usize) -> Vec<Member> {
        std::thread::scope(|scope| {
            let starting: Vec<_> = (0..n_servers).map(|_| scope.spawn(|| self.start())).collect();
            starting.into_iter().map(|server| server.join().unwrap()).collect()
        })
    }
}

#[track_caller]
fn start_in(folder: &Folder) -> Server {
    Server::start_command(serve_in(folder))
}

fn serve_in(folder: &Folder) -> std::process::Command {
    let mut command = dowse("serve");
    command.arg("--config").arg(folder.join("dowse.toml")).args(["--listen", "127.0.0.1:0"]);
    command
}

impl Member {
    fn http(&self) -> &Http {
        self.server.http()
    }

    /// Starts again with what is in its folder.
    #[track_caller]
    fn start_again(&mut self) {
        self.server = Server::start_command(serve_in(&self.folder));
    }

    /// Kills the process at once, as a power cut would.
    fn kill(&self) {
        self.server.signal(rustix::process::Signal::KILL);
    }

    #[track_caller]
    fn wait_until(&self, what: &str, condition: impl Fn() -> bool) {
        let is_so = testkit::wait_until(PATIENCE, condition);
        assert!(is_so, "{what}; the server printed:\n{}", self.server.stderr());
    }

    /// Makes a base with one collection.
    #[track_caller]
    fn collection(&self) -> Collection {
        let base = self.http().post_json("/v1/knowledge-bases", &json!({ "name": "b" }));
        assert_eq!(base.status, 201, "{}", base.text());
        let base = base.json()["id"].as_str().unwrap().to_owned();
        let path = format!("/v1/knowledge-bases/{base}/collections");
        let collection = self.http().post_json(&path, &json!({ "name": "c" })).json();
        Collection { base, id: collection["id"].as_str().unwrap().to_owned() }
    }

    fn try_add(&self, collection: &Collection, title: &str, text: &str) -> Response {
        let path = format!("/v1/collections/{}/documents", collection.id);
        self.http().post_json(&path, &json!({ "title": title, "text": text }))
    }

    #[track_caller]
    fn add(&self, collection: &Collection, title: &str, text: &str) -> String {
        let made = self.try_add(collection, title, text);
        assert_eq!(made.status, 202, "{}", made.text());
        made.json()["id"].as_str().unwrap().to_owned()
    }

    fn document(&self, id: &str) -> Value {
        self.http().get(&format!("/v1/documents/{id}")).json()
    }

    fn is_ready(&self, id: &str) -> bool {
        self.document(id)["status"] == "ready"
    }

    #[track_caller]
    fn wait_until_ready(&self, ids: &[String]) {
        for id in ids {
            self.wait_until(&format!("document {id} is not ready"), || self.is_ready(id));
        }
    }

    fn search(&self, collection: &Collection, query: &str) -> Response {
        let path = format!("/v1/knowledge-bases/{}/search", collection.base);
        let body = json!({ "query": query, "threshold": 0.0, "max_results": 50 });
        self.http().send(&Request::new("POST", &path).json(&body))
    }

    /// Gives the documents that a search finds, with the printed scores, in a fixed order.
    fn found(&self, collection: &Collection, query: &str) -> Vec<(String, String)> {
        let answer = self.search(collection, query);
        let Some(results) = answer.json()["results"].as_array().cloned() else { return vec![] };
        let mut found: Vec<(String, String)> = results
            .iter()
            .map(|result| {
                let id = result["metadata"]["document_id"].as_str().unwrap_or_default();
                (id.to_owned(), result["score"].to_string())
            })
            .collect();
        found.sort();
        found
    }

    /// Gives how many documents a collection counts.
    fn n_documents(&self, collection: &Collection) -> u64 {
        let answer = self.http().get(&format!("/v1/collections/{}", collection.id)).json();
        answer["total_documents"].as_u64().unwrap_or(u64::MAX)
    }

    /// Holds that a document was indexed once.
    #[track_caller]
    fn assert_once(&self, id: &str) {
        let versions = self.http().get(&format!("/v1/documents/{id}/versions")).json();
        assert_eq!(versions["versions"].as_array().map(Vec::len), Some(1), "{versions}");
    }

    fn original(&self, id: &str) -> Response {
        self.http().get(&format!("/v1/documents/{id}/original"))
    }

    /// Gives a gauge of `/metrics`.
    fn metric(&self, name: &str) -> Option<f64> {
        let text = self.http().get("/metrics").text();
        text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
    }
}

/// A base with one collection.
#[derive(Debug, Clone)]
struct Collection {
    base: String,
    id: String,
}

/// Tells whether the long form of the faults is asked for.
fn is_long() -> bool {
    std::env::var("DOWSE_FAULTS").is_ok_and(|form| form == "long")
}

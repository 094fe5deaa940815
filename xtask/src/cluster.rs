//! A PostgreSQL and a Qdrant cluster of three peers on loopback, for people who try several servers.
//!
//! `cargo xtask cluster` prints a `dowse.toml` for them and keeps them until Enter is pressed; their
//! data goes with them. `cargo xtask cluster --check` starts two servers with that file, has one
//! find what the other was sent, and ends.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::json;
use testkit::{Folder, Http, Postgres, Qdrant, Server};

use crate::{binary, testbed};

/// Peers of the cluster: with two replicas of each shard one of them may be away.
const N_PEERS: usize = 3;

/// How long the second server may take to find what the first was sent.
const FOUND_WITHIN: Duration = Duration::from_secs(60);

/// Starts the cluster.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let is_check = match arguments {
        [] => false,
        ["--check"] => true,
        _ => anyhow::bail!("usage: cargo xtask cluster [--check]"),
    };
    let binary = if is_check { Some(binary::build(binary::Kind::Shipped)?) } else { None };
    // The parts leave their places in a file that `testkit` reads.
    testbed::prepare()?;
    let postgres = Postgres::start().context("the test bed has no PostgreSQL for this platform")?;
    let qdrant = Qdrant::start(N_PEERS).context("the test bed has no Qdrant for this platform")?;
    let config = configuration(&postgres.url(), &qdrant.urls());
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(config.as_bytes())?;
    stdout.flush()?;
    match binary {
        Some(binary) => check(&binary, &config),
        None => {
            eprintln!(
                "\nwrite this to `dowse.toml`, and start servers with a folder of their own each:\n\
                 \x20 dowse serve --config dowse.toml --data-dir one --listen 127.0.0.1:7700\n\
                 \x20 dowse serve --config dowse.toml --data-dir two --listen 127.0.0.1:7701\n\
                 Enter ends PostgreSQL and Qdrant and removes their data"
            );
            wait_for_the_end()
        }
    }
}

/// Gives the file for servers of this cluster.
fn configuration(postgres: &str, peers: &[String]) -> String {
    format!(
        "[store]\ncatalogue = \"postgres\"\nengine = \"qdrant\"\n\n[store.postgres]\nurl = \"{postgres}\"\n\n\
         [store.qdrant]\nurls = {peers:?}\nshards = 6\nreplicas = 2\n"
    )
}

/// Waits for a line; where nobody can type one, until the process is ended.
fn wait_for_the_end() -> anyhow::Result<()> {
    if std::io::stdin().read_line(&mut String::new())? > 0 {
        return Ok(());
    }
    loop {
        std::thread::park();
    }
}

/// Has one server find what another was sent.
fn check(binary: &Path, config: &str) -> anyhow::Result<()> {
    let folder = Folder::new();
    let config = folder.write("dowse.toml", format!("{config}[embedder]\nprovider = \"none\"\n"));
    let start = |data_dir: &str| -> anyhow::Result<Server> {
        let mut command = Command::new(binary);
        command.arg("serve").arg("--config").arg(&config);
        command.arg("--data-dir").arg(folder.join(data_dir)).args(["--listen", "127.0.0.1:0"]);
        Server::try_start(command).map_err(anyhow::Error::msg)
    };
    let (one, two) = (start("one")?, start("two")?);
    let made = |http: &Http, path: &str, body: serde_json::Value| -> anyhow::Result<String> {
        let answer = http.post_json(path, &body);
        ensure!(answer.status < 300, "`{path}` answered {}: {}", answer.status, answer.text());
        Ok(answer.json()["id"].as_str().unwrap_or_default().to_owned())
    };
    let base = made(one.http(), "/v1/knowledge-bases", json!({ "name": "check" }))?;
    let path = format!("/v1/knowledge-bases/{base}/collections");
    let collection = made(one.http(), &path, json!({ "name": "check" }))?;
    let text = json!({ "title": "t", "text": "The yellow tram climbs to the castle." });
    made(one.http(), &format!("/v1/collections/{collection}/documents"), text)?;
    let path = format!("/v1/knowledge-bases/{base}/search");
    let question = json!({ "query": "yellow tram", "threshold": 0.0 });
    let is_found = testkit::wait_until(FOUND_WITHIN, || {
        two.http().post_json(&path, &question).text().contains("yellow tram")
    });
    ensure!(is_found, "the second server did not find it; it printed:\n{}", two.stderr());
    eprintln!("two servers over this cluster found what one of them was sent");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_file_names_every_peer() {
        let peers = ["http://127.0.0.1:1".to_owned(), "http://127.0.0.1:2".to_owned()];
        let config = configuration("postgres://postgres@127.0.0.1:3/postgres", &peers);
        assert!(
            config.contains("urls = [\"http://127.0.0.1:1\", \"http://127.0.0.1:2\"]"),
            "{config}"
        );
        assert!(config.contains("url = \"postgres://postgres@127.0.0.1:3/postgres\""), "{config}");
    }
}

//! The same tasks through other MCP servers, installed by package name where that is possible.

mod duckdb;
mod filesystem;
mod qmd;

use std::path::PathBuf;

use testkit::bed;
use xshell::cmd;

use super::agent::Agent;
use super::data::DataFacts;
use super::facts::{self, Facts};
use super::{Outcome, Played};
use crate::process::{self, Limit};
use crate::testbed::{self, stamp};

/// How long a package manager may take.
const INSTALL: Limit = Limit::minutes("installation of a peer", 10);

/// The revision of the protocol that every peer speaks.
const PROTOCOL: &str = "2025-03-26";

/// What was played through one peer.
pub(super) struct PeerRun {
    pub(super) list_tokens: usize,
    pub(super) played: Vec<Played>,
}

/// What is asked, over both.
#[derive(Clone, Copy)]
pub(super) struct PeerRequest<'a> {
    pub(super) demo: &'a Facts,
    pub(super) data: Option<&'a DataFacts>,
}

/// Plays through every peer that can be had; the others say why not.
pub(super) fn play(asked: PeerRequest<'_>) -> Vec<(String, anyhow::Result<PeerRun>)> {
    type Peer = fn(PeerRequest<'_>) -> anyhow::Result<PeerRun>;
    let peers: [(&str, Peer); 3] = [
        (filesystem::NAME, filesystem::play),
        (duckdb::NAME, duckdb::play),
        (qmd::NAME, qmd::play),
    ];
    peers
        .into_iter()
        .map(|(name, peer)| {
            // A peer that says nothing in time, or something that is not MCP, is a panic there.
            let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| peer(asked)));
            let played = played.unwrap_or_else(|_| Err(anyhow::anyhow!("it stopped answering")));
            (name.to_owned(), played)
        })
        .collect()
}

/// Gives node and the folder of packages, with this npm package installed.
fn npm(package: &str) -> anyhow::Result<(PathBuf, PathBuf)> {
    let node = match bed::node() {
        Some(node) => node,
        None => testbed::prepare()?.node,
    };
    let folder = bed::folder().join(format!("peer-{}", package.replace(['/', '@'], "-")));
    stamp::once(&folder, package, || {
        let shell = xshell::Shell::new()?;
        let install = cmd!(
            shell,
            "npm install --no-audit --no-fund --no-save --loglevel=error --prefix {folder} {package}"
        )
        .env("PATH", testbed::path_with(&node)?);
        process::run(install, INSTALL)
    })?;
    Ok((node, folder.join("node_modules")))
}

/// The tasks over tables and names that a server of documents has nothing for.
fn without_tables(name: &str, agent: &mut Agent<'_>, asked: PeerRequest<'_>) -> Vec<Played> {
    let mut tasks: Vec<String> = facts::TABLE_TASKS.map(str::to_owned).to_vec();
    if let Some(data) = asked.data {
        if data.flights.is_some() {
            tasks.extend(facts::FLIGHT_TASKS.map(str::to_owned));
        }
        let lookups = data.names.iter().flat_map(|names| &names.lookups);
        tasks.extend(lookups.map(|(name, _)| facts::name_task(name)));
    }
    impossible(name, agent, tasks)
}

/// The tasks over documents that a server of tables has nothing for.
fn without_documents(name: &str, agent: &mut Agent<'_>, asked: PeerRequest<'_>) -> Vec<Played> {
    let mut tasks: Vec<String> = facts::document_tasks();
    tasks.extend(asked.data.iter().flat_map(|data| &data.sentences).map(|one| one.task()));
    impossible(name, agent, tasks)
}

fn impossible(name: &str, agent: &mut Agent<'_>, tasks: Vec<String>) -> Vec<Played> {
    let tasks = tasks.into_iter();
    tasks.map(|task| Played::of(name, &task, agent, |_| Ok(Outcome::Impossible))).collect()
}

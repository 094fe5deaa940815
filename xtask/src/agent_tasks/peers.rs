//! The same tasks through other MCP servers, installed by package name where that is possible.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use serde_json::{Value, json};
use testkit::{StdioSession, bed};
use xshell::cmd;

use super::agent::{Agent, MAX_OPENED, list_tokens};
use super::facts::{Facts, QUESTIONS, Question};
use super::{Outcome, Played};
use crate::process::{self, Limit};
use crate::testbed::{self, stamp};

/// How long a package manager may take.
const INSTALL: Limit = Limit::minutes("installation of a peer", 10);
/// How long a peer may take to index the demo's documents.
const INDEX: Limit = Limit::minutes("a peer's index", 5);

/// The revision of the protocol that every peer speaks.
const PROTOCOL: &str = "2025-03-26";

/// Files larger than this are not read whole by an agent.
const MAX_READ_BYTES: u64 = 200_000;

/// What was played through one peer.
pub(super) struct PeerRun {
    pub(super) list_tokens: usize,
    pub(super) played: Vec<Played>,
}

/// Plays through every peer that can be had; the others say why not.
pub(super) fn play(
    world: &Path,
    facts: &Facts,
    _data: Option<&Path>,
) -> Vec<(String, anyhow::Result<PeerRun>)> {
    type Peer = fn(&Path, &Facts) -> anyhow::Result<PeerRun>;
    let peers: [(&str, Peer); 3] =
        [("server-filesystem", filesystem), ("mcp-server-motherduck", duckdb), ("qmd", qmd)];
    peers
        .into_iter()
        .map(|(name, peer)| {
            // A peer that says nothing in time, or something that is not MCP, is a panic there.
            let played = std::panic::catch_unwind(|| peer(world, facts));
            let played = played.unwrap_or_else(|_| Err(anyhow::anyhow!("it stopped answering")));
            (name.to_owned(), played)
        })
        .collect()
}

/// Gives the folder of peers' packages, with these npm packages installed.
fn npm(packages: &[&str]) -> anyhow::Result<(PathBuf, PathBuf)> {
    let node = match bed::node() {
        Some(node) => node,
        None => testbed::prepare()?.node,
    };
    let folder =
        bed::folder().join(format!("peer-{}", packages.join("-").replace(['/', '@'], "-")));
    stamp::once(&folder, &packages.join(" "), || {
        let shell = xshell::Shell::new()?;
        let install = cmd!(
            shell,
            "npm install --no-audit --no-fund --no-save --loglevel=error --prefix {folder} {packages...}"
        )
        .env("PATH", testbed::path_with(&node)?);
        process::run(install, INSTALL)
    })?;
    Ok((node, folder.join("node_modules")))
}

/// The reference server over a folder: it lists, finds names, and reads.
fn filesystem(_world: &Path, facts: &Facts) -> anyhow::Result<PeerRun> {
    let (node, modules) = npm(&["@modelcontextprotocol/server-filesystem"])?;
    let mut command = Command::new(node);
    command.arg(modules.join("@modelcontextprotocol/server-filesystem/dist/index.js"));
    command.arg(&facts.documents);
    let mut session = StdioSession::start(command);
    session.initialize(PROTOCOL);
    let name = "server-filesystem";
    let list_tokens = list_tokens(&mut session);
    let mut agent = Agent::new(&mut session);
    let mut played = Vec::new();
    for question in &QUESTIONS {
        for kind in ["find", "read", "cite"] {
            // Without a search over contents, all three are: read files until one says it.
            let task = format!("{kind}: {}", question.words);
            played.push(Played::of(name, &task, &mut agent, |agent| {
                read_until_it_says(agent, &facts.documents, question)
            }));
        }
    }
    for task in [
        "filter: errors of one host",
        "aggregate: mean latency by level",
        "chart: education in Cluj by year",
    ] {
        played.push(Played::of(name, task, &mut agent, |_| Ok(Outcome::Impossible)));
    }
    Ok(PeerRun { list_tokens, played })
}

/// Looks for names with the words first, then reads one file after the other.
fn read_until_it_says(
    agent: &mut Agent<'_>,
    documents: &Path,
    question: &Question,
) -> anyhow::Result<Outcome> {
    let word = question.words.split_whitespace().next().unwrap_or_default();
    let found = agent
        .text("search_files", &json!({ "path": documents, "pattern": format!("**/*{word}*") }))?;
    let mut paths: Vec<String> =
        found.lines().filter(|line| line.starts_with('/')).map(str::to_owned).collect();
    let tree = agent.text("directory_tree", &json!({ "path": documents }))?;
    let tree: Value = serde_json::from_str(&tree).unwrap_or_default();
    let mut open = vec![(documents.to_owned(), tree)];
    while let Some((folder, entries)) = open.pop() {
        for entry in entries.as_array().into_iter().flatten() {
            let path = folder.join(entry["name"].as_str().unwrap_or_default());
            match entry["type"].as_str() {
                Some("directory") => open.push((path, entry["children"].clone())),
                _ => paths.push(path.to_string_lossy().into_owned()),
            }
        }
    }
    let mut seen = Vec::new();
    for path in paths {
        if seen.contains(&path)
            || fs_err::metadata(&path).is_ok_and(|file| file.len() > MAX_READ_BYTES)
        {
            continue;
        }
        seen.push(path.clone());
        let Ok(text) = agent.text("read_text_file", &json!({ "path": path })) else { continue };
        if text.contains(question.says) {
            return Ok(Outcome::Success);
        }
    }
    Ok(Outcome::Failed(format!("`{}` was not read", question.says)))
}

/// DuckDB behind MCP: SQL over the request log.
fn duckdb(_world: &Path, facts: &Facts) -> anyhow::Result<PeerRun> {
    let folder = bed::folder().join("peer-duckdb");
    let package = "mcp-server-motherduck";
    stamp::once(&folder, package, || {
        let shell = xshell::Shell::new()?;
        process::run(cmd!(shell, "python3 -m venv {folder}"), INSTALL)?;
        let python = folder.join("bin/python");
        let install =
            cmd!(shell, "{python} -m pip install --quiet --disable-pip-version-check {package}");
        process::run(install, INSTALL)
    })?;
    let mut command = Command::new(folder.join("bin/mcp-server-motherduck"));
    command.args(["--db-path", ":memory:", "--read-write"]);
    let mut session = StdioSession::start(command);
    session.initialize(PROTOCOL);
    let tools = super::agent::ToolServer::tools(&mut session);
    let names = tools.as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
    let query = names
        .clone()
        .find(|name| name.contains("query"))
        .context("it has no tool for queries")?
        .to_owned();
    let list_tokens = list_tokens(&mut session);
    let mut agent = Agent::new(&mut session);
    let table = format!("read_csv_auto('{}')", facts.requests.display());
    let name = "mcp-server-motherduck";
    let mut played = Vec::new();
    for question in &QUESTIONS {
        for kind in ["find", "read", "cite"] {
            let task = format!("{kind}: {}", question.words);
            played.push(Played::of(name, &task, &mut agent, |_| Ok(Outcome::Impossible)));
        }
    }
    played.push(Played::of(name, "filter: errors of one host", &mut agent, |agent| {
        agent.text(&query, &json!({ "sql": format!("DESCRIBE SELECT * FROM {table}") }))?;
        let sql = format!(
            "SELECT count(*) FROM {table} WHERE level = 'error' AND host = '{}'",
            facts.host
        );
        let answer = agent.text(&query, &json!({ "sql": sql }))?;
        let is_right = answer.contains(&facts.n_errors.to_string());
        Ok(if is_right { Outcome::Success } else { Outcome::Failed(answer) })
    }));
    played.push(Played::of(name, "aggregate: mean latency by level", &mut agent, |agent| {
        agent.text(&query, &json!({ "sql": format!("DESCRIBE SELECT * FROM {table}") }))?;
        let sql = format!("SELECT level, avg(latency) FROM {table} GROUP BY level");
        let answer = agent.text(&query, &json!({ "sql": sql }))?;
        let is_right =
            facts.mean_latency.values().all(|mean| answer.contains(&format!("{mean:.2}")[..5]));
        Ok(if is_right { Outcome::Success } else { Outcome::Failed(answer) })
    }));
    played.push(Played::of(name, "chart: education in Cluj by year", &mut agent, |_| {
        Ok(Outcome::Impossible)
    }));
    Ok(PeerRun { list_tokens, played })
}

/// qmd by words: a local index over Markdown files.
fn qmd(_world: &Path, facts: &Facts) -> anyhow::Result<PeerRun> {
    let (node, modules) = npm(&["@tobilu/qmd"])?;
    let program = modules.join(".bin/qmd");
    let home = testkit::Folder::new();
    let path = testbed::path_with(&node)?;
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).env("PATH", &path).env("HOME", home.path());
        command
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_CONFIG_HOME", home.join("config"));
        command
    };
    let documents = facts.documents.to_string_lossy();
    let added = process::read(
        run(&["collection", "add", &documents, "--name", "demo", "--mask", "**/*"]),
        INDEX,
    )?;
    anyhow::ensure!(added.status.success(), "its index failed: {}{}", added.stdout, added.stderr);
    let mut session = StdioSession::start(run(&["mcp"]));
    session.initialize(PROTOCOL);
    let tools = super::agent::ToolServer::tools(&mut session);
    let names: Vec<&str> =
        tools.as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
    let find = |wanted: &[&str]| {
        wanted.iter().find(|name| names.contains(*name)).map(|name| (*name).to_owned())
    };
    let search = find(&["search", "query"]).context("it has no tool that searches")?;
    let get = find(&["get"]).context("it has no tool that reads")?;
    let list_tokens = list_tokens(&mut session);
    let mut agent = Agent::new(&mut session);
    let mut played = Vec::new();
    for question in &QUESTIONS {
        for kind in ["find", "read", "cite"] {
            let task = format!("{kind}: {}", question.words);
            played.push(Played::of("qmd", &task, &mut agent, |agent| {
                let arguments = if search == "search" {
                    json!({ "query": question.words, "limit": 5 })
                } else {
                    json!({ "searches": [{ "type": "lex", "query": question.words }], "limit": 5 })
                };
                let found = agent.text(&search, &arguments)?;
                if !found.contains(question.file) {
                    return Ok(Outcome::Failed(format!("`{}` was not found", question.file)));
                }
                if kind == "find" {
                    return Ok(Outcome::Success);
                }
                for word in found
                    .split_whitespace()
                    .filter(|word| word.contains(question.file))
                    .take(MAX_OPENED)
                {
                    let file = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
                    let Ok(text) = agent.text(&get, &json!({ "file": file })) else { continue };
                    if text.contains(question.says) {
                        return Ok(Outcome::Success);
                    }
                }
                Ok(Outcome::Failed(format!("`{}` was not read", question.says)))
            }));
        }
    }
    for task in [
        "filter: errors of one host",
        "aggregate: mean latency by level",
        "chart: education in Cluj by year",
    ] {
        played.push(Played::of("qmd", task, &mut agent, |_| Ok(Outcome::Impossible)));
    }
    Ok(PeerRun { list_tokens, played })
}

//! qmd by words: a local index over text files.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use serde_json::json;
use testkit::{Folder, StdioSession};

use super::{PROTOCOL, PeerRequest, PeerRun, npm, without_tables};
use crate::agent_tasks::agent::{Agent, MAX_OPENED, ToolServer as _, list_tokens};
use crate::agent_tasks::facts::{KINDS, QUESTIONS, document_task};
use crate::agent_tasks::{Outcome, Played};
use crate::process::{self, Limit};
use crate::testbed;

pub(super) const NAME: &str = "qmd";

/// How long it may take to index the documents.
const INDEX: Limit = Limit::minutes("a peer's index", 5);

/// The names of its tools.
struct Tools {
    search: String,
    get: String,
}

pub(super) fn play(asked: PeerRequest<'_>) -> anyhow::Result<PeerRun> {
    let (node, modules) = npm("@tobilu/qmd")?;
    let program = modules.join(".bin/qmd");
    let home = Folder::new();
    let path = testbed::path_with(&node)?;
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).env("PATH", &path).env("HOME", home.path());
        command
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_CONFIG_HOME", home.join("config"));
        command
    };
    let add = |documents: &Path, name: &str, mask: &str| {
        let documents = documents.to_string_lossy();
        let arguments = ["collection", "add", &documents, "--name", name, "--mask", mask];
        let added = process::read(run(&arguments), INDEX)?;
        let (out, err) = (&added.stdout, &added.stderr);
        anyhow::ensure!(added.status.success(), "its index failed: {out}{err}");
        Ok(())
    };
    add(&asked.demo.documents, "demo", "**/*")?;
    if let Some(data) = asked.data {
        add(&data.documents, "data", "**/*.{txt,md}")?;
    }
    let mut session = StdioSession::start(run(&["mcp"]));
    session.initialize(PROTOCOL);
    let tools = session.tools();
    let names: Vec<&str> =
        tools.as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
    let find = |wanted: &[&str]| {
        wanted.iter().find(|name| names.contains(*name)).map(|name| (*name).to_owned())
    };
    let tools = Tools {
        search: find(&["search", "query"]).context("it has no tool that searches")?,
        get: find(&["get"]).context("it has no tool that reads")?,
    };
    let list_tokens = list_tokens(&mut session);
    let mut agent = Agent::new(&mut session);
    let mut played = Vec::new();
    for question in &QUESTIONS {
        for kind in KINDS {
            played.push(Played::of(NAME, &document_task(kind, question), &mut agent, |agent| {
                let found = search(agent, &tools, question.words)?;
                if !found.contains(question.file) {
                    return Ok(Outcome::Failed(format!("`{}` was not found", question.file)));
                }
                if kind == "find" {
                    return Ok(Outcome::Success);
                }
                read(agent, &tools, &found, &|text| text.contains(question.says))
            }));
        }
    }
    for sentence in asked.data.iter().flat_map(|data| &data.sentences) {
        played.push(Played::of(NAME, &sentence.task(), &mut agent, |agent| {
            let found = search(agent, &tools, &sentence.words)?;
            read(agent, &tools, &found, &|text| sentence.is_in(&without_numbers(text)))
        }));
    }
    played.extend(without_tables(NAME, &mut agent, asked));
    Ok(PeerRun { list_tokens, played })
}

/// Searches by words; while nothing has all of them, the last is left out.
fn search(agent: &mut Agent<'_>, tools: &Tools, words: &str) -> anyhow::Result<String> {
    let words: Vec<&str> = words.split_whitespace().collect();
    for n_words in (1..=words.len()).rev() {
        let query = words[..n_words].join(" ");
        let arguments = if tools.search == "search" {
            json!({ "query": query, "limit": 5 })
        } else {
            json!({ "searches": [{ "type": "lex", "query": query }], "limit": 5, "rerank": false })
        };
        let found = agent.text(&tools.search, &arguments)?;
        if !found.starts_with("No results") {
            return Ok(found);
        }
    }
    Ok(String::new())
}

/// Reads the first results, until one says it. A result is a line of a mark, a score and a path.
fn read(
    agent: &mut Agent<'_>,
    tools: &Tools,
    found: &str,
    says: &dyn Fn(&str) -> bool,
) -> anyhow::Result<Outcome> {
    let results = found.lines().filter(|line| line.starts_with('#'));
    for file in results.filter_map(|line| line.split_whitespace().nth(2)).take(MAX_OPENED) {
        let Ok(text) = agent.text(&tools.get, &json!({ "file": file })) else { continue };
        if says(&text) {
            return Ok(Outcome::Success);
        }
    }
    Ok(Outcome::Failed("none of the first results says it".to_owned()))
}

/// Takes the numbers of lines off a text.
fn without_numbers(text: &str) -> String {
    let line = |line: &str| match line.split_once(": ") {
        Some((number, rest)) if number.parse::<u32>().is_ok() => rest.to_owned(),
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

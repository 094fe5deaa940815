//! The reference server over a folder: it lists, finds names, and reads.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use testkit::StdioSession;

use super::{PROTOCOL, PeerRequest, PeerRun, npm, without_tables};
use crate::agent_tasks::agent::{Agent, list_tokens};
use crate::agent_tasks::facts::{KINDS, QUESTIONS, document_task};
use crate::agent_tasks::{Outcome, Played};

pub(super) const NAME: &str = "server-filesystem";

/// Files larger than this are not read whole by an agent.
const MAX_READ_BYTES: u64 = 200_000;

/// Files that an agent reads before it gives up.
const MAX_READ: usize = 30;

pub(super) fn play(asked: PeerRequest<'_>) -> anyhow::Result<PeerRun> {
    let (node, modules) = npm("@modelcontextprotocol/server-filesystem")?;
    let mut command = Command::new(node);
    command.arg(modules.join("@modelcontextprotocol/server-filesystem/dist/index.js"));
    // It compares with resolved folders.
    let documents = fs_err::canonicalize(&asked.demo.documents)?;
    command.arg(&documents);
    if let Some(data) = asked.data {
        command.arg(&data.documents);
    }
    let mut session = StdioSession::start(command);
    session.initialize(PROTOCOL);
    let list_tokens = list_tokens(&mut session);
    let mut agent = Agent::new(&mut session);
    let mut played = Vec::new();
    for question in &QUESTIONS {
        for kind in KINDS {
            // Without a search over contents, all three are: read files until one says it.
            played.push(Played::of(NAME, &document_task(kind, question), &mut agent, |agent| {
                let says = |text: &str| text.contains(question.says);
                read_until(agent, &documents, question.words, &says)
            }));
        }
    }
    if let Some(data) = asked.data {
        for sentence in &data.sentences {
            played.push(Played::of(NAME, &sentence.task(), &mut agent, |agent| {
                let says = |text: &str| sentence.is_in(text);
                read_until(agent, &data.documents, &sentence.words, &says)
            }));
        }
    }
    played.extend(without_tables(NAME, &mut agent, asked));
    Ok(PeerRun { list_tokens, played })
}

/// Looks for names with the words first, then reads one file after the other.
fn read_until(
    agent: &mut Agent<'_>,
    documents: &Path,
    words: &str,
    says: &dyn Fn(&str) -> bool,
) -> anyhow::Result<Outcome> {
    let word = words.split_whitespace().next().unwrap_or_default();
    let found = agent
        .text("search_files", &json!({ "path": documents, "pattern": format!("**/*{word}*") }))?;
    let found = found.lines().filter(|line| line.starts_with('/'));
    let mut paths: Vec<PathBuf> = found.map(PathBuf::from).collect();
    let tree = agent.text("directory_tree", &json!({ "path": documents }))?;
    let tree: Value = serde_json::from_str(&tree).unwrap_or_default();
    let mut open = vec![(documents.to_owned(), tree)];
    while let Some((folder, entries)) = open.pop() {
        for entry in entries.as_array().into_iter().flatten() {
            let path = folder.join(entry["name"].as_str().unwrap_or_default());
            match entry["type"].as_str() {
                Some("directory") => open.push((path, entry["children"].clone())),
                _ => paths.push(path),
            }
        }
    }
    let mut read: Vec<PathBuf> = Vec::new();
    for path in paths {
        if read.len() == MAX_READ {
            break;
        }
        let is_read = read.contains(&path);
        if is_read || fs_err::metadata(&path).is_ok_and(|file| file.len() > MAX_READ_BYTES) {
            continue;
        }
        read.push(path.clone());
        let Ok(text) = agent.text("read_text_file", &json!({ "path": path })) else { continue };
        if says(&text) {
            return Ok(Outcome::Success);
        }
    }
    Ok(Outcome::Failed(format!("none of {} files that were read says it", read.len())))
}

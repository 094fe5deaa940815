//! Tasks over a folder of one's own: sentences of its plain-text files are looked for, read and
//! cited.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use testkit::{Folder, Mcp, Server};

use super::agent::{Agent, MAX_OPENED};
use super::{Outcome, Played};

/// Files that are asked about.
const MAX_FILES: usize = 20;

/// Words of a sentence that are looked for.
const WORDS: usize = 8;

/// The longest file that a sentence is taken from, in bytes.
const MAX_BYTES: u64 = 2 << 20;

/// A sentence and the file it is in.
pub(super) struct Sentence {
    pub(super) words: String,
    pub(super) line: String,
    pub(super) path: PathBuf,
}

/// Serves the folder, waits for its index and plays a task for each sentence.
pub(super) fn play(binary: &Path, data: &Path) -> anyhow::Result<Vec<Played>> {
    let sentences = sentences(data)?;
    anyhow::ensure!(!sentences.is_empty(), "`{}` has no plain text to ask about", data.display());
    let folder = Folder::new();
    let roots = serde_json::to_string(&fs_err::canonicalize(data)?)?;
    let config = format!(
        "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n[files]\nroots = [{roots}]\nwatch = false\n\
         [limits]\nrate_per_minute = {{ default = 100000, searchFiles = 100000, openFile = 100000 }}\n"
    );
    let config = folder.write("dowse.toml", config);
    let mut command = Command::new(binary);
    command.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(config);
    let server = Server::start_command(command);
    let mut mcp = Mcp::new(server.http(), "/mcp");
    loop {
        let answer = mcp.call("indexFolder", &json!({ "root": fs_err::canonicalize(data)? }));
        anyhow::ensure!(!answer.is_error, "{}", answer.text);
        if answer.text_json()["status"] == "done" {
            break;
        }
    }
    let mut agent = Agent::new(&mut mcp);
    let played = sentences
        .iter()
        .map(|sentence| {
            let name = sentence.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Played::of("dowse", &format!("cite: {name}"), &mut agent, |agent| cite(agent, sentence))
        })
        .collect();
    server.stop();
    Ok(played)
}

fn cite(agent: &mut Agent<'_>, sentence: &Sentence) -> anyhow::Result<Outcome> {
    let page = agent.json("searchFiles", &json!({ "query": sentence.words, "k": 5 }))?;
    for item in page["items"].as_array().into_iter().flatten().take(MAX_OPENED) {
        let is_right = item["path"].as_str() == sentence.path.to_str();
        let place = json!({ "path": item["path"], "pointer": item["pointer"] });
        let opened = agent.json("openFile", &place)?;
        let shown = opened["preview"].as_str().unwrap_or_default();
        if is_right && squeezed(shown).contains(&sentence.words) {
            return Ok(Outcome::Success);
        }
    }
    Ok(Outcome::Failed(format!("`{}` was not shown", sentence.line)))
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Takes a long line of each of some plain-text files.
pub(super) fn sentences(data: &Path) -> anyhow::Result<Vec<Sentence>> {
    let mut sentences = Vec::new();
    let mut open = vec![fs_err::canonicalize(data)?];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs_err::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ext| ext == "txt" || ext == "md") {
                files.push(path);
            }
        }
    }
    files.sort();
    let step = files.len().div_ceil(MAX_FILES).max(1);
    for path in files.into_iter().step_by(step) {
        if fs_err::metadata(&path)?.len() > MAX_BYTES {
            continue;
        }
        let Ok(text) = fs_err::read_to_string(&path) else { continue };
        let is_plain = |word: &&str| word.chars().all(char::is_alphabetic);
        let line = text.lines().filter(|line| {
            line.split_whitespace().filter(is_plain).count() >= WORDS && line.chars().count() < 400
        });
        let Some(line) = line.max_by_key(|line| line.chars().count()) else { continue };
        // Words that follow each other, so that they can be found again in what is shown.
        let words: Vec<&str> = line.split_whitespace().collect();
        let window = words.windows(WORDS).find(|window| window.iter().all(&is_plain));
        let Some(window) = window else { continue };
        sentences.push(Sentence { words: window.join(" "), line: line.to_owned(), path });
    }
    Ok(sentences)
}

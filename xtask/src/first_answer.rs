//! `cargo xtask first-answer`: the seconds from the start of the server to the first answer over a
//! folder of somebody's own, without a model.
//!
//! 300 documents of a few kilobytes are written (Markdown, plain text, HTML, CSV), the server is
//! started as a newcomer starts it, and a sentence that is in one document alone is asked for until
//! it is found. Reported are the first answer at all, and the answer once every document is in.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Folder, Mcp, Server};

use crate::binary::{self, Kind};

/// Documents in the folder.
const N_DOCUMENTS: usize = 300;
const N_SENTENCES: usize = 60;
const PROMISED: Duration = Duration::from_secs(10);
/// How long it is tried.
const PATIENCE: Duration = Duration::from_secs(120);
/// The pause between two questions.
const PAUSE: Duration = Duration::from_millis(20);

/// Measures, prints, and fails when it took longer than promised.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let (program, words) = match arguments {
        [] => (binary::build(Kind::Shipped)?, &[][..]),
        ["--binary", path] => (std::path::absolute(path)?, &[][..]),
        // As a package starts it: `uvx --offline --from FILE dowse`, `npx dowse-search`.
        ["--command", program, words @ ..] => (PathBuf::from(program), words),
        _ => anyhow::bail!("expected nothing, `--binary FILE` or `--command PROGRAM WORD…`"),
    };
    let folder = Folder::new();
    for document_idx in 0..N_DOCUMENTS {
        let ending = ["md", "txt", "html", "csv"][document_idx % 4];
        folder
            .write(format!("documents/{document_idx:03}.{ending}"), document(document_idx, ending));
    }
    let begun = Instant::now();
    let mut command = Command::new(program);
    command
        .args(words)
        .args(["serve", "--no-model", "--listen", "0"])
        .arg(folder.join("documents"));
    command.env("XDG_DATA_HOME", folder.join("data")).current_dir(folder.path());
    let server = Server::start_command(command);
    let listening = begun.elapsed();
    let mcp = Mcp::new(server.http(), "/mcp");
    let finds = |query: &str, wanted: &str| {
        let found = mcp.call("searchFiles", &json!({ "query": query, "k": 3 }));
        found.text_json().to_string().contains(wanted)
    };
    let until = |query: &str, wanted: &str| -> anyhow::Result<Duration> {
        while !finds(query, wanted) {
            anyhow::ensure!(begun.elapsed() < PATIENCE, "nothing was found in {PATIENCE:?}");
            std::thread::sleep(PAUSE);
        }
        Ok(begun.elapsed())
    };
    let first = until("harbour crane maintenance", "documents/")?;
    let last_idx = N_DOCUMENTS - 1;
    let complete =
        until(&format!("serial number {}", serial(last_idx)), &format!("{last_idx:03}."))?;
    let seconds = |duration: Duration| format!("{:.2} s", duration.as_secs_f64());
    eprintln!(
        "{N_DOCUMENTS} documents: listening after {}, first answer after {}, all found after {}",
        seconds(listening),
        seconds(first),
        seconds(complete)
    );
    // What was started through a runner ends when the runner is asked to, and not when it is killed.
    anyhow::ensure!(server.stop().success(), "the server did not end well");
    anyhow::ensure!(first < PROMISED, "the first answer took longer than {PROMISED:?}");
    Ok(())
}

fn document(document_idx: usize, ending: &str) -> String {
    let sentence = |n: usize| {
        format!(
            "The harbour crane maintenance of bay {} takes {} hours, entry {n} of report {}.",
            (document_idx * 7 + n) % 90,
            2 + (document_idx + n) % 5,
            document_idx
        )
    };
    let mut sentences: Vec<String> = (0..N_SENTENCES).map(sentence).collect();
    sentences.push(format!("The serial number {} is on its plate.", serial(document_idx)));
    match ending {
        "html" => format!("<html><body><p>{}</p></body></html>", sentences.join("</p><p>")),
        "csv" => format!("entry\n{}\n", sentences.join("\n")),
        _ => sentences.join("\n\n"),
    }
}

/// A word that is in one document alone.
fn serial(document_idx: usize) -> String {
    format!("zq{}x", document_idx * 7919 + 13)
}

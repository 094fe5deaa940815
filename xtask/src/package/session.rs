//! What an installed package must be able to do: answer a search over pipes.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Folder, StdioSession};

/// How long the first index of one small file may take.
const FIRST_INDEX: Duration = Duration::from_secs(60);
/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(200);

/// Starts `dowse mcp FOLDER` as a client would, and finds a word of a file.
pub(super) fn answers(mut command: Command) -> anyhow::Result<()> {
    let folder = Folder::new();
    folder.write("documents/benefits.md", "The remote work allowance is 500 euros a year.");
    command.args(["mcp", "--no-model"]).arg(folder.join("documents"));
    command.env("DOWSE_DATA_DIR", folder.join("data")).current_dir(folder.path());
    let mut session = StdioSession::start(command);
    let server = session.initialize("2025-11-25");
    anyhow::ensure!(server["serverInfo"]["name"] == "dowse", "another server answered: {server}");
    let begun = Instant::now();
    loop {
        let found = session.request(
            "tools/call",
            &json!({ "name": "searchFiles", "arguments": { "query": "allowance" } }),
        );
        if found.to_string().contains("benefits.md") {
            break;
        }
        anyhow::ensure!(begun.elapsed() < FIRST_INDEX, "nothing was found: {found}");
        std::thread::sleep(PAUSE);
    }
    let status = session.close();
    anyhow::ensure!(status.success(), "it ended with {status}");
    eprintln!("  installed, started, found after {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

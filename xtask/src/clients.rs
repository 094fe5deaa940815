//! Short sessions of MCP clients that other people wrote: `cargo xtask clients`.
//!
//! The Python client and the inspector's command line in both eras of MCP, and the TypeScript SDK's
//! client, each over HTTP and over stdio, against the shipped binary; and the Python client of
//! turbopuffer against the loopback server that our store is tested with. The sessions are scripts
//! under `xtask/clients/`; each prints one line when it passed.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::turbopuffer::TurbopufferServer;
use testkit::{Folder, Server};

use crate::binary::{self, Kind};
use crate::process::{self, Limit};
use crate::project;
use crate::testbed::Testbed;

/// How long one session may take.
const SESSION: Limit = Limit::minutes("one client session", 2);
/// What the inspector sends, and what must come back.
const REPAIR: (&str, &str) = ("マネ-ジャ-", "マネージャー");

/// Where a client finds the server.
enum Target {
    Http(String),
    Stdio { binary: PathBuf, config: PathBuf },
}

/// Runs all sessions and gives the line of each.
pub(crate) fn run(testbed: &Testbed) -> anyhow::Result<Vec<String>> {
    let binary = binary::build(Kind::Shipped)?;
    let folder = Folder::new();
    let config = folder.write("dowse.toml", "data_dir = \"data\"\n");
    let stdio_config = folder.write("stdio.toml", "data_dir = \"data-of-stdio\"\n");
    let server = Server::start_with_config(&binary, &config);
    server.wait_until_ready();
    let targets = [
        Target::Http(server.url("/mcp")),
        Target::Stdio { binary: binary.clone(), config: stdio_config },
    ];
    let mut lines = Vec::new();
    for target in &targets {
        let mut passed = |line: String| {
            eprintln!("     {line}");
            lines.push(format!("     {line}"));
        };
        for era in ["legacy", "2026-07-28"] {
            passed(python_session(testbed, era, target)?);
        }
        passed(typescript_session(testbed, target)?);
        for era in ["legacy", "modern"] {
            passed(inspector_session(testbed, era, target)?);
        }
    }
    let exit = server.stop();
    anyhow::ensure!(exit.success(), "the server ended with {exit} after the sessions");
    let line = turbopuffer_session(testbed)?;
    eprintln!("     {line}");
    lines.push(format!("     {line}"));
    Ok(lines)
}

/// Our loopback server has to be what others expect of turbopuffer, not only what our client does.
fn turbopuffer_session(testbed: &Testbed) -> anyhow::Result<String> {
    let server = TurbopufferServer::start();
    let mut command = Command::new(&testbed.python);
    command.arg(script("turbopuffer_session.py")).arg(server.url()).arg(server.key());
    session(command)
}

fn python_session(testbed: &Testbed, era: &str, target: &Target) -> anyhow::Result<String> {
    let mut command = Command::new(&testbed.python);
    command.arg(script("session.py")).arg(era);
    add_target(&mut command, target);
    session(command)
}

fn typescript_session(testbed: &Testbed, target: &Target) -> anyhow::Result<String> {
    let mut command = Command::new(&testbed.node);
    command.arg(script("session.mjs")).arg(&testbed.node_modules);
    add_target(&mut command, target);
    session(command)
}

/// Lists the tools and calls one, as two runs of the inspector's command line.
fn inspector_session(testbed: &Testbed, era: &str, target: &Target) -> anyhow::Result<String> {
    let inspector = |method: &[&str]| -> anyhow::Result<Value> {
        let launcher = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";
        let mut command = Command::new(&testbed.node);
        command.arg(testbed.node_modules.join(launcher)).args(["--cli", "--quiet"]);
        command.args(["--format", "json", "--protocol-era", era]).args(method);
        match target {
            Target::Http(url) => command.args(["--transport", "http", "--server-url", url]),
            Target::Stdio { binary, config } => {
                command.args(["--transport", "stdio", "--"]).arg(binary);
                command.args(["mcp", "--config"]).arg(config)
            }
        };
        let printed = session(command)?;
        let mut answer: Value = serde_json::from_str(&printed)?;
        Ok(answer["result"].take())
    };
    let list = inspector(&["--method", "tools/list"])?;
    let n_tools = list["tools"].as_array().map_or(0, Vec::len);
    anyhow::ensure!(n_tools > 0, "the inspector lists no tools: {list}");
    let argument = format!("text={}", REPAIR.0);
    let call = ["--method", "tools/call", "--tool-name", "normalize_ocr_text", "--tool-arg"];
    let answer = inspector(&[&call[..], &[&argument]].concat())?;
    let repaired = answer["structuredContent"]["normalized_text"].as_str();
    anyhow::ensure!(repaired == Some(REPAIR.1), "the inspector got {answer}");
    let transport = if matches!(target, Target::Http(_)) { "http" } else { "stdio" };
    Ok(format!("inspector, {transport}, {era}: {n_tools} tools, session passed"))
}

fn add_target(command: &mut Command, target: &Target) {
    match target {
        Target::Http(url) => command.args(["http", url]),
        Target::Stdio { binary, config } => {
            command.arg("stdio").arg(binary).args(["mcp", "--config"]).arg(config)
        }
    };
}

/// Runs one session and gives what it printed.
fn session(command: Command) -> anyhow::Result<String> {
    let shown = format!("{command:?}");
    let finished = process::read(command, SESSION)?;
    anyhow::ensure!(
        finished.status.success(),
        "{shown}: {}\n{}{}",
        finished.status,
        finished.stdout,
        finished.stderr
    );
    Ok(finished.stdout.trim().to_owned())
}

fn script(name: &str) -> PathBuf {
    project::root().join(Path::new("xtask/clients")).join(name)
}

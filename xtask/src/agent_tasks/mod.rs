//! Tasks as an agent does them, played by a script: `cargo xtask agent-tasks`.
//!
//! Find, read, filter, aggregate, chart, look up and cite, over the demo and over data of one's
//! own, through Dowse and through other MCP servers where they can be installed by package name. What
//! is counted is what an agent pays: calls, refused calls, tokens that its model reads and writes,
//! and whether the task succeeded. The script has fixed policies (see `agent.rs`), so that two
//! runs of the same servers give the same figures.

mod agent;
mod answers;
mod data;
mod dowse;
mod dowse_data;
mod facts;
mod peers;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;
use serde_json::{Value, json};
use testkit::{Folder, Mcp, Server};

use crate::binary::{self, Kind};
use agent::{Agent, Tally};

/// One task that was played.
pub(crate) struct Played {
    server: String,
    task: String,
    outcome: Outcome,
    tally: Tally,
}

/// How a task ended.
pub(crate) enum Outcome {
    Success,
    Failed(String),
    /// The server has nothing for it.
    Impossible,
}

struct Arguments {
    binary: Option<PathBuf>,
    data: Option<PathBuf>,
    json: Option<PathBuf>,
    /// An earlier build, whose answers are counted beside.
    before: Option<PathBuf>,
    with_peers: bool,
}

/// Plays all tasks and prints a table.
pub(crate) fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let arguments = read(arguments)?;
    let binary = match &arguments.binary {
        Some(binary) => binary.clone(),
        None => binary::build(Kind::Shipped)?,
    };
    let folder = Folder::new();
    let demo = start_demo(&binary, &folder);
    let world = folder.join("demo/world");
    let facts = facts::of_demo(&world)?;
    let mut played = Vec::new();
    let mut lists = Vec::new();
    let mut mcp = Mcp::new(demo.http(), "/mcp");
    lists.push(("dowse".to_owned(), agent::list_tokens(&mut mcp)));
    played.extend(dowse::play(&mut mcp, &facts));
    let answers = answers::of_every_tool(&mut mcp, &world, answers::Whose::Ours)?;
    let data = arguments.data.as_deref().map(data::of_folder).transpose()?;
    if let Some(data) = &data {
        played.extend(dowse_data::play(&binary, data)?);
    }
    if arguments.with_peers {
        for (name, result) in peers::play(peers::PeerRequest { demo: &facts, data: data.as_ref() })
        {
            match result {
                Ok(peer) => {
                    lists.push((name, peer.list_tokens));
                    played.extend(peer.played);
                }
                Err(reason) => eprintln!("{name}: skipped: {reason:#}"),
            }
        }
    }
    demo.stop();
    print(&played, &lists, &answers)?;
    if let Some(file) = &arguments.json {
        fs_err::write(file, serde_json::to_string_pretty(&written(&played, &lists, &answers))?)?;
    }
    let failed = played.iter().any(|one| one.server == "dowse" && !one.is_success());
    anyhow::ensure!(!failed, "a task failed through Dowse");
    Ok(())
}

/// Prints the tokens of typical answers alone: `cargo xtask answer-tokens`.
pub(crate) fn answer_tokens(arguments: &[&str]) -> anyhow::Result<()> {
    let arguments = read(arguments)?;
    let binary = match arguments.binary {
        Some(binary) => binary,
        None => binary::build(Kind::Shipped)?,
    };
    let of = |binary: &std::path::Path, whose: answers::Whose| {
        let folder = Folder::new();
        let demo = start_demo(binary, &folder);
        let mut mcp = Mcp::new(demo.http(), "/mcp");
        let list = agent::list_tokens(&mut mcp);
        let answers = answers::of_every_tool(&mut mcp, &folder.join("demo/world"), whose);
        demo.stop();
        answers.map(|answers| (list, answers))
    };
    let (list, answers) = of(&binary, answers::Whose::Ours)?;
    match arguments.before {
        None => print(&[], &[], &answers),
        Some(before) => {
            let (list_before, before) = of(&before, answers::Whose::Earlier)?;
            print_beside(&answers, list, &before, list_before)
        }
    }
}

/// Prints the answers of two builds side by side; a tool that the earlier one has not, or that
/// refuses the call, has none.
fn print_beside(
    answers: &[answers::Typical],
    list: usize,
    before: &[answers::Typical],
    list_before: usize,
) -> anyhow::Result<()> {
    let mut lines = vec![
        "| tool | call | tokens before | tokens now |".to_owned(),
        "|---|---|---:|---:|".to_owned(),
        format!("| | `tools/list` | {list_before} | {list} |"),
    ];
    for answers::Typical { tool, arguments, tokens } in answers {
        let earlier = before.iter().find(|one| one.tool == *tool);
        let earlier = earlier.map_or_else(|| "none".to_owned(), |one| one.tokens.to_string());
        lines.push(format!("| `{tool}` | `{arguments}` | {earlier} | {tokens} |"));
    }
    lines.push(String::new());
    std::io::stdout().write_all(lines.join("\n").as_bytes())?;
    Ok(())
}

fn start_demo(binary: &std::path::Path, folder: &Folder) -> Server {
    let mut command = Command::new(binary);
    command.args(["demo", "--no-model", "--listen", "127.0.0.1:0", "--data-dir"]);
    command.arg(folder.join("demo"));
    Server::start_command(command)
}

fn read(arguments: &[&str]) -> anyhow::Result<Arguments> {
    let mut read =
        Arguments { binary: None, data: None, json: None, before: None, with_peers: true };
    let mut left = arguments.iter();
    while let Some(option) = left.next() {
        let mut value =
            || left.next().map(PathBuf::from).with_context(|| format!("`{option}` needs a value"));
        match *option {
            "--binary" => read.binary = Some(value()?),
            "--data" => read.data = Some(value()?),
            "--json" => read.json = Some(value()?),
            "--before" => read.before = Some(value()?),
            "--no-peers" => read.with_peers = false,
            other => anyhow::bail!(
                "unknown option `{other}`: expected `--binary FILE`, `--before FILE`, `--data FOLDER`, `--json FILE` or `--no-peers`"
            ),
        }
    }
    Ok(read)
}

impl Played {
    /// Plays one task with a fresh tally.
    pub(crate) fn of(
        server: &str,
        task: &str,
        agent: &mut Agent<'_>,
        play: impl FnOnce(&mut Agent<'_>) -> anyhow::Result<Outcome>,
    ) -> Played {
        agent.tally = Tally::default();
        let outcome = play(agent).unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        Played { server: server.to_owned(), task: task.to_owned(), outcome, tally: agent.tally }
    }

    fn is_success(&self) -> bool {
        matches!(self.outcome, Outcome::Success)
    }

    fn told(&self) -> String {
        match &self.outcome {
            Outcome::Success => "yes".to_owned(),
            Outcome::Failed(why) => format!("no: {}", why.lines().next().unwrap_or_default()),
            Outcome::Impossible => "no tool".to_owned(),
        }
    }
}

fn print(
    played: &[Played],
    lists: &[(String, usize)],
    answers: &[answers::Typical],
) -> anyhow::Result<()> {
    let mut lines = Vec::new();
    if !played.is_empty() {
        lines.push("| server | task | calls | refused | tokens | success |".to_owned());
        lines.push("|---|---|---:|---:|---:|---|".to_owned());
        lines.extend(played.iter().map(|one| {
            let Tally { calls, refused, tokens } = one.tally;
            let (server, task, told) = (&one.server, &one.task, one.told());
            format!("| {server} | {task} | {calls} | {refused} | {tokens} | {told} |")
        }));
        let totals = "| server | tasks | succeeded | calls | refused | tokens | `tools/list` |";
        lines.extend([String::new(), totals.to_owned()]);
        lines.push("|---|---:|---:|---:|---:|---:|---:|".to_owned());
        lines.extend(lists.iter().map(|(server, list)| {
            let of = || played.iter().filter(|one| one.server == *server);
            let sum =
                |of_tally: fn(&Tally) -> usize| of().map(|one| of_tally(&one.tally)).sum::<usize>();
            format!(
                "| {server} | {} | {} | {} | {} | {} | {list} |",
                of().count(),
                of().filter(|one| one.is_success()).count(),
                sum(|tally| tally.calls),
                sum(|tally| tally.refused),
                sum(|tally| tally.tokens),
            )
        }));
        lines.push(String::new());
    }
    lines.push("| tool | call | tokens of the answer |".to_owned());
    lines.push("|---|---|---:|".to_owned());
    lines.extend(answers.iter().map(|answers::Typical { tool, arguments, tokens }| {
        format!("| `{tool}` | `{arguments}` | {tokens} |")
    }));
    lines.push(String::new());
    std::io::stdout().write_all(lines.join("\n").as_bytes())?;
    Ok(())
}

fn written(played: &[Played], lists: &[(String, usize)], answers: &[answers::Typical]) -> Value {
    let played: Vec<Value> = played
        .iter()
        .map(|one| {
            json!({
                "server": one.server, "task": one.task, "calls": one.tally.calls,
                "refused": one.tally.refused, "tokens": one.tally.tokens, "success": one.told(),
            })
        })
        .collect();
    let lists: Value = lists
        .iter()
        .map(|(name, tokens)| (name.clone(), json!(tokens)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let answers: Vec<Value> = answers
        .iter()
        .map(|one| json!({ "tool": one.tool, "arguments": one.arguments, "tokens": one.tokens }))
        .collect();
    json!({ "tasks": played, "tools_list_tokens": lists, "answers": answers })
}

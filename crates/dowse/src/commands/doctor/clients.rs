//! The files of clients: does what they start exist, and do the servers that they name answer?

use std::path::{Path, PathBuf};

use clap::Parser as _;
use serde_json::Value;

use super::Finding;
use crate::cli::{Cli, Command};
use crate::commands::connect::{PACKAGE, client_files, read_json};
use crate::wiring::answers;

/// Looks at every client file that is here and names Dowse.
pub(super) fn findings() -> Vec<Finding> {
    let files = client_files().into_iter().filter(|(_, file, _)| file.is_file());
    files.flat_map(|(client, file, key)| of_file(&client, &file, key)).collect()
}

fn of_file(client: &str, file: &Path, key: &str) -> Vec<Finding> {
    let check = format!("client {client}");
    let shown = file.display();
    let text = match fs_err::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            let remedy = "give this user the right to read it";
            return vec![Finding::problem(&check, error.to_string(), remedy)];
        }
    };
    let whole = match file.extension().is_some_and(|it| it == "toml") {
        true => toml::from_str(&text).map_err(|error| error.message().to_owned()),
        false => from_json(&text),
    };
    let whole: Value = match whole {
        Ok(whole) => whole,
        Err(problem) => {
            return vec![Finding::problem(
                &check,
                format!("{shown} cannot be read, so the client has no servers: {problem}"),
                "fix the file; `dowse connect CLIENT FOLDER` prints what belongs into it",
            )];
        }
    };
    let servers = whole[key].as_object().into_iter().flatten();
    servers.filter_map(|(name, entry)| of_entry(&check, &shown.to_string(), name, entry)).collect()
}

/// Reads a client's JSON. Several clients allow comments and commas at the end of lists.
fn from_json(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    read_json(text).map_err(|error| error.to_string())
}

/// Looks at one server of a client; nothing for one that is not Dowse.
fn of_entry(check: &str, file: &str, name: &str, entry: &Value) -> Option<Finding> {
    let command = entry["command"].as_str();
    let is_dowse = |command: &str| {
        let stem = Path::new(command).file_stem();
        stem.is_some_and(|stem| stem == "dowse" || stem == "dowse-search")
    };
    let is_own = command.is_some_and(is_dowse);
    if name != "dowse" && !is_own {
        return None;
    }
    let again = "run `dowse connect` again with `--write --replace`";
    let args: Vec<&str> =
        entry["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if let Some(command) = command {
        let is_here = match Path::new(command).is_absolute() {
            true => Path::new(command).is_file(),
            false => on_path(command).is_some(),
        };
        if !is_here {
            let what = format!("`{name}` in {file} starts `{command}`, which is not there");
            return Some(Finding::problem(check, what, again));
        }
        // A runner has words of its own before those of Dowse.
        let is_run = args.contains(&PACKAGE);
        let of_dowse = args.iter().position(|arg| is_own || *arg == "mcp").unwrap_or(args.len());
        if (is_own || is_run)
            && let Some(problem) = problem_of(&args[of_dowse..])
        {
            return Some(Finding::problem(check, format!("`{name}` in {file}: {problem}"), again));
        }
    }
    // A client that only starts commands calls a server through a bridge.
    let bridged = args.iter().find(|arg| arg.starts_with("http://") || arg.starts_with("https://"));
    let called = entry["url"].as_str().or_else(|| entry["httpUrl"].as_str());
    let Some(url) = called.or(bridged.copied().filter(|_| !is_own)) else {
        return command.map(|it| Finding::ok(check, format!("`{name}` starts `{it}`")));
    };
    Some(match answers(url) {
        Ok(()) => Finding::ok(check, format!("`{name}` calls `{url}`, which answers")),
        Err(error) => Finding::problem(
            check,
            format!("`{name}` in {file} calls `{url}`: {}", model::with_causes(&error)),
            "start the server with `dowse serve`, or run `dowse connect` again",
        ),
    })
}

/// Says what is wrong with the words that a client starts Dowse with.
fn problem_of(args: &[&str]) -> Option<String> {
    let words = ["dowse"].iter().chain(args);
    let mcp = match Cli::try_parse_from(words).map(|cli| cli.command) {
        Ok(Command::Mcp(mcp)) => mcp,
        Ok(_) => return Some(format!("`{}` is not an MCP server over pipes", args.join(" "))),
        Err(_) => return Some(format!("`{}` is not understood", args.join(" "))),
    };
    if let Some(config) = mcp.config.config.filter(|config| !config.is_file()) {
        return Some(format!("the configuration `{}` is not there", config.display()));
    }
    let gone = mcp.folders.iter().find(|folder| folder.is_absolute() && !folder.is_dir())?;
    Some(format!("the folder `{}` is not there", gone.display()))
}

fn on_path(command: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(command)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::commands::doctor::State;

    #[test]
    fn what_is_started_must_be_there_and_others_are_left_alone() {
        let look = |entry| of_entry("client x", "file", "dowse", &entry);
        let gone = look(json!({ "command": "/nowhere/dowse", "args": ["mcp"] })).unwrap();
        assert_eq!(gone.state, State::Problem);
        let this = std::env::current_exe().unwrap();
        assert_eq!(look(json!({ "command": this })).unwrap().state, State::Ok);
        let bridge = format!("http://127.0.0.1:{}/mcp", testkit::free_port());
        let closed = look(json!({ "command": "sh", "args": ["mcp-remote", bridge] })).unwrap();
        assert_eq!(closed.state, State::Problem, "{closed:?}");
        let port = testkit::free_port();
        let closed = look(json!({ "url": format!("http://127.0.0.1:{port}/mcp") })).unwrap();
        assert_eq!(closed.state, State::Problem);
        assert_eq!(of_entry("c", "f", "other", &json!({ "command": "npx" })), None);
        for (words, state) in [
            (["--from", "dowse-search", "dowse", "mcp", env!("CARGO_MANIFEST_DIR")], State::Ok),
            (["--from", "dowse-search", "dowse", "mcp", "/nowhere/documents"], State::Problem),
        ] {
            let found = look(json!({ "command": "sh", "args": words })).unwrap();
            assert_eq!(found.state, state, "{found:?}");
        }
    }

    #[test]
    fn what_a_client_names_must_be_there() {
        assert_eq!(problem_of(&["mcp", "--no-model", env!("CARGO_MANIFEST_DIR")]), None);
        let gone = problem_of(&["mcp", "/nowhere/documents"]).unwrap();
        assert!(gone.contains("`/nowhere/documents` is not there"), "{gone}");
        let gone = problem_of(&["mcp", "--config", "/nowhere/dowse.toml"]).unwrap();
        assert!(gone.contains("`/nowhere/dowse.toml` is not there"), "{gone}");
        assert!(problem_of(&["serve"]).unwrap().contains("not an MCP server over pipes"));
        assert!(problem_of(&["mpc"]).unwrap().contains("not understood"));
    }

    /// A file that its client cannot read was passed over as one with comments.
    #[test]
    fn a_file_that_cannot_be_read_is_a_problem_and_one_with_comments_is_not() {
        let folder = testkit::Folder::new();
        let states = |name: &str, text: &str| -> Vec<State> {
            let file = folder.write(name, text);
            let key = if name.ends_with("toml") { "mcp_servers" } else { "mcpServers" };
            of_file("x", &file, key).iter().map(|finding| finding.state).collect()
        };
        assert_eq!(states("a.json", "{ \"mcpServers\": { "), [State::Problem]);
        assert_eq!(states("a.toml", "[mcp_servers.dowse\n"), [State::Problem]);
        assert_eq!(states("a.json", ""), []);
        let text = "{ // mine: \"x\"\n \"mcpServers\": { /* , */ \"dowse\": \
                    { \"command\": \"/nowhere//dowse\", \"args\": [\"a\\\"// ,]\", ], }, }, }";
        assert_eq!(states("a.json", text), [State::Problem]);
        let plain = from_json(text).unwrap();
        assert_eq!(plain["mcpServers"]["dowse"]["args"], json!(["a\"// ,]"]));
    }
}

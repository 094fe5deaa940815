//! The files of clients: does what they start exist, and do the addresses that they call speak MCP?

use std::path::{Path, PathBuf};

use clap::Parser as _;
use serde_json::Value;

use super::Finding;
use super::endpoint::{self, Endpoint};
use crate::cli::{Cli, Command};
use crate::commands::connect::{PACKAGE, client_files, read_json};
use crate::commands::variable;
use crate::config::load_as_written;
use crate::print;

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
    let is_usable = |value: &Value| value.is_object() || value.is_null();
    if !is_usable(&whole) || !is_usable(&whole[key]) {
        return vec![Finding::problem(
            &check,
            format!("{shown} has no object `{key}`, so the client has no servers"),
            "fix the file; `dowse connect CLIENT FOLDER` prints what belongs into it",
        )];
    }
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
        return Some(match command {
            Some(command) => Finding::ok(check, format!("`{name}` starts `{command}`")),
            None => {
                let what =
                    format!("`{name}` in {file} says neither what to start nor what to call");
                Finding::problem(check, what, again)
            }
        });
    };
    Some(of_address(check, &format!("`{name}` in {file}"), url, entry))
}

/// Speaks to the address that an entry calls, with the headers that it sends.
fn of_address(check: &str, entry_name: &str, url: &str, entry: &Value) -> Finding {
    let calls = format!("{entry_name} calls `{url}`");
    let headers = match headers(entry) {
        Ok(headers) => headers,
        // What a client is started with may be set elsewhere.
        Err(unset) => {
            let remedy = format!("set `{unset}` where the client starts, and here to try it");
            let what = format!("{calls} with a key in `{unset}`, which is not set here");
            return Finding::note(check, what, remedy);
        }
    };
    let again = "run `dowse connect` again with `--write --replace` and the address that ends with \
                 `/mcp`";
    match endpoint::ask(url, &headers) {
        Endpoint::Mcp { name, version } if name == "dowse" => {
            Finding::ok(check, format!("{calls}, where Dowse {version} answers"))
        }
        Endpoint::Mcp { name, version } => Finding::note(
            check,
            format!("{calls}, where `{name}` {version} answers over MCP"),
            format!("{again}, unless that is meant"),
        ),
        Endpoint::Other(problem) => {
            let remedy = match endpoint::usual_place(url, &headers) {
                Some(usual) => format!(
                    "Dowse answers at `{usual}`: run `dowse connect {} --url {usual} --write \
                     --replace`",
                    check.strip_prefix("client ").unwrap_or("CLIENT")
                ),
                None => again.to_owned(),
            };
            Finding::problem(check, format!("{calls}, which does not speak MCP: {problem}"), remedy)
        }
        Endpoint::Refused(status) if headers.is_empty() => Finding::problem(
            check,
            format!("{calls}, which answers {status}: it wants a key, and the entry sends none"),
            "run `dowse connect` again with `--key-env VARIABLE --write --replace`",
        ),
        Endpoint::Refused(status) => Finding::problem(
            check,
            format!("{calls}, which refuses its key ({status})"),
            "see that the key is one of the server's (`[[auth.keys]]`), or a token that holds",
        ),
        Endpoint::Silent(problem) => Finding::problem(
            check,
            format!("{calls}, where nothing answers: {problem}"),
            "start the server with `dowse serve`, or run `dowse connect` again",
        ),
    }
}

/// Gives the headers that a client sends for an entry, with what its variables hold.
///
/// Fails with the name of a variable that is not set.
fn headers(entry: &Value) -> Result<Vec<(String, String)>, String> {
    let of_entry = |name: &str| entry["env"][name].as_str().map(str::to_owned);
    let variable = |name: &str| of_entry(name).or_else(|| variable(name));
    let mut headers: Vec<(String, String)> = Vec::new();
    for key in ["headers", "http_headers"] {
        for (name, value) in entry[key].as_object().into_iter().flatten() {
            headers.push((name.clone(), with_variables(value.as_str().unwrap_or(""), &variable)?));
        }
    }
    if let Some(name) = entry["bearer_token_env_var"].as_str() {
        let key = variable(name).ok_or_else(|| name.to_owned())?;
        headers.push(("Authorization".to_owned(), format!("Bearer {key}")));
    }
    // The words of a bridge: `--header Name:value`.
    let words: Vec<&str> =
        entry["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for pair in words.windows(2).filter(|pair| pair[0] == "--header") {
        if let Some((name, value)) = pair[1].split_once(':') {
            headers.push((name.trim().to_owned(), with_variables(value.trim(), &variable)?));
        }
    }
    Ok(headers)
}

/// Puts variables into a text: `${NAME}`, `${env:NAME}` and `${NAME:-default}`.
///
/// Fails with the name of one that is not set.
fn with_variables(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inner, behind)) = after.split_once('}') else { break };
        let inner = inner.strip_prefix("env:").unwrap_or(inner);
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (inner, None),
        };
        whole.push_str(before);
        whole.push_str(&variable(name).or(default).ok_or_else(|| name.to_owned())?);
        rest = behind;
    }
    whole.push_str(rest);
    Ok(whole)
}

/// Says what is wrong with the words that a client starts Dowse with.
fn problem_of(args: &[&str]) -> Option<String> {
    let words = ["dowse"].iter().chain(args);
    let mcp = match Cli::try_parse_from(words).map(|cli| cli.command) {
        Ok(Command::Mcp(mcp)) => mcp,
        Ok(_) => return Some(format!("`{}` is not an MCP server over pipes", args.join(" "))),
        Err(_) => return Some(format!("`{}` is not understood", args.join(" "))),
    };
    if let Some(config) = mcp.config.config {
        let shown = config.display();
        if !config.is_file() {
            return Some(format!("the configuration `{shown}` is not there"));
        }
        let loaded = load_as_written(Some(&config), &variable);
        if let Err(error) = loaded.and_then(|loaded| loaded.config.check()) {
            let said = format!("{error:#}");
            let said = print::apart(&said).0;
            return Some(format!(
                "the configuration `{shown}` cannot be used: {said}\n\
                 hint: fix it; `dowse check --config {}` says when it is right",
                print::in_shell(&config)
            ));
        }
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
        assert_eq!(of_entry("c", "f", "other", &json!({})), None);
        for nothing in [json!({}), json!("dowse"), json!({ "command": ["dowse", "mcp"] })] {
            assert_eq!(look(nothing).unwrap().state, State::Problem);
        }
        for (words, state) in [
            (["--from", "dowse-search", "dowse", "mcp", env!("CARGO_MANIFEST_DIR")], State::Ok),
            (["--from", "dowse-search", "dowse", "mcp", "/nowhere/documents"], State::Problem),
        ] {
            let found = look(json!({ "command": "sh", "args": words })).unwrap();
            assert_eq!(found.state, state, "{found:?}");
        }
    }

    /// A client reads nothing of a file whose form it does not know, and says nothing either.
    #[test]
    fn a_file_of_another_form_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        for (text, n_problems) in [
            ("[1, 2]", 1),
            ("{\"mcpServers\": []}", 1),
            ("{\"mcpServers\": \"dowse\"}", 1),
            ("{\"mcpServers\": {}}", 0),
            ("{\"theme\": \"dark\"}", 0),
            ("", 0),
        ] {
            fs_err::write(&file, text).unwrap();
            let found = of_file("x", &file, "mcpServers");
            assert_eq!(found.len(), n_problems, "{text}: {found:?}");
            assert!(found.iter().all(|finding| finding.state == State::Problem));
        }
    }

    /// A page of the console, a path where nothing is and any other server were called well.
    #[test]
    fn an_address_is_asked_as_the_client_would_ask_it() {
        let server = testkit::loopback::Loopback::start(|request| {
            use testkit::loopback::Reply;
            let info = json!({ "name": "dowse", "version": "9" });
            let whole = json!({ "jsonrpc": "2.0", "id": 1, "result": { "serverInfo": info } });
            match (request.path.as_str(), request.header("authorization")) {
                ("/mcp", _) | ("/keyed", Some("Bearer right")) => Reply::json(&whole),
                ("/keyed", _) => Reply::status(401, ""),
                ("/", _) => Reply::ok("<!doctype html>"),
                _ => Reply::status(404, ""),
            }
        });
        let look = |entry| of_entry("client x", "file", "dowse", &entry).unwrap();
        let well = look(json!({ "type": "http", "url": server.url("/mcp") }));
        assert_eq!(well.state, State::Ok, "{well:?}");
        assert!(well.what.contains("Dowse 9 answers"), "{well:?}");
        for (key, path) in [("url", "/"), ("url", "/nonsense"), ("httpUrl", "/mcp/")] {
            let found = look(json!({ key: server.url(path) }));
            assert_eq!(found.state, State::Problem, "{found:?}");
            assert!(found.remedy.unwrap().contains(&server.url("/mcp")));
        }
        let bridge = json!({ "command": "sh", "args": ["mcp-remote", server.url("/")] });
        assert_eq!(look(bridge).state, State::Problem);
        let url = server.url("/keyed");
        let of_key = |key: &str| json!({ "url": url, "headers": { "Authorization": key } });
        assert_eq!(look(of_key("Bearer right")).state, State::Ok);
        assert_eq!(look(of_key("Bearer wrong")).state, State::Problem);
        assert_eq!(look(json!({ "url": url })).state, State::Problem);
        let unset = look(of_key("Bearer ${env:NO_SUCH_KEY}"));
        assert_eq!(unset.state, State::Note, "{unset:?}");
        assert!(unset.what.contains("`NO_SUCH_KEY`"), "{unset:?}");
        let bridge = json!({
            "command": "sh",
            "args": ["mcp-remote", url, "--header", "Authorization:${DOWSE_AUTHORIZATION}"],
            "env": { "DOWSE_AUTHORIZATION": "Bearer right" },
        });
        assert_eq!(look(bridge).state, State::Ok);
    }

    #[test]
    fn variables_are_put_in_as_each_client_writes_them() {
        let variable = |name: &str| (name == "A").then(|| "1".to_owned());
        for (text, expected) in [
            ("x", Ok("x")),
            ("Bearer ${A}", Ok("Bearer 1")),
            ("${env:A}-${A}", Ok("1-1")),
            ("${B:-2}", Ok("2")),
            ("${B}", Err("B")),
            ("${A", Ok("${A")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(with_variables(text, &variable), expected, "{text}");
        }
    }

    #[test]
    fn what_a_client_names_must_be_there() {
        assert_eq!(problem_of(&["mcp", "--no-model", env!("CARGO_MANIFEST_DIR")]), None);
        let gone = problem_of(&["mcp", "/nowhere/documents"]).unwrap();
        assert!(gone.contains("`/nowhere/documents` is not there"), "{gone}");
        let gone = problem_of(&["mcp", "--config", "/nowhere/dowse.toml"]).unwrap();
        assert!(gone.contains("`/nowhere/dowse.toml` is not there"), "{gone}");
        let folder = testkit::Folder::new();
        for (text, is_well) in
            [("[files]\nhidden = true\n", true), ("[files\n", false), ("x = 1", false)]
        {
            let file = folder.write("dowse.toml", text);
            let problem = problem_of(&["mcp", "--config", file.to_str().unwrap()]);
            assert_eq!(problem.is_none(), is_well, "{text}: {problem:?}");
        }
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

//! `dowse connect`: the lines that make a client use this server, printed or written.
//!
//! Every client keeps its servers in a file of its own; `clients` says where and in which shape.
//! Writing adds one entry and leaves everything else in the file as it is; a file that cannot be
//! understood is never touched, and another server of the same name only with `--replace`.
//! Keys are never written: an entry names the variable that holds one, or a place to put it.

mod clients;
mod jsonc;
mod program;
mod write;

pub(super) use self::jsonc::read as read_json;
pub(super) use self::program::PACKAGE;

use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use serde_json::{Value, json};

use self::clients::{Client, ClientFile, Shape};
use self::write::OtherEntry;
use crate::cli::{ClientName, ConnectArgs};
use crate::config::{DEFAULT_FILE, data_dir_flag, is_without_model};
use crate::print;

/// The variable that the bridge of a client without HTTP gets its header from.
const BRIDGE_VARIABLE: &str = "DOWSE_AUTHORIZATION";
/// What a person replaces with a key.
const KEY_PLACEHOLDER: &str = "KEY";

/// How a client reaches the server.
enum Server {
    /// The client starts it and speaks over pipes.
    Pipes { command: String, args: Vec<String> },
    /// It runs already; `key_env` is the variable that holds the key which it wants.
    Http { url: String, key_env: Option<String> },
}

pub(super) fn run(args: &ConnectArgs) -> anyhow::Result<()> {
    let client = Client::of(args.client);
    let server = server(args)?;
    let entry = entry(client.shape, &server);
    let Some(file) = file_of(&client) else {
        anyhow::bail!("the home folder is not known\nhint: set `HOME`");
    };
    if entry["env"][BRIDGE_VARIABLE].is_string() {
        print::note(format!("put your key in the place of `{KEY_PLACEHOLDER}`"));
    }
    if args.write {
        let others = if args.replace { OtherEntry::Replace } else { OtherEntry::Refuse };
        let changed = match client.shape {
            Shape::Toml => write::add_to_toml(&file, &args.name, &entry, others)?,
            shape @ (Shape::McpServers
            | Shape::Plain
            | Shape::CommandsOnly
            | Shape::VsCode
            | Shape::Gemini) => write::add_to_json(&file, shape.key(), &args.name, &entry, others)?,
        };
        if args.json {
            let added = json!({
                "client": client_name(args.client), "file": file, "name": args.name,
                "entry": entry, "is_written": true, "was_there": !changed,
            });
            print::json(&added)?;
        }
        let done = if changed { "added to" } else { "was in" };
        print::note(format!("`{}` {done} {}; {}", args.name, file.display(), client.afterwards));
        return Ok(());
    }
    if args.json {
        return print::json(&json!({
            "client": client_name(args.client), "file": file, "name": args.name,
            "entry": entry, "is_written": false, "command": client.command(&args.name, &server),
        }));
    }
    if let (Shape::McpServers, Some(command)) = (client.shape, client.command(&args.name, &server))
    {
        print::note("run this:");
        print::line(command);
        print::note(format!("or put this into {}:", file.display()));
    } else {
        print::note(format!("put this into {}, or run again with `--write`:", file.display()));
    }
    match client.shape {
        Shape::Toml => print::line(write::toml_section(&args.name, &entry)?),
        shape @ (Shape::McpServers
        | Shape::Plain
        | Shape::CommandsOnly
        | Shape::VsCode
        | Shape::Gemini) => {
            let whole = json!({ shape.key(): { args.name.as_str(): entry } });
            print::line(serde_json::to_string_pretty(&whole)?);
        }
    }
    Ok(())
}

/// Gives the lines that make clients use a server that runs at `base`, for a person to paste.
pub(super) fn lines_for_clients(base: &str, needs_key: bool) -> String {
    let key_env = needs_key.then(|| "DOWSE_KEY".to_owned());
    let (note, flag) = match &key_env {
        Some(variable) => (
            format!("\n  every client sends a key or token of yours, here from `{variable}`"),
            format!(" --key-env {variable}"),
        ),
        None => Default::default(),
    };
    let server = Server::Http { url: format!("{base}/mcp"), key_env };
    let line = |name: ClientName| {
        let client = Client::of(name);
        let entry = entry(client.shape, &server);
        let whole = || json!({ client.shape.key(): { "dowse": entry } }).to_string();
        client.command("dowse", &server).unwrap_or_else(whole)
    };
    format!(
        "Connect an agent{note}
  Claude Code     {}
  Claude Desktop  {}
  Cursor          {}
  ChatGPT         Settings, Connectors, Create: {base}/mcp (needs an address that ChatGPT can reach)
  others          dowse connect vscode|codex|gemini --url {base}/mcp{flag}",
        line(ClientName::Claude),
        line(ClientName::ClaudeDesktop),
        line(ClientName::Cursor),
    )
}

/// Gives where a server that runs at `base` is reached, for a program that started it.
pub(super) fn addresses(base: &str) -> String {
    json!({ "console": format!("{base}/"), "mcp": format!("{base}/mcp") }).to_string()
}

fn client_name(client: ClientName) -> Option<String> {
    client.to_possible_value().map(|value| value.get_name().to_owned())
}

/// Gives every client that is known with its file and the key under which it lists servers.
pub(super) fn client_files() -> Vec<(String, PathBuf, &'static str)> {
    let of = |name: &ClientName| {
        let client = Client::of(*name);
        Some((client_name(*name)?, file_of(&client)?, client.shape.key()))
    };
    ClientName::value_variants().iter().filter_map(of).collect()
}

/// Gives an address that ends with its host, as that of the console does, without the last `/`.
fn without_path(url: &str) -> Option<&str> {
    let base = url.strip_suffix('/').unwrap_or(url);
    let (_, host) = base.split_once("://")?;
    (!host.is_empty() && !host.contains(['/', '?', '#'])).then_some(base)
}

/// Gives what the client has to start, or where it has to call.
fn server(args: &ConnectArgs) -> anyhow::Result<Server> {
    if let Some(url) = &args.url {
        anyhow::ensure!(
            net::Request::get(url).is_ok(),
            "`{url}` is not the address of a server\n\
             hint: it begins with `http://` or `https://` and ends with `/mcp`, such as \
             `http://127.0.0.1:7700/mcp`"
        );
        let key_env = args.key_env.clone();
        if let Some(variable) = key_env.as_deref().filter(|name| !is_variable(name)) {
            anyhow::bail!(
                "`{variable}` is no name of a variable\n\
                 hint: `--key-env` takes the name of the variable that holds the key, never the key"
            );
        }
        if let Some(base) = without_path(url) {
            print::note(format!(
                "note: `{url}` has no path, and Dowse answers clients at `{base}/mcp`: give that \
                 unless something in between adds it"
            ));
        }
        return Ok(Server::Http { url: url.clone(), key_env });
    }
    let program::Program { command, mut words } = program::own()?;
    words.push("mcp".to_owned());
    if is_without_model() {
        words.push("--no-model".to_owned());
    }
    // What `dowse mcp` would read here; a client starts it elsewhere.
    let beside = || Some(PathBuf::from(DEFAULT_FILE)).filter(|file| file.exists());
    let config =
        args.config.config.clone().filter(|file| !file.as_os_str().is_empty()).or_else(beside);
    if let Some(config) = &config {
        anyhow::ensure!(
            config.is_file(),
            "there is no configuration `{}`\nhint: check the path",
            config.display()
        );
        words.extend(["--config".to_owned(), absolute(config)?]);
    }
    if let Some(data_dir) = data_dir_flag() {
        words.extend(["--data-dir".to_owned(), absolute(data_dir)?]);
    }
    for folder in &args.folders {
        anyhow::ensure!(
            folder.is_dir(),
            "`{}` is not a folder\nhint: name a folder that exists",
            folder.display()
        );
        words.push(absolute(folder)?);
    }
    anyhow::ensure!(
        config.is_some() || !args.folders.is_empty(),
        "nothing to search was named\n\
         hint: name folders, a configuration with `--config`, or a running server with `--url`"
    );
    Ok(Server::Pipes { command, args: words })
}

/// Gives a path that holds wherever the client starts. `..` is followed on the disk, since the
/// folder above a link is not the one that its name says; other paths stay as they are named, so
/// that a link which is moved later is followed.
fn absolute(path: &Path) -> anyhow::Result<String> {
    let mut path = std::path::absolute(path)?;
    if path.components().any(|part| part == Component::ParentDir) {
        path = fs_err::canonicalize(&path).unwrap_or_else(|_| without_parents(&path));
    }
    Ok(path.to_str().context("the path is not Unicode")?.to_owned())
}

/// Takes `..` out of a path of something that does not exist yet.
fn without_parents(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

/// Gives the entry of one server in the shape of a client.
fn entry(shape: Shape, server: &Server) -> Value {
    let (url, key_env) = match server {
        Server::Pipes { command, args } if shape == Shape::VsCode => {
            return json!({ "type": "stdio", "command": command, "args": args });
        }
        Server::Pipes { command, args } => return json!({ "command": command, "args": args }),
        Server::Http { url, key_env } => (url, key_env.as_deref()),
    };
    let mut entry = match shape {
        Shape::VsCode | Shape::McpServers => json!({ "type": "http", "url": url }),
        Shape::Gemini => json!({ "httpUrl": url }),
        Shape::Toml | Shape::Plain => json!({ "url": url }),
        Shape::CommandsOnly => json!({ "command": "npx", "args": ["mcp-remote", url] }),
    };
    let Some(variable) = key_env else { return entry };
    // Each client reads variables in its own way.
    match shape {
        Shape::McpServers | Shape::Gemini => {
            entry["headers"] = json!({ "Authorization": format!("Bearer ${{{variable}}}") });
        }
        Shape::Plain | Shape::VsCode => {
            entry["headers"] = json!({ "Authorization": format!("Bearer ${{env:{variable}}}") });
        }
        Shape::Toml => entry["bearer_token_env_var"] = json!(variable),
        Shape::CommandsOnly => {
            // The client hands its servers few variables, and splits arguments at blanks on some
            // systems; the bridge puts in what its own environment has.
            let header = format!("Authorization:${{{BRIDGE_VARIABLE}}}");
            entry["args"] = json!(["mcp-remote", url, "--header", header]);
            entry["env"] = json!({ BRIDGE_VARIABLE: format!("Bearer {KEY_PLACEHOLDER}") });
        }
    }
    entry
}

/// Tells whether a shell would take it as the name of a variable.
fn is_variable(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    name.chars().all(is_letter) && name.starts_with(|first: char| !first.is_ascii_digit())
}

fn file_of(client: &Client) -> Option<PathBuf> {
    match client.place {
        ClientFile::Here(path) => Some(PathBuf::from(path)),
        ClientFile::Home(path) => std::env::home_dir().map(|home| home.join(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `../b` was written as `/a/../b`, which clients show and compare as it is.
    #[test]
    fn paths_are_written_without_the_way_to_them() {
        let folder = testkit::Folder::new();
        let file = folder.write("b/notes.md", "x");
        folder.write("a/notes.md", "x");
        let b = fs_err::canonicalize(file.parent().unwrap()).unwrap();
        let base = b.parent().unwrap();
        for way in ["b", "./b", "a/../b", "a/../.."] {
            let written = absolute(&base.join(way)).unwrap();
            assert!(!written.contains(".."), "{way}: {written}");
            assert!(Path::new(&written).is_absolute(), "{way}: {written}");
        }
        assert_eq!(absolute(&base.join("a/../b")).unwrap(), b.to_str().unwrap());
        let later = base.join("nowhere");
        assert_eq!(absolute(&base.join("a/../nowhere")).unwrap(), later.to_str().unwrap());
    }

    #[test]
    fn an_address_of_the_console_is_told_from_one_of_an_endpoint() {
        for base in ["http://127.0.0.1:7700", "https://search.example.org"] {
            assert_eq!(without_path(base), Some(base));
            assert_eq!(without_path(&format!("{base}/")), Some(base));
            for path in ["/mcp", "/mcp/", "/mcp/sales", "/x?a=b", "?a", "//"] {
                assert_eq!(without_path(&format!("{base}{path}")), None, "{path}");
            }
        }
        assert_eq!(without_path("http://"), None);
    }

    #[test]
    fn every_client_gets_the_shape_it_reads() {
        let pipes =
            Server::Pipes { command: "/bin/dowse".to_owned(), args: vec!["mcp".to_owned()] };
        let url = "http://127.0.0.1:7700/mcp".to_owned();
        let http = Server::Http { url: url.clone(), key_env: None };
        let with_key = Server::Http { url, key_env: Some("DOWSE_KEY".to_owned()) };
        let shown: Vec<Value> = ClientName::value_variants()
            .iter()
            .map(|name| {
                let client = Client::of(*name);
                let file = match client.place {
                    ClientFile::Here(path) | ClientFile::Home(path) => path,
                };
                json!({
                    "client": format!("{name:?}"),
                    "file": file,
                    "key": client.shape.key(),
                    "pipes": entry(client.shape, &pipes),
                    "http": entry(client.shape, &http),
                    "with_key": entry(client.shape, &with_key),
                })
            })
            .collect();
        insta::assert_json_snapshot!(shown);
    }
    fn asked(words: &[&str]) -> anyhow::Result<Value> {
        use clap::Parser as _;
        let words = ["dowse", "connect"].iter().chain(words);
        let crate::cli::Command::Connect(args) = crate::cli::Cli::try_parse_from(words)?.command
        else {
            unreachable!("`connect` was typed");
        };
        Ok(entry(Client::of(args.client).shape, &server(&args)?))
    }

    #[test]
    fn an_address_is_one_and_a_key_is_never_on_the_command_line() {
        for url in ["nonsense", "127.0.0.1:7700", "ftp://a/mcp", "http://"] {
            let error = asked(&["cursor", "--url", url]).unwrap_err().to_string();
            assert!(error.contains("is not the address"), "{url}: {error}");
        }
        let url = "http://127.0.0.1:7700/mcp";
        let error = asked(&["cursor", "--url", url, "--key-env", "sk-1"]).unwrap_err().to_string();
        assert!(error.contains("never the key"), "{error}");
        assert!(asked(&["cursor", "docs", "--key-env", "A"]).is_err());
        let desktop = asked(&["claude-desktop", "--url", url]).unwrap();
        assert_eq!(desktop, json!({ "command": "npx", "args": ["mcp-remote", url] }));
    }

    #[test]
    fn the_lines_of_a_server_carry_the_header_where_it_wants_one() {
        let base = "http://127.0.0.1:7700";
        insta::assert_snapshot!(
            format!("{}\n{}", lines_for_clients(base, false), lines_for_clients(base, true)),
            @r#"
        Connect an agent
          Claude Code     claude mcp add --transport http dowse http://127.0.0.1:7700/mcp
          Claude Desktop  {"mcpServers":{"dowse":{"command":"npx","args":["mcp-remote","http://127.0.0.1:7700/mcp"]}}}
          Cursor          {"mcpServers":{"dowse":{"url":"http://127.0.0.1:7700/mcp"}}}
          ChatGPT         Settings, Connectors, Create: http://127.0.0.1:7700/mcp (needs an address that ChatGPT can reach)
          others          dowse connect vscode|codex|gemini --url http://127.0.0.1:7700/mcp
        Connect an agent
          every client sends a key or token of yours, here from `DOWSE_KEY`
          Claude Code     claude mcp add --transport http dowse http://127.0.0.1:7700/mcp --header "Authorization: Bearer $DOWSE_KEY"
          Claude Desktop  {"mcpServers":{"dowse":{"command":"npx","args":["mcp-remote","http://127.0.0.1:7700/mcp","--header","Authorization:${DOWSE_AUTHORIZATION}"],"env":{"DOWSE_AUTHORIZATION":"Bearer KEY"}}}}
          Cursor          {"mcpServers":{"dowse":{"url":"http://127.0.0.1:7700/mcp","headers":{"Authorization":"Bearer ${env:DOWSE_KEY}"}}}}
          ChatGPT         Settings, Connectors, Create: http://127.0.0.1:7700/mcp (needs an address that ChatGPT can reach)
          others          dowse connect vscode|codex|gemini --url http://127.0.0.1:7700/mcp --key-env DOWSE_KEY
        "#
        );
    }
}

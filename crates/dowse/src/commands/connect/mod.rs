//! `dowse connect`: the lines that make a client use this server, printed or written.
//!
//! Every client keeps its servers in a file of its own; `clients` says where and in which shape.
//! Writing adds one entry and leaves everything else in the file as it is; a file that cannot be
//! understood is never touched.

mod clients;
mod write;

use std::path::PathBuf;

use anyhow::Context;
use clap::ValueEnum;
use serde_json::{Value, json};

use self::clients::{Client, Place, Shape};
use crate::cli::{ClientName, ConnectArgs};
use crate::config::is_without_model;
use crate::print;

/// How a client reaches the server.
enum Server {
    /// The client starts it and speaks over pipes.
    Pipes { command: String, args: Vec<String> },
    /// It runs already.
    Http { url: String },
}

pub(super) fn run(args: &ConnectArgs) -> anyhow::Result<()> {
    let client = Client::of(args.client);
    let server = server(args)?;
    let entry = entry(client.shape, &server);
    let Some(file) = file_of(&client) else {
        anyhow::bail!("the home folder is not known\nhint: set `HOME`");
    };
    if args.write {
        let changed = match client.shape {
            Shape::Toml => write::add_to_toml(&file, &args.name, &entry)?,
            shape @ (Shape::McpServers | Shape::Plain | Shape::VsCode | Shape::Gemini) => {
                write::add_to_json(&file, shape.key(), &args.name, &entry)?
            }
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
        shape @ (Shape::McpServers | Shape::Plain | Shape::VsCode | Shape::Gemini) => {
            let whole = json!({ shape.key(): { args.name.as_str(): entry } });
            print::line(serde_json::to_string_pretty(&whole)?);
        }
    }
    Ok(())
}

/// Gives the lines that make clients use a server that runs at `base`, for a person to paste.
pub(super) fn lines_for_clients(base: &str, needs_key: bool) -> String {
    let (header, note) = if needs_key {
        (
            " --header \"Authorization: Bearer KEY\"",
            "\n  every client sends a key or token of yours",
        )
    } else {
        ("", "")
    };
    format!(
        r#"Connect an agent{note}
  Claude Code     claude mcp add --transport http dowse {base}/mcp{header}
  Claude Desktop  {{ "mcpServers": {{ "dowse": {{ "command": "npx", "args": ["mcp-remote", "{base}/mcp"] }} }} }}
  Cursor          {{ "mcpServers": {{ "dowse": {{ "url": "{base}/mcp" }} }} }}
  ChatGPT         Settings, Connectors, Create: {base}/mcp (needs an address that ChatGPT can reach)
  others          dowse connect vscode|codex|gemini --url {base}/mcp"#
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

/// Gives what the client has to start, or where it has to call.
fn server(args: &ConnectArgs) -> anyhow::Result<Server> {
    if let Some(url) = &args.url {
        return Ok(Server::Http { url: url.clone() });
    }
    let command = std::env::current_exe().context("this program's own path is not known")?;
    let command = command.to_str().context("this program's path is not Unicode")?.to_owned();
    let mut words = vec!["mcp".to_owned()];
    if is_without_model() {
        words.push("--no-model".to_owned());
    }
    if let Some(config) = &args.config.config {
        words.extend(["--config".to_owned(), absolute(config)?]);
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
        words.len() > 1,
        "nothing to search was named\n\
         hint: name folders, a configuration with `--config`, or a running server with `--url`"
    );
    Ok(Server::Pipes { command, args: words })
}

fn absolute(path: &std::path::Path) -> anyhow::Result<String> {
    let path = std::path::absolute(path)?;
    Ok(path.to_str().context("the path is not Unicode")?.to_owned())
}

/// Gives the entry of one server in the shape of a client.
fn entry(shape: Shape, server: &Server) -> Value {
    match (shape, server) {
        (Shape::VsCode, Server::Pipes { command, args }) => {
            json!({ "type": "stdio", "command": command, "args": args })
        }
        (_, Server::Pipes { command, args }) => json!({ "command": command, "args": args }),
        (Shape::VsCode | Shape::McpServers, Server::Http { url }) => {
            json!({ "type": "http", "url": url })
        }
        (Shape::Gemini, Server::Http { url }) => json!({ "httpUrl": url }),
        (Shape::Toml | Shape::Plain, Server::Http { url }) => json!({ "url": url }),
    }
}

fn file_of(client: &Client) -> Option<PathBuf> {
    match client.place {
        Place::Here(path) => Some(PathBuf::from(path)),
        Place::Home(path) => std::env::home_dir().map(|home| home.join(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_gets_the_shape_it_reads() {
        let pipes =
            Server::Pipes { command: "/bin/dowse".to_owned(), args: vec!["mcp".to_owned()] };
        let http = Server::Http { url: "http://127.0.0.1:7700/mcp".to_owned() };
        let shown: Vec<Value> = ClientName::value_variants()
            .iter()
            .map(|name| {
                let client = Client::of(*name);
                let file = match client.place {
                    Place::Here(path) | Place::Home(path) => path,
                };
                json!({
                    "client": format!("{name:?}"),
                    "file": file,
                    "key": client.shape.key(),
                    "pipes": entry(client.shape, &pipes),
                    "http": entry(client.shape, &http),
                })
            })
            .collect();
        insta::assert_json_snapshot!(shown);
    }
}

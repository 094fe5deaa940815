//! The clients that `dowse connect` knows: where each keeps its servers, and in which shape.

use super::Server;
use crate::cli::ClientName;
use crate::print;

pub(super) struct Client {
    pub(super) place: ClientFile,
    pub(super) shape: Shape,
    /// What to do once the file is written.
    pub(super) afterwards: &'static str,
}

/// Where a file is.
#[derive(Debug, Clone, Copy)]
pub(super) enum ClientFile {
    /// In the working folder: the client reads it with the project.
    Here(&'static str),
    /// Below the user's home folder.
    Home(&'static str),
}

/// The shape of a client's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// JSON, `mcpServers`, with a type for servers over HTTP.
    McpServers,
    /// JSON, `mcpServers`, without a type.
    Plain,
    /// JSON, `mcpServers`, with commands alone: a bridge calls servers over HTTP.
    CommandsOnly,
    /// JSON, `servers`, with a type.
    VsCode,
    /// JSON, `mcpServers`, with `httpUrl`.
    Gemini,
    /// TOML, `mcp_servers`.
    Toml,
}

impl Shape {
    /// Gives the key under which servers are listed.
    pub(super) fn key(self) -> &'static str {
        match self {
            Shape::McpServers | Shape::Plain | Shape::CommandsOnly | Shape::Gemini => "mcpServers",
            Shape::VsCode => "servers",
            Shape::Toml => "mcp_servers",
        }
    }
}

#[cfg(target_os = "macos")]
const CLAUDE_DESKTOP: &str = "Library/Application Support/Claude/claude_desktop_config.json";
#[cfg(target_os = "windows")]
const CLAUDE_DESKTOP: &str = "AppData/Roaming/Claude/claude_desktop_config.json";
#[cfg(not(any(target_os = "macos", target_os = "windows")))]
const CLAUDE_DESKTOP: &str = ".config/Claude/claude_desktop_config.json";

impl Client {
    pub(super) fn of(name: ClientName) -> Self {
        let (place, shape, afterwards) = match name {
            ClientName::Claude => (
                ClientFile::Here(".mcp.json"),
                Shape::McpServers,
                "Claude Code asks once whether to use it in this folder",
            ),
            ClientName::ClaudeDesktop => (
                ClientFile::Home(CLAUDE_DESKTOP),
                Shape::CommandsOnly,
                "quit Claude Desktop and start it again",
            ),
            ClientName::Cursor => (
                ClientFile::Home(".cursor/mcp.json"),
                Shape::Plain,
                "Cursor finds it in its MCP settings",
            ),
            ClientName::Vscode => (
                ClientFile::Here(".vscode/mcp.json"),
                Shape::VsCode,
                "start it from the line above the entry in VS Code",
            ),
            ClientName::Codex => {
                (ClientFile::Home(".codex/config.toml"), Shape::Toml, "start Codex again")
            }
            ClientName::Gemini => {
                (ClientFile::Home(".gemini/settings.json"), Shape::Gemini, "start Gemini again")
            }
        };
        Client { place, shape, afterwards }
    }

    /// Gives the client's own command for adding a server, where it has one.
    pub(super) fn command(&self, name: &str, server: &Server) -> Option<String> {
        if self.shape != Shape::McpServers {
            return None;
        }
        Some(match server {
            Server::Http { url, key_env } => {
                let (name, url) = (print::in_shell(name), print::in_shell(url));
                let header = key_env
                    .as_ref()
                    .map(|variable| format!(" --header \"Authorization: Bearer ${variable}\""));
                let header = header.unwrap_or_default();
                format!("claude mcp add --transport http {name} {url}{header}")
            }
            Server::Pipes { command, args } => {
                let words: Vec<String> =
                    std::iter::once(command).chain(args).map(print::in_shell).collect();
                format!("claude mcp add {} -- {}", print::in_shell(name), words.join(" "))
            }
        })
    }
}

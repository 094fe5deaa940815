//! What goes over the socket: one line of JSON with the request, then frames, a line each.

use std::path::PathBuf;

use ingest::JobProgress;
use serde::{Deserialize, Serialize};

/// What a command asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Request {
    /// An archive of everything: [`Frame::Begin`], then its bytes to the end.
    Backup,
    /// A session of MCP: [`Frame::Begin`], then its messages both ways.
    Mcp,
    /// A command: frames up to [`Frame::Exit`].
    Run(Typed),
    /// The command that has the data folder open: [`Frame::Line`] with its name.
    Host,
}

/// A command as it was typed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Typed {
    /// The words after the program's name.
    pub(crate) words: Vec<String>,
    /// The folder it was typed in; paths among the words are relative to it.
    pub(crate) folder: PathBuf,
    /// Whether its output goes to a terminal.
    pub(crate) is_terminal: bool,
    /// Whether the result is wanted as JSON, whatever the words say.
    #[serde(default)]
    pub(crate) is_json: bool,
    /// Whether no model may be used for it (`--no-model`), whatever the server has.
    #[serde(default)]
    pub(crate) is_without_model: bool,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Frame {
    /// The connection was let in, before anything was asked: the process does not end without an
    /// answer to what is asked over it.
    Entered,
    /// What follows is not frames any more.
    Begin,
    /// A line of the result.
    Line(String),
    /// A line for the person at the terminal.
    Note(String),
    /// How far a job is; `None` takes the bar away.
    Progress(Option<JobProgress>),
    /// It failed: the message, and its causes.
    Failed(Vec<String>),
    /// It ended with this exit code.
    Exit(u8),
}

//! What can be typed after `dowse context`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::commands::ObjectArgs;

/// Flags of `dowse context`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    pub(crate) objects: ObjectArgs,
    #[command(subcommand)]
    pub(crate) command: ContextCommand,
}

/// What to do with projects. PROJECT, TABLE, TOOL and ENDPOINT are ids, or names that only one
/// has.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ContextCommand {
    /// Projects: what an owner and members work on together
    #[command(subcommand)]
    Project(ProjectCommand),
    /// Tables: one JSON document each
    #[command(subcommand)]
    Table(TableCommand),
    /// Tools: search or read a part of a table
    #[command(subcommand)]
    Tool(ToolCommand),
    /// Endpoints: MCP addresses with keys, to which tools are bound
    #[command(subcommand)]
    Endpoint(EndpointCommand),
    /// Search through a tool
    Search {
        /// The tool
        tool: String,
        /// What to look for
        query: String,
        /// How many results, at most 20
        #[arg(long, default_value_t = 5)]
        top_k: usize,
    },
    /// Print a node of a table
    Get {
        /// The table
        table: String,
        /// The pointer, such as `/articles/0`; the whole document unless given
        #[arg(default_value = "")]
        pointer: String,
        /// Characters of a string to pass over
        #[arg(long, default_value_t = 0)]
        offset: usize,
        /// Characters to print at most
        #[arg(long, default_value_t = 10_000)]
        max_chars: usize,
    },
}

/// What to do with projects.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ProjectCommand {
    /// Make a project and print its id
    Create {
        /// What people call it
        name: String,
    },
    /// List projects
    List,
    /// Let someone in, or change what they may do
    Share {
        /// The project
        project: String,
        /// The subject of their token, or the name of their key
        subject: String,
        /// Let them change things, not only look
        #[arg(long)]
        editor: bool,
    },
    /// Let someone out
    Unshare {
        /// The project
        project: String,
        /// The subject
        subject: String,
    },
    /// Delete a project with all that is in it
    Delete {
        /// The project
        project: String,
    },
}

/// What to do with tables.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum TableCommand {
    /// Make a table from a JSON file and print its id
    Create {
        /// The project
        project: String,
        /// The document
        file: PathBuf,
        /// What people call it; the name of the file unless given
        #[arg(long)]
        name: Option<String>,
    },
    /// Replace the document of a table, and wait until its tools have followed
    Update {
        /// The table
        table: String,
        /// The document
        file: PathBuf,
    },
    /// List the tables of a project
    List {
        /// The project
        project: String,
    },
    /// Delete a table with its tools
    Delete {
        /// The table
        table: String,
    },
}

/// What a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolType {
    /// Finds passages of long strings.
    Search,
    /// Reads a node by its pointer.
    Get,
}

/// What becomes of strings that are too short to be indexed by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShortStrings {
    /// Those of one object or list are indexed together, but for labels of long ones.
    Auto,
    /// Those of one object or list are indexed together.
    Together,
    /// Not indexed.
    Ignore,
}

/// What to do with tools.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ToolCommand {
    /// Make a tool, wait until it can be used, and print its id
    Create {
        /// The table
        table: String,
        /// The name that an agent calls
        name: String,
        /// The part of the document, as a pointer; all of it unless given
        #[arg(long, default_value = "")]
        path: String,
        /// What an agent is told about it
        #[arg(long, default_value = "")]
        description: String,
        /// What it does
        #[arg(long = "type", value_enum, default_value = "search")]
        kind: ToolType,
        /// Index strings of at least this many characters by themselves; the setting of the server
        /// unless given
        #[arg(long, value_name = "CHARS")]
        threshold: Option<usize>,
        /// What becomes of shorter strings
        #[arg(long, value_enum, default_value = "auto")]
        short_strings: ShortStrings,
    },
    /// Change a tool, and wait until its index has followed
    Update {
        /// The tool
        tool: String,
        /// Another name that an agent calls
        #[arg(long)]
        name: Option<String>,
        /// Another part of the document, as a pointer
        #[arg(long)]
        path: Option<String>,
        /// What an agent is told about it
        #[arg(long)]
        description: Option<String>,
        /// Index strings of at least this many characters by themselves
        #[arg(long, value_name = "CHARS")]
        threshold: Option<usize>,
        /// What becomes of shorter strings
        #[arg(long, value_enum)]
        short_strings: Option<ShortStrings>,
    },
    /// List the tools of a project, with the state of their indexes
    List {
        /// The project
        project: String,
    },
    /// Make the index of a tool again, and print what changed
    Reindex {
        /// The tool
        tool: String,
    },
    /// Delete a tool
    Delete {
        /// The tool
        tool: String,
    },
}

/// What to do with endpoints.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum EndpointCommand {
    /// Make an endpoint, and print its address and its key, which is shown this once
    Create {
        /// What people call it
        name: String,
        /// A tool that is bound to it; may be given more than once
        #[arg(long, required = true)]
        tool: Vec<String>,
    },
    /// List the endpoints of a project
    List {
        /// The project
        project: String,
    },
    /// Bind other tools, in the place of those before
    Bind {
        /// The endpoint
        endpoint: String,
        /// A tool; may be given more than once
        #[arg(long)]
        tool: Vec<String>,
    },
    /// Make another key, which is shown this once
    AddKey {
        /// The endpoint
        endpoint: String,
    },
    /// Revoke a key
    RevokeKey {
        /// The endpoint
        endpoint: String,
        /// The id of the key, as `list` shows it
        key: String,
    },
    /// Delete an endpoint
    Delete {
        /// The endpoint
        endpoint: String,
    },
}

impl ContextCommand {
    /// Tells whether the command changes nothing.
    pub(super) fn is_reading(&self) -> bool {
        matches!(
            self,
            ContextCommand::Project(ProjectCommand::List)
                | ContextCommand::Table(TableCommand::List { .. })
                | ContextCommand::Tool(ToolCommand::List { .. })
                | ContextCommand::Endpoint(EndpointCommand::List { .. })
                | ContextCommand::Search { .. }
                | ContextCommand::Get { .. }
        )
    }
}

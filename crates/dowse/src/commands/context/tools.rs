//! `dowse context tool`.

use contexts::{IndexStatus, NewTool, ShortStringsUse, Tool, ToolChange, ToolKind};
use serde_json::json;

use super::args::{ShortStrings, ToolCommand, ToolType};
use super::session::Session;
use crate::print;

pub(super) fn run(session: &Session, command: &ToolCommand) -> anyhow::Result<()> {
    let (service, caller) = (&session.service, &session.caller);
    match command {
        ToolCommand::Create { table, name, path, description, kind, threshold, short_strings } => {
            let new = NewTool {
                kind: match kind {
                    ToolType::Search => ToolKind::Search,
                    ToolType::Get => ToolKind::Get,
                },
                table_id: session.table(table)?.id,
                json_path: path.clone(),
                name: name.clone(),
                description: description.clone(),
                chunk_threshold_chars: *threshold,
                short_strings: (*short_strings).into(),
            };
            let (tool, job) = service.create_tool(caller, &new)?;
            if let Some(job) = job {
                session.wait(&job)?;
            }
            print::note(state(&service.get_tool(caller, &tool.id)?));
            session.made(tool.id.as_str())?;
        }
        ToolCommand::Update { tool, name, path, description, threshold, short_strings } => {
            let change = ToolChange {
                name: name.clone(),
                description: description.clone(),
                json_path: path.clone(),
                chunk_threshold_chars: *threshold,
                short_strings: short_strings.map(Into::into),
            };
            anyhow::ensure!(
                change != ToolChange::default(),
                "nothing to change was given\n\
                 hint: give `--name`, `--path`, `--description`, `--threshold` or `--short-strings`"
            );
            let tool = session.tool(tool)?;
            let (tool, job) = service.update_tool(caller, &tool.id, &change)?;
            if let Some(job) = job {
                session.wait(&job)?;
            }
            session.done(tool.id.as_str(), state(&service.get_tool(caller, &tool.id)?))?;
        }
        ToolCommand::List { project } => {
            let project = session.project(project)?;
            let mut rows = print::Table::new(["id", "name", "path", "state"]);
            for tool in service.list_tools(caller, &project.id)? {
                let state = state(&tool);
                rows.row([json!(tool.id), json!(tool.name), json!(tool.json_path), json!(state)]);
            }
            rows.print(session.is_json)?;
        }
        ToolCommand::Reindex { tool } => {
            let tool = session.tool(tool)?;
            let (tool, job) = service.reindex_tool(caller, &tool.id)?;
            let index = job.map(|job| session.wait(&job)).transpose()?;
            session.indexed(tool.id.as_str(), index)?;
            if !session.is_json {
                print::note(state(&service.get_tool(caller, &tool.id)?));
            }
        }
        ToolCommand::Delete { tool } => {
            let tool = session.tool(tool)?;
            if let Some(job) = service.delete_tool(caller, &tool.id)? {
                session.wait(&job)?;
            }
            session.done(tool.id.as_str(), format!("deleted `{}`", tool.name))?;
        }
    }
    Ok(())
}

impl From<ShortStrings> for ShortStringsUse {
    fn from(given: ShortStrings) -> Self {
        match given {
            ShortStrings::Auto => ShortStringsUse::Auto,
            ShortStrings::Together => ShortStringsUse::Together,
            ShortStrings::Ignore => ShortStringsUse::Ignore,
        }
    }
}

fn state(tool: &Tool) -> String {
    let Some(index) = &tool.search_index else { return "reads nodes".to_owned() };
    let status = match index.status {
        IndexStatus::Pending => "pending",
        IndexStatus::Indexing => "indexing",
        IndexStatus::Ready => "ready",
        IndexStatus::Error => "error",
    };
    let mut text = format!(
        "{status}: {}, {} of {}",
        print::counted(index.nodes_count as usize, "string", "strings"),
        index.indexed_chunks_count,
        print::counted(index.chunks_count as usize, "chunk", "chunks")
    );
    if let Some(error) = &index.last_error {
        text.push_str(&format!("; {error}"));
    }
    text
}

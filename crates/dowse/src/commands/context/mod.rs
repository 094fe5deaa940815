//! `dowse context`: projects of this machine, with and without a server.

mod args;
mod endpoints;
mod session;
mod tables;
mod tools;

use anyhow::Context as _;
use contexts::{Member, NewProject, NodeRequest, ProjectChange, Role};
use serde_json::{Value, json};

pub(crate) use self::args::ContextArgs;
use self::args::{ContextCommand, ProjectCommand};
use self::session::Session;
use crate::commands::host::Host;
use crate::commands::objects::{Effect, Opened};
use crate::commands::{Outcome, until_stopped};
use crate::control::Typed;
use crate::print;
use crate::wiring::{contexts_by_words, contexts_service};

/// Characters of a chunk on a terminal; whoever reads a pipe gets all of it.
const PRINTED_CHARS: usize = 200;

pub(super) fn run(args: &ContextArgs) -> anyhow::Result<Outcome> {
    let creates = matches!(args.command, ContextCommand::Project(ProjectCommand::Create { .. }));
    let effect = Effect::of(creates, args.command.is_reading());
    let (config, common) = match args.objects.open(effect)? {
        Opened::Elsewhere(outcome) => return Ok(outcome),
        Opened::Here(here) => *here,
    };
    let service = contexts_service(&config, &common.shared_state)?;
    let session = Session { common, service, links: config.server.link_base() };
    let command = args.command.clone();
    until_stopped(move || {
        let outcome = run_in(&session, &command)?;
        session.finish_vectors()?;
        Ok(outcome)
    })
}

/// Does it with the projects of a running server.
pub(super) fn hosted(host: &Host, typed: &Typed, args: &ContextArgs) -> anyhow::Result<Outcome> {
    let app = host.app();
    let is_search = matches!(args.command, ContextCommand::Search { .. });
    let service = match typed.is_without_model && is_search {
        true => contexts_by_words(&host.shared_state)?,
        false => app.contexts.clone().context("the server has no projects")?,
    };
    let links = app.server.link_base();
    let session = Session { common: args.objects.hosted(host, typed), service, links };
    run_in(&session, &args.command)
}

fn run_in(session: &Session, command: &ContextCommand) -> anyhow::Result<Outcome> {
    match command {
        ContextCommand::Project(command) => project(session, command)?,
        ContextCommand::Table(command) => tables::run(session, command)?,
        ContextCommand::Tool(command) => tools::run(session, command)?,
        ContextCommand::Endpoint(command) => endpoints::run(session, command)?,
        ContextCommand::Search { tool, query, top_k } => {
            return search(session, tool, query, *top_k);
        }
        ContextCommand::Get { table, pointer, offset, max_chars } => {
            let request =
                NodeRequest { json_path: pointer.clone(), offset: *offset, max_chars: *max_chars };
            get(session, table, &request)?;
        }
    }
    Ok(Outcome::Done)
}

fn project(session: &Session, command: &ProjectCommand) -> anyhow::Result<()> {
    let (service, caller) = (&session.service, &session.caller);
    match command {
        ProjectCommand::Create { name } => {
            let new = NewProject { name: name.clone(), members: vec![] };
            session.made(service.create_project(caller, &new)?.id.as_str())?;
        }
        ProjectCommand::List => {
            let mut rows = print::Table::new(["id", "name", "owner", "members", "tables", "tools"]);
            for project in service.list_projects(caller)? {
                let n_tables = service.list_tables(caller, &project.id)?.len();
                let n_tools = service.list_tools(caller, &project.id)?.len();
                rows.row([
                    json!(project.id),
                    json!(project.name),
                    json!(project.owner),
                    json!(project.members.len()),
                    json!(n_tables),
                    json!(n_tools),
                ]);
            }
            rows.print(session.is_json)?;
        }
        ProjectCommand::Share { project, subject, editor } => {
            let role = if *editor { Role::Editor } else { Role::Reader };
            let member = Member { subject: subject.clone(), role };
            change_members(session, project, subject, Some(member))?;
        }
        ProjectCommand::Unshare { project, subject } => {
            change_members(session, project, subject, None)?;
        }
        ProjectCommand::Delete { project } => {
            let project = session.project(project)?;
            session.wait(&service.delete_project(caller, &project.id)?)?;
            session.shared_state.erase_answers(Some(&caller.tenant));
            session.done(project.id.as_str(), format!("deleted `{}`", project.name))?;
        }
    }
    Ok(())
}

fn change_members(
    session: &Session,
    project: &str,
    subject: &str,
    member: Option<Member>,
) -> anyhow::Result<()> {
    let project = session.project(project)?;
    let mut members = project.members;
    members.retain(|known| known.subject != subject);
    members.extend(member);
    let change = ProjectChange { name: None, members: Some(members) };
    let project = session.service.update_project(&session.caller, &project.id, &change)?;
    let members = print::counted(project.members.len(), "member", "members");
    session.done(project.id.as_str(), format!("`{}` has {members}", project.name))
}

/// Searches; the exit code says whether something was found.
fn search(session: &Session, tool: &str, query: &str, top_k: usize) -> anyhow::Result<Outcome> {
    let tool = session.tool(tool)?;
    let top_k = top_k.clamp(1, contexts::limits::MAX_TOP_K);
    let found =
        session.service.search(&session.caller, &tool.id, query, top_k, &session.deadline())?;
    let outcome = if found.results.is_empty() { Outcome::Problems } else { Outcome::Done };
    let warnings: Vec<&str> =
        found.warnings.iter().map(|warning| warning.message.as_str()).collect();
    if session.is_json {
        let results: Vec<Value> = found
            .results
            .iter()
            .map(|result| {
                json!({
                    "score": result.score.get(),
                    "json_path": result.chunk.json_pointer,
                    "char_start": result.chunk.char_start,
                    "char_end": result.chunk.char_end,
                    "text": guard::redacted_piece(&result.chunk.chunk_text, &result.around).0,
                })
            })
            .collect();
        print::json(&json!({ "query": query, "results": results, "warnings": warnings }))?;
        return Ok(outcome);
    }
    for warning in warnings {
        print::note(format!("warning: {warning}"));
    }
    for result in &found.results {
        let chunk = &result.chunk;
        let text = guard::redacted_piece(&chunk.chunk_text, &result.around).0;
        let text = print::on_one_line(&text, session.is_terminal.then_some(PRINTED_CHARS));
        print::line(format!(
            "{:.2}  {} (characters {} to {})",
            result.score.get(),
            chunk.json_pointer,
            chunk.char_start,
            chunk.char_end
        ));
        print::line(format!("      {text}"));
    }
    Ok(outcome)
}

fn get(session: &Session, table: &str, request: &NodeRequest) -> anyhow::Result<()> {
    let table = session.table(table)?;
    let node =
        session.service.get_node(&session.caller, &table.id, request, &session.deadline())?;
    if session.is_json {
        return print::json(&json!({ "text": node.text, "warnings": node.warnings }));
    }
    print::line(&node.text);
    for warning in &node.warnings {
        print::note(format!("warning: {warning}"));
    }
    Ok(())
}

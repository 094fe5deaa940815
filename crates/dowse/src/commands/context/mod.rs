//! `dowse context`: projects of this machine, without a server.

mod args;
mod endpoints;
mod session;
mod tables;
mod tools;

use anyhow::Context as _;
use contexts::{Member, NewProject, NodeRequest, ProjectChange, Role};

pub(crate) use self::args::ContextArgs;
use self::args::{ContextCommand, ProjectCommand};
use self::session::Session;
use crate::commands::variable;
use crate::config::load;
use crate::print;
use crate::wiring::{SharedState, contexts_service};

/// Characters of a chunk that are printed.
const PRINTED_CHARS: usize = 200;

pub(super) fn run(args: &ContextArgs) -> anyhow::Result<()> {
    let config = load(args.config.config.as_deref(), &variable)?.config;
    config.check()?;
    let shared_state = SharedState::open(&config)?;
    let service = contexts_service(&config, &shared_state).context(
        "hint: a server that runs on the same data folder has it open; use its REST interface",
    )?;
    let session = Session::new(service, shared_state, &args.tenant, config.server.link_base());
    match &args.command {
        ContextCommand::Project(command) => project(&session, command),
        ContextCommand::Table(command) => tables::run(&session, command),
        ContextCommand::Tool(command) => tools::run(&session, command),
        ContextCommand::Endpoint(command) => endpoints::run(&session, command),
        ContextCommand::Search { tool, query, top_k } => search(&session, tool, query, *top_k),
        ContextCommand::Get { table, pointer, offset, max_chars } => {
            let request =
                NodeRequest { json_path: pointer.clone(), offset: *offset, max_chars: *max_chars };
            get(&session, table, &request)
        }
    }
}

fn project(session: &Session, command: &ProjectCommand) -> anyhow::Result<()> {
    let (service, caller) = (&session.service, &session.caller);
    match command {
        ProjectCommand::Create { name } => {
            let new = NewProject { name: name.clone(), members: vec![] };
            print::line(service.create_project(caller, &new)?.id);
        }
        ProjectCommand::List => {
            let head = ["id", "name", "owner", "members", "tables", "tools"];
            let mut rows = vec![head.map(str::to_owned).to_vec()];
            for project in service.list_projects(caller)? {
                let n_tables = service.list_tables(caller, &project.id)?.len();
                let n_tools = service.list_tools(caller, &project.id)?.len();
                rows.push(vec![
                    project.id,
                    project.name,
                    project.owner,
                    project.members.len().to_string(),
                    n_tables.to_string(),
                    n_tools.to_string(),
                ]);
            }
            print::line(print::table(&rows));
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
            print::note(format!("deleted `{}`", project.name));
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
    print::note(format!("`{}` has {} members", project.name, project.members.len()));
    Ok(())
}

fn search(session: &Session, tool: &str, query: &str, top_k: usize) -> anyhow::Result<()> {
    let tool = session.tool(tool)?;
    let found =
        session.service.search(&session.caller, &tool.id, query, top_k, &session.deadline())?;
    for warning in &found.warnings {
        print::note(format!("warning: {}", warning.message));
    }
    for result in &found.results {
        let chunk = &result.chunk;
        let text: String = chunk.chunk_text.chars().take(PRINTED_CHARS).collect();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        print::line(format!(
            "{:.2}  {} (characters {} to {})",
            result.score.get(),
            chunk.json_pointer,
            chunk.char_start,
            chunk.char_end
        ));
        print::line(format!("      {text}"));
    }
    Ok(())
}

fn get(session: &Session, table: &str, request: &NodeRequest) -> anyhow::Result<()> {
    let table = session.table(table)?;
    let node =
        session.service.get_node(&session.caller, &table.id, request, &session.deadline())?;
    print::line(&node.text);
    for warning in &node.warnings {
        print::note(format!("warning: {warning}"));
    }
    Ok(())
}

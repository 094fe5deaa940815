//! `dowse context table`.

use serde_json::json;

use super::args::TableCommand;
use super::session::Session;
use crate::print;

pub(super) fn run(session: &Session, command: &TableCommand) -> anyhow::Result<()> {
    let (service, caller) = (&session.service, &session.caller);
    match command {
        TableCommand::Create { project, file, name } => {
            let project = session.project(project)?;
            let name = match name {
                Some(name) => name.clone(),
                None => file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            };
            let file = session.folder.join(file);
            let table =
                service.create_table(caller, &project.id, &name, &file, &session.deadline())?;
            print::note(format!("{}, {} nodes", print::bytes(table.n_bytes), table.n_nodes));
            session.made(table.id.as_str())?;
        }
        TableCommand::Update { table, file } => {
            let table = session.table(table)?;
            let file = session.folder.join(file);
            let (table, job) =
                service.replace_table(caller, &table.id, &file, &session.deadline())?;
            print::note(format!("{}, {} nodes", print::bytes(table.n_bytes), table.n_nodes));
            let index = job.map(|job| session.wait(&job)).transpose()?;
            session.indexed(table.id.as_str(), index)?;
        }
        TableCommand::List { project } => {
            let project = session.project(project)?;
            let head = ["id", "name", "version", "bytes", "nodes", "strings", "tools"];
            let mut rows = print::Table::new(head);
            let tools = service.list_tools(caller, &project.id)?;
            for table in service.list_tables(caller, &project.id)? {
                let n_tools = tools.iter().filter(|tool| tool.table_id == table.id).count();
                rows.row([
                    json!(table.id),
                    json!(table.name),
                    json!(table.version),
                    json!(table.n_bytes),
                    json!(table.n_nodes),
                    json!(table.n_strings),
                    json!(n_tools),
                ]);
            }
            rows.print(session.is_json)?;
        }
        TableCommand::Delete { table } => {
            let table = session.table(table)?;
            session.wait(&service.delete_table(caller, &table.id)?)?;
            session.shared_state.erase_answers(Some(&caller.tenant));
            session.done(table.id.as_str(), format!("deleted `{}`", table.name))?;
        }
    }
    Ok(())
}

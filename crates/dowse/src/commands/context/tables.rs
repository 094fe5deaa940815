//! `dowse context table`.

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
            let table =
                service.create_table(caller, &project.id, &name, file, &session.deadline())?;
            print::note(format!("{} bytes, {} nodes", table.n_bytes, table.n_nodes));
            print::line(table.id);
        }
        TableCommand::Update { table, file } => {
            let table = session.table(table)?;
            let (table, job) =
                service.replace_table(caller, &table.id, file, &session.deadline())?;
            print::note(format!("{} bytes, {} nodes", table.n_bytes, table.n_nodes));
            if let Some(job) = job {
                print::line(session.wait(&job)?.to_string());
            }
        }
        TableCommand::List { project } => {
            let project = session.project(project)?;
            let head = ["id", "name", "version", "bytes", "nodes", "strings", "tools"];
            let mut rows = vec![head.map(str::to_owned).to_vec()];
            let tools = service.list_tools(caller, &project.id)?;
            for table in service.list_tables(caller, &project.id)? {
                let n_tools = tools.iter().filter(|tool| tool.table_id == table.id).count();
                rows.push(vec![
                    table.id,
                    table.name,
                    table.version.to_string(),
                    table.n_bytes.to_string(),
                    table.n_nodes.to_string(),
                    table.n_strings.to_string(),
                    n_tools.to_string(),
                ]);
            }
            print::line(print::table(&rows));
        }
        TableCommand::Delete { table } => {
            let table = session.table(table)?;
            session.wait(&service.delete_table(caller, &table.id)?)?;
            print::note(format!("deleted `{}`", table.name));
        }
    }
    Ok(())
}

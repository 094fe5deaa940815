//! `dowse context endpoint`.

use contexts::{EndpointChange, NewEndpoint};

use super::args::EndpointCommand;
use super::session::Session;
use crate::print;

pub(super) fn run(session: &Session, command: &EndpointCommand) -> anyhow::Result<()> {
    let (service, caller) = (&session.service, &session.caller);
    match command {
        EndpointCommand::Create { name, tool } => {
            let new =
                NewEndpoint { name: name.clone(), tool_ids: ids(session, tool)?, project_id: None };
            let made = service.create_endpoint(caller, &new)?;
            print::line(address(session, &made.endpoint.id));
            print::line(made.api_key);
        }
        EndpointCommand::List { project } => {
            let project = session.project(project)?;
            let head = ["id", "name", "tools", "keys"].map(str::to_owned).to_vec();
            let mut rows = vec![head];
            for endpoint in service.list_endpoints(caller, &project.id)? {
                let keys: Vec<String> = endpoint
                    .keys
                    .iter()
                    .map(|key| format!("{} ({}…)", key.id, key.begins))
                    .collect();
                let n_tools = endpoint.tool_ids.len().to_string();
                rows.push(vec![endpoint.id, endpoint.name, n_tools, keys.join(", ")]);
            }
            print::line(print::table(&rows));
        }
        EndpointCommand::Bind { endpoint, tool } => {
            let endpoint = session.endpoint(endpoint)?;
            let change = EndpointChange { name: None, tool_ids: Some(ids(session, tool)?) };
            let endpoint = service.update_endpoint(caller, &endpoint.id, &change)?;
            print::note(format!("`{}` has {} tools", endpoint.name, endpoint.tool_ids.len()));
        }
        EndpointCommand::AddKey { endpoint } => {
            let endpoint = session.endpoint(endpoint)?;
            print::line(service.add_key(caller, &endpoint.id)?.api_key);
        }
        EndpointCommand::RevokeKey { endpoint, key } => {
            let endpoint = session.endpoint(endpoint)?;
            let endpoint = service.revoke_key(caller, &endpoint.id, key)?;
            print::note(format!("`{}` has {} keys", endpoint.name, endpoint.keys.len()));
        }
        EndpointCommand::Delete { endpoint } => {
            let endpoint = session.endpoint(endpoint)?;
            service.delete_endpoint(caller, &endpoint.id)?;
            print::note(format!("deleted `{}`", endpoint.name));
        }
    }
    Ok(())
}

fn ids(session: &Session, tools: &[String]) -> anyhow::Result<Vec<String>> {
    tools.iter().map(|tool| Ok(session.tool(tool)?.id)).collect()
}

fn address(session: &Session, endpoint: &str) -> String {
    format!("{}/mcp/{endpoint}", session.links)
}

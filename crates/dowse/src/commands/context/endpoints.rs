//! `dowse context endpoint`.

use contexts::{EndpointChange, NewEndpoint};

use super::args::EndpointCommand;
use super::desk::Desk;
use crate::print;

pub(super) fn run(desk: &Desk, command: &EndpointCommand) -> anyhow::Result<()> {
    let (service, caller) = (&desk.service, &desk.caller);
    match command {
        EndpointCommand::Create { name, tool } => {
            let new =
                NewEndpoint { name: name.clone(), tool_ids: ids(desk, tool)?, project_id: None };
            let made = service.create_endpoint(caller, &new)?;
            print::line(address(desk, &made.endpoint.id));
            print::line(made.api_key);
        }
        EndpointCommand::List { project } => {
            let project = desk.project(project)?;
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
            let endpoint = desk.endpoint(endpoint)?;
            let change = EndpointChange { name: None, tool_ids: Some(ids(desk, tool)?) };
            let endpoint = service.update_endpoint(caller, &endpoint.id, &change)?;
            print::note(format!("`{}` has {} tools", endpoint.name, endpoint.tool_ids.len()));
        }
        EndpointCommand::AddKey { endpoint } => {
            let endpoint = desk.endpoint(endpoint)?;
            print::line(service.add_key(caller, &endpoint.id)?.api_key);
        }
        EndpointCommand::RevokeKey { endpoint, key } => {
            let endpoint = desk.endpoint(endpoint)?;
            let endpoint = service.revoke_key(caller, &endpoint.id, key)?;
            print::note(format!("`{}` has {} keys", endpoint.name, endpoint.keys.len()));
        }
        EndpointCommand::Delete { endpoint } => {
            let endpoint = desk.endpoint(endpoint)?;
            service.delete_endpoint(caller, &endpoint.id)?;
            print::note(format!("deleted `{}`", endpoint.name));
        }
    }
    Ok(())
}

fn ids(desk: &Desk, tools: &[String]) -> anyhow::Result<Vec<String>> {
    tools.iter().map(|tool| Ok(desk.tool(tool)?.id)).collect()
}

fn address(desk: &Desk, endpoint: &str) -> String {
    format!("{}/mcp/{endpoint}", desk.links)
}

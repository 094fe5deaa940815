//! `dowse context endpoint`.

use contexts::{EndpointChange, NewEndpoint};
use serde_json::json;

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
            let address = address(session, made.endpoint.id.as_str());
            if session.is_json {
                print::json(&json!({
                    "id": made.endpoint.id,
                    "address": address,
                    "api_key": made.api_key,
                }))?;
            } else {
                print::line(address);
                print::line(made.api_key);
            }
        }
        EndpointCommand::List { project } => {
            let project = session.project(project)?;
            let mut rows = print::Table::new(["id", "name", "tools", "keys"]);
            for endpoint in service.list_endpoints(caller, &project.id)? {
                let keys: Vec<String> = endpoint
                    .keys
                    .iter()
                    .map(|key| format!("{} ({}…)", key.id, key.begins))
                    .collect();
                let n_tools = endpoint.tool_ids.len();
                rows.row([json!(endpoint.id), json!(endpoint.name), json!(n_tools), json!(keys)]);
            }
            rows.print(session.is_json)?;
        }
        EndpointCommand::Bind { endpoint, tool } => {
            let endpoint = session.endpoint(endpoint)?;
            let change = EndpointChange { name: None, tool_ids: Some(ids(session, tool)?) };
            let endpoint = service.update_endpoint(caller, &endpoint.id, &change)?;
            let tools = print::counted(endpoint.tool_ids.len(), "tool", "tools");
            session.done(endpoint.id.as_str(), format!("`{}` has {tools}", endpoint.name))?;
        }
        EndpointCommand::AddKey { endpoint } => {
            let endpoint = session.endpoint(endpoint)?;
            let made = service.add_key(caller, &endpoint.id)?;
            if session.is_json {
                print::json(&json!({ "api_key": made.api_key }))?;
            } else {
                print::line(made.api_key);
            }
        }
        EndpointCommand::RevokeKey { endpoint, key } => {
            let endpoint = session.endpoint(endpoint)?;
            let endpoint = service.revoke_key(caller, &endpoint.id, &contexts::KeyId::new(key))?;
            let keys = print::counted(endpoint.keys.len(), "key", "keys");
            session.done(endpoint.id.as_str(), format!("`{}` has {keys}", endpoint.name))?;
        }
        EndpointCommand::Delete { endpoint } => {
            let endpoint = session.endpoint(endpoint)?;
            service.delete_endpoint(caller, &endpoint.id)?;
            session.done(endpoint.id.as_str(), format!("deleted `{}`", endpoint.name))?;
        }
    }
    Ok(())
}

fn ids(session: &Session, tools: &[String]) -> anyhow::Result<Vec<contexts::ToolId>> {
    tools.iter().map(|tool| Ok(session.tool(tool)?.id)).collect()
}

fn address(session: &Session, endpoint: &str) -> String {
    format!("{}/mcp/{endpoint}", session.links)
}

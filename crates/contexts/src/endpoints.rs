//! Endpoints: made, bound to tools, opened by their keys, deleted.

use ingest::{ObjectError, new_id, room_for};
use model::{Caller, Clearance, Identity};
use serde::Deserialize;
use store::{Change, ObjectKey, ObjectPage, TypedObject};

use crate::access::Right;
use crate::keys;
use crate::object_ids::{EndpointId, KeyId, ProjectId, ToolId};
use crate::objects::{Endpoint, Project, StoredKey, Tool};
use crate::service::{endpoint_subject, named};
use crate::{Error, Result, Service, limits};

/// An endpoint that is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewEndpoint {
    /// What people call it.
    pub name: String,
    /// The tools that are bound to it, in the order of `tools/list`.
    #[serde(default)]
    pub tool_ids: Vec<ToolId>,
    /// The project it belongs to; that of its tools unless given.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
}

/// What changes about an endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointChange {
    /// Another name.
    pub name: Option<String>,
    /// Other tools, in the place of those before.
    pub tool_ids: Option<Vec<ToolId>>,
}

/// An endpoint with a key that was just made. This is the only time that the key is seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithKey {
    /// Without the key, as it is stored.
    pub endpoint: Endpoint,
    /// For the header `Authorization: Bearer`.
    pub api_key: String,
    /// The key as it is stored: a hash that opens nothing.
    pub stored: StoredKey,
}

/// An endpoint that was opened by its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenEndpoint {
    /// The tools that are bound to it, in their order.
    pub tools: Vec<Tool>,
    /// Whom its key stands for.
    pub caller: Caller,
}

impl Service {
    /// Makes an endpoint with its first key.
    pub fn create_endpoint(&self, caller: &Caller, new: &NewEndpoint) -> Result<WithKey> {
        let project = match (&new.project_id, new.tool_ids.first()) {
            (Some(project), _) => project.clone(),
            (None, Some(tool)) => self.tool_of(caller, tool, Right::Edit)?.0.project_id,
            (None, None) => {
                let problem = "an endpoint needs `tool_ids`, or `project_id` while it has none";
                return Err(Error::Object(ObjectError::BadRequest { problem: problem.to_owned() }));
            }
        };
        let (project, _) = self.project_of(caller, &project, Right::Edit)?;
        let name = named(&new.name)?;
        let tool_ids = self.bindable(caller, &project, &name, &new.tool_ids)?;
        let n_endpoints = self.endpoints_of_project(&project.id)?.len();
        room_for("the number of endpoints", n_endpoints, limits::MAX_ENDPOINTS)?;
        let now = self.0.clock.now();
        let (api_key, stored) = keys::make(now);
        let endpoint = Endpoint {
            id: EndpointId::new(new_id()),
            project_id: project.id.clone(),
            tenant: project.tenant,
            name,
            tool_ids,
            keys: vec![stored.clone()],
            created_at: now,
            updated_at: now,
        };
        endpoint.save(self.catalogue())?;
        if Project::load(self.catalogue(), &project.id)?.is_none() {
            let key = ObjectKey::new(Endpoint::KIND, endpoint.id.as_str());
            self.catalogue().apply(&[Change::Delete(key)])?;
            return Err(Error::missing("Project", project.id.as_str()));
        }
        Ok(WithKey { endpoint, api_key, stored })
    }

    /// Lists the endpoints of a project, by name.
    pub fn list_endpoints(&self, caller: &Caller, project: &ProjectId) -> Result<Vec<Endpoint>> {
        let (project, _) = self.project_of(caller, project, Right::Read)?;
        let mut endpoints = self.endpoints_of_project(&project.id)?;
        endpoints.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        Ok(endpoints)
    }

    /// Finds an endpoint of a project that the caller may see.
    pub fn get_endpoint(&self, caller: &Caller, id: &EndpointId) -> Result<Endpoint> {
        Ok(self.endpoint_of(caller, id, Right::Read)?.0)
    }

    /// Changes an endpoint; its agents see other tools at once.
    pub fn update_endpoint(
        &self,
        caller: &Caller,
        id: &EndpointId,
        change: &EndpointChange,
    ) -> Result<Endpoint> {
        let (before, _) = self.endpoint_of(caller, id, Right::Edit)?;
        let name = change.name.as_deref().map(named).transpose()?;
        let mut bound = None;
        if let Some(tool_ids) = &change.tool_ids {
            let (project, _) = self.project_of(caller, &before.project_id, Right::Edit)?;
            let name = name.as_ref().unwrap_or(&before.name);
            bound = Some(self.bindable(caller, &project, name, tool_ids)?);
        }
        self.change_endpoint(id, |endpoint| {
            if let Some(name) = &name {
                endpoint.name.clone_from(name);
            }
            if let Some(tool_ids) = &bound {
                endpoint.tool_ids.clone_from(tool_ids);
            }
            Ok(())
        })
    }

    /// Deletes an endpoint; its keys open nothing any more.
    pub fn delete_endpoint(&self, caller: &Caller, id: &EndpointId) -> Result<()> {
        let (endpoint, _) = self.endpoint_of(caller, id, Right::Edit)?;
        let key = ObjectKey::new(Endpoint::KIND, endpoint.id.as_str());
        self.catalogue().apply(&[Change::Delete(key)])?;
        Ok(())
    }

    /// Makes another key for an endpoint.
    pub fn add_key(&self, caller: &Caller, id: &EndpointId) -> Result<WithKey> {
        self.endpoint_of(caller, id, Right::Edit)?;
        let (api_key, stored) = keys::make(self.0.clock.now());
        let endpoint = self.change_endpoint(id, |endpoint| {
            room_for("the number of keys", endpoint.keys.len(), limits::MAX_KEYS)?;
            endpoint.keys.push(stored.clone());
            Ok(())
        })?;
        Ok(WithKey { endpoint, api_key, stored })
    }

    /// Takes a key away; it opens nothing from now on.
    pub fn revoke_key(&self, caller: &Caller, id: &EndpointId, key: &KeyId) -> Result<Endpoint> {
        self.endpoint_of(caller, id, Right::Edit)?;
        self.change_endpoint(id, |endpoint| {
            let n_before = endpoint.keys.len();
            endpoint.keys.retain(|stored| stored.id != *key);
            if endpoint.keys.len() == n_before {
                return Err(Error::missing("Key", key));
            }
            Ok(())
        })
    }

    /// Opens an endpoint for whoever holds one of its keys. A wrong key and an endpoint that does
    /// not exist give the same: nothing.
    pub fn open_endpoint(
        &self,
        id: &EndpointId,
        key: Option<&str>,
    ) -> Result<Option<OpenEndpoint>> {
        let Some(key) = key else { return Ok(None) };
        let Some((endpoint, _)) = Endpoint::load(self.catalogue(), id)? else { return Ok(None) };
        if !keys::is_one_of(key, &endpoint.keys) {
            return Ok(None);
        }
        let found = Tool::load_many(self.catalogue(), &endpoint.tool_ids)?;
        let tools = found.into_iter().flatten().map(|(tool, _)| tool).collect();
        let caller = Caller {
            subject: endpoint_subject(&endpoint.id),
            tenant: endpoint.tenant,
            department: None,
            clearance: Clearance::Public,
            roles: std::collections::BTreeSet::new(),
            identity: Identity::Endpoint,
        };
        Ok(Some(OpenEndpoint { tools, caller }))
    }

    /// Changes an endpoint that the caller has a right to; others may change it at the same time.
    fn change_endpoint(
        &self,
        id: &EndpointId,
        mut change: impl FnMut(&mut Endpoint) -> Result<()>,
    ) -> Result<Endpoint> {
        let now = self.0.clock.now();
        let changed = self.change(id, |endpoint: &mut Endpoint| {
            change(endpoint)?;
            endpoint.updated_at = now;
            Ok(())
        })?;
        changed.ok_or_else(|| Error::missing("Endpoint", id))
    }

    /// Checks that tools may be at an endpoint together.
    fn bindable(
        &self,
        caller: &Caller,
        project: &Project,
        endpoint: &str,
        tool_ids: &[ToolId],
    ) -> Result<Vec<ToolId>> {
        let (received, allowed) = (tool_ids.len(), limits::MAX_TOOLS_PER_ENDPOINT);
        if received > allowed {
            let what = "the number of tools of an endpoint";
            return Err(Error::Object(ObjectError::TooLarge { what, received, allowed }));
        }
        let mut names: Vec<String> = vec![];
        for (tool_idx, id) in tool_ids.iter().enumerate() {
            let (tool, _) = self.tool_of(caller, id, Right::Edit)?;
            let problem = if tool_ids[..tool_idx].contains(id) {
                Some(format!("the tool `{id}` occurs twice in `tool_ids`"))
            } else if tool.project_id != project.id {
                Some(format!("the tool `{id}` belongs to another project than the endpoint"))
            } else {
                None
            };
            if let Some(problem) = problem {
                return Err(Error::Object(ObjectError::BadRequest { problem }));
            }
            if names.contains(&tool.name) {
                return Err(Error::NameTaken { endpoint: endpoint.to_owned(), name: tool.name });
            }
            names.push(tool.name);
        }
        Ok(tool_ids.to_vec())
    }

    fn endpoints_of_project(&self, project: &ProjectId) -> Result<Vec<Endpoint>> {
        let page = ObjectPage {
            parent: Some(project.to_string()),
            limit: limits::MAX_ENDPOINTS,
            ..ObjectPage::of(Endpoint::KIND)
        };
        Ok(Endpoint::list(self.catalogue(), &page)?)
    }
}

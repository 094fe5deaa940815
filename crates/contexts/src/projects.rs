//! Projects: made, listed, shared, deleted.

use std::collections::HashSet;

use ingest::{Job, ObjectError, bounded, new_id, room_for};
use model::Caller;
use serde::Deserialize;
use store::{Change, ObjectKey, ObjectPage, TypedObject};

use crate::access::{Right, check};
use crate::object_ids::ProjectId;
use crate::objects::{Member, Project, Table};
use crate::service::named;
use crate::{Error, Result, Service, limits};

/// A project that is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewProject {
    /// What people call it.
    pub name: String,
    /// Who else may use it.
    #[serde(default)]
    pub members: Vec<Member>,
}

/// What changes about a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectChange {
    /// Another name.
    pub name: Option<String>,
    /// Other members, in the place of those before.
    pub members: Option<Vec<Member>>,
}

impl Service {
    /// Makes a project that belongs to the caller and their tenant.
    pub fn create_project(&self, caller: &Caller, new: &NewProject) -> Result<Project> {
        let page = ObjectPage {
            tenant: Some(caller.tenant.clone()),
            limit: limits::MAX_PROJECTS,
            ..ObjectPage::of(Project::KIND)
        };
        let n_projects = Project::list(self.catalogue(), &page)?.len();
        room_for("the number of projects", n_projects, limits::MAX_PROJECTS)?;
        let now = self.0.clock.now();
        let project = Project {
            id: ProjectId::new(new_id()),
            tenant: caller.tenant.clone(),
            owner: caller.own_name().to_owned(),
            owner_identity: Some(caller.identity),
            name: named(&new.name)?,
            members: members(&new.members)?,
            created_at: now,
            updated_at: now,
        };
        project.save(self.catalogue())?;
        Ok(project)
    }

    /// Lists the projects that the caller may read, by name.
    pub fn list_projects(&self, caller: &Caller) -> Result<Vec<Project>> {
        let page = ObjectPage {
            tenant: Some(caller.tenant.clone()),
            limit: limits::MAX_PROJECTS,
            ..ObjectPage::of(Project::KIND)
        };
        let mut projects = Project::list(self.catalogue(), &page)?;
        projects.retain(|project| check(project, caller, Right::Read).is_ok());
        projects.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        Ok(projects)
    }

    /// Finds a project of the caller's tenant.
    pub fn get_project(&self, caller: &Caller, id: &ProjectId) -> Result<Project> {
        Ok(self.project_of(caller, id, Right::Read)?.0)
    }

    /// Tells whether the caller may make, change and delete what is in a project.
    pub fn may_edit(&self, caller: &Caller, id: &ProjectId) -> bool {
        self.project_of(caller, id, Right::Edit).is_ok()
    }

    /// Tells whether the caller may let others into a project, and delete it.
    pub fn may_delete(&self, caller: &Caller, id: &ProjectId) -> bool {
        self.project_of(caller, id, Right::Own).is_ok()
    }

    /// Changes a project. Only its owner lets others in.
    pub fn update_project(
        &self,
        caller: &Caller,
        id: &ProjectId,
        change: &ProjectChange,
    ) -> Result<Project> {
        self.project_of(caller, id, Right::Own)?;
        let name = change.name.as_deref().map(named).transpose()?;
        let members = change.members.as_deref().map(members).transpose()?;
        let now = self.0.clock.now();
        let changed = self.change(id, |project: &mut Project| {
            if let Some(name) = &name {
                project.name.clone_from(name);
            }
            if let Some(members) = &members {
                project.members.clone_from(members);
            }
            project.updated_at = now;
            Ok(())
        })?;
        changed.ok_or_else(|| Error::missing("Project", id))
    }

    /// Deletes a project with all that is in it. It is gone for every caller at once; a job
    /// erases documents and chunks.
    pub fn delete_project(&self, caller: &Caller, id: &ProjectId) -> Result<Job> {
        let (project, _) = self.project_of(caller, id, Right::Own)?;
        let tables = self.tables_of_project(&project.id)?;
        let mut changes = vec![];
        for table in &tables {
            let tools = self.tools_of_table(&table.id)?;
            changes.extend(tools.iter().map(|tool| {
                Change::Delete(ObjectKey::new(crate::objects::Tool::KIND, tool.id.as_str()))
            }));
            changes.push(Change::Delete(ObjectKey::new(Table::KIND, table.id.as_str())));
        }
        let key = ObjectKey::new(Project::KIND, project.id.as_str());
        changes.extend([Change::DeleteChildren(key.clone()), Change::Delete(key)]);
        self.catalogue().apply(&changes)?;
        let tables = tables.into_iter().map(|table| table.id).collect();
        self.submit_purge(&project.tenant, &project.id, tables)
    }
}

fn members(given: &[Member]) -> Result<Vec<Member>> {
    if given.len() > limits::MAX_MEMBERS {
        let (received, allowed) = (given.len(), limits::MAX_MEMBERS);
        return Err(Error::Object(ObjectError::TooLarge {
            what: "the number of members",
            received,
            allowed,
        }));
    }
    let mut seen = HashSet::new();
    given
        .iter()
        .map(|member| {
            let subject =
                bounded("the length of `subject`", &member.subject, limits::MAX_NAME_CHARS)?;
            let problem = if subject.is_empty() {
                Some("`subject` of a member must not be empty".to_owned())
            } else if !seen.insert(subject.clone()) {
                Some(format!("the member `{subject}` occurs twice in `members`"))
            } else {
                None
            };
            match problem {
                Some(problem) => Err(Error::Object(ObjectError::BadRequest { problem })),
                None => Ok(Member { subject, role: member.role }),
            }
        })
        .collect()
}

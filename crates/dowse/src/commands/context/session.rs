//! What every command of the family needs: the service, whose objects they are, and names.

use std::ops::Deref;
use std::time::Duration;

use anyhow::bail;
use contexts::{Endpoint, Project, Service, Table, Tool};
use model::Deadline;
use serde_json::{Value, json};

use crate::commands::objects;
use crate::print;

/// How long one piece of work may take; large documents take a while on slow disks.
const WORK_WAIT: Duration = Duration::from_secs(3_600);

/// The service with the one who asks.
pub(super) struct Session {
    pub(super) common: objects::Session,
    pub(super) service: Service,
    /// What addresses of endpoints begin with.
    pub(super) links: String,
}

impl Deref for Session {
    type Target = objects::Session;

    fn deref(&self) -> &objects::Session {
        &self.common
    }
}

impl Session {
    /// Says what a job did to the chunks of a table, where one was needed.
    pub(super) fn indexed(&self, id: &str, changes: Option<Value>) -> anyhow::Result<()> {
        if self.is_json {
            return print::json(&json!({ "id": id, "index": changes }));
        }
        let Some(changes) = changes else { return Ok(()) };
        let count = |name: &str| changes[name].as_u64().unwrap_or_default() as usize;
        let kept = print::counted(count("kept"), "chunk", "chunks");
        let (added, removed) = (count("added"), count("removed"));
        print::line(format!("{kept} kept, {added} added, {removed} removed"));
        Ok(())
    }

    pub(super) fn deadline(&self) -> Deadline {
        Deadline::after(WORK_WAIT)
    }

    /// Finds a project by id or name.
    pub(super) fn project(&self, wanted: &str) -> anyhow::Result<Project> {
        let projects = self.service.list_projects(&self.caller)?;
        only("project", wanted, projects, |project| (project.id.as_str(), &project.name))
    }

    /// Finds a table by id or name.
    pub(super) fn table(&self, wanted: &str) -> anyhow::Result<Table> {
        let mut tables = vec![];
        for project in self.service.list_projects(&self.caller)? {
            tables.extend(self.service.list_tables(&self.caller, &project.id)?);
        }
        only("table", wanted, tables, |table| (table.id.as_str(), &table.name))
    }

    /// Finds a tool by id or name.
    pub(super) fn tool(&self, wanted: &str) -> anyhow::Result<Tool> {
        let mut tools = vec![];
        for project in self.service.list_projects(&self.caller)? {
            tools.extend(self.service.list_tools(&self.caller, &project.id)?);
        }
        only("tool", wanted, tools, |tool| (tool.id.as_str(), &tool.name))
    }

    /// Finds an endpoint by id or name.
    pub(super) fn endpoint(&self, wanted: &str) -> anyhow::Result<Endpoint> {
        let mut endpoints = vec![];
        for project in self.service.list_projects(&self.caller)? {
            endpoints.extend(self.service.list_endpoints(&self.caller, &project.id)?);
        }
        only("endpoint", wanted, endpoints, |endpoint| (endpoint.id.as_str(), &endpoint.name))
    }
}

/// Takes the one with this id, or the only one with this name.
fn only<T>(
    what: &str,
    wanted: &str,
    mut all: Vec<T>,
    of: impl Fn(&T) -> (&str, &str),
) -> anyhow::Result<T> {
    if let Some(found) = all.iter().position(|one| of(one).0 == wanted) {
        return Ok(all.swap_remove(found));
    }
    all.retain(|one| of(one).1 == wanted);
    // All but projects are listed by project.
    let list =
        if what == "project" { "project list".to_owned() } else { format!("{what} list PROJECT") };
    match (all.pop(), all.len()) {
        (Some(found), 0) => Ok(found),
        (Some(_), n_others) => bail!(
            "{} {what}s are called `{wanted}`\nhint: use the id, `dowse context {list}` prints it",
            n_others + 1
        ),
        (None, _) => bail!(
            "no {what} has the id or name `{wanted}`\nhint: `dowse context {list}` prints those \
             that are there"
        ),
    }
}

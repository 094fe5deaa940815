//! The family's service: what it is made of. Its calls are in the files of their objects.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use ingest::{JobQueue, ObjectError, Vectors};
use model::{Caller, Clock, Identity};
use retrieve::Retriever;
use store::{ObjectPage, Objects, Store, TypedObject};

use crate::access::{Right, check};
use crate::locks::Locks;
use crate::object_ids::{EndpointId, ProjectId, TableId, ToolId};
use crate::objects::{Endpoint, Project, Table, Tool};
use crate::{ContextsConfig, Error, Result, limits};

/// What the service works with.
pub struct ServiceConfig {
    /// Where chunks are kept.
    pub store: Arc<Store>,
    /// Where objects and documents are kept.
    pub catalogue: Arc<dyn Objects>,
    /// What runs jobs.
    pub queue: Arc<JobQueue>,
    /// What searches.
    pub retriever: Retriever,
    /// Told that passages without a vector wait.
    pub vectors: Arc<Vectors>,
    /// Where uploads wait while they arrive.
    pub staging: PathBuf,
    /// Who works on which table; outlives the service.
    pub locks: Locks,
    /// How documents are taken in and cut.
    pub settings: ContextsConfig,
    /// The time.
    pub clock: Clock,
}

/// The contexts family. Cheap to clone.
#[derive(Clone)]
pub struct Service(pub(crate) Arc<ServiceConfig>);

impl Service {
    /// Puts the service together.
    pub fn new(config: ServiceConfig) -> Self {
        Service(Arc::new(config))
    }

    /// Gives the settings of `[contexts]`, with which this service was made.
    pub fn settings(&self) -> &ContextsConfig {
        &self.0.settings
    }

    pub(crate) fn catalogue(&self) -> &dyn Objects {
        &*self.0.catalogue
    }

    /// Gives a project that the caller has a right to, with its version.
    pub(crate) fn project_of(
        &self,
        caller: &Caller,
        id: &ProjectId,
        right: Right,
    ) -> Result<(Project, u64)> {
        let found = Project::load(self.catalogue(), id)?;
        let (project, version) = found.ok_or_else(|| Error::missing("Project", id))?;
        check(&project, caller, right)?;
        Ok((project, version))
    }

    /// Gives a table whose project the caller has a right to, with its version.
    pub(crate) fn table_of(
        &self,
        caller: &Caller,
        id: &TableId,
        right: Right,
    ) -> Result<(Table, u64)> {
        let missing = || Error::missing("Table", id);
        let (table, version) = Table::load(self.catalogue(), id)?.ok_or_else(missing)?;
        self.pass(caller, &table.project_id, right, ("Table", id))?;
        Ok((table, version))
    }

    /// Gives a tool whose project the caller has a right to, with its version.
    pub(crate) fn tool_of(
        &self,
        caller: &Caller,
        id: &ToolId,
        right: Right,
    ) -> Result<(Tool, u64)> {
        let missing = || Error::missing("Tool", id);
        let (tool, version) = Tool::load(self.catalogue(), id)?.ok_or_else(missing)?;
        self.pass(caller, &tool.project_id, right, ("Tool", id))?;
        Ok((tool, version))
    }

    /// Gives an endpoint whose project the caller has a right to, with its version.
    pub(crate) fn endpoint_of(
        &self,
        caller: &Caller,
        id: &EndpointId,
        right: Right,
    ) -> Result<(Endpoint, u64)> {
        let missing = || Error::missing("Endpoint", id);
        let (endpoint, version) = Endpoint::load(self.catalogue(), id)?.ok_or_else(missing)?;
        self.pass(caller, &endpoint.project_id, right, ("Endpoint", id))?;
        Ok((endpoint, version))
    }

    /// Gives a tool for use: by whoever may read its project, or by an endpoint it is bound to.
    pub(crate) fn usable_tool(&self, caller: &Caller, id: &ToolId) -> Result<Tool> {
        if caller.identity != Identity::Endpoint {
            return Ok(self.tool_of(caller, id, Right::Read)?.0);
        }
        let missing = || Error::missing("Tool", id);
        let endpoint = endpoint_of_caller(caller).ok_or_else(missing)?;
        let (endpoint, _) = Endpoint::load(self.catalogue(), &endpoint)?.ok_or_else(missing)?;
        if endpoint.tenant != caller.tenant || !endpoint.tool_ids.contains(id) {
            return Err(missing());
        }
        Ok(Tool::load(self.catalogue(), id)?.ok_or_else(missing)?.0)
    }

    pub(crate) fn tools_of_table(&self, table: &TableId) -> Result<Vec<Tool>> {
        let page = ObjectPage {
            parent: Some(table.to_string()),
            limit: limits::MAX_TOOLS,
            ..ObjectPage::of(Tool::KIND)
        };
        Ok(Tool::list(self.catalogue(), &page)?)
    }

    pub(crate) fn tables_of_project(&self, project: &ProjectId) -> Result<Vec<Table>> {
        let page = ObjectPage {
            parent: Some(project.to_string()),
            limit: limits::MAX_TABLES,
            ..ObjectPage::of(Table::KIND)
        };
        Ok(Table::list(self.catalogue(), &page)?)
    }

    /// Changes an object, trying again when someone else was first; nothing when it is gone.
    pub(crate) fn change<T: TypedObject>(
        &self,
        id: &T::Id,
        mut change: impl FnMut(&mut T) -> Result<()>,
    ) -> Result<Option<T>> {
        ingest::change_object(self.catalogue(), id, |object| {
            change(object)?;
            Ok(vec![])
        })
    }

    /// What belongs to another tenant's project does not exist, whatever it is.
    fn pass(
        &self,
        caller: &Caller,
        project: &ProjectId,
        right: Right,
        (what, id): (&'static str, &dyn Display),
    ) -> Result<()> {
        match self.project_of(caller, project, right) {
            Err(Error::Object(ObjectError::NotFound { .. })) => Err(Error::missing(what, id)),
            passed => passed.map(|_| ()),
        }
    }
}

/// What the subject of an endpoint's caller begins with.
const ENDPOINT_SUBJECT: &str = "endpoint:";

/// Names the caller that an endpoint's key stands for.
pub(crate) fn endpoint_subject(endpoint: &EndpointId) -> String {
    format!("{ENDPOINT_SUBJECT}{endpoint}")
}

fn endpoint_of_caller(caller: &Caller) -> Option<EndpointId> {
    caller.subject.strip_prefix(ENDPOINT_SUBJECT).map(EndpointId::new)
}

/// Takes a name that people read.
pub(crate) fn named(text: &str) -> Result<String> {
    Ok(ingest::named(text, limits::MAX_NAME_CHARS)?)
}

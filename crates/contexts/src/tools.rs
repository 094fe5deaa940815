//! Tools over tables: made, listed, changed, deleted.

use ingest::{Job, ObjectError, bounded, new_id, room_for};
use model::Caller;
use serde::Deserialize;
use store::{Change, Lookup, ObjectKey, TypedObject};

use crate::access::Right;
use crate::json::pointer;
use crate::object_ids::{EndpointId, ProjectId, TableId, ToolId};
use crate::objects::{Endpoint, IndexStatus, SearchIndex, ShortStringsUse, Table, Tool, ToolKind};
use crate::{Error, Result, Service, limits};

/// A tool that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewTool {
    /// What it does.
    #[serde(rename = "type", default)]
    pub kind: ToolKind,
    /// The table it works on.
    pub table_id: TableId,
    /// The RFC 6901 pointer of the part it works on; empty for the whole document.
    #[serde(default)]
    pub json_path: String,
    /// The name that an agent calls.
    pub name: String,
    /// What an agent is told about it.
    #[serde(default)]
    pub description: String,
    /// Strings of at least this many characters are indexed by themselves; the setting of the
    /// server when absent.
    #[serde(default)]
    pub chunk_threshold_chars: Option<usize>,
    /// What becomes of shorter ones.
    #[serde(default)]
    pub short_strings: ShortStringsUse,
}

impl NewTool {
    /// Asks for a search tool over a whole table, with the settings of the server.
    pub fn of(table: &TableId, name: impl Into<String>) -> Self {
        NewTool {
            kind: ToolKind::default(),
            table_id: table.clone(),
            json_path: String::new(),
            name: name.into(),
            description: String::new(),
            chunk_threshold_chars: None,
            short_strings: ShortStringsUse::default(),
        }
    }
}

/// What changes about a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolChange {
    /// Another name.
    pub name: Option<String>,
    /// Another description.
    pub description: Option<String>,
    /// Another part of the document.
    pub json_path: Option<String>,
    /// Another threshold for long strings.
    pub chunk_threshold_chars: Option<usize>,
    /// Another use of short strings.
    pub short_strings: Option<ShortStringsUse>,
}

impl Service {
    /// Makes a tool and returns at once; a job makes its index.
    pub fn create_tool(&self, caller: &Caller, new: &NewTool) -> Result<(Tool, Option<Job>)> {
        let (table, _) = self.table_of(caller, &new.table_id, Right::Edit)?;
        let n_tools = self.tools_of_table(&table.id)?.len();
        room_for("the number of tools of a table", n_tools, limits::MAX_TOOLS)?;
        let now = self.0.clock.now();
        let tool = Tool {
            id: ToolId::new(new_id()),
            project_id: table.project_id.clone(),
            table_id: table.id.clone(),
            tenant: table.tenant.clone(),
            kind: new.kind,
            name: tool_name(&new.name)?,
            description: described(&new.description)?,
            json_path: json_path(&new.json_path)?,
            chunk_threshold_chars: threshold(new.chunk_threshold_chars)?,
            short_strings: new.short_strings,
            search_index: match new.kind {
                ToolKind::Search => {
                    Some(SearchIndex { configured_at: now, ..SearchIndex::default() })
                }
                ToolKind::Get => None,
            },
            created_at: now,
            updated_at: now,
        };
        tool.save(self.catalogue())?;
        // The table may have been deleted meanwhile, and then nobody would delete the tool.
        if Table::load(self.catalogue(), &table.id)?.is_none() {
            self.catalogue()
                .apply(&[Change::Delete(ObjectKey::new(Tool::KIND, tool.id.as_str()))])?;
            return Err(Error::missing("Table", table.id.as_str()));
        }
        self.index_for(&table, tool)
    }

    /// Lists the tools of a project, by name.
    pub fn list_tools(&self, caller: &Caller, project: &ProjectId) -> Result<Vec<Tool>> {
        let (project, _) = self.project_of(caller, project, Right::Read)?;
        let lookup = Lookup::new("project", project.id.as_str());
        let found = self.catalogue().find(Tool::KIND, &lookup)?;
        let mut tools: Vec<Tool> =
            found.into_iter().map(Tool::from_object).collect::<store::Result<_>>()?;
        tools.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        Ok(tools)
    }

    /// Finds a tool of a project that the caller may see.
    pub fn get_tool(&self, caller: &Caller, id: &ToolId) -> Result<Tool> {
        Ok(self.tool_of(caller, id, Right::Read)?.0)
    }

    /// Changes a tool; another path is indexed by a job.
    pub fn update_tool(
        &self,
        caller: &Caller,
        id: &ToolId,
        change: &ToolChange,
    ) -> Result<(Tool, Option<Job>)> {
        let (tool, _) = self.tool_of(caller, id, Right::Edit)?;
        if let Some(name) = &change.name {
            self.refuse_clash(&tool, &tool_name(name)?)?;
        }
        let now = self.0.clock.now();
        let mut is_moved = false;
        let changed = self.change::<Tool>(&tool.id, |tool| {
            if let Some(name) = &change.name {
                tool.name = tool_name(name)?;
            }
            if let Some(description) = &change.description {
                tool.description = described(description)?;
            }
            if let Some(path) = &change.json_path {
                let path = json_path(path)?;
                is_moved = path != tool.json_path;
                tool.json_path = path;
            }
            if change.chunk_threshold_chars.is_some() {
                let threshold = threshold(change.chunk_threshold_chars)?;
                is_moved |= threshold != tool.chunk_threshold_chars;
                tool.chunk_threshold_chars = threshold;
            }
            if let Some(short_strings) = change.short_strings {
                is_moved |= short_strings != tool.short_strings;
                tool.short_strings = short_strings;
            }
            if is_moved && let Some(index) = &mut tool.search_index {
                *index = SearchIndex { configured_at: now, ..SearchIndex::default() };
            }
            tool.updated_at = now;
            Ok(())
        })?;
        let tool = changed.ok_or_else(|| Error::missing("Tool", id))?;
        if !is_moved {
            return Ok((tool, None));
        }
        let missing = || Error::missing("Table", tool.table_id.as_str());
        let (table, _) = Table::load(self.catalogue(), &tool.table_id)?.ok_or_else(missing)?;
        self.index_for(&table, tool)
    }

    /// Makes the index of a tool again: what is missing is filled in, what is there stays.
    pub fn reindex_tool(&self, caller: &Caller, id: &ToolId) -> Result<(Tool, Option<Job>)> {
        let (tool, _) = self.tool_of(caller, id, Right::Edit)?;
        let (table, _) = self.table_of(caller, &tool.table_id, Right::Edit)?;
        self.index_for(&table, tool)
    }

    /// Deletes a tool and takes it off its endpoints; a job erases the chunks that no other tool
    /// covers.
    pub fn delete_tool(&self, caller: &Caller, id: &ToolId) -> Result<Option<Job>> {
        let (tool, _) = self.tool_of(caller, id, Right::Edit)?;
        self.unbind_everywhere(&tool.id)?;
        self.catalogue().apply(&[Change::Delete(ObjectKey::new(Tool::KIND, tool.id.as_str()))])?;
        match Table::load(self.catalogue(), &tool.table_id)? {
            Some((table, _)) if tool.kind == ToolKind::Search => self.submit_index(&table),
            _ => Ok(None),
        }
    }

    /// Takes a tool off every endpoint.
    pub(crate) fn unbind_everywhere(&self, tool: &ToolId) -> Result<()> {
        for object in self.catalogue().find(Endpoint::KIND, &Lookup::new("tool", tool.as_str()))? {
            self.change::<Endpoint>(&EndpointId::new(object.key.id), |endpoint| {
                endpoint.tool_ids.retain(|bound| bound != tool);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Asks for the index of a tool. That it cannot be made now never undoes the tool.
    fn index_for(&self, table: &Table, tool: Tool) -> Result<(Tool, Option<Job>)> {
        if tool.kind != ToolKind::Search {
            return Ok((tool, None));
        }
        let problem = match self.submit_index(table) {
            Ok(job) => return Ok((tool, job)),
            Err(error) => error.to_string(),
        };
        let changed = self.change::<Tool>(&tool.id, |tool| {
            if let Some(index) = &mut tool.search_index {
                index.status = IndexStatus::Error;
                index.last_error = Some(format!("the index could not be asked for: {problem}"));
            }
            Ok(())
        })?;
        Ok((changed.unwrap_or(tool), None))
    }

    /// Refuses a name that another tool of the same endpoint has.
    fn refuse_clash(&self, tool: &Tool, name: &str) -> Result<()> {
        for object in
            self.catalogue().find(Endpoint::KIND, &Lookup::new("tool", tool.id.as_str()))?
        {
            let endpoint = Endpoint::from_object(object)?;
            let ids = endpoint.tool_ids.iter().filter(|other| **other != tool.id);
            let others = Tool::load_many(self.catalogue(), ids)?;
            if let Some((other, _)) = others.into_iter().flatten().find(|(one, _)| one.name == name)
            {
                let (endpoint, name) = (endpoint.name, other.name);
                return Err(Error::NameTaken { endpoint, name });
            }
        }
        Ok(())
    }
}

/// Takes a name that MCP clients accept.
fn tool_name(name: &str) -> Result<String> {
    let is_known = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '-';
    let n_chars = name.chars().count();
    if (1..=limits::MAX_TOOL_NAME_CHARS).contains(&n_chars) && name.chars().all(is_known) {
        return Ok(name.to_owned());
    }
    let shown: String = name.chars().take(100).collect();
    let problem = format!(
        "the name of a tool has 1 to {} of the characters `A-Z a-z 0-9 _ -`, received `{shown}`",
        limits::MAX_TOOL_NAME_CHARS
    );
    Err(Error::Object(ObjectError::BadRequest { problem }))
}

/// Takes a threshold for long strings.
fn threshold(given: Option<usize>) -> Result<Option<usize>> {
    match given {
        Some(0) => {
            let problem = "`chunk_threshold_chars` must be at least 1".to_owned();
            Err(Error::Object(ObjectError::BadRequest { problem }))
        }
        given => Ok(given),
    }
}

fn described(text: &str) -> Result<String> {
    Ok(bounded("the length of `description`", text, limits::MAX_DESCRIPTION_CHARS)?)
}

/// Takes a pointer.
pub(crate) fn json_path(path: &str) -> Result<String> {
    let (received, allowed) = (path.len(), limits::MAX_PATH_BYTES);
    if received > allowed {
        return Err(Error::Object(ObjectError::TooLarge {
            what: "the length of `json_path`",
            received,
            allowed,
        }));
    }
    pointer::components(path)?;
    Ok(path.to_owned())
}

//! Projects, tables, tools and endpoints as the catalogue keeps them.

use model::{Caller, Identity, NamespaceId, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use store::{Lookup, TypedObject};

use crate::object_ids::{EndpointId, JsonDocumentId, KeyId, ProjectId, TableId, ToolId};

/// What a member may do in a project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Look at everything and search.
    #[default]
    Reader,
    /// Make, change and delete tables, tools and endpoints, too.
    Editor,
}

/// Someone who was let into a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// The subject of their token, or the name of their key.
    pub subject: String,
    /// What they may do.
    #[serde(default)]
    pub role: Role,
}

/// A project: what its owner and members work on together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// A UUID.
    pub id: ProjectId,
    /// The tenant of whoever made it.
    pub tenant: TenantId,
    /// Whoever made it.
    pub owner: String,
    /// How they proved who they are; an earlier version did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_identity: Option<Identity>,
    /// What people call it.
    pub name: String,
    /// Who else may use it.
    pub members: Vec<Member>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

impl Project {
    /// Tells whether the caller owns it: they made it, or they administer the tenant.
    pub(crate) fn is_owned_by(&self, caller: &Caller) -> bool {
        caller.is_admin() || caller.made(&self.owner, self.owner_identity)
    }

    pub(crate) fn role_of(&self, caller: &Caller) -> Option<Role> {
        let member = self.members.iter().find(|member| caller.is_meant_by(&member.subject));
        member.map(|member| member.role)
    }
}

impl TypedObject for Project {
    type Id = ProjectId;

    const KIND: &'static str = "context_project";

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn tenant(&self) -> TenantId {
        self.tenant.clone()
    }
}

/// A table: one JSON document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// A UUID.
    pub id: TableId,
    /// The project it belongs to.
    pub project_id: ProjectId,
    /// The tenant of the project.
    pub tenant: TenantId,
    /// What people call it.
    pub name: String,
    /// The document of the moment, see [`crate::document`].
    pub(crate) document: JsonDocumentId,
    /// Documents that it had before and that are not erased yet.
    pub(crate) former: Vec<JsonDocumentId>,
    /// Counts its documents, from 1.
    pub version: u64,
    /// The size of the document, in bytes.
    pub n_bytes: u64,
    /// Nodes of the document.
    pub n_nodes: u64,
    /// Strings of the document.
    pub n_strings: u64,
    /// How deep the document nests.
    pub depth: usize,
    /// SHA-256 of the document's bytes.
    pub sha256: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

impl Table {
    /// Gives the namespace that holds its chunks.
    pub fn namespace(&self) -> NamespaceId {
        namespace_of(&self.project_id, &self.id)
    }
}

impl TypedObject for Table {
    type Id = TableId;

    const KIND: &'static str = "context_table";

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn tenant(&self) -> TenantId {
        self.tenant.clone()
    }

    fn parent(&self) -> Option<String> {
        Some(self.project_id.to_string())
    }
}

/// What a tool does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Finds passages of long strings.
    #[default]
    Search,
    /// Reads a node by its pointer.
    Get,
}

/// What becomes of strings that are too short to be indexed by themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShortStringsUse {
    /// They are indexed together, but for those beside a long string, which are its labels; all of
    /// them where a tool covers no long string, or more short ones than labels.
    #[default]
    Auto,
    /// Those of one object or list are indexed together.
    Together,
    /// They are not indexed.
    Ignore,
}

/// How far the index of a tool is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexStatus {
    /// Waits for its job.
    #[default]
    Pending,
    /// Its job runs.
    Indexing,
    /// Everything that can be indexed can be found.
    Ready,
    /// The job failed; what was indexed before can still be found.
    Error,
}

/// The state of a search tool's index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchIndex {
    /// How far it is.
    pub status: IndexStatus,
    /// When the tool was made, or its scope changed.
    pub configured_at: Timestamp,
    /// When it was complete last.
    pub indexed_at: Option<Timestamp>,
    /// Long strings under the tool's path.
    pub nodes_count: u64,
    /// Chunks of those strings, searchable or not yet.
    pub chunks_count: u64,
    /// Chunks that can be found.
    pub indexed_chunks_count: u64,
    /// Whether short strings are indexed together under the tool's path.
    #[serde(default)]
    pub short_strings: bool,
    /// Whether strings under the tool's path are indexed that are other tools' alone.
    #[serde(default)]
    pub(crate) has_others: bool,
    /// What was left out, or why the job failed.
    pub last_error: Option<String>,
    /// The settings under which it was made.
    pub(crate) settings: String,
}

/// A tool over a part of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// A UUID.
    pub id: ToolId,
    /// The project it belongs to.
    pub project_id: ProjectId,
    /// The table it works on.
    pub table_id: TableId,
    /// The tenant of the project.
    pub tenant: TenantId,
    /// What it does.
    pub kind: ToolKind,
    /// The name that an agent calls.
    pub name: String,
    /// What an agent is told about it.
    pub description: String,
    /// The RFC 6901 pointer of the part it works on; empty for the whole document.
    pub json_path: String,
    /// Strings of at least this many characters are indexed by themselves; the setting of the
    /// server when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_threshold_chars: Option<usize>,
    /// What becomes of shorter ones.
    #[serde(default)]
    pub short_strings: ShortStringsUse,
    /// The state of its index; nothing for a tool that needs none.
    pub search_index: Option<SearchIndex>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

impl TypedObject for Tool {
    type Id = ToolId;

    const KIND: &'static str = "context_tool";

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn tenant(&self) -> TenantId {
        self.tenant.clone()
    }

    fn parent(&self) -> Option<String> {
        Some(self.table_id.to_string())
    }

    fn lookups(&self) -> Vec<Lookup> {
        vec![Lookup::new("project", self.project_id.as_str())]
    }
}

/// A key of an endpoint, as far as it is kept: nobody can make the key out of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredKey {
    /// A UUID.
    pub id: KeyId,
    /// The first characters, so that its owner knows which it is.
    pub begins: String,
    pub(crate) sha256: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// An MCP address with keys of its own, to which tools are bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// A UUID; the last part of its address.
    pub id: EndpointId,
    /// The project it belongs to.
    pub project_id: ProjectId,
    /// The tenant of the project.
    pub tenant: TenantId,
    /// What people call it.
    pub name: String,
    /// The tools, in the order of `tools/list`.
    pub tool_ids: Vec<ToolId>,
    /// As hashes; any of them opens the endpoint.
    pub keys: Vec<StoredKey>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

impl TypedObject for Endpoint {
    type Id = EndpointId;

    const KIND: &'static str = "context_endpoint";

    fn id(&self) -> String {
        self.id.to_string()
    }

    fn tenant(&self) -> TenantId {
        self.tenant.clone()
    }

    fn parent(&self) -> Option<String> {
        Some(self.project_id.to_string())
    }

    fn lookups(&self) -> Vec<Lookup> {
        self.tool_ids.iter().map(|tool| Lookup::new("tool", tool.as_str())).collect()
    }
}

/// Begins the name of every namespace of the family.
pub(crate) const NAMESPACES: &str = "project_";

pub(crate) fn namespace_of(project: &ProjectId, table: &TableId) -> NamespaceId {
    NamespaceId::new(format!("{NAMESPACES}{project}_table_{table}"))
}

/// Gives the table's id inside the name of its namespace.
pub(crate) fn table_of_namespace(namespace: &NamespaceId) -> Option<TableId> {
    let (_, table) = namespace.as_str().strip_prefix(NAMESPACES)?.split_once("_table_")?;
    Some(TableId::new(table))
}

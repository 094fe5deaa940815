//! What REST answers with about projects, their documents, tools and endpoints.

use contexts::{Endpoint, Project, StoredKey, Table, Tool};
use ingest::Job;
use model::{Timestamp, iso};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::views::JobView;
use crate::key_uses::KeyUses;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Project")]
pub(super) struct ProjectView {
    id: String,
    name: String,
    owner: String,
    /// Who else may use it: `{subject, role}`.
    members: Value,
    tenant_id: String,
    created_at: String,
    updated_at: String,
}

impl ProjectView {
    pub(super) fn of(project: &Project) -> Value {
        json!(ProjectView {
            id: project.id.to_string(),
            name: project.name.clone(),
            owner: project.owner.clone(),
            members: json!(project.members),
            tenant_id: project.tenant.to_string(),
            created_at: iso(project.created_at),
            updated_at: iso(project.updated_at),
        })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Table")]
pub(super) struct TableView {
    id: String,
    project_id: String,
    name: String,
    version: u64,
    bytes: u64,
    nodes: u64,
    strings: u64,
    depth: u64,
    sha256: String,
    created_at: String,
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<JobView>,
}

impl TableView {
    pub(super) fn of(table: &Table, job: Option<&Job>) -> Value {
        json!(TableView {
            id: table.id.to_string(),
            project_id: table.project_id.to_string(),
            name: table.name.clone(),
            version: table.version,
            bytes: table.n_bytes,
            nodes: table.n_nodes,
            strings: table.n_strings,
            depth: table.depth as u64,
            sha256: table.sha256.clone(),
            created_at: iso(table.created_at),
            updated_at: iso(table.updated_at),
            job: job.map(JobView::of),
        })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Tool")]
pub(super) struct ToolView {
    id: String,
    project_id: String,
    table_id: String,
    /// `search` or `get`
    r#type: Value,
    name: String,
    description: String,
    json_path: String,
    /// Its own threshold for long strings, where it has one.
    chunk_threshold_chars: Option<usize>,
    /// `auto`, `together` or `ignore`
    short_strings: Value,
    metadata: ToolMetadata,
    created_at: String,
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<JobView>,
}

#[derive(Serialize, JsonSchema)]
struct ToolMetadata {
    #[serde(skip_serializing_if = "Option::is_none")]
    search_index: Option<SearchIndexView>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SearchIndex")]
struct SearchIndexView {
    /// `pending`, `indexing`, `ready` or `error`
    status: Value,
    configured_at: String,
    indexed_at: Option<String>,
    nodes_count: u64,
    chunks_count: u64,
    indexed_chunks_count: u64,
    /// Whether short strings are indexed together.
    short_strings: bool,
    last_error: Option<String>,
}

impl ToolView {
    pub(super) fn of(tool: &Tool, job: Option<&Job>) -> Value {
        let search_index = tool.search_index.as_ref().map(|index| SearchIndexView {
            status: json!(index.status),
            configured_at: iso(index.configured_at),
            indexed_at: index.indexed_at.map(iso),
            nodes_count: index.nodes_count,
            chunks_count: index.chunks_count,
            indexed_chunks_count: index.indexed_chunks_count,
            short_strings: index.short_strings,
            last_error: index.last_error.clone(),
        });
        json!(ToolView {
            id: tool.id.to_string(),
            project_id: tool.project_id.to_string(),
            table_id: tool.table_id.to_string(),
            r#type: json!(tool.kind),
            name: tool.name.clone(),
            description: tool.description.clone(),
            json_path: tool.json_path.clone(),
            chunk_threshold_chars: tool.chunk_threshold_chars,
            short_strings: json!(tool.short_strings),
            metadata: ToolMetadata { search_index },
            created_at: iso(tool.created_at),
            updated_at: iso(tool.updated_at),
            job: job.map(JobView::of),
        })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Endpoint")]
pub(super) struct EndpointView {
    id: String,
    project_id: String,
    name: String,
    url: String,
    tool_ids: Vec<String>,
    keys: Vec<KeyView>,
    created_at: String,
    updated_at: String,
    /// Shown once, when it is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<String>,
}

impl EndpointView {
    pub(super) fn of(
        endpoint: &Endpoint,
        links: &str,
        uses: &KeyUses,
        api_key: Option<String>,
    ) -> Value {
        let uses = uses.of(endpoint.id.as_str());
        let last_use = |key: &StoredKey| uses.get(&key.begins).copied();
        json!(EndpointView {
            id: endpoint.id.to_string(),
            project_id: endpoint.project_id.to_string(),
            name: endpoint.name.clone(),
            url: format!("{links}/mcp/{}", endpoint.id),
            tool_ids: endpoint.tool_ids.iter().map(ToString::to_string).collect(),
            keys: endpoint.keys.iter().map(|key| KeyView::of(key, last_use(key), None)).collect(),
            created_at: iso(endpoint.created_at),
            updated_at: iso(endpoint.updated_at),
            api_key,
        })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Key")]
pub(super) struct KeyView {
    id: String,
    begins: String,
    created_at: String,
    /// To the minute; absent when it was never used.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<String>,
    /// Shown once, when it is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<String>,
}

impl KeyView {
    pub(super) fn of(
        key: &StoredKey,
        last_use: Option<Timestamp>,
        api_key: Option<String>,
    ) -> Self {
        KeyView {
            id: key.id.to_string(),
            begins: key.begins.clone(),
            created_at: iso(key.created_at),
            last_used_at: last_use.map(iso),
            api_key,
        }
    }
}

/// A node of a document, or a piece of it.
#[derive(JsonSchema)]
#[schemars(rename = "Node")]
#[expect(dead_code, reason = "written by the crate of the tools")]
pub(super) struct NodeView {
    table_id: String,
    json_path: String,
    json_pointer: String,
    r#type: String,
    text: String,
    char_start: u64,
    char_end: u64,
    total_chars: Option<u64>,
    truncated: bool,
    /// Goes into `offset`.
    #[serde(default)]
    next: String,
    #[serde(default)]
    prev: String,
    /// How much each member in `text` holds, in its order, with `view` = `members`.
    #[serde(default)]
    members: Vec<MemberSizeView>,
}

/// How much a member of a list or object holds.
#[derive(JsonSchema)]
#[schemars(rename = "MemberSize")]
#[expect(dead_code, reason = "written by the crate of the tools")]
struct MemberSizeView {
    r#type: String,
    /// Members of a list or object, characters of a string.
    size: Option<u64>,
    /// Whether all of it was counted; where not, it has at least so many.
    counted: bool,
}

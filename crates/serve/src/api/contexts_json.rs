//! The objects of the contexts family as REST shows them.

use contexts::{Endpoint, KeptKey, Project, Table, Tool};
use model::iso;
use serde_json::{Value, json};

pub(super) fn project_json(project: &Project) -> Value {
    json!({
        "id": project.id,
        "name": project.name,
        "owner": project.owner,
        "members": project.members,
        "tenant_id": project.tenant,
        "created_at": iso(project.created_at),
        "updated_at": iso(project.updated_at),
    })
}

pub(super) fn table_json(table: &Table) -> Value {
    json!({
        "id": table.id,
        "project_id": table.project_id,
        "name": table.name,
        "version": table.version,
        "bytes": table.n_bytes,
        "nodes": table.n_nodes,
        "strings": table.n_strings,
        "depth": table.depth,
        "sha256": table.sha256,
        "created_at": iso(table.created_at),
        "updated_at": iso(table.updated_at),
    })
}

pub(super) fn tool_json(tool: &Tool) -> Value {
    let metadata = match &tool.search_index {
        None => json!({}),
        Some(index) => json!({
            "search_index": {
                "status": index.status,
                "configured_at": iso(index.configured_at),
                "indexed_at": index.indexed_at.map(iso),
                "nodes_count": index.nodes_count,
                "chunks_count": index.chunks_count,
                "indexed_chunks_count": index.indexed_chunks_count,
                "short_strings": index.short_strings,
                "last_error": index.last_error,
            },
        }),
    };
    json!({
        "id": tool.id,
        "project_id": tool.project_id,
        "table_id": tool.table_id,
        "type": tool.kind,
        "name": tool.name,
        "description": tool.description,
        "json_path": tool.json_path,
        "chunk_threshold_chars": tool.chunk_threshold_chars,
        "short_strings": tool.short_strings,
        "metadata": metadata,
        "created_at": iso(tool.created_at),
        "updated_at": iso(tool.updated_at),
    })
}

pub(super) fn endpoint_json(endpoint: &Endpoint, links: &str) -> Value {
    let keys: Vec<Value> = endpoint.keys.iter().map(key_json).collect();
    json!({
        "id": endpoint.id,
        "project_id": endpoint.project_id,
        "name": endpoint.name,
        "url": format!("{links}/mcp/{}", endpoint.id),
        "tool_ids": endpoint.tool_ids,
        "keys": keys,
        "created_at": iso(endpoint.created_at),
        "updated_at": iso(endpoint.updated_at),
    })
}

pub(super) fn key_json(key: &KeptKey) -> Value {
    json!({ "id": key.id, "begins": key.begins, "created_at": iso(key.created_at) })
}

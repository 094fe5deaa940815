//! `list_knowledge_bases`: what can be searched with `search_documents`.

use std::sync::Arc;

use knowledge::Service;
use model::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{error, has_bases, name_of, no_bases};
use crate::paging::{Filled, fill};
use crate::walk::Walk;
use crate::{Answer, Call, Spec, Tool, ToolError};

/// The tool.
pub struct ListKnowledgeBases {
    service: Service,
    spec: Arc<Spec>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// `next` of the answer before
    cursor: Option<String>,
}

impl ListKnowledgeBases {
    /// Lists the knowledge bases of a service.
    pub fn new(service: Service) -> Self {
        let spec = Spec::read_only(
            "list_knowledge_bases",
            "List knowledge bases",
            "List the knowledge bases that search_documents can search: id, name, description \
             and counts.",
        )
        .with_arguments::<Arguments>()
        .with_output(json!({
            "type": "object",
            "properties": {
                "knowledge_bases": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "id": { "type": "string" },
                            "name": { "type": "string" },
                            "description": { "type": "string" },
                            "total_collections": { "type": "integer" },
                            "total_documents": { "type": "integer" },
                            "total_chunks": { "type": "integer" },
                        },
                        "required": ["id", "name"],
                    },
                },
                "next": { "type": "string" },
                "warnings": { "type": "array", "items": { "type": "string" } },
            },
            "required": ["knowledge_bases"],
        }))
        .with_source_text(&["/knowledge_bases/*/description"]);
        ListKnowledgeBases { service, spec: Arc::new(spec) }
    }
}

impl Tool for ListKnowledgeBases {
    fn spec(&self, _caller: &Caller) -> Option<Arc<Spec>> {
        Some(Arc::clone(&self.spec))
    }

    fn is_listed(&self, caller: &Caller) -> bool {
        has_bases(&self.service, caller)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments { cursor } = call.parse()?;
        let walk = Walk::of("list_knowledge_bases", &json!({}));
        let after = cursor.as_deref().map(|cursor| walk.read(cursor)).transpose()?;
        let mut bases = self.service.list_bases(call.caller).map_err(error)?;
        if bases.is_empty() {
            return Err(no_bases("list_knowledge_bases"));
        }
        bases.sort_by(|one, other| one.id.cmp(&other.id));
        // The cursor is the id of the last base that was given, so bases may come and go.
        bases.retain(|base| after.is_none_or(|after| base.id.as_str() > after));
        let items: Vec<Value> = bases
            .iter()
            .map(|base| {
                let mut value = json!({
                    "id": base.id,
                    "name": name_of(base),
                    "description": base.description,
                });
                // Counts are of what this caller may see; a base whose counts fail is still listed.
                if let Ok(collections) = self.service.list_collections(call.caller, &base.id) {
                    let sum = |of: fn(&knowledge::Collection) -> u64| {
                        collections.iter().map(of).sum::<u64>()
                    };
                    value["total_collections"] = json!(collections.len());
                    value["total_documents"] = json!(sum(|one| one.n_documents as u64));
                    value["total_chunks"] = json!(sum(|one| one.n_chunks as u64));
                }
                value
            })
            .collect();
        let answer = json!({ "knowledge_bases": [] });
        let Filled { mut value, n_kept } = fill(answer, "knowledge_bases", items, &call.budget);
        if n_kept < bases.len() {
            value["next"] = json!(walk.written(bases[n_kept - 1].id.as_str()));
        }
        Ok(Answer::new(value).with_n_results(n_kept))
    }
}

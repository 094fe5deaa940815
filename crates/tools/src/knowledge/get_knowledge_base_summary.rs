//! `get_knowledge_base_summary`: what a knowledge base is about, and how much is in it.

use std::sync::Arc;

use knowledge::Service;
use model::{Caller, iso};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{error_of, has_bases, resolved, with_bases};
use crate::paging::{Cut, shorten};
use crate::{Answer, Call, Spec, Tool, ToolError};

/// Metadata fields that are listed.
const MAX_SHOWN_FIELDS: usize = 50;

/// The tool.
pub struct GetKnowledgeBaseSummary {
    service: Service,
    spec: Arc<Spec>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// id or name, from list_knowledge_bases; may be left out when there is one
    #[schemars(length(max = 200))]
    knowledge_base_id: Option<String>,
}

impl GetKnowledgeBaseSummary {
    /// Summarises the knowledge bases of a service.
    pub fn new(service: Service) -> Self {
        GetKnowledgeBaseSummary { service, spec: Arc::new(spec()) }
    }
}

fn spec() -> Spec {
    Spec::read_only(
        "get_knowledge_base_summary",
        "Get knowledge base summary",
        "What a knowledge base is about and how many collections, documents and chunks it has. \
         For what a document says, use search_documents.",
    )
    .with_arguments::<Arguments>()
    .with_output(json!({
        "type": "object",
        "properties": {
            "knowledge_base_id": { "type": "string" },
            "summary": { "type": "string" },
            "statistics": {
                "type": "object",
                "properties": {
                    "total_documents": { "type": "integer" },
                    "total_collections": { "type": "integer" },
                    "total_chunks": { "type": "integer" },
                },
                "required": ["total_documents", "total_collections", "total_chunks"],
            },
            "generated_at": { "type": "string" },
            "version": { "type": "integer" },
            "engine": { "type": "string" },
            "made_from": { "type": "array", "items": { "type": "object" } },
            "metadata_fields": {
                "type": "object",
                "description": "what search_documents can filter by",
            },
            "warnings": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["knowledge_base_id", "summary", "statistics", "generated_at"],
    }))
    .with_source_text(&["/summary", "/made_from/*/titles/*", "/metadata_fields/*/values/*"])
}

impl Tool for GetKnowledgeBaseSummary {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        Some(with_bases(&self.spec, &self.service, caller))
    }

    fn is_listed(&self, caller: &Caller) -> bool {
        has_bases(&self.service, caller)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments { knowledge_base_id } = call.parse()?;
        let knowledge_base_id = resolved(
            &self.service,
            call.caller,
            knowledge_base_id.as_deref(),
            "get_knowledge_base_summary",
        )?;
        let found = self
            .service
            .summary(call.caller, &knowledge_base_id)
            .map_err(|error| error_of(error, &self.service, call.caller, &knowledge_base_id))?;
        let made_from: Vec<serde_json::Value> = found
            .parts
            .iter()
            .map(|part| {
                json!({
                    "collection_id": part.collection_id,
                    "collection": part.collection,
                    "documents": part.made_from.documents,
                    "of": part.made_from.of,
                    "titles": part.made_from.titles,
                })
            })
            .collect();
        let refused = |error| error_of(error, &self.service, call.caller, &knowledge_base_id);
        let fields =
            self.service.matching(call.caller, &knowledge_base_id, &[]).map_err(refused)?.fields;
        let mut value = json!({
            "knowledge_base_id": knowledge_base_id,
            "summary": found.summary,
            "statistics": found.statistics,
            "generated_at": iso(found.generated_at),
            "version": found.version,
            "engine": found.engine,
            "made_from": made_from,
        });
        let mut notes = Vec::new();
        if !fields.is_empty() {
            let n_fields = fields.len();
            let shown: Vec<_> = fields.into_iter().take(MAX_SHOWN_FIELDS).collect();
            if shown.len() < n_fields {
                notes.push(format!("{} of {n_fields} metadata fields are here", shown.len()));
            }
            let shown = shown.into_iter().map(|(name, field)| (name, json!(field)));
            value["metadata_fields"] = Value::Object(shown.collect());
        }
        for Cut { place, n_kept, n_all, unit } in shorten(&mut value, &call.budget) {
            let place = place.trim_start_matches('.');
            notes.push(format!(
                "`{place}` is too long for one answer: {n_kept} of {n_all} {unit} are here"
            ));
        }
        Ok(Answer::new(value).with_warnings(&found.warnings).with_notes(notes))
    }
}

//! `indexFolder`: take what changed in a folder into the index.

use std::sync::Arc;

use files::{IndexAnswer, Service};
use ingest::{JobProgress, Priority};
use model::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{error_of, version_schema, versioned, visible};
use crate::{Answer, Call, Effect, Progress, Spec, Tool, ToolError};

/// The tool.
pub struct IndexFolder {
    service: Service,
    spec: Arc<Spec>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// absolute folder inside an allowed root
    root: String,
    /// drop and rebuild
    #[serde(default)]
    full: bool,
    #[serde(default)]
    #[schemars(with = "String", default = "normal_priority", extend("enum" = ["low", "normal", "high"]))]
    priority: Priority,
}

fn normal_priority() -> &'static str {
    "normal"
}

impl IndexFolder {
    /// Indexes folders of a service.
    pub fn new(service: Service) -> Self {
        let mut spec = Spec::read_only(
            "indexFolder",
            "Index folder",
            "Index a folder inside the allowed roots: new and changed files are indexed, \
             deleted ones leave. Long runs return a job id and go on.",
        )
        .with_arguments::<Arguments>()
        .with_output(json!({
            "type": "object",
            "properties": {
                "indexed": { "type": "integer" },
                "skipped": { "type": "integer" },
                "removed": { "type": "integer" },
                "duration_ms": { "type": "integer" },
                "status": { "type": "string", "enum": ["done", "running"] },
                "job_id": { "type": "string" },
                "progress": { "type": "object" },
                "warnings": { "type": "array", "items": { "type": "string" } },
                "mcp_version": version_schema(),
            },
            "required": ["indexed", "skipped", "removed", "duration_ms", "status", "mcp_version"],
        }));
        spec.effect = Effect::Additive;
        IndexFolder { service, spec: Arc::new(spec) }
    }
}

impl Tool for IndexFolder {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        visible(&self.service, caller, &self.spec)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments { root, full, priority } = call.parse()?;
        let on_progress = |progress: &JobProgress| {
            (call.progress)(Progress {
                done: progress.n_done as f64,
                total: progress.n_total.map(|total| total as f64),
                message: Some(progress.stage.clone()),
            });
        };
        let answer = self
            .service
            .index(call.caller, &root, full, priority, call.deadline, &on_progress)
            .map_err(error_of("root"))?;
        Ok(versioned(written(answer)))
    }
}

fn written(answer: IndexAnswer) -> Value {
    match answer {
        IndexAnswer::Done(indexed) => {
            let mut value = json!({
                "indexed": indexed.indexed,
                "skipped": indexed.skipped,
                "removed": indexed.removed,
                "duration_ms": indexed.duration_ms,
                "status": "done",
            });
            let mut warnings: Vec<String> =
                indexed.warnings.into_iter().map(|warning| warning.message).collect();
            if indexed.n_warnings > warnings.len() {
                warnings.push(format!("{} more warnings", indexed.n_warnings - warnings.len()));
            }
            if !warnings.is_empty() {
                value["warnings"] = json!(warnings);
            }
            value
        }
        IndexAnswer::Running { job, progress } => json!({
            "indexed": progress.n_done,
            "skipped": 0,
            "removed": 0,
            "duration_ms": 0,
            "status": "running",
            "job_id": job,
            "progress": { "stage": progress.stage, "done": progress.n_done, "total": progress.n_total },
            "warnings": [
                "indexing goes on; what is indexed can be searched already; call again to see the counts",
            ],
        }),
    }
}

//! What REST answers with, as types: they are written as JSON, and the OpenAPI document is made
//! from them.

use std::fmt::Display;

use ingest::Job;
use knowledge::{Chunk, Collection, Document, KnowledgeBase};
use model::iso;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Why a call failed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub(super) struct Failure {
    error: FailureBody,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ErrorBody")]
struct FailureBody {
    /// The code, from the table of errors.
    code: String,
    /// What was received, and what is allowed.
    message: String,
    /// More, for programs: `argument`, `received`, `allowed`, `hint`.
    details: Map<String, Value>,
}

/// Gives an example of [`Failure`].
pub(super) fn failure_example() -> Value {
    json!({
        "error": {
            "code": "BAD_REQUEST",
            "message": "`limit` must be from 1 to 50, received `0`",
            "details": {
                "argument": "limit",
                "received": 0,
                "allowed": "from 1 to 50",
                "hint": "correct `limit` and call again",
            },
        },
    })
}

/// Which page of a list.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "read by `paging`")]
pub(super) struct PageParameters {
    /// `next` of the page before; left out for the first
    after: Option<String>,
    /// elements of a page; more than 500 are given in several
    #[schemars(range(min = 1))]
    limit: Option<u32>,
}

/// How far long work is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Job")]
pub(crate) struct JobView {
    id: String,
    /// `queued`, `running`, `done`, `failed` or `cancelled`
    status: String,
    kind: String,
    /// The folder that it indexes, where the caller may see it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    progress: ProgressView,
    created_at: String,
    finished_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    result: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    n_warnings: usize,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Progress")]
struct ProgressView {
    stage: String,
    done: usize,
    total: Option<usize>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes by reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl JobView {
    pub(crate) fn of(job: &Job) -> Self {
        let progress = &job.progress;
        let warnings = match progress.n_warnings {
            0 => Vec::new(),
            _ => progress.warnings.iter().map(|warning| warning.message.clone()).collect(),
        };
        JobView {
            id: job.id.to_string(),
            status: job.state.as_str().to_owned(),
            kind: job.kind.clone(),
            subject: None,
            progress: ProgressView {
                stage: progress.stage.clone(),
                done: progress.n_done,
                total: progress.n_total,
            },
            created_at: iso(job.created_at),
            finished_at: job.finished_at.map(iso),
            error: job.error.clone(),
            result: job.result.clone(),
            warnings,
            n_warnings: progress.n_warnings,
        }
    }

    /// The same with what it works on, for those who may know.
    pub(super) fn about(self, subject: Option<String>) -> Self {
        JobView { subject, ..self }
    }
}

/// Something that a job takes away.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Deleted")]
pub(super) struct DeletedView {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<JobView>,
}

impl DeletedView {
    pub(super) fn of(id: &impl Display, job: Option<&Job>) -> Value {
        json!(DeletedView { id: id.to_string(), job: job.map(JobView::of) })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "KnowledgeBase")]
pub(super) struct BaseView {
    id: String,
    name: String,
    description: String,
    /// `private` or `public`
    visibility: Value,
    /// Users and groups that it is shared with by name.
    shared_with: Value,
    owner: String,
    tenant_id: String,
    created_at: String,
    updated_at: String,
}

impl BaseView {
    pub(super) fn of(base: &KnowledgeBase) -> Value {
        json!(BaseView {
            id: base.id.to_string(),
            name: base.name.clone(),
            description: base.description.clone(),
            visibility: json!(base.visibility),
            shared_with: json!(base.shared_with),
            owner: base.owner.clone(),
            tenant_id: base.tenant.to_string(),
            created_at: iso(base.created_at),
            updated_at: iso(base.updated_at),
        })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Collection")]
pub(super) struct CollectionView {
    id: String,
    knowledge_base_id: String,
    name: String,
    description: String,
    department: Option<String>,
    /// `public`, `internal`, `confidential`, `secret` or `top_secret`
    clearance: Value,
    /// Users and groups that see it from other departments.
    shared_with: Value,
    total_documents: u64,
    total_chunks: u64,
    created_at: String,
    updated_at: String,
    /// What moves its passages, where a change needs that.
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<JobView>,
}

impl CollectionView {
    pub(super) fn of(collection: &Collection, job: Option<&Job>) -> Value {
        json!(CollectionView {
            id: collection.id.to_string(),
            knowledge_base_id: collection.knowledge_base_id.to_string(),
            name: collection.name.clone(),
            description: collection.description.clone(),
            department: collection.department.clone(),
            clearance: json!(collection.clearance),
            shared_with: json!(collection.shared_with),
            total_documents: collection.n_documents as u64,
            total_chunks: collection.n_chunks as u64,
            created_at: iso(collection.created_at),
            updated_at: iso(collection.updated_at),
            job: job.map(JobView::of),
        })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DocumentInfo")]
pub(super) struct DocumentView {
    id: String,
    collection_id: String,
    knowledge_base_id: String,
    title: String,
    file_name: String,
    /// The file of a folder that it follows, by its path below the folder.
    follows: Option<String>,
    /// Whatever its owner gave; `search_documents` filters by it.
    metadata: Value,
    /// The tags in its metadata.
    tags: Vec<String>,
    /// The size of the file it was made from, where that is kept.
    original_bytes: Option<u64>,
    /// `pending`, `ready`, `replacing` or `failed`
    status: Value,
    chunk_count: usize,
    version: u64,
    error: Option<String>,
    created_at: String,
    updated_at: String,
}

impl DocumentView {
    pub(super) fn of(document: &Document) -> Value {
        json!(DocumentView {
            id: document.id.to_string(),
            collection_id: document.collection_id.to_string(),
            knowledge_base_id: document.knowledge_base_id.to_string(),
            title: document.title.clone(),
            file_name: document.file_name.clone(),
            follows: document.source.as_ref().map(|source| source.path.clone()),
            metadata: document.metadata.clone(),
            tags: document.tags().into_iter().map(str::to_owned).collect(),
            original_bytes: document.original.as_ref().map(|original| original.n_bytes),
            status: json!(document.state),
            chunk_count: document.n_chunks,
            version: document.version,
            error: document.error.clone(),
            created_at: iso(document.created_at),
            updated_at: iso(document.updated_at),
        })
    }
}

/// What an upload became: `ids`, with `id` and `document` where it is one and `documents` where there
/// are several.
#[derive(JsonSchema)]
#[schemars(rename = "Accepted")]
#[expect(dead_code, reason = "written in one of two forms")]
pub(super) struct AcceptedView {
    job: JobView,
    #[serde(default)]
    id: String,
    document: Option<DocumentView>,
    #[serde(default)]
    ids: Vec<String>,
    #[serde(default)]
    documents: Vec<DocumentView>,
    /// Documents that hold the same content as another: `{id, of: {id, title, collection_id}}`.
    #[serde(default)]
    duplicates: Vec<Value>,
    #[serde(default)]
    warnings: Vec<String>,
}

/// One content of a document, and what it changed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DocumentVersion")]
pub(super) struct VersionView {
    pub(super) version: u64,
    pub(super) indexed_at: String,
    pub(super) file_name: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
    pub(super) chunk_count: usize,
    pub(super) lines_added: usize,
    pub(super) lines_removed: usize,
    /// A unified difference of the texts.
    pub(super) difference: String,
    pub(super) truncated: bool,
}

/// A folder that can be searched, with its files by what became of them.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Root")]
pub(super) struct RootView {
    pub(super) root: String,
    pub(super) files: usize,
    pub(super) outcomes: Value,
}

/// A file with what became of it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FileOutcome")]
pub(super) struct FileOutcomeView {
    pub(super) path: String,
    pub(super) outcome: Value,
    pub(super) reason: Option<String>,
}

/// A version of a collection's summary.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SummaryVersion")]
pub(super) struct SummaryView {
    pub(super) version: u64,
    pub(super) generated_at: String,
    pub(super) engine: String,
    /// The documents that it was made from.
    pub(super) made_from: Value,
    pub(super) text: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Chunk")]
pub(super) struct ChunkView {
    id: String,
    content: String,
    document_id: String,
    collection_id: String,
    knowledge_base_id: String,
    title: String,
    chunk_index: u32,
    pointer: String,
    /// The characters of the document that it is.
    span: Value,
}

impl ChunkView {
    pub(super) fn of(chunk: &Chunk) -> Value {
        json!(ChunkView {
            id: chunk.id.to_string(),
            content: chunk.text.clone(),
            document_id: chunk.document.id.to_string(),
            collection_id: chunk.document.collection_id.to_string(),
            knowledge_base_id: chunk.document.knowledge_base_id.to_string(),
            title: chunk.document.title.clone(),
            chunk_index: chunk.index,
            pointer: chunk.pointer.to_string(),
            span: json!(chunk.span),
        })
    }
}

/// A chart without its points.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ChartSummary")]
pub(super) struct ChartSummaryView {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) url: String,
    pub(super) made_by: String,
    pub(super) made_at: String,
    pub(super) expires_at: String,
}

/// A chart with its series, or as many points of them as fit one answer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Chart")]
pub(super) struct ChartView {
    pub(super) id: String,
    pub(super) url: String,
    pub(super) made_by: String,
    pub(super) made_at: String,
    pub(super) expires_at: String,
    /// What was asked.
    pub(super) request: Value,
    pub(super) data_series: Value,
    pub(super) warnings: Vec<String>,
}

/// Something that is gone.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Gone")]
pub(super) struct GoneView {
    pub(super) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) deleted: Option<bool>,
}

/// One call.
#[derive(JsonSchema)]
#[schemars(rename = "AuditEntry")]
#[expect(dead_code, reason = "written by the crate of the guard")]
pub(super) struct AuditView {
    at: String,
    request: String,
    tool: String,
    tenant: String,
    caller: String,
    /// `ok`, `refused`, `failed` or `cancelled`
    outcome: String,
    results: u64,
    redacted: u64,
    latency_ms: f64,
    /// Tokens of a tool's answer
    tokens: Option<u64>,
    /// The score of its best result
    best_score: Option<f64>,
}

/// The answer of a tool, in the tool's own form.
#[derive(JsonSchema)]
#[schemars(rename = "ToolAnswer", transparent)]
#[expect(dead_code, reason = "tools describe themselves")]
pub(super) struct ToolAnswer(Map<String, Value>);

/// An OpenAPI document.
#[derive(JsonSchema)]
#[schemars(rename = "OpenApi")]
#[expect(dead_code, reason = "written as it is")]
pub(super) struct OpenApiView {
    openapi: String,
    paths: Map<String, Value>,
}

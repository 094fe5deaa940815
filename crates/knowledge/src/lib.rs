//! Knowledge bases for teams: who may see what is part of every question.
//!
//! A knowledge base holds collections, a collection holds documents, a document is cut into
//! chunks. Every call of [`Service`] takes the caller. Another tenant's object does not exist;
//! inside a tenant, visibility, department and clearance decide. Passages of different
//! departments and clearances never share a namespace, so that neither a result nor a count nor
//! the statistics behind a score depend on what a caller may not see.
//!
//! Writing goes through jobs: [`Service::add_documents`] keeps the upload and returns at once,
//! a job does the work, and vectors and summaries follow by themselves. Reading
//! is [`Service::search`], [`Service::summary`] and [`Service::get_chunk`]. [`chat`] decides
//! which of the family's tools answers a question.
//!
//! Schemas and error codes are those of `tools`, redaction is the guard's, transport is `serve`'s.
//!
//! ```
//! use knowledge::chat::{ToolName, choose_by_rules};
//!
//! assert_eq!(choose_by_rules("リモートワーク手当は？"), ToolName::SearchDocuments);
//! assert_eq!(choose_by_rules("このKBについて"), ToolName::GetKnowledgeBaseSummary);
//! assert_eq!(choose_by_rules("OCR結果: マネ-ジャ-"), ToolName::NormalizeOcrText);
//! ```
#![doc(test(attr(deny(warnings))))]

mod config;
mod error;
pub mod limits;

mod access;
mod again;
mod object_ids;
mod objects;

mod bases;
mod collections;
mod documents;
mod edit;
mod erasures;
mod follow;
mod moved;
mod new_document;
mod originals;
mod paragraphs;
mod service;
mod versions;

mod backlog;
mod jobs;
mod upload_files;
mod uploads;

mod hold;
mod index;
mod intake;
mod take_in;

mod digest;
mod direction;
mod summary;

mod atlas;
mod dates;
mod found;
mod metadata;
mod metadata_value;
mod search;
mod search_parts;

pub mod chat;
mod ocr;

#[cfg(test)]
mod tests;

pub use bases::{BaseChange, NewBase};
pub use collections::{CollectionChange, NewCollection};
pub use config::{FolderConfig, KnowledgeConfig, OriginalsConfig};
pub use documents::{Accepted, Chunk, DocumentText, Duplicate};
pub use edit::DocumentChange;
pub use error::{Error, Result};
pub use follow::{FolderFile, FolderListing, Followed};
pub use found::{ChunkHit, SearchRequest, SearchResults};
pub use hold::UploadsHold;
pub use intake::{Intake, ReceivedFile, UploadTarget};
pub use jobs::{ADD_JOB, JOBS, MOVE_JOB, PURGE_JOB, SUMMARY_JOB, VECTORS_JOB};
pub use metadata::{Condition, Matching, MetadataField, Test};
pub use metadata_value::MetadataValue;
pub use new_document::{Content, NewDocument, OcrRepair, check_description};
pub use object_ids::{CollectionId, KnowledgeBaseId, KnowledgeDocumentId};
pub use objects::{
    Collection, Document, DocumentState, KnowledgeBase, Original, Sharing, SourceFile, Visibility,
};
pub use ocr::Repaired;
pub use originals::{DamagedOriginal, OriginalFile, damaged_originals};
pub use search::{ChunkOrder, DocumentOrder, is_about_emptiness};
pub use service::{Service, ServiceConfig};
pub use summary::{BaseSummary, MadeFrom, Statistics, SummaryPart, SummaryVersion};
pub use upload_files::UploadFiles;
pub use uploads::LeftBehind;
pub use versions::DocumentVersion;

/// The service of the family as the job queue sees it.
pub type ServiceSlot = ingest::ServiceSlot<Service>;

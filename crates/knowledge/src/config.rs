//! The `[knowledge]` section of the configuration.

use std::path::PathBuf;

use crate::object_ids::CollectionId;
use model::Caller;
use serde::Deserialize;

/// `[knowledge]`: documents of knowledge bases.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KnowledgeConfig {
    /// Who may download the files that documents were made from.
    pub originals: OriginalsConfig,
    /// Folders whose files are the documents of a collection.
    pub folders: Vec<FolderConfig>,
}

/// `[knowledge] originals`: redaction does not reach inside a file, so that not everybody who may
/// read a document may have its original.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OriginalsConfig {
    /// Roles, one of which a caller needs beside the right to see the document; nobody when empty.
    pub roles: Vec<String>,
}

impl Default for OriginalsConfig {
    fn default() -> Self {
        OriginalsConfig { roles: vec![Caller::ADMIN.to_owned()] }
    }
}

/// `[[knowledge.folders]]`: a folder that feeds a collection. New, changed and gone files follow.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FolderConfig {
    /// Relative to the configuration file.
    pub path: PathBuf,
    /// The id of the collection.
    pub collection: CollectionId,
}

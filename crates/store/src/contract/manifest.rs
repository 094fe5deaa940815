//! What a namespace was made with, so that it is never searched with something else.

use std::fmt;

use model::{NamespaceId, Timestamp};
use serde::{Deserialize, Serialize};

/// The analyser that made the words of a namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnalyserName {
    /// Its id.
    pub id: String,
    /// Its version; another version may cut or fold words differently.
    pub version: u32,
}

/// The space that the vectors of a namespace live in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VectorSpace {
    /// The embedder's name and version; vectors of two embedders cannot be compared.
    pub embedder: String,
    /// Numbers in each vector.
    pub dimensions: usize,
}

/// What a namespace was made with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of the derived indexes.
    pub format: u32,
    /// The analyser of the words.
    pub analyser: AnalyserName,
    /// The space of the vectors; nothing while the namespace is searched by words alone.
    pub vectors: Option<VectorSpace>,
}

impl Manifest {
    /// Describes a namespace made by this program, with or without vectors.
    pub fn current(vectors: Option<VectorSpace>) -> Self {
        Manifest { format: crate::INDEX_FORMAT, analyser: crate::analysis::name(), vectors }
    }
}

impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "format `{}`, analyser `{}/{}`",
            self.format, self.analyser.id, self.analyser.version
        )?;
        match &self.vectors {
            Some(space) => write!(f, ", embedder `{}` ({})", space.embedder, space.dimensions),
            None => f.write_str(", no embedder"),
        }
    }
}

/// One namespace in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceInfo {
    /// Its id.
    pub id: NamespaceId,
    /// What it was made with.
    pub manifest: Manifest,
    /// When it was made.
    pub created_at: Timestamp,
}

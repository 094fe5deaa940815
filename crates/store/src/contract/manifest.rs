//! What a namespace was made with, so that it is never searched with something else.

use std::fmt;

use model::{NamespaceId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The analyser that made the words of a namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnalyserName {
    /// Which rules cut and fold.
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

    /// Compares what a namespace was made with (`self`) with what is wanted of it.
    ///
    /// # Errors
    ///
    /// [`Error::ManifestMismatch`] when both cannot be had.
    pub fn agree(&self, namespace: &NamespaceId, wanted: &Manifest) -> Result<Agreement> {
        let without = |manifest: &Manifest| Manifest { vectors: None, ..manifest.clone() };
        if without(self) == without(wanted) {
            match (&self.vectors, &wanted.vectors) {
                (None, Some(_)) => return Ok(Agreement::TakesSpace),
                (_, None) => return Ok(Agreement::Same),
                (stored, space) if stored == space => return Ok(Agreement::Same),
                _ => {}
            }
        }
        Err(self.mismatch(namespace, wanted))
    }

    /// Checks that a namespace was made with the analyser and the index format of this program.
    ///
    /// # Errors
    ///
    /// [`Error::ManifestMismatch`] when it was not.
    pub fn check_current(&self, namespace: &NamespaceId) -> Result<()> {
        let wanted = Manifest::current(self.vectors.clone());
        if *self == wanted { Ok(()) } else { Err(self.mismatch(namespace, &wanted)) }
    }

    fn mismatch(&self, namespace: &NamespaceId, wanted: &Manifest) -> Error {
        Error::ManifestMismatch {
            namespace: namespace.clone(),
            stored: Box::new(self.clone()),
            wanted: Box::new(wanted.clone()),
        }
    }

    /// Writes the manifest as a catalogue keeps it.
    ///
    /// # Errors
    ///
    /// [`Error::BadObject`] when it cannot be written.
    pub fn to_json(&self, namespace: &NamespaceId) -> Result<String> {
        serde_json::to_string(self).map_err(|source| Error::BadObject {
            kind: "namespace".to_owned(),
            id: namespace.to_string(),
            source,
        })
    }
}

/// How a namespace meets what is wanted of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// Nothing has to change.
    Same,
    /// Once it takes on the vector space that is wanted.
    TakesSpace,
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
    /// Under which everything else asks for it.
    pub id: NamespaceId,
    /// What it was made with.
    pub manifest: Manifest,
    /// When it was made.
    pub created_at: Timestamp,
}

//! The rows of the catalogue and the changes to them.

use model::TenantId;
use serde_json::Value;

/// What an object is found by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// The kind: `job`, `project`, `knowledge_base`, ….
    pub kind: String,
    /// Unique in its kind.
    pub id: String,
}

impl ObjectKey {
    /// Names an object.
    pub fn new(kind: impl Into<String>, id: impl Into<String>) -> Self {
        ObjectKey { kind: kind.into(), id: id.into() }
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// What it is found by.
    pub key: ObjectKey,
    /// The tenant that owns it.
    pub tenant: TenantId,
    /// The object it belongs to, if any: the project of a table, the base of a collection.
    pub parent: Option<String>,
    /// Other values it is found by.
    pub lookups: Vec<Lookup>,
    /// The family's own JSON, which the catalogue does not look into.
    pub body: Value,
    /// Counts the changes, from 1; 0 for a row that was never written.
    pub version: u64,
}

/// A named value that objects are found by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lookup {
    /// The name: `endpoint_key`, `state`, ….
    pub name: String,
    /// Compared as it is written.
    pub value: String,
}

impl Lookup {
    /// Takes both as they are written: two lookups are equal when both texts are.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Lookup { name: name.into(), value: value.into() }
    }
}

/// Which objects of a kind are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjectPage {
    /// Those of other kinds are listed apart.
    pub kind: String,
    /// Only those of this tenant.
    pub tenant: Option<TenantId>,
    /// Only those that belong to this object.
    pub parent: Option<String>,
    /// Only those whose id comes after this one.
    pub after: Option<String>,
    /// At most this many; at most [`crate::limits::MAX_PAGE`].
    pub limit: usize,
}

impl ObjectPage {
    /// Asks for the first page of a kind.
    pub fn of(kind: impl Into<String>) -> Self {
        ObjectPage { kind: kind.into(), limit: crate::limits::MAX_PAGE, ..ObjectPage::default() }
    }
}

/// One change of a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Writes a row whatever is there.
    Put(Object),
    /// Writes a row only when the one that is there has the version inside the object; 0 means
    /// that there is none yet.
    PutIfUnchanged(Object),
    /// Makes nothing of the batch happen when there is no such row: a child is not put under a
    /// parent that was erased meanwhile.
    Require(ObjectKey),
    /// Removes a row if it is there.
    Delete(ObjectKey),
    /// Removes every row that belongs to this object.
    DeleteChildren(ObjectKey),
    /// Writes one piece of a file, as [`crate::Catalogue::put_piece`] does: a small content and the
    /// row that names it come together, by one commit.
    PutPiece {
        /// The name of the file.
        file: String,
        /// Which piece of it, from 0.
        piece: u32,
        /// What it holds.
        bytes: Vec<u8>,
    },
}

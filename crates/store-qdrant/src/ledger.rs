//! What the catalogue remembers about Qdrant: which tenant of which collection a namespace is.

use serde::{Deserialize, Serialize};
use store::remote::{self, ServerNamespace};

use crate::collection;

/// A tenant of a collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tenant {
    pub(crate) collection: String,
    /// Its name; a namespace that is made anew becomes another tenant.
    pub(crate) tenant: String,
}

/// A namespace of the catalogue in Qdrant; its fields are those of integer attributes.
pub(crate) type Entry = remote::Entry<Tenant>;

impl ServerNamespace for Tenant {
    const ENTRIES: &'static str = "qdrant_namespace";
    const ERASURES: &'static str = "qdrant_erasure";

    fn name(&self) -> &str {
        &self.tenant
    }
}

impl Tenant {
    /// Gives the number of the namespace that it belongs to, which its name says.
    pub(crate) fn namespace(&self) -> u32 {
        self.tenant.split('-').nth(1).and_then(|number| number.parse().ok()).unwrap_or(u32::MAX)
    }
}

/// Tells whether the points of an entry have the form that this program searches.
pub(crate) fn is_current(entry: &Entry, prefix: &str) -> bool {
    entry.at.collection == collection::name_of(prefix, entry.space.as_ref())
}

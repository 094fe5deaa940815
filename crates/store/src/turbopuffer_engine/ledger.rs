//! What the catalogue remembers about turbopuffer: which of its namespaces is ours.

use serde::{Deserialize, Serialize};

use crate::remote::{self, ServerNamespace};

/// A namespace of turbopuffer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Named {
    pub(super) name: String,
}

/// A namespace of the catalogue in turbopuffer.
pub(super) type Entry = remote::Entry<Named>;

impl ServerNamespace for Named {
    const ENTRIES: &'static str = "turbopuffer_namespace";
    const ERASURES: &'static str = "turbopuffer_erasure";

    fn name(&self) -> &str {
        &self.name
    }
}

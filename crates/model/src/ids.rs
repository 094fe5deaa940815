//! Ids are newtypes: a document's id can never be passed where a passage's is asked for.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes the id's text as it is.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// Gives the id's text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id! {
    /// An organisation whose objects no other organisation sees.
    TenantId
}
id! {
    /// A set of documents that is indexed and searched together.
    NamespaceId
}
id! {
    /// A document inside a namespace: a file, a JSON string node, an uploaded text.
    DocumentId
}
id! {
    /// One passage of one version of a document; stable while its text is unchanged.
    PassageId
}

impl TenantId {
    /// The tenant of everyone who calls without authentication.
    pub fn local() -> Self {
        TenantId::new("local")
    }
}

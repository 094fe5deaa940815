//! Who may use a source, and how secret a thing is.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::TenantId;

/// How secret a collection is, and how far a caller is trusted: `public < … < top_secret`.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Clearance {
    /// For anyone.
    Public,
    /// For everyone in the organisation; what a caller has unless their token says otherwise.
    #[default]
    Internal,
    /// For those who were told.
    Confidential,
    /// For few.
    Secret,
    /// For very few.
    TopSecret,
}

impl Clearance {
    /// Every level, lowest first.
    pub const ALL: [Clearance; 5] = [
        Clearance::Public,
        Clearance::Internal,
        Clearance::Confidential,
        Clearance::Secret,
        Clearance::TopSecret,
    ];

    /// Gives the name used in tokens, configuration and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Clearance::Public => "public",
            Clearance::Internal => "internal",
            Clearance::Confidential => "confidential",
            Clearance::Secret => "secret",
            Clearance::TopSecret => "top_secret",
        }
    }

    /// Gives the level as a number, 0 for public, so that an engine can compare it.
    pub fn level(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for Clearance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A clearance level that nobody defined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown clearance `{received}`: expected `public`, `internal`, `confidential`, `secret` or `top_secret`"
)]
pub struct UnknownClearance {
    /// The text that was given.
    pub received: String,
}

impl FromStr for Clearance {
    type Err = UnknownClearance;

    fn from_str(name: &str) -> Result<Self, UnknownClearance> {
        Clearance::ALL
            .into_iter()
            .find(|level| level.as_str() == name)
            .ok_or_else(|| UnknownClearance { received: name.to_owned() })
    }
}

/// Who may use a source (a root, a table, a dimension, …). Empty lists do not restrict.
///
/// A caller passes when their tenant is listed (or none is) and one of their roles is listed
/// (or none is). What a caller may not use does not exist for them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Tenants that may use it; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tenants: Vec<TenantId>,
    /// Roles that may use it; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
}

impl Access {
    /// Lets everyone who is authenticated use the source.
    pub fn everyone() -> Self {
        Access::default()
    }

    /// Tells whether the source is open to every authenticated caller.
    pub fn is_everyone(&self) -> bool {
        self.tenants.is_empty() && self.roles.is_empty()
    }
}

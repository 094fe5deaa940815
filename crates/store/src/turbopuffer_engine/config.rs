//! Where turbopuffer is, and the key to it.

use net::Secret;

/// How to reach turbopuffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurbopufferConfig {
    /// The address; with nothing, the one of the region.
    pub base_url: Option<String>,
    /// The region, as `gcp-us-central1`; needed when there is no address.
    pub region: Option<String>,
    /// Sent as `Authorization: Bearer`, and never printed.
    pub key: Secret,
    /// What is before the name of every namespace, so that several servers can share one
    /// account; characters of `[A-Za-z0-9-_.]`.
    pub namespace_prefix: String,
}

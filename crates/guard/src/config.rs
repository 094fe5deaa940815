//! The sections of the configuration that belong to this crate: `[auth]`, `[limits]`, `[audit]`.

use std::collections::BTreeMap;

use model::{Clearance, TenantId};
use serde::Deserialize;

/// `[auth]`: how callers prove who they are. Absent means loopback only.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuthConfig {
    /// Signed tokens.
    pub jwt: Option<JwtConfig>,
    /// Keys for machines.
    pub keys: Vec<KeyConfig>,
    /// The environment variable that holds a key for `/metrics` alone, for a scraper.
    pub metrics_key_env: Option<String>,
}

/// `[auth] jwt`: where tokens come from and for whom they are meant.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JwtConfig {
    /// The `iss` a token must carry.
    pub issuer: String,
    /// The `aud` a token must carry.
    pub audience: String,
    /// Where the issuer publishes its RS256 keys.
    pub jwks_url: Option<String>,
    /// The environment variable that holds the HS256 secret.
    pub hs256_secret_env: Option<String>,
    /// Which claims hold what.
    #[serde(default)]
    pub claims: ClaimNames,
}

/// `[auth] jwt.claims`: the names of the claims that describe a caller.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClaimNames {
    /// Who.
    pub subject: String,
    /// The claim that names the tenant of the caller.
    pub tenant: String,
    /// The claim that names the department of the caller.
    pub department: String,
    /// The claim that says how far the caller is trusted.
    pub clearance: String,
    /// Roles: a list, or one word. `role` is read as well.
    pub roles: String,
    /// Groups that things can be shared with: a list, or one word.
    pub groups: String,
}

impl Default for ClaimNames {
    fn default() -> Self {
        ClaimNames {
            subject: "sub".to_owned(),
            tenant: "tenant_id".to_owned(),
            department: "department".to_owned(),
            clearance: "clearance".to_owned(),
            roles: "roles".to_owned(),
            groups: "groups".to_owned(),
        }
    }
}

/// `[[auth.keys]]`: one API key.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyConfig {
    /// The name that is in the audit.
    pub name: String,
    /// The environment variable that holds the key.
    pub key_env: String,
    /// The tenant of whoever holds it.
    #[serde(default = "TenantId::local")]
    pub tenant: TenantId,
    /// The department of whoever holds it.
    pub department: Option<String>,
    /// The roles of whoever holds it, such as `admin`.
    #[serde(default)]
    pub roles: Vec<String>,
    /// Groups they belong to, which things can be shared with.
    #[serde(default)]
    pub groups: Vec<String>,
    /// How far whoever holds it is trusted.
    #[serde(default)]
    pub clearance: Clearance,
    /// The tools that are served to them; all of those that the server has when empty.
    #[serde(default)]
    pub tools: Vec<String>,
    /// The tools that are not served to them.
    #[serde(default)]
    pub hidden_tools: Vec<String>,
}

/// `[limits]`: what one client may ask for, and what the server gives at most.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// Calls per minute for each client and tool, counted by each server for itself; `default` holds
    /// for tools that are not named.
    pub rate_per_minute: BTreeMap<String, u32>,
    /// Characters in one answer.
    pub result_chars: usize,
    /// Tokens in one answer, as a language model would count them.
    pub result_tokens: usize,
    /// Bytes in one request to an MCP address.
    pub body_bytes: usize,
    /// Bytes in one upload over REST.
    pub upload_bytes: usize,
    /// Calls in progress at the same time on one server.
    pub concurrent_calls: usize,
    /// Calls in progress of one caller; on loopback without authentication only the total counts.
    pub concurrent_calls_per_caller: usize,
    /// Calls in progress of one tenant.
    pub concurrent_calls_per_tenant: usize,
    /// Connections open at the same time.
    pub connections: usize,
    /// Connections open from one address (of IPv6: from one /64 network), or requests in progress
    /// of one client behind a proxy of `server.trusted_proxies`.
    pub connections_per_peer: usize,
    /// Seconds that a call may take.
    pub call_seconds: u64,
}

impl LimitsConfig {
    /// The name that stands for every tool without a rate of its own.
    pub const DEFAULT_RATE: &'static str = "default";

    /// Calls per minute where the configuration says nothing.
    pub const RATES: [(&'static str, u32); 6] = [
        ("searchFiles", 60),
        ("openFile", 30),
        ("summarizeResults", 20),
        // Documents that are sent one by one, and the questions after their jobs: who sends faster
        // than can be read is slowed down by the uploads that wait.
        ("rest", 30_000),
        // A page makes several calls, and a search one for each pause in typing.
        ("console", 1_200),
        (LimitsConfig::DEFAULT_RATE, 120),
    ];
}

impl Default for LimitsConfig {
    fn default() -> Self {
        LimitsConfig {
            rate_per_minute: BTreeMap::new(),
            result_chars: 100_000,
            // What common clients take from one call before they cut it themselves.
            result_tokens: 25_000,
            body_bytes: 4 * 1024 * 1024,
            upload_bytes: 512 * 1024 * 1024,
            concurrent_calls: 64,
            concurrent_calls_per_caller: 16,
            concurrent_calls_per_tenant: 48,
            connections: 2_048,
            connections_per_peer: 256,
            call_seconds: 60,
        }
    }
}

/// `[audit]`: what is written down of each call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuditConfig {
    /// Leaves out what was asked for; answers are not kept either.
    pub omit_queries: bool,
    /// Days for which answers are kept for replay; 0 keeps none.
    pub keep_answers_days: u32,
    /// Megabytes that kept answers may take.
    pub keep_answers_mb: u64,
}

impl AuditConfig {
    /// Tells whether answers are kept for replay at all.
    pub(crate) fn is_keeping_answers(&self) -> bool {
        self.keep_answers_days > 0 && !self.omit_queries
    }
}

impl Default for AuditConfig {
    fn default() -> Self {
        AuditConfig { omit_queries: false, keep_answers_days: 7, keep_answers_mb: 256 }
    }
}

//! What a running server is made of, and how it is replaced while it runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use guard::{Audit, AuditConfig, Authenticator, FailedLogins, Limiter, LimitsConfig, Metrics};
use ingest::JobQueue;
use model::{Caller, Clock};
use text::Budget;
use tools::{Registry, ResourceSet};

use crate::{Readiness, ServerConfig, Slots};

/// Everything a call needs. Made by the binary from one configuration; never changed afterwards.
pub struct App {
    /// Where and under which names it serves.
    pub server: ServerConfig,
    /// What callers and calls may take.
    pub limits: LimitsConfig,
    /// What is left out of the audit.
    pub audit_config: AuditConfig,
    /// Who may call.
    pub authenticator: Authenticator,
    /// The issuer of tokens, for the protected-resource metadata.
    pub token_issuer: Option<String>,
    /// How often.
    pub limiter: Arc<Limiter>,
    /// Slots for calls in progress.
    pub slots: Arc<Slots>,
    /// Failed logins by address.
    pub failed_logins: Arc<FailedLogins>,
    /// The record of calls.
    pub audit: Arc<Audit>,
    /// Answers that are kept for replay.
    pub answers: Arc<guard::Answers>,
    /// Counts.
    pub metrics: Arc<Metrics>,
    /// The time.
    pub clock: Clock,
    /// The tools at `/mcp`.
    pub tools: Registry,
    /// The tools at further addresses of the configuration, by name: `/mcp/NAME`.
    pub exposed: BTreeMap<String, Registry>,
    /// What can be read at every MCP address; each caller sees their own.
    pub resources: ResourceSet,
    /// The tools at `/api/mcp`: the first table alone.
    pub first_table: Option<Registry>,
    /// The endpoints under `/mcp/{endpoint}`.
    pub endpoints: Option<Arc<dyn Endpoints>>,
    /// A question over everything.
    pub across: across::Service,
    /// The tables, for exports.
    pub tables: Option<tables::Service>,
    /// The folders, where some are configured, for the console.
    pub files: Option<files::Service>,
    /// Charts, where facts are configured.
    pub charts: Option<Arc<filters::charts::Charts>>,
    /// Lists against dimensions, where there are some.
    pub reconciliation: Option<filters::Reconciliation>,
    /// The knowledge bases, for REST and chat.
    pub knowledge: Option<knowledge::Service>,
    /// Projects with their tables, tools and endpoints, for REST.
    pub contexts: Option<contexts::Service>,
    /// The jobs of all families, for REST.
    pub queue: Option<Arc<JobQueue>>,
    /// What an agent is told about this server, before its tools; holds no text from sources.
    pub instructions: String,
    /// What pages for people need.
    pub console: crate::ConsoleSettings,
    /// How it is, for `/readyz`.
    pub readiness: Readiness,
}

impl App {
    /// How large an answer may be.
    pub fn caps(&self) -> Budget {
        Budget { chars: self.limits.result_chars, tokens: self.limits.result_tokens }
    }
}

/// MCP addresses that users make, each with a key of its own.
pub trait Endpoints: Send + Sync {
    /// Opens an endpoint for whoever holds its key. A wrong key and an endpoint that does not
    /// exist give the same answer, so that nobody learns which endpoints exist.
    fn open(&self, endpoint: &str, key: Option<&str>) -> Option<Opened>;
}

/// An endpoint and who its key stands for.
pub struct Opened {
    /// The tools bound to it.
    pub tools: Registry,
    /// Whoever holds the key, as services see them.
    pub caller: Caller,
}

/// The application of the moment.
#[derive(Clone)]
pub struct Shared(Arc<ArcSwap<App>>);

impl Shared {
    /// Starts with an application.
    pub fn new(app: App) -> Self {
        Shared(Arc::new(ArcSwap::from_pointee(app)))
    }

    /// Gives the application of the moment.
    pub fn load(&self) -> Arc<App> {
        self.0.load_full()
    }

    /// Puts another in its place. Calls in progress keep the one they began with.
    pub fn replace(&self, app: App) {
        self.0.store(Arc::new(app));
    }
}

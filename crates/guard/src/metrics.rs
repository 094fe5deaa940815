//! Counts and latencies of every call, in the text format that Prometheus reads.
//!
//! Labels are words of this program: tools and operations by their own names, never what a user
//! named. Their number is bounded whatever happens.

use std::collections::HashSet;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use parking_lot::Mutex;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::Outcome;

/// Upper bounds of the latency histogram, in seconds.
const LATENCY_BUCKETS: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// Upper bounds of the histogram of stages, in seconds: some take microseconds.
const STAGE_BUCKETS: [f64; 12] =
    [0.00002, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 5.0];

/// Names of tools and operations that are counted apart; there are fewer than this.
const MAX_NAMES: usize = 200;

/// The label of whatever comes beyond them.
const OTHER: &str = "other";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByFileOutcome {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByTool {
    tool: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByToolAndOutcome {
    tool: String,
    outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByState {
    state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByStage {
    stage: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByReason {
    reason: LoginFailure,
}

/// Why a caller was not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoginFailure {
    /// No credentials.
    Missing,
    /// Credentials that are not right.
    Invalid,
    /// The issuer's keys cannot be fetched.
    KeysUnavailable,
}

impl EncodeLabelValue for LoginFailure {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        let name = match self {
            LoginFailure::Missing => "missing",
            LoginFailure::Invalid => "invalid",
            LoginFailure::KeysUnavailable => "keys_unavailable",
        };
        EncodeLabelValue::encode(&name, encoder)
    }
}

impl EncodeLabelValue for Outcome {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        let name = match self {
            Outcome::Ok => "ok",
            Outcome::Refused => "refused",
            Outcome::Failed => "failed",
            Outcome::Cancelled => "cancelled",
        };
        EncodeLabelValue::encode(&name, encoder)
    }
}

/// Everything that is counted.
pub struct Metrics {
    registry: Registry,
    names: Mutex<HashSet<String>>,
    calls: Family<ByToolAndOutcome, Counter>,
    latency: Family<ByTool, Histogram>,
    stages: Family<ByStage, Histogram>,
    stages_skipped: Family<ByStage, Counter>,
    rate_limited: Family<ByTool, Counter>,
    redacted: Counter,
    in_flight: Gauge,
    jobs: Family<ByState, Gauge<f64, AtomicU64>>,
    files: Family<ByFileOutcome, Gauge<f64, AtomicU64>>,
    login_failures: Family<ByReason, Counter>,
    connections_refused: Counter,
    index_lag: Gauge<f64, AtomicU64>,
    follower_lag: Gauge<f64, AtomicU64>,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics::new()
    }
}

impl Metrics {
    /// Starts counting from nothing.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("dowse");
        let calls = Family::default();
        let latency =
            Family::new_with_constructor((|| Histogram::new(LATENCY_BUCKETS)) as fn() -> Histogram);
        let stages =
            Family::new_with_constructor((|| Histogram::new(STAGE_BUCKETS)) as fn() -> Histogram);
        let stages_skipped = Family::default();
        let rate_limited = Family::default();
        let redacted = Counter::default();
        let in_flight = Gauge::default();
        let jobs = Family::default();
        let files = Family::default();
        let login_failures = Family::default();
        let connections_refused = Counter::default();
        let index_lag = Gauge::default();
        let follower_lag = Gauge::default();
        registry.register("calls", "Calls by tool and outcome", calls.clone());
        registry.register("call_seconds", "Latency of calls by tool", latency.clone());
        registry.register("stage_seconds", "Latency of search stages", stages.clone());
        registry.register("stages_skipped", "Search stages skipped", stages_skipped.clone());
        registry.register("rate_limited", "Calls refused for their rate", rate_limited.clone());
        registry.register("redacted_pieces", "Pieces of source text redacted", redacted.clone());
        registry.register("calls_in_flight", "Calls in progress", in_flight.clone());
        registry.register("jobs", "Jobs that are not over, by state", jobs.clone());
        registry.register("files", "Files of all roots, by what became of them", files.clone());
        registry.register(
            "login_failures",
            "Requests without a caller, by reason",
            login_failures.clone(),
        );
        registry.register(
            "connections_refused",
            "Connections over a limit",
            connections_refused.clone(),
        );
        registry.register(
            "index_lag_changes",
            "Changes that are stored and that searches do not see yet",
            index_lag.clone(),
        );
        registry.register(
            "follower_lag_seconds",
            "Time since this server had last read everything that other servers stored",
            follower_lag.clone(),
        );
        Metrics {
            registry,
            names: Mutex::default(),
            calls,
            latency,
            stages,
            stages_skipped,
            rate_limited,
            redacted,
            in_flight,
            jobs,
            files,
            login_failures,
            connections_refused,
            index_lag,
            follower_lag,
        }
    }

    /// Counts a call that ended. The name is one of this program's, not a user's.
    pub fn called(&self, tool: &str, outcome: Outcome, took: Duration, n_redacted: usize) {
        let tool = self.bounded(tool);
        self.calls.get_or_create(&ByToolAndOutcome { tool: tool.clone(), outcome }).inc();
        self.latency.get_or_create(&ByTool { tool }).observe(took.as_secs_f64());
        if n_redacted > 0 {
            self.redacted.inc_by(n_redacted as u64);
        }
    }

    /// Counts a stage of a search that ran. The name is one of this program's.
    pub fn stage_ran(&self, stage: &'static str, took: Duration) {
        self.stages.get_or_create(&ByStage { stage }).observe(took.as_secs_f64());
    }

    /// Counts a stage of a search that was skipped.
    pub fn stage_skipped(&self, stage: &'static str) {
        self.stages_skipped.get_or_create(&ByStage { stage }).inc();
    }

    /// Counts a call that was refused for its rate.
    pub fn rate_limited(&self, tool: &str) {
        self.rate_limited.get_or_create(&ByTool { tool: self.bounded(tool) }).inc();
    }

    /// Counts a call that begins.
    pub fn begin(&self) {
        self.in_flight.inc();
    }

    /// Counts a call that is over.
    pub fn end(&self) {
        self.in_flight.dec();
    }

    /// Counts a request whose caller is not known.
    pub fn login_failed(&self, reason: LoginFailure) {
        self.login_failures.get_or_create(&ByReason { reason }).inc();
    }

    /// Counts a connection over a limit.
    pub fn connection_refused(&self) {
        self.connections_refused.inc();
    }

    /// Sets how many files came to an outcome, such as `indexed` or `encrypted`.
    pub fn set_files(&self, outcome: &'static str, n_files: usize) {
        self.files.get_or_create(&ByFileOutcome { outcome }).set(n_files as f64);
    }

    /// Sets how many jobs are in a state, such as `waiting`.
    pub fn set_jobs(&self, state: &'static str, n_jobs: usize) {
        self.jobs.get_or_create(&ByState { state }).set(n_jobs as f64);
    }

    /// Sets how far searches are behind what is stored, and behind other servers.
    pub fn set_lag(&self, n_changes: u64, behind_others: Duration) {
        self.index_lag.set(n_changes as f64);
        self.follower_lag.set(behind_others.as_secs_f64());
    }

    /// Writes everything down.
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    fn bounded(&self, name: &str) -> String {
        let mut names = self.names.lock();
        if names.contains(name) || (names.len() < MAX_NAMES && names.insert(name.to_owned())) {
            return name.to_owned();
        }
        OTHER.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_whatever_comes() {
        let metrics = Metrics::new();
        for n in 0..10 * MAX_NAMES {
            metrics.called(&format!("tool {n}"), Outcome::Ok, Duration::ZERO, 0);
            metrics.rate_limited(&format!("tool {n}"));
        }
        let rendered = metrics.render();
        let n_counted =
            rendered.lines().filter(|line| line.starts_with("dowse_calls_total")).count();
        assert_eq!(n_counted, MAX_NAMES + 1);
        assert!(rendered.contains("tool=\"other\""));
    }

    /// That somebody sets each of them is a rule of `cargo xtask tidy`.
    #[test]
    fn what_was_counted_is_written() {
        let metrics = Metrics::new();
        metrics.set_jobs("waiting", 3);
        metrics.login_failed(LoginFailure::Invalid);
        metrics.connection_refused();
        metrics.set_lag(7, Duration::from_millis(1_500));
        metrics.stage_ran("dense", Duration::from_millis(3));
        metrics.stage_skipped("cross_encoder");
        let rendered = metrics.render();
        assert!(rendered.contains("dowse_jobs{state=\"waiting\"} 3"), "{rendered}");
        assert!(rendered.contains("dowse_login_failures_total{reason=\"invalid\"} 1"));
        assert!(rendered.contains("dowse_connections_refused_total 1"));
        assert!(rendered.contains("dowse_index_lag_changes 7"), "{rendered}");
        assert!(rendered.contains("dowse_stage_seconds_count{stage=\"dense\"} 1"), "{rendered}");
        assert!(rendered.contains("dowse_stages_skipped_total{stage=\"cross_encoder\"} 1"));
        assert!(rendered.contains("dowse_follower_lag_seconds 1.5"), "{rendered}");
        assert!(!rendered.contains("index_size") && !rendered.contains("queue_length"));
    }
}

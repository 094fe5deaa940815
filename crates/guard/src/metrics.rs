//! Counts and latencies of every call, in the text format that Prometheus reads.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

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
struct ByName {
    name: String,
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
    calls: Family<ByToolAndOutcome, Counter>,
    latency: Family<ByTool, Histogram>,
    rate_limited: Family<ByTool, Counter>,
    redacted: Counter,
    in_flight: Gauge,
    sizes: Family<ByName, Gauge<f64, AtomicU64>>,
    queues: Family<ByName, Gauge<f64, AtomicU64>>,
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
        let rate_limited = Family::default();
        let redacted = Counter::default();
        let in_flight = Gauge::default();
        let sizes = Family::default();
        let queues = Family::default();
        registry.register("calls", "Calls by tool and outcome", calls.clone());
        registry.register("call_seconds", "Latency of calls by tool", latency.clone());
        registry.register("rate_limited", "Calls refused for their rate", rate_limited.clone());
        registry.register("redacted_pieces", "Pieces of source text redacted", redacted.clone());
        registry.register("calls_in_flight", "Calls in progress", in_flight.clone());
        registry.register("index_size", "Size of what is indexed, by kind", sizes.clone());
        registry.register("queue_length", "Jobs and documents waiting, by queue", queues.clone());
        Metrics { registry, calls, latency, rate_limited, redacted, in_flight, sizes, queues }
    }

    /// Counts a call that ended.
    pub fn called(&self, tool: &str, outcome: Outcome, took: Duration, n_redacted: usize) {
        let tool = tool.to_owned();
        self.calls.get_or_create(&ByToolAndOutcome { tool: tool.clone(), outcome }).inc();
        self.latency.get_or_create(&ByTool { tool }).observe(took.as_secs_f64());
        if n_redacted > 0 {
            self.redacted.inc_by(n_redacted as u64);
        }
    }

    /// Counts a call that was refused for its rate.
    pub fn rate_limited(&self, tool: &str) {
        self.rate_limited.get_or_create(&ByTool { tool: tool.to_owned() }).inc();
    }

    /// Counts a call that begins.
    pub fn begin(&self) {
        self.in_flight.inc();
    }

    /// Counts a call that is over.
    pub fn end(&self) {
        self.in_flight.dec();
    }

    /// Sets the size of an index, such as `passages`.
    pub fn set_size(&self, name: &str, size: f64) {
        self.sizes.get_or_create(&ByName { name: name.to_owned() }).set(size);
    }

    /// Sets the length of a queue.
    pub fn set_queue(&self, name: &str, length: f64) {
        self.queues.get_or_create(&ByName { name: name.to_owned() }).set(length);
    }

    /// Writes everything down.
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

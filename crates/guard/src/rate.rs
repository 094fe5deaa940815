//! How often a client may call a tool.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::LimitsConfig;

/// The client called too often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many calls: at most {per_minute} per minute on this server")]
pub struct TooMany {
    /// The rate that holds.
    pub per_minute: u32,
    /// When the next call will be taken.
    pub retry_after: Duration,
}

/// Counts are tidied up after this many calls, so that clients that are gone cost nothing.
const TIDY_EVERY: u64 = 10_000;

/// Counts calls for each client and tool.
pub struct Limiter {
    by_tool: BTreeMap<String, ToolLimit>,
    others: ToolLimit,
    n_calls: AtomicU64,
}

#[derive(Clone)]
struct ToolLimit {
    per_minute: u32,
    /// The key is the client, and the tool too where several tools share a rate.
    limiter: Option<Arc<DefaultKeyedRateLimiter<String>>>,
}

impl Limiter {
    /// Sets the rates; a rate of 0 means that a tool cannot be called.
    pub fn new(config: &LimitsConfig) -> Self {
        Limiter::following(config, None)
    }

    /// Sets the rates, and goes on counting where the one before stopped: a changed
    /// configuration gives nobody a fresh minute, except for tools whose rate has changed.
    pub fn following(config: &LimitsConfig, before: Option<&Limiter>) -> Self {
        let mut rates: BTreeMap<String, u32> = LimitsConfig::RATES
            .iter()
            .map(|(tool, per_minute)| ((*tool).to_owned(), *per_minute))
            .collect();
        rates.extend(config.rate_per_minute.clone());
        let others = rates.remove(LimitsConfig::DEFAULT_RATE).unwrap_or_default();
        let counted = |counted: Option<&ToolLimit>, per_minute: u32| {
            let counted = counted.filter(|counted| counted.per_minute == per_minute);
            counted.cloned().unwrap_or_else(|| ToolLimit::new(per_minute))
        };
        Limiter {
            by_tool: rates
                .into_iter()
                .map(|(tool, per_minute)| {
                    let counted_before = before.and_then(|before| before.by_tool.get(&tool));
                    let limit = counted(counted_before, per_minute);
                    (tool, limit)
                })
                .collect(),
            others: counted(before.map(|before| &before.others), others),
            n_calls: AtomicU64::new(0),
        }
    }

    /// Takes one call into account, or says when to come back.
    pub fn admit(&self, client: &str, tool: &str) -> Result<(), TooMany> {
        if self.n_calls.fetch_add(1, Ordering::Relaxed) % TIDY_EVERY == TIDY_EVERY - 1 {
            self.tidy();
        }
        let limit = self.by_tool.get(tool).unwrap_or(&self.others);
        let per_minute = limit.per_minute;
        let Some(limiter) = &limit.limiter else {
            return Err(TooMany { per_minute, retry_after: Duration::from_secs(60) });
        };
        limiter.check_key(&format!("{client}\u{0}{tool}")).map_err(|not_until| TooMany {
            per_minute,
            retry_after: not_until.wait_time_from(DefaultClock::default().now()),
        })
    }

    fn tidy(&self) {
        for limit in self.by_tool.values().chain([&self.others]) {
            if let Some(limiter) = &limit.limiter {
                limiter.retain_recent();
            }
        }
    }
}

impl ToolLimit {
    fn new(per_minute: u32) -> Self {
        let limiter = NonZeroU32::new(per_minute)
            .map(|per_minute| Arc::new(RateLimiter::keyed(Quota::per_minute(per_minute))));
        ToolLimit { per_minute, limiter }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(tool: &str, per_minute: u32) -> Limiter {
        Limiter::new(&LimitsConfig {
            rate_per_minute: BTreeMap::from([(tool.to_owned(), per_minute)]),
            ..LimitsConfig::default()
        })
    }

    #[test]
    fn a_client_is_stopped_and_told_when_to_return() {
        let limiter = limiter("searchFiles", 3);
        for _ in 0..3 {
            limiter.admit("acme/ann", "searchFiles").unwrap();
        }
        let refused = limiter.admit("acme/ann", "searchFiles").unwrap_err();
        assert_eq!(refused.per_minute, 3);
        // Of several servers behind one address each counts for itself.
        assert_eq!(refused.to_string(), "too many calls: at most 3 per minute on this server");
        assert!(refused.retry_after > Duration::ZERO);
        assert!(refused.retry_after <= Duration::from_secs(20));
    }

    #[test]
    fn clients_and_tools_are_counted_apart() {
        let limiter = limiter("default", 1);
        limiter.admit("acme/ann", "one").unwrap();
        limiter.admit("acme/ann", "two").unwrap();
        limiter.admit("acme/bob", "one").unwrap();
        assert!(limiter.admit("acme/ann", "one").is_err());
    }

    #[test]
    fn a_changed_configuration_goes_on_counting() {
        let before = limiter("searchFiles", 1);
        before.admit("acme/ann", "searchFiles").unwrap();
        before.admit("acme/ann", "other").unwrap();
        let same = LimitsConfig {
            rate_per_minute: BTreeMap::from([("searchFiles".to_owned(), 1)]),
            ..LimitsConfig::default()
        };
        let after = Limiter::following(&same, Some(&before));
        assert!(after.admit("acme/ann", "searchFiles").is_err(), "a reload gave a fresh minute");
        let raised = LimitsConfig {
            rate_per_minute: BTreeMap::from([("searchFiles".to_owned(), 2)]),
            ..LimitsConfig::default()
        };
        assert!(Limiter::following(&raised, Some(&after)).admit("acme/ann", "searchFiles").is_ok());
    }

    #[test]
    fn zero_closes_a_tool() {
        assert!(limiter("openFile", 0).admit("x", "openFile").is_err());
    }
}

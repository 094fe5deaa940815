//! How often a client may call a tool.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

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

const MINUTE_S: f64 = 60.0;

/// Counts calls for each client and tool.
pub struct Limiter {
    by_tool: BTreeMap<String, u32>,
    others: u32,
    /// Servers of changed configurations count on in the same place.
    counts: Arc<Mutex<Counts>>,
}

#[derive(Default)]
struct Counts {
    by_client_and_tool: HashMap<(String, String), Count>,
    n_calls: u64,
}

/// Calls that were taken and have not been forgotten: each call adds one, and a minute takes as
/// many away as may be made in it.
#[derive(Clone, Copy)]
struct Count {
    n_held: f64,
    at: Instant,
}

impl Count {
    fn n_held_at(&self, now: Instant, per_minute: u32) -> f64 {
        let passed_s = now.saturating_duration_since(self.at).as_secs_f64();
        (self.n_held - passed_s * f64::from(per_minute) / MINUTE_S).max(0.0)
    }
}

impl Limiter {
    /// Sets the rates; a rate of 0 means that a tool cannot be called.
    pub fn new(config: &LimitsConfig) -> Self {
        Limiter::following(config, None)
    }

    /// Sets the rates, and goes on counting where the one before stopped: a changed
    /// configuration gives nobody a fresh minute, not for tools whose rate has changed either.
    pub fn following(config: &LimitsConfig, before: Option<&Limiter>) -> Self {
        let mut rates: BTreeMap<String, u32> = LimitsConfig::RATES
            .iter()
            .map(|(tool, per_minute)| ((*tool).to_owned(), *per_minute))
            .collect();
        rates.extend(config.rate_per_minute.clone());
        let others = rates.remove(LimitsConfig::DEFAULT_RATE).unwrap_or_default();
        let counts = before.map(|before| Arc::clone(&before.counts)).unwrap_or_default();
        Limiter { by_tool: rates, others, counts }
    }

    /// Takes one call into account, or says when to come back.
    pub fn admit(&self, client: &str, tool: &str) -> Result<(), TooMany> {
        self.admit_at(client, tool, Instant::now())
    }

    fn admit_at(&self, client: &str, tool: &str, now: Instant) -> Result<(), TooMany> {
        let per_minute = self.per_minute(tool);
        if per_minute == 0 {
            return Err(TooMany { per_minute, retry_after: Duration::from_secs(60) });
        }
        let mut counts = self.counts.lock();
        counts.n_calls += 1;
        if counts.n_calls.is_multiple_of(TIDY_EVERY) {
            counts
                .by_client_and_tool
                .retain(|(_, tool), count| count.n_held_at(now, self.per_minute(tool)) > 0.0);
        }
        let key = (client.to_owned(), tool.to_owned());
        let count = counts.by_client_and_tool.entry(key).or_insert(Count { n_held: 0.0, at: now });
        let n_held = count.n_held_at(now, per_minute);
        let n_over = n_held + 1.0 - f64::from(per_minute);
        *count = Count { n_held, at: now.max(count.at) };
        // Fractions of a call are sums of many small ones.
        if n_over > 1e-6 {
            let wait_s = n_over * MINUTE_S / f64::from(per_minute);
            return Err(TooMany { per_minute, retry_after: Duration::from_secs_f64(wait_s) });
        }
        count.n_held += 1.0;
        Ok(())
    }

    fn per_minute(&self, tool: &str) -> u32 {
        self.by_tool.get(tool).copied().unwrap_or(self.others)
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
    }

    /// A changed rate gave everybody the whole of the new one.
    #[test]
    fn a_changed_rate_goes_on_counting() {
        let now = Instant::now();
        let n_admitted = |limiter: &Limiter| {
            (0..20).filter(|_| limiter.admit_at("acme/ann", "search", now).is_ok()).count()
        };
        let changed = |per_minute: u32, before: &Limiter| {
            let config = LimitsConfig {
                rate_per_minute: BTreeMap::from([("search".to_owned(), per_minute)]),
                ..LimitsConfig::default()
            };
            Limiter::following(&config, Some(before))
        };
        let of_five = limiter("search", 5);
        assert_eq!(n_admitted(&of_five), 5);
        let of_seven = changed(7, &of_five);
        assert_eq!(n_admitted(&of_seven), 2, "the new rate less what was called");
        let of_three = changed(3, &of_seven);
        assert_eq!(n_admitted(&of_three), 0);
        assert_eq!(n_admitted(&changed(9, &of_three)), 2);
        // A rate of its own for a tool that had the common one.
        let common = limiter("default", 4);
        assert_eq!(n_admitted(&common), 4);
        assert_eq!(n_admitted(&changed(6, &common)), 2);
    }

    #[test]
    fn whoever_waits_as_told_is_admitted() {
        let mut now = Instant::now();
        for per_minute in [1, 3, 7, 60, 1_000, 30_000] {
            let limiter = limiter("search", per_minute);
            for _ in 0..per_minute {
                limiter.admit_at("acme/ann", "search", now).unwrap();
            }
            for _ in 0..20 {
                let refused = limiter.admit_at("acme/ann", "search", now).unwrap_err();
                assert!(refused.retry_after > Duration::ZERO);
                now += refused.retry_after + Duration::from_micros(1);
                limiter.admit_at("acme/ann", "search", now).unwrap();
            }
        }
    }

    #[test]
    fn clients_that_are_gone_are_forgotten() {
        let limiter = limiter("default", 30);
        let now = Instant::now();
        for client in 1..TIDY_EVERY {
            limiter.admit_at(&format!("acme/{client}"), "search", now).unwrap();
        }
        limiter.admit_at("acme/ann", "search", now + Duration::from_secs(61)).unwrap();
        assert_eq!(limiter.counts.lock().by_client_and_tool.len(), 1);
    }

    #[test]
    fn zero_closes_a_tool() {
        assert!(limiter("openFile", 0).admit("x", "openFile").is_err());
    }
}

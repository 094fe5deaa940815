//! Failed logins: counted by address, and answered more and more slowly.
//!
//! Only the answer to a wrong key or token waits. Whoever comes with a right one from the same
//! address waits for nobody.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use parking_lot::Mutex;

use crate::published::{Elapsed, monotonic};

/// Failures that are answered at once.
const FREE_FAILURES: u32 = 5;

/// The wait after the first failure that is not free; it doubles with each further one.
const FIRST_DELAY: Duration = Duration::from_millis(100);

/// The longest wait.
const MAX_DELAY: Duration = Duration::from_secs(5);

/// An address is forgotten when nothing failed for so long.
const FORGET_AFTER: Duration = Duration::from_secs(10 * 60);

/// Addresses that are remembered; beyond them the oldest is forgotten.
const MAX_ADDRESSES: usize = 10_000;

/// What to do about a failed login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// Failures of this address, this one included.
    pub n_failures: u32,
    /// How long the answer waits.
    pub delay: Duration,
}

impl Failure {
    /// Tells whether it is written to audit and log: the first few, then each time the number
    /// has doubled, so that a flood of them drives nothing else out of the audit.
    pub fn is_recorded(&self) -> bool {
        self.n_failures <= FREE_FAILURES || self.n_failures.is_power_of_two()
    }
}

/// Remembers failed logins by address.
pub struct FailedLogins {
    elapsed: Elapsed,
    by_address: Mutex<HashMap<IpAddr, Failures>>,
}

#[derive(Debug, Clone, Copy)]
struct Failures {
    n_failures: u32,
    last: Duration,
}

impl Default for FailedLogins {
    fn default() -> Self {
        FailedLogins { elapsed: monotonic(), by_address: Mutex::default() }
    }
}

impl FailedLogins {
    /// Counts a failure, and says how long its answer waits.
    pub fn record(&self, address: IpAddr) -> Failure {
        let now = (self.elapsed)();
        let mut by_address = self.by_address.lock();
        let key = network_of(address);
        if by_address.len() >= MAX_ADDRESSES && !by_address.contains_key(&key) {
            by_address.retain(|_, failures| now.saturating_sub(failures.last) < FORGET_AFTER);
            let oldest = by_address.iter().min_by_key(|(_, failures)| failures.last);
            if let Some(oldest) =
                oldest.map(|(address, _)| *address).filter(|_| by_address.len() >= MAX_ADDRESSES)
            {
                by_address.remove(&oldest);
            }
        }
        let failures = by_address.entry(key).or_insert(Failures { n_failures: 0, last: now });
        if now.saturating_sub(failures.last) >= FORGET_AFTER {
            failures.n_failures = 0;
        }
        failures.n_failures = failures.n_failures.saturating_add(1);
        failures.last = now;
        Failure { n_failures: failures.n_failures, delay: delay_after(failures.n_failures) }
    }
}

/// Gives what one client is known by: its address, or the network of an IPv6 address, since one
/// client of IPv6 has at least a whole /64 of them.
///
/// ```
/// let network = |text: &str| guard::network_of(text.parse().unwrap());
/// assert_eq!(network("2001:db8::1"), network("2001:db8::2"));
/// assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
/// ```
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) & !u128::from(u64::MAX)).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

fn delay_after(n_failures: u32) -> Duration {
    match n_failures.checked_sub(FREE_FAILURES + 1) {
        None => Duration::ZERO,
        Some(n_doubled) => {
            FIRST_DELAY.saturating_mul(2_u32.saturating_pow(n_doubled.min(16))).min(MAX_DELAY)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn logins() -> (FailedLogins, Arc<AtomicU64>) {
        let seconds = Arc::new(AtomicU64::new(0));
        let elapsed: Elapsed = {
            let seconds = Arc::clone(&seconds);
            Arc::new(move || Duration::from_secs(seconds.load(Ordering::Relaxed)))
        };
        (FailedLogins { elapsed, by_address: Mutex::default() }, seconds)
    }

    #[test]
    fn answers_slow_down_for_the_address_that_fails_and_for_no_other() {
        let (logins, seconds) = logins();
        let (bad, other) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        let delays: Vec<u128> = (0..13).map(|_| logins.record(bad).delay.as_millis()).collect();
        assert_eq!(delays, [0, 0, 0, 0, 0, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
        assert_eq!(logins.record(other).delay, Duration::ZERO);
        seconds.fetch_add(FORGET_AFTER.as_secs(), Ordering::Relaxed);
        assert_eq!(logins.record(bad), Failure { n_failures: 1, delay: Duration::ZERO });
    }

    #[test]
    fn neighbours_of_one_network_are_one_client() {
        let (logins, _) = logins();
        logins.record("2001:db8::1".parse().unwrap());
        assert_eq!(logins.record("2001:db8::2".parse().unwrap()).n_failures, 2);
        assert_eq!(logins.record("2001:db8:0:1::1".parse().unwrap()).n_failures, 1);
    }

    #[test]
    fn memory_is_bounded_and_a_flood_writes_little() {
        let (logins, _) = logins();
        for n in 0..(MAX_ADDRESSES as u32 + 100) {
            logins.record(IpAddr::V4(n.into()));
        }
        assert_eq!(logins.by_address.lock().len(), MAX_ADDRESSES);
        let flood: IpAddr = "198.51.100.1".parse().unwrap();
        let n_recorded = (0..5_000).filter(|_| logins.record(flood).is_recorded()).count();
        assert!(n_recorded < 20, "{n_recorded}");
    }
}

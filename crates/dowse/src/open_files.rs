//! Files and connections that the process may hold open at the same time.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More than this is never asked for: some libraries walk over every possible descriptor.
const ENOUGH: u64 = 65_536;

/// Descriptors that indexes, logs and workers take beside connections.
const BESIDE_CONNECTIONS: u64 = 512;

/// Raises the limit as far as the system lets this process, and tells when `connections` of them
/// would still not fit.
pub(crate) fn raise_limit(connections: usize) {
    let limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.unwrap_or(ENOUGH).min(ENOUGH);
    let mut current = limit.current.unwrap_or(u64::MAX);
    if current < allowed {
        let raised = Rlimit { current: Some(allowed), maximum: limit.maximum };
        if setrlimit(Resource::Nofile, raised).is_ok() {
            current = allowed;
        }
    }
    let wanted = connections as u64 + BESIDE_CONNECTIONS;
    if current < wanted {
        tracing::warn!(
            "`limits.connections` is {connections}, but this process may open only {current} \
             files: raise `ulimit -n` to {wanted}, or lower the limit"
        );
    }
}

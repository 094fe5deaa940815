//! The way to a PostgreSQL: from its address to sessions that are used again, encrypted where the
//! address asks.
//!
//! `sslmode=require` encrypts, and always checks the certificate: against the roots that the
//! system trusts, or those of the file that `sslrootcert` names. Every other mode is plain, for
//! databases on this machine or behind an encrypted network. What runs on a session is left to the
//! crates that ask.

mod address;
mod tls;

mod pool;
mod runtime;
mod sessions;

#[cfg(test)]
mod pool_tests;
#[cfg(test)]
mod tests;

pub use address::{PostgresAddress, PostgresError};
pub use pool::{PostgresPool, PostgresSession, SessionError};
pub use runtime::{wait_at_most, wait_for};
pub use sessions::{PoolLimits, PooledSession, SessionPool, TakeError, TakenSession};

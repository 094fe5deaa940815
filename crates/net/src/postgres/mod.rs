//! The way to a PostgreSQL: from its address to a connection, encrypted where the address asks.
//!
//! `sslmode=require` encrypts, and always checks the certificate: against the roots that the
//! system trusts, or those of the file that `sslrootcert` names. Every other mode is plain, for
//! databases on this machine or behind an encrypted network. What runs on a connection is left
//! to the crates that ask; so is the runtime.

mod address;
mod tls;

#[cfg(test)]
mod tests;

pub use address::{Driver, PostgresAddress, PostgresError};

//! The engine that needs nothing else to run: one SQLite file as the truth, and for each
//! namespace a folder of indexes derived from it.

mod config;

mod derived;
mod following;
mod namespace;
mod snapshot;

mod reading;
mod store;
mod writing;

mod backup;
mod upkeep;

pub use config::Config;
pub use store::EmbeddedStore;
pub use upkeep::{Finding, Repair};

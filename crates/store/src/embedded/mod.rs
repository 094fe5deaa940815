//! The engine that needs nothing else to run: one SQLite file as the truth, and for each
//! namespace a folder of indexes derived from it.

mod config;
mod database;
mod lock;

mod objects;
mod rows;

mod namespace;
mod snapshot;

mod reading;
mod store;
mod writing;

pub use config::Config;
pub use store::EmbeddedStore;

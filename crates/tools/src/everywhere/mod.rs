//! Tools over every family at once, in the shape that ChatGPT connectors expect.

mod fetch;
mod search;

pub use fetch::{Fetch, error};
pub use search::Search;

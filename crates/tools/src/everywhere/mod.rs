//! Tools over every family at once, in the shape that ChatGPT connectors expect.

mod fetch;
mod search;

pub use fetch::Fetch;
pub use search::Search;

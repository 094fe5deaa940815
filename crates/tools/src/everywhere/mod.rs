//! Tools over every family at once, in the shape that ChatGPT connectors expect.

mod fetch;
mod resources;
mod search;

pub use fetch::{Fetch, error};
pub use resources::Things;
pub use search::Search;

#[cfg(test)]
mod tests;

//! Tools of the filters family.

mod search_filters;

#[cfg(test)]
mod tests;

pub use search_filters::{SearchFilters, SearchFiltersBatch};

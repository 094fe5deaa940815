//! Tools of the filters family.

mod search_filters;

pub use search_filters::{SearchFilters, SearchFiltersBatch};

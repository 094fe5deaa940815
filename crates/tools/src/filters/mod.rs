//! Tools of the filters family.

mod generate_chart_data;
mod search_filters;

#[cfg(test)]
mod tests;

pub use search_filters::{SearchFilters, SearchFiltersBatch};

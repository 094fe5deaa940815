//! Tools of the filters family.

mod generate_chart_data;
mod search_filters;

pub use generate_chart_data::GenerateChartData;
pub use search_filters::{SearchFilters, SearchFiltersBatch};

#[cfg(test)]
mod tests;

//! Tools of the filters family.

mod chart_arguments;
mod chart_image;
mod generate_chart_data;
mod resources;
mod search_filters;

pub use chart_image::with_chart_image;
pub use generate_chart_data::{GenerateChartData, within as points_within};
pub use resources::ChartFigures;
pub use search_filters::{SearchFilters, SearchFiltersBatch, refused as chart_error};

#[cfg(test)]
mod tests;

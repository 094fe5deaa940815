//! Tools of the filters family.

mod batch_place;
mod chart_arguments;
mod chart_image;
mod generate_chart_data;
mod resources;
mod search_filters;
mod search_filters_batch;

pub use chart_image::with_chart_image;
pub use generate_chart_data::{GenerateChartData, within as points_within};
pub use resources::ChartFigures;
pub use search_filters::{SearchFilters, refused as chart_error};
pub use search_filters_batch::SearchFiltersBatch;

#[cfg(test)]
mod tests;

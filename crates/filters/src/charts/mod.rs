//! Charts of what filters select: series from a fact table, kept, and drawn on a page.
//!
//! A request is checked ([`ChartRequest::check`]), its series are summed,
//! normalised and described, and the result is a [`Chart`] that can be kept, listed and drawn
//! without asking the facts again.

mod config;
mod period;
mod request;

mod facts;
mod reference;

mod axis;
mod chart;
mod csv;
mod names;
mod saved;
mod saved_catalogue;
mod saved_folder;
mod service;
mod table_chart;

#[cfg(test)]
mod tests;

pub use axis::{NO_VALUE, Step};
pub use chart::{
    Axis, Chart, ChartAnswer, ChartId, DataPoint, DataSeries, Place, SeriesWords, Statistics,
};
pub use config::{ChartColumns, ChartsConfig};
pub use csv::render_csv;
pub use facts::facts_in;
pub use period::{Period, PeriodType};
pub use request::{
    AccountCategory, ChartFilter, ChartRequest, ChartType, Exclusion, MAX_FILTER_VALUES,
    MAX_POINTS, MAX_SERIES, Normalization, ReportPeriod, Selection, SeriesDefinition,
};
pub use saved::{ChartSummary, MAX_KEPT_CHARTS};
pub use service::{
    ChartSettings, Charts, DEFAULT_KEEP_DAYS, take_charts_into_catalogue, take_charts_into_folder,
};
pub use table_chart::{Measured, TableChart};

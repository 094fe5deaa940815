//! Tools of the tables family.

mod aggregate_table;
mod answer;
mod chart_table;
mod describe_schema;
mod page;
mod query_table;
mod redaction;
mod saved_views;

pub use aggregate_table::{AggregateTable, aggregate_table_spec};
pub use answer::error as table_error;
pub use chart_table::ChartTable;
pub use describe_schema::{DescribeSchema, describe_schema_spec};
pub use page::{Page, query_table_page};
pub use query_table::{QueryTable, mounted_query_spec, query_table_spec, with_query_input};
pub use redaction::changed as redacted_cell;
pub use saved_views::{SavedView, ViewAddresses};

#[cfg(test)]
mod chart_tests;
#[cfg(test)]
mod private_tests;
#[cfg(test)]
mod tests;

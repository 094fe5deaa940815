//! Tools of the tables family.

mod aggregate_table;
mod answer;
mod arguments;
mod chart_table;
mod describe_schema;
mod description;
mod facets;
mod page;
mod query_table;
mod redaction;
mod saved_views;
mod schemas;
mod views;
mod written;

pub use aggregate_table::{AggregateTable, aggregate_table_spec};
pub use answer::error as table_error;
pub use arguments::query_request;
pub use chart_table::ChartTable;
pub use describe_schema::{DescribeSchema, describe_schema_spec};
pub use description::mounted_description;
pub use page::{Page, query_table_page};
pub use query_table::{QueryTable, mounted_query_spec, query_table_spec, with_query_input};
pub use redaction::changed as redacted_cell;
pub use saved_views::{SavedView, ViewAddresses};
pub use views::{
    MAX_PARAMETERS, Parameter, ParameterType, Parameters, View, ViewConfig, ViewForm, ViewRequest,
};

#[cfg(test)]
mod chart_tests;
#[cfg(test)]
mod contract_tests;
#[cfg(test)]
mod database_tests;
#[cfg(test)]
mod operators_tests;
#[cfg(test)]
mod private_tests;
#[cfg(test)]
mod redacted_tests;
#[cfg(test)]
mod relations_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod views_tests;

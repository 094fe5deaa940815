//! Tools of the tables family.

mod aggregate_table;
mod answer;
mod describe_schema;
mod query_table;

pub use aggregate_table::{AggregateTable, aggregate_table_spec};
pub use answer::error as table_error;
pub use describe_schema::{DescribeSchema, describe_schema_spec};
pub use query_table::{
    QueryTable, fewer_rows, query_table_answer, query_table_spec, with_query_input,
};

#[cfg(test)]
mod tests;

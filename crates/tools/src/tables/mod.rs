//! Tools of the tables family.

mod answer;
mod describe_schema;
mod query_table;

pub use describe_schema::DescribeSchema;
pub use query_table::QueryTable;

//! Filtered, faceted answers without SQL: `query_table` and `describe_schema` over configured
//! tables, or over another program's own data.
//!
//! A schema ([`Schema`], from [`TableConfig`]) says which columns exist for agents and how each
//! filters. [`Service`] serves configured sources through the engine of [`columns`];
//! [`TableHandler`] serves an async function. Both check arguments the same way, and both say
//! everything that was cut, guessed or not found.
//!
//! What is *not* here: the protocol and HTTP (crates above mount these services), rate limits,
//! redaction ([`QueryResponse::show`] is its hook), and SQL from outside.
//!
//! ```
//! use std::time::Duration;
//! use model::{Caller, Deadline};
//! use serde_json::json;
//! use tables::{QueryRequest, Service, ServiceConfig, demo};
//!
//! let folder = tempfile::tempdir().unwrap();
//! demo::requests(1, 1000, &folder.path().join("requests.csv")).unwrap();
//! let service = Service::open(ServiceConfig {
//!     tables: vec![demo::table_config("requests.csv")],
//!     base_folder: folder.path().to_owned(),
//!     cache_folder: folder.path().join("cache"),
//!     export_link_minutes: tables::EXPORT_LINK_MINUTES,
//! })
//! .unwrap();
//!
//! let request = QueryRequest::from_json(&json!({
//!     "filters": { "level": ["error"] }, "format": "stats", "pageSize": 5
//! }))
//! .unwrap();
//! let deadline = Deadline::after(Duration::from_secs(5));
//! let answer = service.query(&Caller::local_admin(), &request, &deadline).unwrap().to_json();
//! assert_eq!(answer["rows"].as_array().unwrap().len(), 5);
//! assert_eq!(answer["facets"]["level"]["rows"][0]["value"], "error");
//! ```
#![doc(test(attr(deny(warnings))))]

mod config;
mod schema;

mod cursor;
mod filters;
mod moments;
mod numbers;
mod operators;
mod request;

mod cells;
mod format;
mod response;

mod aggregate;
mod aggregate_arguments;
mod check;
mod describe;
mod export;
mod find;
mod handler;
mod links;
mod relations;
mod served_table;
mod service;
mod views;

pub mod demo;
mod infer;

mod error;

pub use aggregate::{
    AggregateRequest, AggregateResponse, DEFAULT_GROUPS, GroupRequest, MAX_GROUPINGS, MAX_GROUPS,
    MAX_MEASURES, MeasureRequest,
};
pub use aggregate_arguments::OPS;
pub use cells::{CellWindow, CutCells, MAX_CELL_CHARS, ShowPiece};
pub use columns::{
    AnyGroup, Bucket, Calendar, Case, Direction, Filter, Op, Range, Sort, Test, Value, Zone,
};
pub use config::{
    DateOrder, Epoch, ExportsConfig, Field, FieldType, Fields, Operator, RelationConfig,
    TableConfig,
};
pub use describe::{MAX_TOP_VALUES, describe_output_schema};
pub use error::{Error, Result};
pub use export::{ExportFormat, MAX_EXPORT_ROWS};
pub use filters::{MAX_ALTERNATIVES, MAX_FILTER_CHARS, MAX_FILTER_VALUES, TypedFilters, typed};
pub use find::{FoundText, FoundValue, MAX_FOUND_VALUES, Rows};
pub use format::{to_csv, to_markdown};
pub use handler::{BoxError, BoxFuture, GetData, GetDataOptions, GetDataResult, TableHandler};
pub use infer::{infer, infer_config};
pub use links::{EXPORT_LINK_MINUTES, ExportLink};
pub use numbers::hide_number;
pub use relations::MAX_RELATIONS;
pub use request::{
    DEFAULT_PAGE, DEFAULT_PAGE_SIZE, Format, Formulas, MAX_PAGE_SIZE, QueryRequest, SeriesRequest,
    SortRequest, describe_input_schema, describe_table_name, handler_input_schema,
    lenient_input_schema, query_input_schema,
};
pub use response::{
    DidYouMean, FacetMeta, FacetRow, MAX_FACET_CHARS, MAX_FACET_ROWS, QueryResponse,
    query_output_schema,
};
pub use schema::{MAX_NESTING, Schema, json_schema};
pub use served_table::{MAX_PAGE_CHARS, MAX_SUGGESTIONS};
pub use service::{Service, ServiceConfig};
pub use views::{
    MAX_PARAMETERS, Parameter, ParameterType, Parameters, View, ViewConfig, ViewForm, ViewRequest,
};

#[cfg(test)]
mod operators_tests;
#[cfg(test)]
mod relations_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod views_tests;

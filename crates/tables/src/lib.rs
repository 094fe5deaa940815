//! Filtered, faceted answers without SQL over configured tables, or over another program's own
//! data.
//!
//! A schema ([`Schema`], from [`TableConfig`]) says which columns exist for agents and how each
//! filters. [`Service`] serves configured sources through the engine of [`columns`];
//! [`TableHandler`] serves an async function. Both check arguments the same way, and both say
//! everything that was cut, guessed or not found.
//!
//! What is *not* here: JSON of calls and answers, the protocol and HTTP (crates above mount these
//! services), rate limits, redaction ([`QueryResponse::show`] is its hook), and SQL from outside.
//!
//! ```
//! use std::time::Duration;
//! use model::{Caller, Deadline};
//! use tables::{Filters, Format, QueryRequest, Service, ServiceConfig, demo};
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
//! let filters = Filters::from_iter([("level", "error")]);
//! let request = QueryRequest { filters, format: Format::Stats, page_size: 5, ..Default::default() };
//! let deadline = Deadline::after(Duration::from_secs(5));
//! let answer = service.query(&Caller::local_admin(), &request, &deadline).unwrap();
//! assert_eq!(answer.rows.len(), 5);
//! let facets = answer.facets.unwrap();
//! let (_, levels) = facets.iter().find(|(name, _)| name == "level").unwrap();
//! assert_eq!(levels.rows[0].value, "error".into());
//! ```
#![doc(test(attr(deny(warnings))))]

mod config;
mod schema;

mod cursor;
mod field_filter;
mod figures;
mod filters;
mod moments;
mod numbers;
mod operators;
mod request;
mod seal;

mod cells;
mod format;
mod response;

mod aggregate;
mod call_zone;
mod check;
mod describe;
mod export;
mod find;
mod handler;
mod links;
mod order;
mod private;
mod relations;
mod secret;
mod served_table;
mod service;
mod zoned_series;

pub mod demo;
mod infer;

mod error;

pub use aggregate::{
    AggregateRequest, AggregateResponse, DEFAULT_GROUPS, GroupRequest, MAX_GROUPINGS, MAX_GROUPS,
    MAX_MEASURES, MeasureRequest,
};
pub use cells::{CellWindow, CutCells, MAX_CELL_CHARS, ShowPiece};
pub use columns::{
    AnyGroup, Bars, Bucket, Calendar, Case, Direction, Distribution, Filter, Op, Range,
    SeriesAnswer, SeriesPoint, Sort, Test, Value, Zone,
};
pub use columns::{is_sqlite, sqlite_tables};
pub use config::{
    DateOrder, DecimalMark, Epoch, ExportsConfig, Field, FieldType, Fields, Operator,
    RelationConfig, TableConfig,
};
pub use describe::{ColumnFigures, Description, MAX_TOP_VALUES};
pub use error::{Error, Result};
pub use export::{ExportFormat, Exported, MAX_EXPORT_ROWS};
pub use field_filter::{FieldFilter, Filters};
pub use filters::{MAX_ALTERNATIVES, MAX_FILTER_CHARS, MAX_FILTER_VALUES};
pub use find::{MAX_FOUND_VALUES, Rows, TextMatch, ValueMatch};
pub use format::{to_csv, to_markdown};
pub use handler::{BoxError, BoxFuture, GetData, GetDataOptions, GetDataResult, Row, TableHandler};
pub use infer::{infer, infer_config, to_toml};
pub use links::{EXPORT_LINK_MINUTES, ExportLink};
pub use relations::MAX_RELATIONS;
pub use request::{
    DEFAULT_PAGE, DEFAULT_PAGE_SIZE, Format, Formulas, MAX_PAGE_SIZE, QueryRequest, SeriesRequest,
    SortRequest,
};
pub use response::{
    DidYouMean, FacetMeta, FacetRow, MAX_FACET_CHARS, MAX_FACET_ROWS, QueryResponse, Series,
};
pub use schema::{MAX_NESTING, Schema};
pub use served_table::{MAX_PAGE_CHARS, MAX_SUGGESTIONS};
pub use service::{Service, ServiceConfig};

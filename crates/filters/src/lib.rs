//! The exact value behind a name: dimensions, their lookups, and charts of what they select.
//!
//! A dimension is configuration: a file or table, the columns of its values, names and aliases,
//! and how an entry is described. [`Service::search`] finds the machine's value for what a
//! person calls a thing, with a score that a fixed threshold can be applied to, and names a best
//! match only when it is sure and alone. What a caller may not use does not exist for them.
//!
//! The crate leaves ranking to `lookup`, and transport and tool schemas to the crates above.
//!
//! ```
//! use filters::{DimensionConfig, FiltersConfig, SearchRequest, Service, Settings};
//! use model::Caller;
//!
//! let folder = tempfile::tempdir().unwrap();
//! let rows = "id,name,county_code\n123,JUDEȚUL CLUJ,CJ\n124,MUNICIPIUL CLUJ-NAPOCA,CJ\n";
//! fs_err::write(folder.path().join("uat.csv"), rows).unwrap();
//! let dimension: DimensionConfig = toml::from_str(
//!     r#"category = "uat"
//!        source = "uat.csv"
//!        value = "id"
//!        filter_key = "uat_ids"
//!        name = "name"
//!        context = "County: {county_code}""#,
//! )
//! .unwrap();
//! let service = Service::open(Settings {
//!     folder: folder.path().to_owned(),
//!     filters: FiltersConfig::default(),
//!     dimensions: vec![dimension],
//!     name_embedder: None,
//! })
//! .unwrap();
//! let request = SearchRequest::new("uat", "Cluj");
//! let response = service.search(&Caller::local_admin(), &request).unwrap();
//! let best = response.best_match.unwrap();
//! assert_eq!((best.filter_key.as_str(), best.filter_value.as_str()), ("uat_ids", "123"));
//! assert_eq!(best.context.as_deref(), Some("County: CJ"));
//! ```
#![doc(test(attr(deny(warnings))))]

mod config;
mod error;

mod request;
mod response;

mod postgres;
mod source;

mod classification;
mod dimension;
mod template;

mod service;
mod snapshot;

pub mod charts;
mod reconcile;

#[cfg(test)]
mod tests;

pub use config::{DimensionConfig, Engine, FilterKeyConfig, FiltersConfig, PerLocale};
pub use error::{Error, Result};
pub use lookup::{CachedNameEmbedder, ModelNameEmbedder, NameEmbedder, NameEmbedderError};
pub use postgres::Failure;
pub use reconcile::{
    MAX_EXTENDED, MAX_RECONCILE_QUERIES, PropertyValue, ReconcileCandidate, ReconcileEvidence,
    ReconcileQuery, Reconciliation, WantedProperty,
};
pub use request::{
    DEFAULT_LIMIT, MAX_BATCH, MAX_LIMIT, MAX_QUERY_CHARS, MAX_RANKED, MAX_WALKED, SearchRequest,
};
pub use response::{ResultExplanation, SearchResponse, SearchResult};
pub use service::{MAX_EMBEDDED_NAMES, Service, Settings};
pub use snapshot::DimensionInfo;
pub use source::{MAX_ROWS, MAX_SOURCE_BYTES};
pub use template::thousands;

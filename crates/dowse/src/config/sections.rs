//! The configuration as a whole. Each section belongs to the room that uses it.

use std::path::PathBuf;

use filters::{DimensionConfig, FiltersConfig};
use guard::{AuditConfig, AuthConfig, LimitsConfig};
use serde::Deserialize;
use serve::ServerConfig;
use tables::TableConfig;

/// Everything that can be set. Paths are relative to the file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// The folder of the file, where relative paths start.
    #[serde(skip)]
    pub(crate) base: PathBuf,
    /// Where everything that Dowse keeps is kept.
    pub(crate) data_dir: PathBuf,
    /// Where and under which names it serves.
    pub(crate) server: ServerConfig,
    /// Who may call; absent: loopback only, everyone is the local administrator.
    pub(crate) auth: AuthConfig,
    /// How much.
    pub(crate) limits: LimitsConfig,
    /// What is written down.
    pub(crate) audit: AuditConfig,
    /// When a name is sure enough to be taken without asking.
    pub(crate) filters: FiltersConfig,
    /// Names and codes that can be looked up.
    pub(crate) dimensions: Vec<DimensionConfig>,
    /// Tables that can be queried.
    pub(crate) tables: Vec<TableConfig>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            base: PathBuf::new(),
            data_dir: PathBuf::from(".dowse"),
            server: ServerConfig::default(),
            auth: AuthConfig::default(),
            limits: LimitsConfig::default(),
            audit: AuditConfig::default(),
            filters: FiltersConfig::default(),
            dimensions: Vec::new(),
            tables: Vec::new(),
        }
    }
}

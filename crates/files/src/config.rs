//! The `[files]` section of the configuration.

use std::path::PathBuf;

use model::Access;
use serde::Deserialize;

/// Folders that may be searched. None configured: nothing is allowed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FilesConfig {
    /// The folders.
    pub roots: Vec<RootConfig>,
    /// Whether changes are noticed while the server runs.
    pub watch: bool,
    /// Whether files and folders whose name begins with a point are indexed.
    pub hidden: bool,
    /// Larger files are indexed by name only.
    pub max_file_bytes: u64,
    /// Patterns to leave out, as in a `.gitignore`.
    pub ignore: Vec<String>,
    /// Extensions to index, such as `.pdf`; all when empty.
    pub exts: Vec<String>,
}

impl FilesConfig {
    /// Says what cannot work, if anything.
    ///
    /// # Errors
    ///
    /// [`crate::Error::BadPattern`].
    pub fn check(&self) -> crate::Result<()> {
        match crate::walk::overrides(std::path::Path::new("/"), &self.ignore) {
            Ok(_) => Ok(()),
            Err((pattern, problem)) => Err(crate::Error::BadPattern { pattern, problem }),
        }
    }
}

impl Default for FilesConfig {
    fn default() -> Self {
        FilesConfig {
            roots: Vec::new(),
            watch: true,
            hidden: false,
            max_file_bytes: 64 * 1024 * 1024,
            ignore: Vec::new(),
            exts: Vec::new(),
        }
    }
}

/// A folder, and who may use it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum RootConfig {
    /// For everyone who is authenticated.
    Path(PathBuf),
    /// For some.
    Restricted {
        /// The folder.
        path: PathBuf,
        /// Who may use it.
        #[serde(default)]
        allow: Access,
    },
}

impl RootConfig {
    /// Gives the folder.
    pub fn path(&self) -> &PathBuf {
        match self {
            RootConfig::Path(path) | RootConfig::Restricted { path, .. } => path,
        }
    }

    /// Gives who may use it.
    pub fn access(&self) -> Access {
        match self {
            RootConfig::Path(_) => Access::everyone(),
            RootConfig::Restricted { allow, .. } => allow.clone(),
        }
    }
}

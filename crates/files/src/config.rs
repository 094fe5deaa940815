//! The `[files]` section of the configuration.

use std::fmt;
use std::path::PathBuf;

use model::Access;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

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
    /// Larger files are found by their names alone.
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
        match crate::walk::ignore_patterns(std::path::Path::new("/"), &self.ignore) {
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RootConfig {
    /// For everyone who is authenticated.
    Path(PathBuf),
    /// For some.
    Restricted {
        /// The folder.
        path: PathBuf,
        /// Who may use it.
        allow: Access,
    },
    /// For everyone who is authenticated, named on the command line and in no file: its index stays
    /// when it is not named again.
    Named(PathBuf),
}

/// A folder with who may use it, as it is written. A misspelt key is an error: it would leave a
/// folder open that somebody meant to close.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Restricted {
    /// The folder.
    path: PathBuf,
    /// Who may use it.
    #[serde(default)]
    allow: Access,
}

impl<'de> Deserialize<'de> for RootConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Root;
        impl<'de> Visitor<'de> for Root {
            type Value = RootConfig;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a folder, or `{ path, allow }`")
            }

            fn visit_str<E: de::Error>(self, path: &str) -> Result<RootConfig, E> {
                Ok(RootConfig::Path(PathBuf::from(path)))
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<RootConfig, M::Error> {
                let Restricted { path, allow } =
                    Restricted::deserialize(MapAccessDeserializer::new(map))?;
                Ok(RootConfig::Restricted { path, allow })
            }
        }
        deserializer.deserialize_any(Root)
    }
}

impl RootConfig {
    /// Gives the folder.
    pub fn path(&self) -> &PathBuf {
        match self {
            RootConfig::Path(path)
            | RootConfig::Restricted { path, .. }
            | RootConfig::Named(path) => path,
        }
    }

    /// Gives who may use it.
    pub fn access(&self) -> Access {
        match self {
            RootConfig::Path(_) | RootConfig::Named(_) => Access::everyone(),
            RootConfig::Restricted { allow, .. } => allow.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_misspelt_restriction_is_an_error_and_no_open_folder() {
        let read = |root| serde_json::from_value::<RootConfig>(root);
        assert_eq!(read(json!("docs")).unwrap(), RootConfig::Path("docs".into()));
        let allow = Access { roles: vec!["legal".to_owned()], ..Access::everyone() };
        let restricted = RootConfig::Restricted { path: "docs".into(), allow };
        let written = json!({ "path": "docs", "allow": { "roles": ["legal"] } });
        assert_eq!(read(written).unwrap(), restricted);
        for wrong in [
            json!({ "path": "docs", "roles": ["legal"] }),
            json!({ "path": "docs", "alow": { "roles": ["legal"] } }),
            json!({ "path": "docs", "allow": { "role": ["legal"] } }),
        ] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(error.contains("unknown field"), "{error}");
        }
        let error = read(json!(7)).unwrap_err().to_string();
        assert!(error.contains("a folder, or `{ path, allow }`"), "{error}");
    }
}

//! The table of crates, `xtask/crates.toml`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

/// The whole table.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CrateTable {
    /// Foreign crates that every crate may use.
    pub(super) everyone: BTreeSet<String>,
    /// Foreign crates that any crate may use in tests and benches.
    pub(super) for_tests: BTreeSet<String>,
    /// Files that may be long, since they are uniform tables.
    pub(super) tables: BTreeSet<String>,
    /// Licences a dependency may have.
    pub(super) licences: BTreeSet<String>,
    /// The crates by name.
    pub(super) crates: BTreeMap<String, CrateEntry>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CrateEntry {
    /// The rank of the crate; absent for crates that only tests and chores use.
    pub(super) rank: Option<u8>,
    /// Whether only tests and chores use the crate.
    #[serde(default)]
    pub(super) dev: bool,
    /// Foreign crates that this crate may use.
    #[serde(default)]
    pub(super) owns: BTreeSet<String>,
}

impl CrateTable {
    /// Gives the crates that own a foreign crate.
    pub(super) fn owners_of(&self, foreign: &str) -> Vec<&str> {
        let owners = self.crates.iter().filter(|(_, entry)| entry.owns.contains(foreign));
        owners.map(|(name, _)| name.as_str()).collect()
    }
}

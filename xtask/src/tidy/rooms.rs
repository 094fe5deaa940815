//! The table of rooms, `xtask/rooms.toml`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

/// The whole table.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rooms {
    /// Foreign crates that every room may use.
    pub(super) everyone: BTreeSet<String>,
    /// Foreign crates that any room may use in tests and benches.
    pub(super) for_tests: BTreeSet<String>,
    /// Files that may be long, since they are uniform tables.
    pub(super) tables: BTreeSet<String>,
    /// Licences a dependency may have.
    pub(super) licences: BTreeSet<String>,
    /// The rooms by name.
    pub(super) rooms: BTreeMap<String, Room>,
}

/// One room.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Room {
    /// How high the room stands; absent for rooms that only tests and chores use.
    pub(super) rank: Option<u8>,
    /// Whether only tests and chores use the room.
    #[serde(default)]
    pub(super) dev: bool,
    /// Foreign crates that this room may use.
    #[serde(default)]
    pub(super) owns: BTreeSet<String>,
}

impl Rooms {
    /// Gives the rooms that own a foreign crate.
    pub(super) fn owners_of(&self, foreign: &str) -> Vec<&str> {
        let owners = self.rooms.iter().filter(|(_, room)| room.owns.contains(foreign));
        owners.map(|(name, _)| name.as_str()).collect()
    }
}

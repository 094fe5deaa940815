//! What the configuration file named at the last start, where one process has the store.
//!
//! Taking a folder out of the file asks for the end of its index, and taking a table or a dimension
//! out for the end of the answers that were kept of it. A folder that was only ever named on the
//! command line is in no file, and stays: nobody asked for anything.

use std::collections::BTreeSet;

use model::TenantId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::{Store, TypedObject};

use super::SharedState;
use super::families::Families;
use super::shared_state::chart_folder;
use crate::config::Config;

/// What the configuration file named at the last start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ConfiguredFolders {
    roots: BTreeSet<String>,
    /// Tables and dimensions, as [`row_sources`] names them; those of earlier versions are not
    /// known.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    row_sources: BTreeSet<String>,
}

impl TypedObject for ConfiguredFolders {
    type Id = str;

    const KIND: &'static str = "configured_folders";

    fn id(&self) -> String {
        ID.to_owned()
    }

    fn tenant(&self) -> TenantId {
        TenantId::local()
    }
}

/// There is one of them.
const ID: &str = "all";

impl Families {
    /// Where one process has the store, erases what was read from folders that the configuration
    /// file named at the last start and does not name any more, and what is kept of answers when a
    /// table or a dimension left it.
    pub(super) fn forget_what_was_taken_out(
        &self,
        shared_state: &SharedState,
    ) -> anyhow::Result<()> {
        let kept = shared_state.open_store()?;
        if kept.store.catalogue().is_shared() {
            return Ok(());
        }
        let named = self.files.as_ref().map(files::Service::root_names).unwrap_or_default();
        forget_folders_taken_out(shared_state, &named)?;
        let before = named_before(&kept.store)?;
        let row_sources = shared_state.served_row_sources();
        let gone_rows: Vec<&String> = before.row_sources.difference(&row_sources).collect();
        if !gone_rows.is_empty() {
            tracing::info!(gone = ?gone_rows, "tables or dimensions were removed from the configuration");
            shared_state.erase_answers(None);
        }
        let configured = self.files.as_ref().map(files::Service::configured_root_names);
        let now = ConfiguredFolders { roots: configured.unwrap_or_default(), row_sources };
        Ok(remember(&kept.store, &now)?)
    }
}

/// Where one process has the store, erases what was read from folders that the configuration file
/// named at the last start or index and that are not among those that it names now; gives them.
pub(crate) fn forget_folders_taken_out(
    shared_state: &SharedState,
    named: &BTreeSet<String>,
) -> anyhow::Result<BTreeSet<String>> {
    let kept = shared_state.open_store()?;
    if kept.store.catalogue().is_shared() {
        return Ok(BTreeSet::new());
    }
    let before = named_before(&kept.store)?;
    let gone: BTreeSet<String> = before.roots.difference(named).cloned().collect();
    if !gone.is_empty() {
        files::stop_jobs(&kept.queue, |root| gone.contains(root))?;
        let n_forgotten = files::forget_roots(&kept.store, &gone)?;
        tracing::info!(
            n_forgotten,
            ?gone,
            "folders were removed from the configuration and the index"
        );
        shared_state.erase_answers(None);
        let roots = before.roots.intersection(named).cloned().collect();
        remember(&kept.store, &ConfiguredFolders { roots, ..before })?;
    }
    Ok(gone)
}

/// Removes what was read from files of tables and charts that a configuration does not name any
/// more: their columns, which have every cell.
pub(super) fn forget_columns(config: &Config) {
    let tables: Vec<&str> = config.tables.iter().map(|table| table.source.as_str()).collect();
    columns::keep_columns_of(&tables, &config.base, &config.data_dir.join("tables"));
    let facts: Vec<&str> = config.charts.iter().map(|charts| charts.source.as_str()).collect();
    let folder = filters::charts::facts_in(&chart_folder(&config.data_dir));
    columns::keep_columns_of(&facts, &config.base, &folder);
}

/// Names the tables, dimensions and facts of a configuration with a hash of where their rows are, which
/// may have a password in it: one that is read from elsewhere now is another one. No folder has
/// such a name, since those begin at the root of the file system.
pub(super) fn row_sources(config: &Config) -> BTreeSet<String> {
    let name = |kind: &str, name: &str, source: &str| {
        let hash = Sha256::digest(source.as_bytes());
        format!("{kind} {name} {}", model::hex(&hash[..8]))
    };
    let tables = config.tables.iter().map(|table| name("table", &table.name, &table.source));
    let dimensions = config.dimensions.iter();
    let dimensions =
        dimensions.map(|dimension| name("dimension", &dimension.category, &dimension.source));
    let charts = config.charts.iter().map(|charts| name("charts", "facts", &charts.source));
    tables.chain(dimensions).chain(charts).collect()
}

/// Gives what the file named at the last start: for a store that did not write it down, an earlier
/// version's, all folders that it has files of.
fn named_before(store: &Store) -> files::Result<ConfiguredFolders> {
    match ConfiguredFolders::load(&*store.objects(), ID)? {
        Some((before, _)) => Ok(before),
        None => {
            let roots = files::indexed_roots(store)?;
            Ok(ConfiguredFolders { roots, ..ConfiguredFolders::default() })
        }
    }
}

/// Writes down what the file names; nothing is written when it names what it did.
fn remember(store: &Store, now: &ConfiguredFolders) -> store::Result<()> {
    let objects = store.objects();
    if ConfiguredFolders::load(&*objects, ID)?.is_none_or(|(before, _)| before != *now) {
        now.save(&*objects)?;
    }
    Ok(())
}

/// Writes down what was named before a command indexes, and the folders of the file that it
/// indexes: a folder of the command line is then not taken for one of the file, and one of the file
/// that is taken out before a server ever ran is erased all the same.
pub(crate) fn remember_before_indexing(
    store: &Store,
    configured: BTreeSet<String>,
) -> files::Result<()> {
    // Servers that share a catalogue claim their folders instead.
    if store.catalogue().is_shared() {
        return Ok(());
    }
    let mut named = named_before(store)?;
    named.roots.extend(configured);
    Ok(remember(store, &named)?)
}

#[cfg(test)]
mod tests {
    use model::{Clock, Timestamp};
    use store::Config;

    use super::*;

    #[test]
    fn what_the_file_named_is_known_at_the_next_start() {
        let folder = testkit::Folder::new();
        let clock = Clock::fixed(Timestamp(0));
        let store = Store::open(folder.path(), &Config::for_one_machine(), clock).unwrap();
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(named_before(&store).unwrap(), ConfiguredFolders::default());
        let named = ConfiguredFolders { roots: set(&["/a", "/b"]), row_sources: set(&["table t"]) };
        remember(&store, &named).unwrap();
        remember_before_indexing(&store, set(&[])).unwrap();
        assert_eq!(named_before(&store).unwrap(), named);
        // What a command has indexed is known to the server that comes after it.
        remember_before_indexing(&store, set(&["/a", "/c"])).unwrap();
        assert_eq!(named_before(&store).unwrap().roots, set(&["/a", "/b", "/c"]));
    }

    #[test]
    fn a_table_that_is_read_from_elsewhere_is_another_one() {
        let of = |source: &str| {
            let config = format!(
                "[[tables]]\nname = \"t\"\nsource = \"{source}\"\n[tables.fields]\n\
                 a = {{ type = \"string\" }}\n"
            );
            row_sources(&toml::from_str(&config).unwrap())
        };
        let named = of("postgres://me:secret@db/x#t");
        assert_eq!(named, of("postgres://me:secret@db/x#t"));
        assert_ne!(named, of("postgres://me:secret@db/y#t"));
        assert!(named.iter().all(|name| name.starts_with("table t ") && !name.contains("secret")));
    }
}

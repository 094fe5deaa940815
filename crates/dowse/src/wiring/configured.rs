//! Which folders the configuration file named at the last start, where one process has the store.
//!
//! Taking a folder out of the file asks for the end of its index. A folder that was only ever named
//! on the command line is in no file, and stays: nobody asked for anything.

use std::collections::BTreeSet;

use model::TenantId;
use serde::{Deserialize, Serialize};
use store::{Store, TypedObject};

use super::SharedState;
use super::families::Families;

/// What the configuration file named at the last start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ConfiguredFolders {
    roots: BTreeSet<String>,
}

impl TypedObject for ConfiguredFolders {
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
    /// file named at the last start and does not name any more.
    pub(super) fn forget_folders_taken_out(
        &self,
        shared_state: &SharedState,
    ) -> anyhow::Result<()> {
        let kept = shared_state.open_store()?;
        if kept.store.catalogue().is_shared() {
            return Ok(());
        }
        let named = self.files.as_ref().map(files::Service::root_names).unwrap_or_default();
        let mut gone = named_before(&kept.store)?;
        gone.retain(|root| !named.contains(root));
        if !gone.is_empty() {
            files::stop_jobs(&kept.queue, |root| gone.contains(root))?;
            let n_forgotten = files::forget_roots(&kept.store, &gone)?;
            shared_state.erase_answers(None);
            tracing::info!(n_forgotten, ?gone, "folders left the configuration and the index");
        }
        let configured = self.files.as_ref().map(files::Service::configured_root_names);
        Ok(remember(&kept.store, configured.unwrap_or_default())?)
    }
}

/// Gives the folders that the file named at the last start: for a store that did not write them
/// down, an earlier version's, all that it has files of.
fn named_before(store: &Store) -> files::Result<BTreeSet<String>> {
    match ConfiguredFolders::load(&*store.objects(), ID)? {
        Some((before, _)) => Ok(before.roots),
        None => files::indexed_roots(store),
    }
}

/// Writes down what the file names; nothing is written when it names what it did.
fn remember(store: &Store, roots: BTreeSet<String>) -> store::Result<()> {
    let objects = store.objects();
    let now = ConfiguredFolders { roots };
    if ConfiguredFolders::load(&*objects, ID)?.is_none_or(|(before, _)| before != now) {
        now.save(&*objects)?;
    }
    Ok(())
}

/// Writes down what was named before a folder of the command line is indexed, where nobody has:
/// that folder is then not taken for one of the file.
pub(crate) fn remember_before_indexing(store: &Store) -> files::Result<()> {
    // Servers that share a catalogue claim their folders instead.
    if store.catalogue().is_shared() {
        return Ok(());
    }
    Ok(remember(store, named_before(store)?)?)
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
        let set = |roots: &[&str]| roots.iter().map(|root| (*root).to_owned()).collect();
        let named: BTreeSet<String> = set(&["/a", "/b"]);
        assert_eq!(named_before(&store).unwrap(), set(&[]));
        remember(&store, named.clone()).unwrap();
        remember_before_indexing(&store).unwrap();
        assert_eq!(named_before(&store).unwrap(), named);
    }
}

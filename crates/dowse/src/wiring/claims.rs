//! Which servers have which folders of files, tables and dimensions, where several share a
//! catalogue.
//!
//! A source belongs to the servers that have it: each claims those of its configuration. What was
//! read from a folder, and what is kept of answers, is erased when the last server that claimed the
//! source starts without it.

use std::collections::BTreeSet;
use std::path::Path;

use model::TenantId;
use serde::{Deserialize, Serialize};
use store::{Catalogue, Change, ObjectKey, ObjectPage, TypedObject};

/// The file that names this server to the others for as long as its data folder lasts.
const SERVER: &str = "server";

/// A source that a server has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Claim {
    server: String,
    /// The path of a folder, or the name that [`super::configured::row_sources`] gives.
    root: String,
}

impl TypedObject for Claim {
    type Id = str;

    const KIND: &'static str = "moment_folder";

    fn id(&self) -> String {
        format!("{}:{}", self.server, self.root)
    }

    fn tenant(&self) -> TenantId {
        TenantId::new("")
    }
}

/// Gives the name of the server that has this folder, which it keeps.
pub(super) fn server_in(folder: &Path) -> std::io::Result<String> {
    let file = folder.join(SERVER);
    if let Ok(name) = fs_err::read_to_string(&file)
        && !name.is_empty()
    {
        return Ok(name);
    }
    let name = uuid::Uuid::new_v4().to_string();
    fs_err::create_dir_all(folder)?;
    fs_err::write(&file, &name)?;
    Ok(name)
}

/// Claims the sources of a server, lets go of those that it had before, and gives those among them
/// that no server has any more.
pub(super) fn claim(
    catalogue: &dyn Catalogue,
    server: &str,
    roots: &BTreeSet<String>,
) -> store::Result<BTreeSet<String>> {
    let all = || Claim::list(catalogue, &ObjectPage::of(Claim::KIND));
    let mut changes: Vec<Change> = vec![];
    let mut gone: BTreeSet<String> = BTreeSet::new();
    for claim in all()?.into_iter().filter(|claim| claim.server == server) {
        if !roots.contains(&claim.root) {
            changes.push(Change::Delete(ObjectKey::new(Claim::KIND, TypedObject::id(&claim))));
            gone.insert(claim.root);
        }
    }
    for root in roots {
        let claim = Claim { server: server.to_owned(), root: root.clone() };
        changes.push(Change::Put(claim.to_object(0)?));
    }
    if !changes.is_empty() {
        catalogue.apply(&changes)?;
    }
    // Looked at after letting go: of two servers that let go at once, one sees that nobody has it.
    for claim in all()? {
        gone.remove(&claim.root);
    }
    Ok(gone)
}

#[cfg(test)]
mod tests {
    use model::{Clock, Timestamp};
    use store::{Config, Store};
    use testkit::Folder;

    use super::*;

    #[test]
    fn a_folder_is_gone_when_the_last_server_lets_go_of_it() {
        let folder = Folder::new();
        let clock = Clock::fixed(Timestamp(0));
        let store = Store::open(folder.path(), &Config::for_one_machine(), clock).unwrap();
        let catalogue = store.catalogue();
        let claimed = |server: &str, roots: &[&str]| -> Vec<String> {
            let roots = roots.iter().map(|root| (*root).to_owned()).collect();
            claim(&*catalogue, server, &roots).unwrap().into_iter().collect()
        };
        assert_eq!(claimed("one", &["/a", "/b"]), [""; 0]);
        assert_eq!(claimed("two", &["/b", "/c"]), [""; 0]);
        assert_eq!(claimed("one", &["/a"]), [""; 0], "the other one has it");
        assert_eq!(claimed("two", &[]), ["/b", "/c"]);
        assert_eq!(claimed("two", &[]), [""; 0]);
        assert_eq!(claimed("one", &["/a"]), [""; 0]);
        let name = server_in(&folder.join("x")).unwrap();
        assert_eq!(server_in(&folder.join("x")).unwrap(), name);
    }
}

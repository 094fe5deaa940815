//! What the catalogue remembers of an engine's server: which namespace of the server is whose, how
//! far it has followed, and which ones still have to be erased.

use std::collections::{BTreeSet, HashMap};

use model::{NamespaceId, TenantId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{
    Catalogue, Change, Lookup, NamespaceState, ObjectKey, ObjectPage, Result, TypedObject,
    VectorSpace, limits,
};

/// What a server calls a namespace.
pub trait ServerNamespace: Clone + PartialEq + Serialize + DeserializeOwned {
    /// The kind of the objects that say which namespace is in use.
    const ENTRIES: &'static str;
    /// The kind of the objects that say what is to be erased.
    const ERASURES: &'static str;

    /// Gives the name that no other namespace of the server has.
    fn name(&self) -> &str;
}

/// A namespace of the catalogue on a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry<N> {
    /// The number of the catalogue's namespace.
    pub number: u32,
    /// What the server calls it; one that is made anew gets another name.
    #[serde(flatten)]
    pub at: N,
    /// The last change that the server has; 0 when its rows have to be sent anew.
    pub seen: u64,
    /// Nothing where rows have no vectors.
    pub space: Option<VectorSpace>,
    /// The fields that a search may filter by, since rows have them.
    // Entries of earlier versions call them what each engine did.
    #[serde(alias = "attributes", alias = "integers")]
    pub fields: BTreeSet<String>,
}

/// What an entry has seen whose rows have to be sent anew.
pub(super) const OUTDATED: u64 = 0;

/// The lookup of an entry by its name on the server.
const NAME: &str = "name";

impl<N: ServerNamespace> TypedObject for Entry<N> {
    type Id = str;

    const KIND: &'static str = N::ENTRIES;

    fn id(&self) -> String {
        self.number.to_string()
    }

    fn tenant(&self) -> TenantId {
        TenantId::new("")
    }

    fn lookups(&self) -> Vec<Lookup> {
        vec![Lookup::new(NAME, self.at.name())]
    }
}

/// What is to be erased, or may exist without being in use yet.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Erasure<N>(N);

impl<N: ServerNamespace> TypedObject for Erasure<N> {
    type Id = str;

    const KIND: &'static str = N::ERASURES;

    fn id(&self) -> String {
        self.0.name().to_owned()
    }

    fn tenant(&self) -> TenantId {
        TenantId::new("")
    }
}

/// Gives the entry of a namespace.
///
/// # Errors
///
/// Those of the catalogue, as of every function here.
pub fn entry<N: ServerNamespace>(
    catalogue: &dyn Catalogue,
    number: u32,
) -> Result<Option<Entry<N>>> {
    Ok(Entry::load(catalogue, &number.to_string())?.map(|(entry, _)| entry))
}

/// Gives a namespace that this program can search, with its entry, by one query: every question to a
/// server begins with it.
///
/// # Errors
///
/// [`crate::Error::UnknownNamespace`], [`crate::Error::ManifestMismatch`], and those of the
/// catalogue.
pub fn searched<N: ServerNamespace>(
    catalogue: &dyn Catalogue,
    namespace: &NamespaceId,
) -> Result<(NamespaceState, Option<Entry<N>>)> {
    let found = catalogue.namespace_with_note(namespace, N::ENTRIES)?;
    let unknown = || crate::Error::UnknownNamespace { namespace: namespace.clone() };
    let (state, note) = found.ok_or_else(unknown)?;
    state.info.manifest.check_current(namespace)?;
    Ok((state, note.map(Entry::from_object).transpose()?))
}

/// Gives every entry by the number of its namespace.
///
/// # Errors
///
/// Those of the catalogue.
pub fn entries<N: ServerNamespace>(catalogue: &dyn Catalogue) -> Result<HashMap<u32, Entry<N>>> {
    let mut entries = HashMap::new();
    let mut page = ObjectPage::of(N::ENTRIES);
    loop {
        let found: Vec<Entry<N>> = Entry::list(catalogue, &page)?;
        page.after = found.last().map(TypedObject::id);
        let is_last = found.len() < page.limit;
        entries.extend(found.into_iter().map(|entry| (entry.number, entry)));
        if is_last {
            return Ok(entries);
        }
    }
}

/// Puts an entry in place of the earlier one, which is to be erased from the server when it has
/// another name there.
///
/// # Errors
///
/// Those of the catalogue.
pub fn put<N: ServerNamespace>(catalogue: &dyn Catalogue, new: &Entry<N>) -> Result<()> {
    let mut changes = vec![];
    if let Some(earlier) = entry::<N>(catalogue, new.number)?
        && earlier.at.name() != new.at.name()
    {
        changes.push(Change::Put(Erasure(earlier.at).to_object(0)?));
    }
    changes.push(Change::Put(new.to_object(0)?));
    changes.push(Change::Delete(ObjectKey::new(N::ERASURES, new.at.name())));
    catalogue.apply(&changes).map(|_| ())
}

/// Notes that the rows of a namespace are of another form: it is sent anew with the next change,
/// and searched as it is until then.
///
/// # Errors
///
/// Those of the catalogue.
pub fn outdate<N: ServerNamespace>(catalogue: &dyn Catalogue, number: u32) -> Result<()> {
    match entry::<N>(catalogue, number)? {
        Some(entry) => Entry { seen: OUTDATED, ..entry }.save(catalogue).map(|_| ()),
        None => Ok(()),
    }
}

/// Forgets what the server had of a namespace, since it lost it: searches say that the namespace is
/// being filled, and whoever follows next fills it.
///
/// # Errors
///
/// Those of the catalogue.
pub fn lost<N: ServerNamespace>(catalogue: &dyn Catalogue, number: u32) -> Result<()> {
    let gone = Change::Delete(ObjectKey::new(N::ENTRIES, number.to_string()));
    catalogue.apply(&[gone]).map(|_| ())
}

/// Notes that something may exist on the server without being in use yet.
///
/// # Errors
///
/// Those of the catalogue.
pub fn note_unfinished<N: ServerNamespace>(catalogue: &dyn Catalogue, at: &N) -> Result<()> {
    Erasure(at.clone()).save(catalogue).map(|_| ())
}

/// Lets go of a namespace that was dropped: it is to be erased from the server.
///
/// # Errors
///
/// Those of the catalogue.
pub fn let_go<N: ServerNamespace>(catalogue: &dyn Catalogue, number: u32) -> Result<()> {
    let Some(entry) = entry::<N>(catalogue, number)? else { return Ok(()) };
    let changes = [
        Change::Delete(ObjectKey::new(N::ENTRIES, entry.id())),
        Change::Put(Erasure(entry.at).to_object(0)?),
    ];
    catalogue.apply(&changes).map(|_| ())
}

/// Gives what is to be erased from the server, as much as one page holds; the rest comes once that
/// is done.
///
/// # Errors
///
/// Those of the catalogue.
pub fn erasures<N: ServerNamespace>(catalogue: &dyn Catalogue) -> Result<Vec<N>> {
    let page = ObjectPage { limit: limits::MAX_PAGE, ..ObjectPage::of(N::ERASURES) };
    let found: Vec<Erasure<N>> = Erasure::list(catalogue, &page)?;
    Ok(found.into_iter().map(|Erasure(at)| at).collect())
}

/// Tells whether something is still to be erased.
///
/// # Errors
///
/// Those of the catalogue.
pub fn is_noted<N: ServerNamespace>(catalogue: &dyn Catalogue, name: &str) -> Result<bool> {
    Ok(catalogue.get(&ObjectKey::new(N::ERASURES, name))?.is_some())
}

/// Tells whether a name is in use here, or waits to be erased.
///
/// # Errors
///
/// Those of the catalogue.
pub fn is_taken<N: ServerNamespace>(catalogue: &dyn Catalogue, name: &str) -> Result<bool> {
    let is_used = !catalogue.find(N::ENTRIES, &Lookup::new(NAME, name))?.is_empty();
    Ok(is_used || is_noted::<N>(catalogue, name)?)
}

/// Forgets what was erased from the server.
///
/// # Errors
///
/// Those of the catalogue.
pub fn forget<N: ServerNamespace>(catalogue: &dyn Catalogue, at: &N) -> Result<()> {
    catalogue.apply(&[Change::Delete(ObjectKey::new(N::ERASURES, at.name()))]).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Named {
        name: String,
    }

    impl ServerNamespace for Named {
        const ENTRIES: &'static str = "test_namespace";
        const ERASURES: &'static str = "test_erasure";

        fn name(&self) -> &str {
            &self.name
        }
    }

    fn named(name: &str) -> Named {
        Named { name: name.to_owned() }
    }

    fn at(number: u32, name: &str) -> Entry<Named> {
        Entry { number, at: named(name), seen: 7, space: None, fields: BTreeSet::new() }
    }

    #[test]
    fn what_is_replaced_or_dropped_is_erased_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (config, clock) =
            (crate::Config::for_one_machine(), model::Clock::fixed(model::Timestamp(1)));
        let store = crate::Store::open(folder.path(), &config, clock).unwrap();
        let catalogue = store.catalogue();
        let to_erase = || erasures::<Named>(&*catalogue).unwrap();
        note_unfinished(&*catalogue, &named("a")).unwrap();
        assert_eq!(to_erase(), [named("a")]);
        put(&*catalogue, &at(1, "a")).unwrap();
        assert_eq!(to_erase(), [], "it is in use now");
        put(&*catalogue, &Entry { seen: 9, ..at(1, "a") }).unwrap();
        assert_eq!(
            (to_erase(), entry(&*catalogue, 1).unwrap().map(|e: Entry<Named>| e.seen)),
            (vec![], Some(9))
        );
        put(&*catalogue, &at(1, "b")).unwrap();
        assert_eq!(to_erase(), [named("a")]);
        for (name, is_it) in [("a", true), ("b", true), ("c", false)] {
            assert_eq!(is_taken::<Named>(&*catalogue, name).unwrap(), is_it, "{name}");
        }
        forget(&*catalogue, &named("a")).unwrap();
        outdate::<Named>(&*catalogue, 1).unwrap();
        assert_eq!(entries::<Named>(&*catalogue).unwrap()[&1].seen, OUTDATED);
        let_go::<Named>(&*catalogue, 1).unwrap();
        assert_eq!(to_erase(), [named("b")]);
        assert!(entries::<Named>(&*catalogue).unwrap().is_empty());
    }

    /// Rows of servers that are in use stay theirs.
    #[test]
    fn entries_of_earlier_versions_are_read() {
        for fields in ["attributes", "integers"] {
            let row = serde_json::json!({
                "number": 3, "name": "n", "seen": 5, "space": null, fields: ["k_ext"],
            });
            let read: Entry<Named> = serde_json::from_value(row).unwrap();
            let fields = BTreeSet::from(["k_ext".to_owned()]);
            assert_eq!(read, Entry { seen: 5, fields, ..at(3, "n") });
        }
        let erased: Erasure<Named> =
            serde_json::from_value(serde_json::json!({"name": "n"})).unwrap();
        assert_eq!(erased.0, named("n"));
    }
}

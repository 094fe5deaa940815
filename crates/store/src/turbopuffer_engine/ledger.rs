//! What the catalogue remembers about turbopuffer: which of its namespaces is ours, how far it has
//! followed, and which ones still have to be erased.

use std::collections::BTreeSet;

use model::TenantId;
use serde::{Deserialize, Serialize};

use crate::{
    Catalogue, Change, Lookup, ObjectKey, ObjectPage, Result, TypedObject, VectorSpace, limits,
};

/// One namespace of turbopuffer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The number of the catalogue's namespace.
    pub(super) number: u32,
    /// Its name in turbopuffer.
    pub(super) name: String,
    /// The last change that turbopuffer has.
    pub(super) seen: u64,
    /// The vectors that its rows have.
    pub(super) space: Option<VectorSpace>,
    /// The attributes that its rows have.
    pub(super) attributes: BTreeSet<String>,
}

impl TypedObject for Entry {
    const KIND: &'static str = "turbopuffer_namespace";

    fn id(&self) -> String {
        self.number.to_string()
    }

    fn tenant(&self) -> TenantId {
        TenantId::new("")
    }

    fn lookups(&self) -> Vec<Lookup> {
        vec![Lookup::new(NAME, &self.name)]
    }
}

/// What an entry has seen whose rows have to be sent anew.
pub(super) const OUTDATED: u64 = 0;

/// The lookup of an entry by its name in turbopuffer.
const NAME: &str = "name";

/// A name in turbopuffer that is to be erased, or may exist without being in use yet.
#[derive(Debug, Serialize, Deserialize)]
struct Erasure {
    name: String,
}

impl TypedObject for Erasure {
    const KIND: &'static str = "turbopuffer_erasure";

    fn id(&self) -> String {
        self.name.clone()
    }

    fn tenant(&self) -> TenantId {
        TenantId::new("")
    }
}

/// Gives the entry of a namespace.
pub(super) fn entry(catalogue: &dyn Catalogue, number: u32) -> Result<Option<Entry>> {
    Ok(Entry::load(catalogue, &number.to_string())?.map(|(entry, _)| entry))
}

/// Puts an entry in place of the earlier one, whose namespace is to be erased when it has another
/// name.
pub(super) fn put(catalogue: &dyn Catalogue, new: &Entry) -> Result<()> {
    let mut changes = vec![];
    if let Some(earlier) = entry(catalogue, new.number)?
        && earlier.name != new.name
    {
        changes.push(Change::Put(Erasure { name: earlier.name }.to_object(0)?));
    }
    changes.push(Change::Put(new.to_object(0)?));
    changes.push(Change::Delete(ObjectKey::new(Erasure::KIND, &new.name)));
    catalogue.apply(&changes).map(|_| ())
}

/// Notes that the rows of a namespace were made with another analyser: it is sent anew with the
/// next change, and searched as it is until then.
pub(super) fn outdate(catalogue: &dyn Catalogue, number: u32) -> Result<()> {
    match entry(catalogue, number)? {
        Some(entry) => Entry { seen: OUTDATED, ..entry }.save(catalogue).map(|_| ()),
        None => Ok(()),
    }
}

/// Notes that a namespace of turbopuffer may exist without being in use yet.
pub(super) fn note_unfinished(catalogue: &dyn Catalogue, name: &str) -> Result<()> {
    Erasure { name: name.to_owned() }.save(catalogue).map(|_| ())
}

/// Forgets a namespace that was erased.
pub(super) fn forget(catalogue: &dyn Catalogue, name: &str) -> Result<()> {
    catalogue.apply(&[Change::Delete(ObjectKey::new(Erasure::KIND, name))]).map(|_| ())
}

/// Lets go of a namespace that was dropped: its name is to be erased from turbopuffer.
pub(super) fn let_go(catalogue: &dyn Catalogue, number: u32) -> Result<()> {
    let Some(entry) = entry(catalogue, number)? else { return Ok(()) };
    let changes = [
        Change::Delete(ObjectKey::new(Entry::KIND, entry.id())),
        Change::Put(Erasure { name: entry.name }.to_object(0)?),
    ];
    catalogue.apply(&changes).map(|_| ())
}

/// Gives the names that are to be erased from turbopuffer.
pub(super) fn erasures(catalogue: &dyn Catalogue) -> Result<Vec<String>> {
    let page = ObjectPage { limit: limits::MAX_PAGE, ..ObjectPage::of(Erasure::KIND) };
    let found = Erasure::list(catalogue, &page)?;
    Ok(found.into_iter().map(|erasure| erasure.name).collect())
}

/// Tells whether a name is in use here, or waits to be erased.
pub(super) fn is_taken(catalogue: &dyn Catalogue, name: &str) -> Result<bool> {
    let is_used = !catalogue.find(Entry::KIND, &Lookup::new(NAME, name))?.is_empty();
    Ok(is_used || catalogue.get(&ObjectKey::new(Erasure::KIND, name))?.is_some())
}

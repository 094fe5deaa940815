//! What the catalogue remembers about Qdrant: which tenant of which collection a namespace is, and
//! how far it has followed.

use std::collections::BTreeSet;

use model::TenantId;
use serde::{Deserialize, Serialize};
use store::{Catalogue, Change, ObjectKey, ObjectPage, Result, TypedObject, VectorSpace, limits};

use crate::collection;

/// A namespace in Qdrant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The number of the catalogue's namespace.
    pub(crate) number: u32,
    /// The collection.
    pub(crate) collection: String,
    /// The tenant in the collection; a namespace that is made anew becomes another one.
    pub(crate) tenant: String,
    /// The last change that Qdrant has; 0 when it has to be made anew.
    pub(crate) seen: u64,
    /// The space of its vectors.
    pub(crate) space: Option<VectorSpace>,
    /// The fields of integer attributes that its points have.
    pub(crate) integers: BTreeSet<String>,
}

impl Entry {
    /// Tells whether its points have the form that this program searches.
    pub(crate) fn is_current(&self, prefix: &str) -> bool {
        self.collection == collection::name_of(prefix, self.space.as_ref())
    }
}

impl TypedObject for Entry {
    const KIND: &'static str = "qdrant_namespace";

    fn id(&self) -> String {
        self.number.to_string()
    }

    fn tenant(&self) -> TenantId {
        TenantId::new("")
    }
}

/// A tenant of a collection that is to be erased, or may exist without being in use yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Erasure {
    pub(crate) collection: String,
    pub(crate) tenant: String,
}

impl Erasure {
    /// Gives the number of the namespace that it belonged to, which its name says.
    pub(crate) fn namespace(&self) -> u32 {
        self.tenant.split('-').nth(1).and_then(|number| number.parse().ok()).unwrap_or(u32::MAX)
    }
}

impl TypedObject for Erasure {
    const KIND: &'static str = "qdrant_erasure";

    fn id(&self) -> String {
        self.tenant.clone()
    }

    fn tenant(&self) -> TenantId {
        TenantId::new("")
    }
}

/// Gives the entry of a namespace.
pub(crate) fn entry(catalogue: &dyn Catalogue, number: u32) -> Result<Option<Entry>> {
    Ok(Entry::load(catalogue, &number.to_string())?.map(|(entry, _)| entry))
}

/// Writes an entry over the one of the same tenant.
pub(crate) fn put(catalogue: &dyn Catalogue, entry: &Entry) -> Result<()> {
    entry.save(catalogue).map(|_| ())
}

/// Puts an entry in the place of an earlier one, whose tenant is to be erased.
pub(crate) fn replace(catalogue: &dyn Catalogue, new: &Entry) -> Result<()> {
    let mut changes = vec![];
    if let Some(earlier) = entry(catalogue, new.number)? {
        let erasure = Erasure { collection: earlier.collection, tenant: earlier.tenant };
        changes.push(Change::Put(erasure.to_object(0)?));
    }
    changes.push(Change::Put(new.to_object(0)?));
    changes.push(Change::Delete(ObjectKey::new(Erasure::KIND, &new.tenant)));
    catalogue.apply(&changes).map(|_| ())
}

/// Notes that a tenant may exist without being in use yet.
pub(crate) fn note_unfinished(catalogue: &dyn Catalogue, erasure: &Erasure) -> Result<()> {
    erasure.save(catalogue).map(|_| ())
}

/// Lets go of a namespace that was dropped.
pub(crate) fn let_go(catalogue: &dyn Catalogue, number: u32) -> Result<()> {
    let Some(entry) = entry(catalogue, number)? else { return Ok(()) };
    let erasure = Erasure { collection: entry.collection.clone(), tenant: entry.tenant.clone() };
    let changes = [
        Change::Delete(ObjectKey::new(Entry::KIND, TypedObject::id(&entry))),
        Change::Put(erasure.to_object(0)?),
    ];
    catalogue.apply(&changes).map(|_| ())
}

/// Gives the tenants that are to be erased.
pub(crate) fn erasures(catalogue: &dyn Catalogue) -> Result<Vec<Erasure>> {
    let page = ObjectPage { limit: limits::MAX_PAGE, ..ObjectPage::of(Erasure::KIND) };
    Erasure::list(catalogue, &page)
}

/// Tells whether a tenant is still to be erased.
pub(crate) fn is_noted(catalogue: &dyn Catalogue, erasure: &Erasure) -> Result<bool> {
    Ok(Erasure::load(catalogue, &erasure.tenant)?.is_some())
}

/// Forgets a tenant that was erased.
pub(crate) fn forget(catalogue: &dyn Catalogue, erasure: &Erasure) -> Result<()> {
    let key = ObjectKey::new(Erasure::KIND, &erasure.tenant);
    catalogue.apply(&[Change::Delete(key)]).map(|_| ())
}

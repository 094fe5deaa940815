//! Objects as Rust types: each type names its kind and says what it is found by.

use model::{IdText, TenantId};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Change, Lookup, Object, ObjectKey, ObjectPage, Objects};
use crate::{Error, Result};

/// A type that is stored as objects of a catalogue.
pub trait TypedObject: Serialize + DeserializeOwned {
    /// What its rows are found by: an id of its own type, so that no other kind's is looked for.
    type Id: IdText + ?Sized;

    /// The kind of its rows.
    const KIND: &'static str;

    /// Gives what the row is found by, unique among its kind.
    fn id(&self) -> String;

    /// Gives the tenant that owns it.
    fn tenant(&self) -> TenantId;

    /// Gives the object it belongs to.
    fn parent(&self) -> Option<String> {
        None
    }

    /// Gives other values it is found by.
    fn lookups(&self) -> Vec<Lookup> {
        vec![]
    }

    /// Turns it into a row that replaces the given version; 0 for a new one.
    ///
    /// # Errors
    ///
    /// [`Error::BadObject`] when it cannot be written as JSON.
    fn to_object(&self, version: u64) -> Result<Object> {
        let key = ObjectKey::new(Self::KIND, self.id());
        let body = serde_json::to_value(self).map_err(|source| Error::BadObject {
            kind: key.kind.clone(),
            id: key.id.clone(),
            source,
        })?;
        Ok(Object {
            key,
            tenant: self.tenant(),
            parent: self.parent(),
            lookups: self.lookups(),
            body,
            version,
        })
    }

    /// Reads it from a row.
    ///
    /// # Errors
    ///
    /// [`Error::BadObject`] when the row has another shape.
    fn from_object(object: Object) -> Result<Self> {
        let key = object.key;
        serde_json::from_value(object.body).map_err(|source| Error::BadObject {
            kind: key.kind,
            id: key.id,
            source,
        })
    }

    /// Reads one by id, with its version.
    ///
    /// # Errors
    ///
    /// As [`Objects::get`] and [`TypedObject::from_object`].
    fn load(objects: &dyn Objects, id: &Self::Id) -> Result<Option<(Self, u64)>> {
        objects.get(&ObjectKey::new(Self::KIND, id.id_text()))?.map(with_version).transpose()
    }

    /// Reads some by id, in the order asked and by one query, each with its version; nothing where
    /// there is none.
    ///
    /// # Errors
    ///
    /// As [`Objects::get_many`] and [`TypedObject::from_object`].
    fn load_many<'a>(
        objects: &dyn Objects,
        ids: impl IntoIterator<Item = &'a Self::Id>,
    ) -> Result<Vec<Option<(Self, u64)>>>
    where
        Self::Id: 'a,
    {
        let ids: Vec<&str> = ids.into_iter().map(IdText::id_text).collect();
        let found = objects.get_many(Self::KIND, &ids)?;
        found.into_iter().map(|object| object.map(with_version).transpose()).collect()
    }

    /// Writes it whatever is there, and gives the new version.
    ///
    /// # Errors
    ///
    /// As [`Objects::apply`] and [`TypedObject::to_object`].
    fn save(&self, objects: &dyn Objects) -> Result<u64> {
        let versions = objects.apply(&[Change::Put(self.to_object(0)?)])?;
        Ok(versions.first().copied().unwrap_or_default())
    }

    /// Lists a page of them.
    ///
    /// # Errors
    ///
    /// As [`Objects::list`] and [`TypedObject::from_object`].
    fn list(objects: &dyn Objects, page: &ObjectPage) -> Result<Vec<Self>> {
        objects.list(page)?.into_iter().map(Self::from_object).collect()
    }
}

fn with_version<T: TypedObject>(object: Object) -> Result<(T, u64)> {
    let version = object.version;
    Ok((T::from_object(object)?, version))
}

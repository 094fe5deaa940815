//! Changes to objects that others may change at the same time.

use store::{Change, Objects, TypedObject};

use super::ObjectError;
use crate::limits;

/// Changes an object, trying again when someone else was first; nothing when it is gone.
///
/// `change` gets the object as it is now, changes it, and gives the changes to other rows that
/// have to happen together with it. It may be called several times.
///
/// # Errors
///
/// Those of `change`, [`ObjectError::Busy`] after [`limits::MAX_TRIES`], and when the catalogue
/// fails.
pub fn change_object<T, E>(
    catalogue: &dyn Objects,
    id: &T::Id,
    mut change: impl FnMut(&mut T) -> Result<Vec<Change>, E>,
) -> Result<Option<T>, E>
where
    T: TypedObject,
    E: From<ObjectError>,
{
    let failed = |error: store::Error| E::from(ObjectError::from(error));
    for _ in 0..limits::MAX_TRIES {
        let Some((mut object, version)) = T::load(catalogue, id).map_err(failed)? else {
            return Ok(None);
        };
        let mut changes = change(&mut object)?;
        changes.push(Change::PutIfUnchanged(object.to_object(version).map_err(failed)?));
        match catalogue.apply(&changes) {
            Ok(_) => return Ok(Some(object)),
            Err(store::Error::Conflict { .. }) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Err(E::from(ObjectError::Busy))
}

//! The catalogue: small objects of every family, as typed rows in one place.
//!
//! The contract asks for nothing that a shared database could not give: single rows by key,
//! pages in the order of ids, lookups by named values, and batches of changes that happen
//! together or not at all, guarded by row versions instead of long transactions.

mod object;
mod typed;

pub use object::{Change, Lookup, Object, ObjectKey, ObjectPage};
pub use typed::TypedObject;

use crate::Result;

/// Keeps objects as rows of kind, id, tenant, parent and JSON body.
///
/// All calls block and may come from many threads and, with a shared database, many servers.
/// When [`Catalogue::apply`] returns `Ok`, its changes are durable and every later call of any
/// server sees them.
pub trait Catalogue: Send + Sync {
    /// Gives an object, or nothing.
    fn get(&self, key: &ObjectKey) -> Result<Option<Object>>;

    /// Lists objects of a kind in the order of their ids.
    fn list(&self, page: &ObjectPage) -> Result<Vec<Object>>;

    /// Gives the objects of a kind that were written with this lookup, in the order of their
    /// ids.
    fn find(&self, kind: &str, lookup: &Lookup) -> Result<Vec<Object>>;

    /// Makes all changes, or none of them, and gives the new versions of the rows that were
    /// put, in order.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Conflict`] when a row does not have the version that the change expects.
    fn apply(&self, changes: &[Change]) -> Result<Vec<u64>>;

    /// Gives the room of deleted rows back, so that nothing of them is left on disk. Worth its
    /// time after much was deleted.
    fn forget_erased(&self) -> Result<()>;
}

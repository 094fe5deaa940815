//! Small objects of every family, as typed rows in one place.
//!
//! The contract asks for nothing that a shared database could not give: rows by key, alone or many
//! at once, pages in the order of ids, lookups by named values, and batches of changes that happen
//! together or not at all, guarded by row versions instead of long transactions.

mod row;
mod typed;

pub use row::{Change, Lookup, Object, ObjectKey, ObjectPage};
pub use typed::TypedObject;

use crate::Result;

/// The part of a catalogue that holds objects as rows of kind, id, tenant, parent and JSON body.
///
/// Families and the job queue need no more of a catalogue than this, so that their tests can put
/// something else in its place.
///
/// All calls block and may come from many threads and, with a shared database, many servers.
/// When [`Objects::apply`] returns `Ok`, its changes are durable and every later call of any
/// server sees them.
pub trait Objects: Send + Sync {
    /// Gives objects of a kind by id, in the order asked, by one query and as of one moment; nothing
    /// where there is none. An id that is asked for twice is given twice.
    fn get_many(&self, kind: &str, ids: &[&str]) -> Result<Vec<Option<Object>>>;

    /// Gives one object, or nothing.
    fn get(&self, key: &ObjectKey) -> Result<Option<Object>> {
        Ok(self.get_many(&key.kind, &[&key.id])?.pop().flatten())
    }

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
    /// [`crate::Error::Conflict`] when a row does not have the version that the change expects,
    /// [`crate::Error::MissingObject`] when a row is required and is not there.
    fn apply(&self, changes: &[Change]) -> Result<Vec<u64>>;
}

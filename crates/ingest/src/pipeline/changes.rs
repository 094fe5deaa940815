//! Whether a run would have anything to do, and how much, found out without writing.

use model::Deadline;

use super::Pipeline;
use super::known::KnownDocuments;
use super::run::unreadable;
use crate::{Item, Result, Source};

/// What a run would have to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    /// Documents that are new or changed.
    pub n_changed: usize,
    /// Documents that the source has no more.
    pub n_gone: usize,
    /// Whether everything was looked at: the source gave all that it has, in time.
    pub is_whole: bool,
}

impl Pipeline {
    /// Tells whether the source has anything that is new, changed or gone. Nothing is written and
    /// no job is needed; a document that could not be read before is tried again.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn has_changes(&self, source: &mut dyn Source) -> Result<bool> {
        let known = KnownDocuments::load(&self.store, &self.namespace, self.scope.as_ref())?;
        while let Some(item) = source.next_item() {
            // What has no name yet, or cannot be asked for one, is no change.
            let Ok(item) = item else { continue };
            if is_changed(&known, source, &item) {
                return Ok(true);
            }
        }
        known.see_unread(&self.store, &self.namespace, &source.unread())?;
        Ok(source.is_complete() && !known.has_all())
    }

    /// Counts what [`Pipeline::has_changes`] finds, until the deadline.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn changes(&self, source: &mut dyn Source, deadline: &Deadline) -> Result<Changes> {
        let known = KnownDocuments::load(&self.store, &self.namespace, self.scope.as_ref())?;
        let mut changes = Changes::default();
        while let Some(item) = source.next_item() {
            if deadline.is_over() {
                return Ok(changes);
            }
            let Ok(item) = item else { continue };
            changes.n_changed += usize::from(is_changed(&known, source, &item));
        }
        known.see_unread(&self.store, &self.namespace, &source.unread())?;
        changes.is_whole = source.is_complete();
        changes.n_gone = if changes.is_whole { known.n_unseen() } else { 0 };
        Ok(changes)
    }
}

fn is_changed(known: &KnownDocuments, source: &mut dyn Source, item: &Item) -> bool {
    known.see(&item.id);
    if !source.is_wanted() || known.unchanged_item(item).is_some() {
        return false;
    }
    let is_still_unreadable = known.unchanged(&item.id, &unreadable(&item.fingerprint)).is_some()
        && source.content(item).is_err();
    !is_still_unreadable
}

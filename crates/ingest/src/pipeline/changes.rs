//! Whether a run would have anything to do, found out without writing.

use super::Pipeline;
use super::known::Known;
use super::run::unreadable;
use crate::{Result, Source};

impl Pipeline {
    /// Tells whether the source has anything that is new, changed or gone. Nothing is written and
    /// no job is needed; a document that could not be read before is tried again.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn has_changes(&self, source: &mut dyn Source) -> Result<bool> {
        let known = Known::load(&self.store, &self.namespace, self.scope.as_ref())?;
        while let Some(item) = source.next_item() {
            // What has no name yet, or cannot be asked for one, is no change.
            let Ok(item) = item else { continue };
            known.see(&item.id);
            if known.unchanged_item(&item).is_some() {
                continue;
            }
            let is_still_unreadable =
                known.unchanged(&item.id, &unreadable(&item.fingerprint)).is_some()
                    && source.content(&item).is_err();
            if !is_still_unreadable {
                return Ok(true);
            }
        }
        Ok(source.is_complete() && !known.has_all())
    }
}

//! Counts of documents that stay known until something is written.

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::DocumentCount;

/// A namespace by its number, and the attributes that its documents are counted by.
type Of = (u32, Vec<String>);

/// What was counted at one state of the catalogue.
#[derive(Debug, Default)]
pub(super) struct Counted(Mutex<(u64, HashMap<Of, Vec<DocumentCount>>)>);

impl Counted {
    /// Gives what was counted after this many changes of the catalogue.
    pub(super) fn get(&self, n_changes: u64, of: &Of) -> Option<Vec<DocumentCount>> {
        let known = self.0.lock();
        (known.0 == n_changes).then(|| known.1.get(of).cloned()).flatten()
    }

    /// Remembers what was counted. A reader that began before others never replaces what they
    /// know.
    pub(super) fn put(&self, n_changes: u64, of: Of, counts: &[DocumentCount]) {
        let mut known = self.0.lock();
        if known.0 < n_changes {
            *known = (n_changes, HashMap::new());
        }
        if known.0 == n_changes {
            known.1.insert(of, counts.to_vec());
        }
    }
}

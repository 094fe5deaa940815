//! What a search sees: one commit of every index of a namespace.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::bits::Bits;
use crate::lexical::LexicalView;
use crate::vectors::VectorView;
use crate::{Counts, Filter, Result, VectorSpace};

/// One commit of a namespace; never changes.
pub(super) struct Snapshot {
    pub(super) words: LexicalView,
    pub(super) vectors: Option<VectorView>,
    pub(super) space: Option<VectorSpace>,
    pub(super) counts: Counts,
    /// One more than the highest passage number that can occur.
    pub(super) end: u32,
    filters: Mutex<VecDeque<(Filter, Arc<Fitting>)>>,
    max_cached_filters: usize,
}

/// Which passages fit a filter.
pub(super) struct Fitting {
    /// For each segment of the full-text index, the entries that fit; nothing for all.
    pub(super) entries: Vec<Option<Bits>>,
    /// Their passage numbers; nothing when every passage fits.
    pub(super) numbers: Option<Bits>,
}

impl Snapshot {
    pub(super) fn new(
        words: LexicalView,
        vectors: Option<VectorView>,
        space: Option<VectorSpace>,
        counts: Counts,
        end: u32,
        max_cached_filters: usize,
    ) -> Self {
        Snapshot {
            words,
            vectors,
            space,
            counts,
            end,
            filters: Mutex::default(),
            max_cached_filters,
        }
    }

    /// Gives what fits a filter, from the last few that were asked for or anew.
    pub(super) fn fitting(&self, filter: &Filter) -> Result<Arc<Fitting>> {
        let is_kept = !names_passages(filter);
        if is_kept {
            let mut filters = self.filters.lock();
            if let Some(at) = filters.iter().position(|(kept, _)| kept == filter)
                && let Some(found) = filters.remove(at)
            {
                let fitting = found.1.clone();
                filters.push_front(found);
                return Ok(fitting);
            }
        }
        let entries = self.words.allowed(filter)?;
        let numbers = (!filter.is_all()).then(|| self.words.numbers_of(&entries, self.end));
        let fitting = Arc::new(Fitting { entries, numbers });
        if !is_kept {
            return Ok(fitting);
        }
        let mut filters = self.filters.lock();
        filters.push_front((filter.clone(), fitting.clone()));
        filters.truncate(self.max_cached_filters);
        Ok(fitting)
    }
}

/// Tells whether a filter only names passages: a search asks so about its own candidates, which
/// nobody asks about again.
fn names_passages(filter: &Filter) -> bool {
    matches!(filter, Filter::Passages(_))
}

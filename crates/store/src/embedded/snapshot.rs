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
        if let Some((_, fitting)) = self.filters.lock().iter().find(|(kept, _)| kept == filter) {
            return Ok(fitting.clone());
        }
        let entries = self.words.allowed(filter)?;
        let numbers = (!filter.is_all()).then(|| self.words.numbers_of(&entries, self.end));
        let fitting = Arc::new(Fitting { entries, numbers });
        let mut filters = self.filters.lock();
        filters.push_front((filter.clone(), fitting.clone()));
        filters.truncate(self.max_cached_filters);
        Ok(fitting)
    }
}

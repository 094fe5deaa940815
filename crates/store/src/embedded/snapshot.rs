//! What a search sees: one commit of every index of a namespace.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

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
    /// Their passage numbers; nothing when every passage fits. Only searches by vector ask for them.
    numbers: OnceLock<Option<Bits>>,
    is_all: bool,
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
        if let Some(known) = self.known(filter) {
            return Ok(known);
        }
        let fitting = Arc::new(self.find_fitting(filter)?);
        if !names_passages(filter) {
            let mut filters = self.filters.lock();
            filters.push_front((filter.clone(), fitting.clone()));
            filters.truncate(self.max_cached_filters);
        }
        Ok(fitting)
    }

    /// Gives what fits a filter that nobody asks about again, so that it drives no other one out.
    pub(super) fn fitting_once(&self, filter: &Filter) -> Result<Arc<Fitting>> {
        match self.known(filter) {
            Some(known) => Ok(known),
            None => Ok(Arc::new(self.find_fitting(filter)?)),
        }
    }

    /// Gives the passage numbers of what fits; nothing when every passage does.
    pub(super) fn numbers<'f>(&self, fitting: &'f Fitting) -> Option<&'f Bits> {
        let numbers =
            || (!fitting.is_all).then(|| self.words.numbers_of(&fitting.entries, self.end));
        fitting.numbers.get_or_init(numbers).as_ref()
    }

    fn known(&self, filter: &Filter) -> Option<Arc<Fitting>> {
        let mut filters = self.filters.lock();
        let at = filters.iter().position(|(known, _)| known == filter)?;
        let found = filters.remove(at)?;
        let fitting = found.1.clone();
        filters.push_front(found);
        Some(fitting)
    }

    /// Finds what fits. A part of a filter that is known is not looked for again: who may see what is
    /// the larger part of most filters, and the same in all of a caller's.
    fn find_fitting(&self, filter: &Filter) -> Result<Fitting> {
        let mut unknown = vec![];
        let mut known: Vec<Arc<Fitting>> = vec![];
        if let Filter::And(parts) = filter {
            for part in parts {
                match self.known(part) {
                    Some(found) => known.push(found),
                    None => unknown.push(part.clone()),
                }
            }
        }
        let mut entries = match known.is_empty() {
            true => self.words.allowed(filter)?,
            false => self.words.allowed(&Filter::And(unknown))?,
        };
        for known in &known {
            for (entries, known) in entries.iter_mut().zip(&known.entries) {
                match (entries.as_mut(), known) {
                    (Some(entries), Some(known)) => entries.intersect(known),
                    (None, Some(known)) => *entries = Some(known.clone()),
                    (_, None) => {}
                }
            }
        }
        Ok(Fitting { entries, numbers: OnceLock::new(), is_all: filter.is_all() })
    }
}

/// Tells whether a filter only names passages: a search asks so about its own candidates, which
/// nobody asks about again.
fn names_passages(filter: &Filter) -> bool {
    matches!(filter, Filter::Passages(_))
}

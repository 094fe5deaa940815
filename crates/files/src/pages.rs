//! What a caller has been shown, so that the next page neither repeats nor leaves out a file
//! while the index changes under it.
//!
//! The order of a search moves as files come and go. A page that begins at `offset` is therefore
//! what is best now without the `offset` files that the pages before it gave.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::DocumentId;

/// Searches that are remembered; the oldest is forgotten first.
const MAX_SEARCHES: usize = 1_000;

/// How long a search is remembered after its last page.
const KEPT_FOR: Duration = Duration::from_secs(600);

/// A search of a caller, whatever the page.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct SearchKey {
    /// Who searches.
    pub(crate) client: String,
    /// The query and its filters.
    pub(crate) query: String,
    pub(crate) exts: Vec<String>,
    pub(crate) years: Vec<String>,
    pub(crate) roots: Vec<String>,
}

/// Remembers the files that pages gave.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    shown: Mutex<HashMap<SearchKey, Shown>>,
}

#[derive(Debug)]
struct Shown {
    files: Vec<DocumentId>,
    last: Instant,
}

impl Pages {
    /// Gives the files before `offset`, where the pages that gave them are remembered.
    pub(crate) fn before(&self, key: &SearchKey, offset: usize) -> Option<HashSet<DocumentId>> {
        if offset == 0 {
            return None;
        }
        let shown = self.lock();
        let shown = shown.get(key).filter(|shown| shown.last.elapsed() < KEPT_FOR)?;
        let files = shown.files.get(..offset)?;
        Some(files.iter().cloned().collect())
    }

    /// Remembers a page. A page that does not follow on what is remembered forgets the rest.
    pub(crate) fn remember(
        &self,
        key: SearchKey,
        offset: usize,
        files: impl Iterator<Item = DocumentId>,
    ) {
        let mut searches = self.lock();
        if searches.len() >= MAX_SEARCHES && !searches.contains_key(&key) {
            searches.retain(|_, shown| shown.last.elapsed() < KEPT_FOR);
            let oldest = searches.iter().min_by_key(|(_, shown)| shown.last);
            if searches.len() >= MAX_SEARCHES
                && let Some(oldest) = oldest.map(|(key, _)| key.clone())
            {
                searches.remove(&oldest);
            }
        }
        let now = Instant::now();
        let shown = searches.entry(key).or_insert_with(|| Shown { files: vec![], last: now });
        shown.last = now;
        if shown.files.len() < offset {
            // The pages before this one were not asked for, or are forgotten.
            shown.files.clear();
            return;
        }
        shown.files.truncate(offset);
        shown.files.extend(files);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SearchKey, Shown>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(query: &str) -> SearchKey {
        SearchKey {
            client: "local/local".to_owned(),
            query: query.to_owned(),
            exts: vec![],
            years: vec![],
            roots: vec![],
        }
    }

    fn ids(names: &[&str]) -> Vec<DocumentId> {
        names.iter().map(|name| DocumentId::new(*name)).collect()
    }

    #[test]
    fn pages_before_an_offset_are_known_when_they_were_given() {
        let pages = Pages::default();
        assert_eq!(pages.before(&key("a"), 2), None);
        pages.remember(key("a"), 0, ids(&["1", "2"]).into_iter());
        assert_eq!(pages.before(&key("a"), 2).map(|files| files.len()), Some(2));
        assert_eq!(pages.before(&key("a"), 3), None);
        assert_eq!(pages.before(&key("b"), 2), None);
        pages.remember(key("a"), 2, ids(&["3"]).into_iter());
        assert_eq!(pages.before(&key("a"), 3), Some(ids(&["1", "2", "3"]).into_iter().collect()));
        pages.remember(key("a"), 9, ids(&["x"]).into_iter());
        assert_eq!(pages.before(&key("a"), 1), None);
    }

    #[test]
    fn a_bounded_number_of_searches_is_remembered() {
        let pages = Pages::default();
        for n in 0..MAX_SEARCHES + 10 {
            pages.remember(key(&n.to_string()), 0, ids(&["1"]).into_iter());
        }
        assert_eq!(pages.lock().len(), MAX_SEARCHES);
        assert!(pages.before(&key(&(MAX_SEARCHES + 9).to_string()), 1).is_some());
    }
}

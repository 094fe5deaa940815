//! The laws that every passage store and every catalogue has to keep, as functions that any
//! implementation can run against itself.
//!
//! A store under test is given empty; every law uses a namespace of its own, so that one store
//! can serve them all.
#![expect(clippy::unwrap_used, reason = "a law that cannot be checked is broken")]

mod catalogue;
mod documents;
mod fixtures;
mod vectors;
mod words;

pub use catalogue::check_catalogue;
pub use fixtures::{document, passage, space, vector};

use crate::PassageStore;

/// A law: its name and the function that panics when it is broken.
pub type Law = (&'static str, fn(&dyn PassageStore));

/// Every law of a passage store.
pub const LAWS: &[Law] = &[
    ("namespaces are made, listed and dropped", documents::namespaces_come_and_go),
    ("another manifest is refused", documents::another_manifest_is_refused),
    ("unknown namespaces are errors", documents::unknown_namespaces_are_errors),
    ("documents are written, read, replaced and erased", documents::documents_come_and_go),
    ("documents are listed in order and by page", documents::listing_is_ordered_and_paged),
    ("a taken passage id is refused as a whole", documents::taken_passage_ids_are_refused),
    ("limits are errors that name them", documents::limits_are_named),
    ("blobs stay with their passages", documents::blobs_stay_with_their_passages),
    ("words are found right after the write", words::words_are_found_right_after_the_write),
    ("must, must not, phrases and prefixes", words::clauses_mean_what_they_say),
    ("scores are BM25 with the given numbers", words::scores_are_bm25),
    ("titles count with their own weight", words::titles_count),
    ("filters hold inside the search", words::filters_hold),
    ("equal scores keep the order of writing", words::ties_are_stable),
    ("a passed deadline is said", words::deadlines_are_said),
    ("term statistics count passages", words::statistics_count),
    ("vectors follow words and can be counted", vectors::vectors_follow_words),
    ("the nearest vectors are found", vectors::the_nearest_are_found),
    ("filters hold for vectors", vectors::filters_hold),
    ("unchanged passages keep their vectors", vectors::unchanged_passages_keep_vectors),
    ("bad vectors are refused as a whole", vectors::bad_vectors_are_refused),
    ("another vector space erases the vectors", vectors::another_space_erases),
];

/// Runs every law against one store.
///
/// # Panics
///
/// When a law is broken; the message names it.
pub fn check_all(store: &dyn PassageStore) {
    for (name, law) in LAWS {
        tracing::debug!(law = name, "checking");
        law(store);
    }
}

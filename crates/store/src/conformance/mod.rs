//! The laws that every catalogue and every engine has to keep, as functions that any
//! implementation can run against itself.
//!
//! [`check_catalogue`] takes a catalogue alone; [`check_engine`] takes a store of the engine under
//! test over any catalogue that keeps its laws. Both are given empty; every law uses namespaces of
//! its own, so that one catalogue can serve them all. Another crate reaches these functions with
//! the feature `testing`.
#![expect(clippy::unwrap_used, reason = "a law that cannot be checked is broken")]

mod fixtures;

mod documents;
mod following;
mod objects;
mod sharing;

mod searching;
mod vectors;
mod words;

pub use fixtures::{document, passage, space, vector};

use crate::{Catalogue, Store};

/// A law of catalogues: its name and the function that panics when it is broken.
pub type CatalogueLaw = (&'static str, fn(&dyn Catalogue));

/// Every law of a catalogue.
pub const CATALOGUE_LAWS: &[CatalogueLaw] = &[
    ("objects are written, read and erased", objects::rows_come_and_go),
    ("objects are read many at once, in the order asked", objects::many_are_read_at_once),
    ("versions guard objects", objects::versions_guard),
    ("batches of objects are whole", objects::batches_are_whole),
    ("objects are listed by page and found by lookup", objects::pages_and_lookups),
    ("a file comes with the row that names it", objects::files_come_with_their_rows),
    ("changes of many at once are each whole", objects::changes_of_many_are_each_whole),
    ("namespaces are made, listed and dropped", documents::namespaces_come_and_go),
    ("namespaces are read with their notes", documents::namespaces_are_read_with_their_notes),
    ("another manifest is refused", documents::another_manifest_is_refused),
    ("unknown namespaces are errors", documents::unknown_namespaces_are_errors),
    ("documents are written, read, replaced and erased", documents::documents_come_and_go),
    ("documents are read by id, in the order asked", documents::documents_are_read_by_id),
    ("documents are listed in order and by page", documents::listing_is_ordered_and_paged),
    (
        "documents are chosen and counted by attribute",
        documents::documents_are_chosen_and_counted_by_attribute,
    ),
    ("a taken passage id is refused as a whole", documents::taken_passage_ids_are_refused),
    ("limits are errors that name them", documents::limits_are_named),
    ("blobs stay with their passages", documents::blobs_stay_with_their_passages),
    ("fingerprints come by one query", sharing::fingerprints_are_listed),
    ("passages without vectors are counted", sharing::passages_without_vectors_are_counted),
    ("leases have one holder", sharing::leases_have_one_holder),
    ("files are stored in pieces", sharing::files_come_in_pieces),
    ("the catalogue has a name", sharing::the_identity_stays),
    ("the log tells every change in order", following::the_log_is_in_order),
    ("followers read what is there now", following::sources_are_living),
    ("a release shortens the log and no more", following::releases_shorten_the_log),
    ("concurrent writers leave a log without gaps", following::writers_do_not_hide_entries),
];

/// A law of engines: its name and the function that panics when it is broken.
pub type EngineLaw = (&'static str, fn(&Store));

/// Every law of an engine.
pub const ENGINE_LAWS: &[EngineLaw] = &[
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
    ("both searches at once find what each finds alone", searching::both_are_each),
    ("what was replaced or erased is not found", searching::the_past_is_not_found),
    ("long texts are let go of and found", searching::long_texts_are_let_go_and_found),
    ("a dropped namespace is gone", searching::dropped_namespaces_are_gone),
    ("what somebody else wrote is found after following", searching::others_are_followed),
    ("following again, or anew, changes nothing", searching::following_is_idempotent),
    ("an empty namespace can be made anew", searching::an_empty_namespace_can_be_made_anew),
    ("words of another analyser are not searched", searching::another_analyser_is_refused),
    ("unknown namespaces are errors", searching::unknown_namespaces_are_errors),
];

/// Runs every law of a catalogue.
///
/// # Panics
///
/// When a law is broken; the log names it.
pub fn check_catalogue(catalogue: &dyn Catalogue) {
    for (name, law) in CATALOGUE_LAWS {
        tracing::debug!(law = name, "checking");
        law(catalogue);
    }
}

/// Runs every law of an engine.
///
/// # Panics
///
/// When a law is broken; the log names it.
pub fn check_engine(store: &Store) {
    for (name, law) in ENGINE_LAWS {
        tracing::debug!(law = name, "checking");
        law(store);
    }
}

//! Every limit of the store, by name.

/// The longest id of a namespace, document or passage, in bytes.
pub const MAX_ID_BYTES: usize = 4_096;
/// The longest title of a document, in bytes.
pub const MAX_TITLE_BYTES: usize = 16_384;
/// The longest text of one passage, in bytes.
pub const MAX_PASSAGE_BYTES: usize = 1_048_576;
/// Passages of one document.
pub const MAX_PASSAGES_PER_DOCUMENT: usize = 1_000_000;
/// Documents of one upsert or delete.
pub const MAX_DOCUMENTS_PER_WRITE: usize = 100_000;
/// The longest blob kept beside a passage, in bytes.
pub const MAX_BLOB_BYTES: usize = 8_388_608;
/// The longest piece of a file in a catalogue, in bytes.
pub const MAX_PIECE_BYTES: usize = 4 << 20;
/// One document on its way to an engine elsewhere, which takes it in one request, in bytes.
pub const MAX_ENGINE_DOCUMENT_BYTES: usize = 256 << 20;
/// Dimensions of a vector.
pub const MAX_DIMENSIONS: usize = 8_192;
/// Text of a write, in bytes, that an engine takes in from the documents in hand. More is read back
/// from the catalogue in pages, so that it is not in memory beside the index that is made of it.
pub const MAX_FRESH_TEXT_BYTES: usize = 4 << 20;
/// Candidates of one search.
pub const MAX_CANDIDATES: usize = 10_000;
/// Index terms in all clauses of one words query.
pub const MAX_QUERY_TERMS: usize = 4_096;
/// Index terms that one prefix may stand for; beyond it the answer says that it was cut.
pub const MAX_PREFIX_TERMS: usize = 4_096;
/// Nodes of one filter.
pub const MAX_FILTER_NODES: usize = 10_000;
/// Values in one list of a filter.
pub const MAX_FILTER_VALUES: usize = 100_000;
/// How deep a filter may nest.
pub const MAX_FILTER_DEPTH: usize = 32;
/// Rows of one page of a listing.
pub const MAX_PAGE: usize = 10_000;

/// Refuses what is over a limit.
///
/// # Errors
///
/// [`crate::Error::TooLarge`] with what was received and what is allowed.
pub fn within(what: &'static str, received: usize, allowed: usize) -> crate::Result<()> {
    if received > allowed {
        return Err(crate::Error::TooLarge { what, received, allowed });
    }
    Ok(())
}

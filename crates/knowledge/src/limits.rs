//! Every limit of the family, by name.

/// The longest name of a knowledge base or collection, in characters.
pub const MAX_NAME_CHARS: usize = 200;
/// The longest description, in characters.
pub const MAX_DESCRIPTION_CHARS: usize = 4_000;
/// The longest name of a department, in characters.
pub const MAX_DEPARTMENT_CHARS: usize = 64;
/// The longest title of a document, in characters.
pub const MAX_TITLE_CHARS: usize = 1_000;
/// The longest metadata of a document, written as JSON, in bytes.
pub const MAX_METADATA_BYTES: usize = 16_384;
/// The longest text given as text, in bytes.
pub const MAX_TEXT_BYTES: usize = 32 << 20;
/// Tags of one document.
pub const MAX_TAGS: usize = 50;
/// The longest tag, in characters.
pub const MAX_TAG_CHARS: usize = 64;
/// Users, and groups, that something is shared with by name.
pub const MAX_SHARED_WITH: usize = 1_000;
/// Versions of a document whose changes are remembered.
pub const MAX_VERSIONS: usize = 20;
/// The longest texts that two versions are compared by, in bytes.
pub const MAX_COMPARED_BYTES: usize = 4 << 20;
/// The longest difference of two versions that is kept, in characters.
pub const MAX_DIFFERENCE_CHARS: usize = 40_000;
/// Documents of one upload.
pub const MAX_DOCUMENTS_PER_UPLOAD: usize = 1_000;
/// Knowledge bases of one tenant.
pub const MAX_BASES: usize = 10_000;
/// Collections of one knowledge base.
pub const MAX_COLLECTIONS: usize = 10_000;
/// Rows of one page of a list.
pub const MAX_PAGE: usize = 501;
/// Results of one search.
pub const MAX_RESULTS: usize = 50;
/// The longest question, in characters.
pub const MAX_QUERY_CHARS: usize = 2_000;
/// The longest OCR text, in characters.
pub const MAX_OCR_CHARS: usize = 10_000;
/// Uploads of one collection that wait for their job; more wait to be accepted.
pub const MAX_WAITING_UPLOADS: usize = 2_000;
/// Small contents of one upload that are held in memory to come with the rows of their documents,
/// in bytes; beyond them they are written before.
pub const MAX_CONTENT_BYTES_PER_COMMIT: u64 = 8 << 20;
/// Documents written to the store in one commit.
pub const DOCUMENTS_PER_COMMIT: usize = 200;
/// Collections that one search opens at most; beyond them they are searched in parts, in the
/// order of the atlas.
pub const MAX_SEARCHED_COLLECTIONS: usize = 256;
/// Sentences looked at for the summary of a collection.
pub const MAX_SUMMARY_SENTENCES: usize = 1_500;
/// Documents read for the summary of a collection.
pub const MAX_SUMMARY_DOCUMENTS: usize = 300;
/// Earlier versions of a summary that are kept.
pub const MAX_SUMMARY_VERSIONS: usize = 10;

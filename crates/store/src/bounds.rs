//! What every catalogue refuses, the same way in all of them: input over a limit, and vectors that
//! do not fit their space.

use model::{DocumentId, NamespaceId, PassageId};

use crate::limits::{self, within};
use crate::vectors::normalised;
use crate::{Document, Error, Manifest, Result, VectorSpace};

/// Checks the id and the vector space of a namespace that is to be made.
///
/// # Errors
///
/// [`Error::TooLarge`] names the limit.
pub fn check_namespace(id: &NamespaceId, manifest: &Manifest) -> Result<()> {
    within("the length of a namespace id", id.as_str().len(), limits::MAX_ID_BYTES)?;
    check_space(manifest.vectors.as_ref())
}

/// Checks a vector space.
///
/// # Errors
///
/// [`Error::TooLarge`] names the limit.
pub fn check_space(space: Option<&VectorSpace>) -> Result<()> {
    let dimensions = space.map_or(0, |space| space.dimensions);
    within("the dimensions of a vector", dimensions, limits::MAX_DIMENSIONS)
}

/// Checks documents that are to be written by one call.
///
/// # Errors
///
/// [`Error::TooLarge`] names the limit.
pub fn check_documents(documents: &[Document]) -> Result<()> {
    within("the documents of one write", documents.len(), limits::MAX_DOCUMENTS_PER_WRITE)?;
    documents.iter().try_for_each(check_document)
}

/// Checks one document.
///
/// # Errors
///
/// [`Error::TooLarge`] names the limit.
pub fn check_document(document: &Document) -> Result<()> {
    within("the length of a document id", document.id.as_str().len(), limits::MAX_ID_BYTES)?;
    within("the length of a title", document.title.len(), limits::MAX_TITLE_BYTES)?;
    let n_passages = document.passages.len();
    within("the passages of a document", n_passages, limits::MAX_PASSAGES_PER_DOCUMENT)?;
    for passage in &document.passages {
        within("the length of a passage id", passage.id.as_str().len(), limits::MAX_ID_BYTES)?;
        within("the length of a passage", passage.text.len(), limits::MAX_PASSAGE_BYTES)?;
    }
    Ok(())
}

/// Checks the ids of documents that are to be erased by one call.
///
/// # Errors
///
/// [`Error::TooLarge`] names the limit.
pub fn check_deletion(documents: &[DocumentId]) -> Result<()> {
    within("the documents of one write", documents.len(), limits::MAX_DOCUMENTS_PER_WRITE)
}

/// Checks blobs that are to be stored with passages.
///
/// # Errors
///
/// [`Error::TooLarge`] names the limit.
pub fn check_blobs(blobs: &[(PassageId, Vec<u8>)]) -> Result<()> {
    let is_within =
        |(_, blob): &(_, Vec<u8>)| within("the size of a blob", blob.len(), limits::MAX_BLOB_BYTES);
    blobs.iter().try_for_each(is_within)
}

/// Checks one piece of a file.
///
/// # Errors
///
/// [`Error::TooLarge`] names the limit.
pub fn check_piece(bytes: &[u8]) -> Result<()> {
    within("the size of a piece of a file", bytes.len(), limits::MAX_PIECE_BYTES)
}

/// Gives the number of the passage after so many that begin at `first`: numbers are never used
/// again.
///
/// # Errors
///
/// [`Error::TooLarge`] when the namespace has used up its numbers.
pub fn number_after(first: u32, n_passages: usize) -> Result<u32> {
    let after = u32::try_from(n_passages).ok().and_then(|n_passages| first.checked_add(n_passages));
    after.ok_or(Error::TooLarge {
        what: "the number of passages ever written to a namespace",
        received: first as usize + n_passages,
        allowed: u32::MAX as usize,
    })
}

/// Gives a vector of a passage with length 1.
///
/// # Errors
///
/// [`Error::NoVectorSpace`], [`Error::WrongDimensions`] and [`Error::BadVector`].
pub fn unit_vector(
    namespace: &NamespaceId,
    space: Option<&VectorSpace>,
    passage: &PassageId,
    vector: &[f32],
) -> Result<Vec<f32>> {
    let space = space.ok_or_else(|| Error::NoVectorSpace { namespace: namespace.clone() })?;
    if vector.len() != space.dimensions {
        return Err(Error::WrongDimensions {
            namespace: namespace.clone(),
            received: vector.len(),
            expected: space.dimensions,
        });
    }
    normalised(vector).ok_or_else(|| Error::BadVector { passage: passage.clone() })
}

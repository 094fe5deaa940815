//! The single steps by which an index follows the catalogue.

use std::ops::Range;
use std::path::Path;

use crate::lexical::{Entry, LexicalIndex};
use crate::vectors::VectorFile;
use crate::{Catalogue, Result, SourceParts};

/// Passages or vectors read at once while an index catches up.
const ROWS_PER_STEP: usize = 4_096;

/// Gives how many bytes the files of a folder take; 0 when it is not there.
pub(super) fn folder_bytes(folder: &Path) -> Result<u64> {
    let entries = match fs_err::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error.into()),
    };
    let mut n_bytes = 0;
    for entry in entries {
        n_bytes += entry?.metadata()?.len();
    }
    Ok(n_bytes)
}

/// Removes a folder with everything in it, if it is there.
pub(super) fn remove_folder(folder: &Path) -> Result<()> {
    match fs_err::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Puts the living passages of a range of numbers into the full-text index.
pub(super) fn add_passages(
    catalogue: &dyn Catalogue,
    words: &mut LexicalIndex,
    namespace: u32,
    mut passages: Range<u32>,
) -> Result<()> {
    while !passages.is_empty() {
        let parts = SourceParts::WithoutVector;
        let sources = catalogue.sources(namespace, passages.clone(), ROWS_PER_STEP, parts)?;
        for source in &sources {
            words.add(&Entry {
                number: source.number,
                version: source.document.first_passage,
                document: &source.document.id,
                title: &source.document.title,
                attributes: &source.document.attributes,
                language: source.document.language,
                passage: &source.passage,
            })?;
        }
        match sources.last() {
            Some(last) if sources.len() == ROWS_PER_STEP => passages.start = last.number + 1,
            _ => break,
        }
    }
    Ok(())
}

/// Appends the vectors of the living passages of a range of numbers.
pub(super) fn append_vectors(
    catalogue: &dyn Catalogue,
    vectors: &mut VectorFile,
    namespace: u32,
    mut passages: Range<u32>,
) -> Result<()> {
    while !passages.is_empty() {
        let step = catalogue.vectors(namespace, passages.clone(), ROWS_PER_STEP)?;
        let Some((last, _)) = step.last() else { break };
        passages.start = last + 1;
        vectors.append(&step)?;
        if step.len() < ROWS_PER_STEP {
            break;
        }
    }
    Ok(())
}
